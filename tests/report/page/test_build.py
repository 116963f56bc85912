"""The file itself: one whole, small, sealed, and the same bytes everywhere."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gapline as gl
from gapline.report.page.build import JUDGE_SCRIPTS, LIVE_SCRIPTS, SCRIPTS, STORED_SCRIPTS, build_page, page_script
from report.page_study import make_study
from report.report_studies import report_of


@pytest.mark.slow
def test_the_same_study_gives_the_same_bytes_elsewhere(page_file):
    code = (
        "import hashlib; from report.page_study import make_study; from gapline.report.page.build import build_page; "
        "print(hashlib.sha256(build_page(make_study()).encode()).hexdigest())"
    )
    here = Path(__file__).parents[2]
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


def test_every_script_file_is_in_the_page_and_stays_readable():
    folder = Path(page_script.__wrapped__.__globals__["__file__"]).parent / "script"
    assert {path.stem for path in folder.glob("*.js")} == set(SCRIPTS)
    others = {path.relative_to(folder).with_suffix("").as_posix() for path in folder.glob("*/*.js")}
    assert others == {*STORED_SCRIPTS, *LIVE_SCRIPTS, *JUDGE_SCRIPTS} - set(SCRIPTS)
    for path in folder.rglob("*.js"):
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


def test_a_study_without_any_candidate_can_be_written(open_page, tmp_path):
    runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "trace": []} for arm in ("a", "b")]
    campaign = gl.Campaign.from_runs(runs)
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="known")
    study = report_of(campaign, snapshot)
    path = tmp_path / "page.html"
    path.write_text(build_page(study), encoding="utf-8")
    plain, page = open_page(path, java_script_enabled=False), open_page(path)
    assert plain.text("#headline") == page.text("#headline") == "No run found a solution"
    assert plain.page.locator("#ranking tbody td:first-child").all_text_contents() == ["–", "–"]
    assert [row["mean squeezed"] for row in page.table("ranking")] == ["1.00000", "1.00000"]
    assert [row["rank"] for row in page.table("ranking")] == ["–", "–"]
    page.choose(kernel="raw")
    assert [row["mean raw"] for row in page.table("ranking")] == ["–", "–"]


def test_building_twice_gives_the_same_text():
    study = make_study(title="twice")
    assert build_page(study) == build_page(study)
