"""An arm that solves a simplified model is described and not compared, unless its contract says that it is exact."""

import json
import sys
from pathlib import Path

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.contract.study_file import load_contract
from gapline.errors import ContractError
from gapline.live.bounds import LiveReading
from gapline.live.state import LiveStudy
from gapline.report.facts import make_statements
from gapline.report.statements.methods import methods_markdown
from gapline.run.campaign import run_study
from gapline.solvers import simplified_arms
from live_studies import still

PROGRAM = """import json, sys
print(json.dumps({"solver": sys.argv[1], "version": "1"} | json.loads(sys.argv[3])), flush=True)
print(json.dumps({"objective": float(sys.argv[2]), "solution": [1]}), flush=True)
"""
CONTRACT = """
seeds = [1]
[study]
name = "models"
[objective]
validation = "solver"
[time]
horizon = 20
[reference]
policy = "analysis"
[[instances]]
path = "i.txt"
[[instances]]
path = "j.txt"
"""
NOTE = 'quick solves a simplified model (mean travel times): it is described, not ranked (tier 2); model = "exact"'


def arm(name, objective, printed="{}", more=""):
    command = json.dumps([sys.executable, "-S", "-E", "{study}/solve.py", name, str(objective), printed])
    return f'\n[[arms]]\nname = "{name}"\nsolver = "command"\ncommand = {command}\n{more}\n'


def write(folder: Path, *arms: str) -> Path:
    (folder / "solve.py").write_text(PROGRAM)
    for name in "ij":
        (folder / f"{name}.txt").write_text(name)
    (folder / "study.toml").write_text(CONTRACT + "".join(arms).replace("{study}", str(folder)))
    return folder


def ranks(study) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = gl.open_study(study)
    return found.ranked_arms, found.tier_two


@pytest.mark.parametrize(
    ("printed", "more"),
    # The contract's own statement is known before the runs: then no contrast may name the arm.
    [('{"model": "mean travel times"}', ""), ("{}", 'model = "mean travel times"')],
    ids=["printed by the solver", "stated in the contract"],
)
def test_it_is_tier_two_in_every_output(tmp_path, capsys, printed, more):
    study = write(tmp_path, arm("quick", 8, printed, more), arm("true", 10), arm("slow", 12))
    contrasts = '[aggregate]\ncontrasts = [["quick", "true"]]\n[[instances]]' if "model" in printed else "[[instances]]"
    (study / "study.toml").write_text((study / "study.toml").read_text().replace("[[instances]]", contrasts, 1))
    run_study(study, pin=False)
    assert ranks(study) == (("slow", "true"), ("quick",))
    unused = "the contrast quick against true is not tested: quick of tier 2"
    assert (unused in gl.open_study(study).notes()) == ("model" in printed)
    for command in ("score", "status"):
        assert run([command, str(study)]) == 0
        assert NOTE in " ".join(capsys.readouterr().out.split()), command
    watched = LiveStudy(study, clock=still).look()
    assert sorted(watched["ranking"]["arms"]["squeezed"]) == ["slow", "true"]
    assert [(pair["a"], pair["b"]) for pair in watched["bounds"]["squeezed"]["pairs"]] == [("slow", "true")]
    said = make_statements(gl.open_study(study))
    text = methods_markdown(said)
    assert (
        "Descriptive (tier 2), neither ranked nor tested: quick. quick solves a simplified model: mean travel" in text
    )
    assert "quick" not in said.headline.text
    # What was recorded goes with the runs, whoever reads them.
    assert run(["export", str(study), "-o", str(tmp_path / "traces.csv")]) == 0
    if "model" in printed:
        assert gl.open_study(tmp_path / "traces.csv", policy="analysis").tier_two == ("quick",)


def test_the_contract_may_state_that_the_model_is_exact(tmp_path, capsys):
    study = write(tmp_path, arm("quick", 8, '{"model": "mean travel times"}', 'model = "exact"'), arm("true", 10))
    run_study(study, pin=False)
    assert ranks(study) == (("quick", "true"), ())
    assert run(["status", str(study)]) == 0
    assert "simplified" not in capsys.readouterr().out
    # Said after the runs, it counts as well, and every output says when it was said.
    file = study / "study.toml"
    file.write_text(file.read_text().replace('model = "exact"', 'model = "mean travel times"'))
    assert ranks(study) == ((), ("quick",))
    assert "changed after the first run: models quick: exact became mean travel times (not registered yet)" in (
        gl.open_study(study).notes()
    )


def test_no_contrast_may_name_it(tmp_path):
    write(tmp_path, arm("quick", 8, more='model = "mean travel times"'), arm("true", 10))
    text = (tmp_path / "study.toml").read_text()
    contrasts = '[aggregate]\ncontrasts = [["quick", "true"]]\n[[instances]]'
    (tmp_path / "study.toml").write_text(text.replace("[[instances]]", contrasts, 1))
    with pytest.raises(ContractError, match="expected arms of tier 1, got 'quick' of tier 2, which is descriptive"):
        load_contract(tmp_path)


@pytest.mark.parametrize(
    ("solver", "options", "path", "model"),
    [
        ("pyvrp", "", "i.vrp.json", "mean travel times"),
        ("ortools", 'slice = "min"', "i.vrp.json", "least travel times"),
        ("jsprit", 'slice = "mid"', "i.vrp.json", "midday travel times"),
        ("jsprit", 'slice = "max"', "i.vrp.json", "largest travel times"),
        ("pyvrp", 'problem = "tdvrptw"', "i.json", "mean travel times"),
        ("pyvrp", "", "i.vrp", None),
        ("ortools", "", "i.txt", None),
        ("pyvrp", "", "i.json", None),
        ("vrp-cli", "", "i.vrp.json", "mean travel times"),
        ("vrp-cli", "slices = 96", "i.vrp.json", "travel times interpolated between 96 slices of the day"),
        ("hexaly", "", "i.vrp.json", None),
        ("hexaly", "slices = 24", "i.vrp.json", "travel times interpolated between 24 slices of the day"),
        ("kayros", "", "i.vrp.json", None),
        ("timefold", "", "i.vrp.json", None),
        ("highs", "", "i.mps", None),
    ],
)
def test_adapters_know_before_the_runs_what_they_solve(tmp_path, solver, options, path, model):
    head = CONTRACT.replace('"i.txt"', f'"{path}"')
    (tmp_path / "study.toml").write_text(
        f'{head}\n[[arms]]\nname = "a"\nsolver = "{solver}"\noptions = {{{options}}}\n'
    )
    assert simplified_arms(load_contract(tmp_path)) == ({} if model is None else {"a": model})
    # Whoever watches knows it from the first moment.
    assert LiveReading(tmp_path, load_contract(tmp_path)).tier_two == (() if model is None else ("a",))


def test_exact_said_after_the_runs_holds_in_every_analysis_and_export(tmp_path):
    study = write(tmp_path, arm("quick", 8, '{"model": "mean travel times"}'), arm("true", 10))
    run_study(study, pin=False)
    assert analysed_tiers(study) == (("quick",), ("quick",))
    file = study / "study.toml"
    file.write_text(file.read_text().replace('name = "quick"', 'name = "quick"\nmodel = "exact"'))
    assert analysed_tiers(study) == ((), ())
    assert run(["export", str(study), "-o", str(tmp_path / "traces.csv")]) == 0
    assert analysed_tiers(tmp_path / "traces.csv") == ((), ())


def test_a_model_said_after_the_runs_goes_into_the_export(tmp_path):
    study = write(tmp_path, arm("quick", 8), arm("true", 10))
    run_study(study, pin=False)
    file = study / "study.toml"
    file.write_text(file.read_text().replace('name = "quick"', 'name = "quick"\nmodel = "mean travel times"'))
    assert run(["export", str(study), "-o", str(tmp_path / "traces.csv")]) == 0
    assert analysed_tiers(tmp_path / "traces.csv") == analysed_tiers(study) == (("quick",), ("quick",))


def analysed_tiers(source):
    """Return the arms of tier 2 as the study and its analyses have them."""
    found = gl.analyse(gl.open_study(source, policy="analysis"))
    return found.study.tier_two, found.readings.tier_two
