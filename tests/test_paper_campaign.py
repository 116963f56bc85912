"""The paper's campaign, made small: one contract, from the plan over real solvers to the tables of the paper."""

import shutil
import subprocess

import polars as pl
import pytest

from cli.worked_traces import as_json
from gapline.cli.app import run
from gapline.contract.study_file import load_contract
from gapline.executors.core_leases import cores

pytestmark = pytest.mark.slow

pytest.importorskip("kayros")
pytest.importorskip("pyvrp")
pytest.importorskip("vrp_cli")
THREADS = [count for count in (1, 2, 4) if count <= len(cores())]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Run it once for all tests; solvers stop by steps, so that what they find does not depend on the machine."""
    from campaigns.paper import small_scale, write_small

    scale = small_scale(horizon=60.0, iterations=20, sliced_on="east-n10-1", threaded_on="east-n10-2")
    folder = write_small(tmp_path_factory.mktemp("small"), scale, families=["east"])
    assert run(["run", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def report(study):
    assert run(["report", str(study), "--format", "svg", "--log-time"]) == 0
    return study / "results"


def test_it_is_the_contract_of_the_full_campaign(study):
    """The same entries, one by one: what differs are numbers, names and solvers."""
    from campaigns.paper import FULL, contract_text, small_scale

    full, small = (
        [line.split("=")[0].strip() for line in contract_text(scale, name="x").splitlines()]
        for scale in (FULL, small_scale(horizon=1.0))
    )
    assert [line for line in full if line != "options"] == [line for line in small if line != "options"]
    contract = load_contract(study, files=True)
    assert [arm.tier for arm in contract.arms] == [1, 1, 1, 1, 2, *[2] * (3 + len(THREADS))]
    assert len(contract.aggregate.contrasts) == 3


def test_every_planned_run_is_done(study, capsys):
    code, document = as_json(capsys, "status", str(study))
    assert code == 0
    assert (document["planned"], document["done"]) == (36 + 2 * len(THREADS),) * 2
    code, plan = as_json(capsys, "status", str(study), "--plan")
    assert [(row["evidence"], row["arms"], row["runs_each"], row["seeds"]) for row in plan["design"]] == [
        ("tier 1", 4, "6", "1 or 2"),
        ("tier 2", 1, "6", "1 or 2"),
        ("slices ladder", 3, "2", "2"),
        ("threads ladder", len(THREADS), "2", "2"),
    ]


def test_the_report_has_design_ladders_saturation_signs_and_ratios(report):
    tables = {path.stem: pl.read_csv(path) for path in (report / "tables").glob("*.csv")}
    design = tables["design"]
    assert design["done"].to_list() == design["runs"].to_list() == [24, 6, 6, 2 * len(THREADS)]
    validity = tables["ladder-validity"]
    steps = [f"slices {n}" for n in (5, 24, 96)] + [f"threads {n}" for n in THREADS]
    assert validity["setting"].to_list() == steps
    assert validity["runs"].to_list() == [2] * len(steps)
    # vrp-cli shows its last solution alone: one candidate, valid or not.
    assert (validity["captured"] - validity["rejected"] == validity["runs"] - validity["empty"]).all()
    for name in ("saturation", "signs", "ratios", "kernel-ratios", "pooled", "health"):
        arms = set(tables[name]["arm" if "arm" in tables[name].columns else "a"])
        assert not any(arm.startswith("vrp-cli") for arm in arms), name
    runs = tables["signs"].group_by("kernel", "reference").agg(pl.col("runs").sum())["runs"]
    assert runs.unique().to_list() == [30]
    assert tables["saturation"].filter(pl.col("saturated") > pl.col("runs")).is_empty()
    page = (report / "report.html").read_text(encoding="utf-8")
    assert 'id="table-design"' in page
    assert 'id="table-ladder-validity"' in page
    macros = (report / "macros.tex").read_text(encoding="utf-8")
    for name in ("StudySaturatedDimacsOneOneFrozen", "StudyNegativeSqueezedAnalysis", "VrpCliSlicesFiveHalfValidBy"):
        assert f"\\newcommand{{\\{name}}}" in macros


def test_the_means_of_the_ladders_are_those_of_score(study, report, capsys):
    code, document = as_json(capsys, "score", str(study))
    assert code == 0
    scores = {row["arm"]: row["scores"]["squeezed"] for row in document["arms"]}
    for row in pl.read_csv(report / "tables/ladder-means.csv").to_dicts():
        assert row["squeezed"] == pytest.approx(scores[row["arm"]], abs=1e-15)


def test_the_paper_comes_out_of_it_and_compiles(study, report, tmp_path, capsys):
    assert run(["paper", str(study), "-o", str(tmp_path), "--format", "svg"]) == 0
    assert "9 figures" in capsys.readouterr().out
    tables = sorted(path.name for path in (tmp_path / "tables").glob("*.tex"))
    of_the_study = ("design", "health", "ladder-validity", "ladder-means", "pooled", "saturation", "signs", "ratios")
    assert {f"{name}.tex" for name in (*of_the_study, "kernel-ratios", "pairs", "grid")} <= set(tables)
    for name in tables:
        if (report / "tables" / name).exists():
            assert (tmp_path / "tables" / name).read_bytes() == (report / "tables" / name).read_bytes()
    if shutil.which("pdflatex") is None:
        pytest.skip("no pdflatex on this machine")
    packages = "\\usepackage[T1]{fontenc}\\usepackage[utf8]{inputenc}\\usepackage{booktabs}\\usepackage{lmodern}"
    inputs = "\n".join(f"\\input{{tables/{name}}}" for name in tables)
    used = "\\StudyCampaignRuns{} runs, \\StudySaturatedDimacsOneOneFrozen{} saturated."
    macros = f"\\input{{{report / 'macros.tex'}}}"
    text = f"\\documentclass{{article}}{packages}{macros}\\begin{{document}}{used}\n{inputs}\\end{{document}}"
    (tmp_path / "all.tex").write_text(text, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:].decode("utf-8", "replace")
