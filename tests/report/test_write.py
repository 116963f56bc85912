"""The files of a report: complete, listed with their digests, and the same bytes wherever they are written."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gapline import __version__
from gapline.errors import UsageError
from gapline.model.store import file_digest
from gapline.report.write import write_report
from report.report_studies import by_hand

WRITE = """
import sys
from gapline.report.paper.synthetic import TIER_TWO
from gapline.report.paper.write import synthetic_study, write_paper
from gapline.report.write import write_report
study = synthetic_study()
write_report(study, sys.argv[1] + "/results", tier_two=TIER_TWO, formats=("svg", "png"))
write_paper(sys.argv[1] + "/paper", formats=("svg",))
"""
PLACES = (
    {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "1"},
    {
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
        "TZ": "Pacific/Auckland",
        "PYTHONHASHSEED": "2",
        "PYTHONUTF8": "1",
    },
)


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> list[Path]:
    folders = [tmp_path_factory.mktemp(f"place-{k}") for k in range(len(PLACES))]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(folder)],
            env=os.environ | place,
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
        )
        for folder, place in zip(folders, PLACES, strict=True)
    ]
    for process in running:
        _, errors = process.communicate()
        assert process.returncode == 0, errors
    return folders


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_another_process_locale_and_time_zone_give_the_same_bytes(written):
    one, other = map(files, written)
    assert list(one) == list(other)
    assert [name for name in one if one[name] != other[name]] == []


def test_everything_is_there(written):
    names = set(files(written[0] / "results"))
    assert {"report.html", "results.json", "macros.tex", "methods.md", "methods.tex", "tables/runs.csv"} <= names
    figures = {name.split("/")[1].split(".")[0] for name in names if name.startswith("figures/")}
    assert len(figures) == 12
    assert all({f"figures/{name}.svg", f"figures/{name}.png"} <= names for name in figures)
    tables = ("scores", "panels", "contrasts", "instances", "health", "pooled", "pairs", "grid")
    assert all(f"tables/{name}.{form}" in names for name in tables for form in ("md", "csv", "tex"))


def test_results_name_the_digest_of_every_file_and_the_versions(written):
    folder = written[0] / "results"
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    listed = document["files"]
    assert set(listed) == set(files(folder)) - {"results.json"}
    assert all(file_digest(folder / name) == digest for name, digest in listed.items())
    assert document["versions"]["gapline"] == __version__
    assert len(document["readings"]) == 2
    assert {arm["arm"] for arm in document["readings"][0]["arms"]} == {"early", "late", "sliced", "steady"}


def test_digests_and_version_stand_inside_the_files(written):
    folder = written[0] / "results"
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    campaign, reference = document["campaign"]["digest"], document["readings"][0]["reference"]["digest"]
    for name in ("tables/scores.tex", "tables/scores.md", "macros.tex", "methods.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert campaign in text, name
        assert reference in text, name
        assert __version__ in text, name
    assert reference[:19] in (folder / "figures/mean-convergence.svg").read_text(encoding="utf-8")


def test_pdf_is_written_and_not_digested(tmp_path):
    study = by_hand()
    write_report(study, tmp_path, formats=("pdf",))
    document = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert (tmp_path / "figures" / "health.pdf").read_bytes().startswith(b"%PDF")
    assert not any(name.endswith(".pdf") for name in document["files"])
    with pytest.raises(UsageError, match="expected svg, png, pdf, got gif"):
        write_report(study, tmp_path, formats=("gif",))
