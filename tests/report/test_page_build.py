"""The file itself: one whole, small, sealed, and the same bytes everywhere."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.report.page.build import SCRIPTS, build_page, page_script
from gapline.report.page.data import page_data
from gapline.report.page.others import MOST_CANDIDATES, add_other_candidates, scored_objectives
from report.page_study import make_campaign, make_study
from report.report_studies import report_of


def test_the_same_study_gives_the_same_bytes_elsewhere(page_file):
    code = (
        "import hashlib; from report.page_study import make_study; from gapline.report.page.build import build_page; "
        "print(hashlib.sha256(build_page(make_study()).encode()).hexdigest())"
    )
    here = Path(__file__).parents[1]
    paths = os.pathsep.join([str(here), str(Path(gl.__file__).parents[1])])
    elsewhere = {
        **os.environ,
        "PYTHONPATH": paths,
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "tr_TR.UTF-8",
        "PYTHONHASHSEED": "7",
    }
    out = subprocess.run([sys.executable, "-c", code], env=elsewhere, capture_output=True, text=True, check=True).stdout
    assert out.strip() == hashlib.sha256(page_file.read_bytes()).hexdigest()


def test_the_policy_names_the_hash_of_every_script_and_style(page_file):
    text = page_file.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1).replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    sealed = re.findall(r"<script>(.*?)</script>", text, re.DOTALL) + re.findall(
        r"<style>(.*?)</style>", text, re.DOTALL
    )
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in sealed]
    assert sorted(hashes) == sorted(re.findall(r"'sha256-([^']+)'", policy))
    assert len(hashes) == 3


def test_it_asks_for_nothing_and_styles_nothing_inline(page_file):
    text = page_file.read_text(encoding="utf-8")
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=\s*["']?(?!#)\w+:""", outside)
    assert " style=" not in outside
    assert not re.search(r"\son[a-z]+=", outside)


def test_versions_and_digests_stand_inside(page_file, study):
    text = page_file.read_text(encoding="utf-8")
    for word in (gl.__version__, study.campaign.digest(), *(entry.snapshot.digest for entry in study.references)):
        assert word in text


def test_the_resolution_is_stated(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert "Stamps in this page are rounded to multiples of 1e-09 s" in text
    assert "objectives are rounded on 5 of 5 instances" in text


def test_every_script_file_is_in_the_page_and_stays_readable():
    folder = Path(page_script.__wrapped__.__globals__["__file__"]).parent / "script"
    assert {path.stem for path in folder.glob("*.js")} == set(SCRIPTS)
    for path in folder.glob("*.js"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_a_kernel_of_the_users_own_is_left_out_or_refused():
    campaign, references = make_campaign()
    gl.register_kernel("page-log", lambda z, reference: np.log(z / reference), before=5.0)
    snapshot = gl.Snapshot.from_values(references, name="known")
    second = gl.open_study(campaign, snapshots=[snapshot], kernels=["squeezed", "page-log"], draws=10)
    assert [kernel["name"] for kernel in page_data(second).head["kernels"]] == ["squeezed"]
    first = gl.open_study(campaign, snapshots=[snapshot], kernels=["page-log"], draws=10)
    with pytest.raises(UsageError, match="expected a built-in kernel"):
        build_page(first)


def test_candidates_beyond_the_limit_are_counted(monkeypatch, study):
    """A page that cannot hold every candidate keeps the telling ones and says how many it left out."""
    from gapline.report.page import others
    from gapline.report.page.encode import Block, Grid

    assert MOST_CANDIDATES > 1000
    monkeypatch.setattr(others, "MOST_CANDIDATES", 10)
    monkeypatch.setattr(others, "LEAST_PER_RUN", 1)
    block, order = Block(), np.arange(len(study.envelopes))
    omitted = add_other_candidates(block, study, order, Grid(9, exact=False), [Grid(9, exact=False)] * len(order))
    kept = {column["name"]: column["length"] for column in block.columns}
    runs = study.envelopes.runs
    assert kept["time"] + omitted.sum() == int((runs["captured"] - runs["steps"]).sum())
    assert omitted.sum() > 0


def test_a_study_without_any_candidate_can_be_written(open_page, tmp_path):
    runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "trace": []} for arm in ("a", "b")]
    campaign = gl.Campaign.from_runs(runs)
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="known")
    study = report_of(campaign, snapshot)
    path = tmp_path / "page.html"
    path.write_text(build_page(study), encoding="utf-8")
    plain, page = open_page(path, java_script_enabled=False), open_page(path)
    assert plain.text("#headline") == page.text("#headline") == "a and b are level"
    assert plain.page.locator("#ranking tbody td:first-child").all_text_contents() == ["1", "1"]
    assert [row["mean squeezed"] for row in page.table("ranking")] == ["1.00000", "1.00000"]
    assert [row["rank"] for row in page.table("ranking")] == ["1", "1"]
    page.choose(kernel="raw")
    assert [row["mean raw"] for row in page.table("ranking")] == ["–", "–"]


@pytest.mark.parametrize("transform", ["none", "shift:10", "hierarchical:100", "hierarchical:10n"])
def test_candidates_are_on_the_scale_that_is_scored(transform):
    runs = pl.DataFrame(
        {"arm": ["a", "b"], "instance": ["i", "i"], "seed": [1, 1], "horizon": [9.0, 9.0], "size": [7.0, 7.0]}
    ).with_columns(first=pl.Series([0, 3]), count=pl.Series([3, 2]))
    secondary = np.array([50.0, 40.0, 30.0, 60.0, 20.0])
    campaign = gl.Campaign.from_arrays(
        runs=runs,
        time=np.array([1.0, 2.0, 3.0, 1.0, 2.0]),
        objective=secondary,
        verdict=np.array([1, 0, 1, 1, 1], np.uint8),
        primary=np.array([3.0, 3.0, 2.0, 3.0, 2.0]),
        secondary=secondary,
    )
    snapshot = gl.Snapshot.from_entries(
        {"i": {"value": 220.0, "primary": 2.0, "secondary": 20.0}}, name="known", store={"name": "s"}
    )
    study = report_of(campaign, snapshot, transform=transform)
    scored = scored_objectives(study)
    assert scored[campaign.verdict == 1].tolist() == study.envelopes.objective.tolist()
    references = page_data(study).head["snapshots"][0]["references"]
    assert references == study.scores[0].frame["reference"].unique().to_list()


def test_building_twice_gives_the_same_text():
    study = make_study(title="twice")
    assert build_page(study) == build_page(study)
