"""The files of a report: complete, listed with their digests, and the same bytes wherever they are written."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gapline import __version__
from gapline.campaign.store import file_digest
from gapline.errors import UsageError
from gapline.report.results import read_results
from gapline.report.write import remove_stale, write_report
from gapline.report.writers.latex_text import escape
from report.published_results import assert_fits
from report.report_studies import by_hand, synthetic

WRITE = """
import sys
from gapline.report.paper.sensitivity import synthetic_study
from gapline.report.paper.write import write_paper
from gapline.report.write import write_report
study = synthetic_study()
write_report(study, sys.argv[1] + "/results", formats=("svg", "png", "pdf"))
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


def write_everywhere(folders: list[Path]) -> None:
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


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


@pytest.mark.slow
def test_a_report_is_complete_and_the_same_bytes_in_another_process_locale_and_time_zone(tmp_path):
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    write_everywhere(folders)
    one, other = map(files, folders)
    assert list(one) == list(other)
    # PDF is derived from the SVG and carries its moment; everything else is the same.
    assert [name for name in one if not name.endswith(".pdf") and one[name] != other[name]] == []
    assert_complete(set(files(folders[0] / "results")))
    assert_described(folders[0] / "results")


def assert_complete(names: set[str]) -> None:
    assert {"report.html", "results.json", "macros.tex", "methods.md", "methods.tex", "tables/runs.csv"} <= names
    figures = {name.split("/")[1].split(".")[0] for name in names if name.startswith("figures/")}
    assert len(figures) == 16
    assert all(f"figures/{name}.{form}" in names for name in figures for form in ("svg", "png", "pdf"))
    tables = ("scores", "panels", "contrasts", "instances", "health", "pooled", "pairs", "grid",
              "neighbours", "averages", "ranks", "ratings", "neighbour-pairs")  # fmt: skip
    assert all(f"tables/{name}.{form}" in names for name in tables for form in ("md", "csv", "tex"))


def assert_described(folder: Path) -> None:
    """results.json names the digest of every file but the PDFs; digests and version stand inside the files."""
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert_fits(document)
    assert read_results(folder).files == document["files"]
    listed = document["files"]
    assert set(listed) == {name for name in files(folder) if name != "results.json" and not name.endswith(".pdf")}
    assert all(file_digest(folder / name) == digest for name, digest in listed.items())
    assert (folder / "figures" / "health.pdf").read_bytes().startswith(b"%PDF")
    assert document["versions"]["gapline"] == __version__
    assert len(document["readings"]) == 2
    assert {arm["arm"] for arm in document["readings"][0]["arms"]} == {"early", "late", "sliced", "steady"}
    campaign, reference = document["campaign"]["digest"], document["readings"][0]["reference"]["digest"]
    for name in ("tables/scores.tex", "tables/scores.md", "macros.tex", "methods.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert campaign in text, name
        assert reference in text, name
        assert __version__ in text, name
    assert reference[:19] in (folder / "figures/mean-convergence.svg").read_text(encoding="utf-8")


def test_an_unknown_format_is_refused_before_anything_is_written(tmp_path):
    with pytest.raises(UsageError, match="expected svg, png, pdf, got gif"):
        write_report(by_hand(), tmp_path / "results", formats=("gif",))
    assert not (tmp_path / "results").exists()


@pytest.mark.slow
def test_a_report_written_again_with_fewer_formats_leaves_no_old_figure_beside_the_new(tmp_path):
    folder = write_report(by_hand(), tmp_path / "results", formats=("svg", "pdf"))
    assert (folder / "figures/health.pdf").is_file()
    assert "figures/health.pdf" in json.loads((folder / "results.json").read_text())["derived"]
    (folder / "figures/mine.pdf").write_text("not ours")
    write_report(by_hand(), folder, formats=("svg",))
    kept = {path.name for path in (folder / "figures").iterdir()}
    assert {name for name in kept if name.endswith(".pdf")} == {"mine.pdf"}
    assert "health.svg" in kept


@pytest.mark.slow
def test_a_goal_of_many_digits_is_reported(tmp_path):
    study = by_hand(goals=(0.01234567,))
    folder = write_report(study, tmp_path / "results", formats=())
    assert "≤ 1.234567 %" in (folder / "tables/scores.md").read_text(encoding="utf-8")
    assert "AttainmentZeroZeroOneTwoThreeFourFiveSixSeven" in (folder / "macros.tex").read_text(encoding="utf-8")
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    assert list(document["readings"][0]["arms"][0]["attainment"]) == ["0.01234567"]
    assert "hit:0.01234567" in (folder / "tables/runs.csv").read_text(encoding="utf-8").splitlines()[0]


@pytest.mark.slow
def test_ranks_headline_and_facts_are_the_same_in_every_file(tmp_path):
    """Macros, tables, page and results.json say one thing; the descriptive arm has a rank in none of them."""
    study = synthetic()
    folder = write_report(study, tmp_path / "results", formats=())
    document = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    ranks = {arm["arm"]: arm["rank"] for arm in document["readings"][0]["arms"]}
    assert ranks["sliced"] is None
    assert sorted(rank for rank in ranks.values() if rank is not None) == [1, 2, 3]
    macros = (folder / "macros.tex").read_text(encoding="utf-8")
    table = (folder / "tables/scores.md").read_text(encoding="utf-8")
    page = (folder / "report.html").read_text(encoding="utf-8")
    for arm, rank in ranks.items():
        shown = "–" if rank is None else str(rank)
        assert f"\\newcommand{{\\{arm.capitalize()}Rank}}{{{shown.replace('–', '--')}}}" in macros
        assert f"| {shown} | {arm} |" in table
        assert re.search(rf"<td>{shown}</td><td>{arm}( \(descriptive\))?</td>", page)
    headline = document["headline"]["text"]
    assert "sliced" not in headline
    assert escape(headline) in macros
    assert f">{headline}</p>" in page
    assert not {"sliced"} & {name for row in document["contrasts"] for name in (row["a"], row["b"])}
    assert "SlicedAgainst" not in macros
    assert "AgainstSliced" not in macros
    facts = document["facts"]
    assert facts["tolerance"] == 1e-9
    assert "\\newcommand{\\StudyTolerance}{$10^{-9}$}" in macros
    assert f"A reference counts as beaten only by more than a relative {facts['tolerance']:g}" in page


def test_what_an_earlier_report_listed_and_this_one_did_not_write_is_removed_and_nothing_else(tmp_path):
    outside = tmp_path / "outside.png"
    folder = tmp_path / "results"
    for name in ("figures/old.png", "figures/old.pdf", "figures/new.svg", "figures/mine.png", "notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    outside.write_text("x")
    listed = ["figures/old.png", "figures/new.svg", "notes.txt", "figures/../../outside.png", "../outside.png"]
    (folder / "results.json").write_text(
        json.dumps({"files": dict.fromkeys(listed, ""), "derived": ["figures/old.pdf"]})
    )
    removed = remove_stale(folder, [folder / "figures/new.svg"])
    assert {path.name for path in removed} == {"old.png", "old.pdf"}
    left = set(files(folder))
    assert left == {"figures/new.svg", "figures/mine.png", "notes.txt", "results.json"}
    assert outside.exists()
    (folder / "results.json").write_text("no JSON")
    assert remove_stale(folder, []) == []
