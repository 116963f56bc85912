"""An instance that nobody solved: no reference, listed and counted, and every run on it scores the worst value."""

import json
from statistics import mean

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gapline as gl
from gapline.cli.app import run
from gapline.contract.tables import RunKey
from gapline.errors import MissingReferenceError
from gapline.report.curves import study_attainment, study_mean_curve
from gapline.report.figures.gap_area import area_figure
from gapline.report.page.data import page_data
from strategies import KERNELS, campaigns

BEFORE = {"squeezed": 1.0, "maxform": 1.0, "berthold": 1.0, "dimacs:1.1": 1.1 - 1.0, "dimacs:2": 1.0}
# Candidates on j: none, an invalid one, one after the horizon, and one that nobody checked.
TRACES = """arm,instance,seed,time,objective,valid,horizon,panel
a,i,1,1,12,true,10,p
a,i,2,2,11,true,10,p
b,i,1,3,10,true,10,p
b,i,2,5,10,true,10,p
a,k,1,1,12,true,10,q
a,k,2,2,11,true,10,q
b,k,1,3,10,true,10,q
b,k,2,5,14,true,10,q
a,j,1,,,,10,q
a,j,2,3,7,false,10,q
b,j,1,,,,10,q
b,j,2,11,8,true,10,q
"""


@pytest.fixture
def traces(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "traces.csv").write_text(TRACES)
    return "traces.csv"


def as_json(capsys, *arguments):
    code = run([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def accepted(one):
    """The steps of a run by the definition: valid, in time, strictly better, the best of equal stamps."""
    inside = sorted((t, z) for t, z, valid in one["trace"] if valid and t <= one["horizon"])
    steps: dict[float, float] = {}
    best = float("inf")
    for t, z in inside:
        if z < best:
            best = steps[t] = z
    return list(steps), list(steps.values())


def mean_by_hand(rows, weighting):
    """Rows (panel, instance, score) of one arm: over seeds, then instances, then panels, as far as the rule says."""
    if weighting == "run":
        return mean(score for *_, score in rows)
    cells: dict[tuple, list[float]] = {}
    for panel, instance, score in rows:
        cells.setdefault((panel, instance), []).append(score)
    if weighting == "instance":
        return mean(map(mean, cells.values()))
    panels: dict[str, list[float]] = {}
    for (panel, _), scores in cells.items():
        panels.setdefault(panel, []).append(mean(scores))
    return mean(map(mean, panels.values()))


ONE = {"arm": "a", "instance": "i1", "seed": 1, "panel": "i", "horizon": 7.0, "trace": [(1.0, 5.0, True)]}


@pytest.mark.slow
@example(([ONE], {}), "x", 2, "panel")
@given(campaigns(), st.sampled_from(["i", "j", "x"]), st.integers(1, 3), st.sampled_from(["panel", "instance", "run"]))
def test_the_mean_is_the_one_by_hand_with_the_worst_value(drawn, panel, seeds, weighting):
    runs, _ = drawn
    nobody = [
        {"arm": arm, "instance": "unsolved", "seed": s, "panel": panel, "horizon": 9.0, "trace": [(1.0, 3.0, False)]}
        for arm in sorted({one["arm"] for one in runs})
        for s in range(seeds)
    ]
    study = gl.open_study(
        gl.Campaign.from_runs([*runs, *nobody]), policy="analysis", kernels=KERNELS, weighting=weighting,
        sense="min", allow_empty=True,
    )  # fmt: skip
    best: dict[str, float] = {}
    for one in runs:
        for z in accepted(one)[1]:
            best[one["instance"]] = min(z, best.get(one["instance"], z))
    unsolved = sorted({one["instance"] for one in [*runs, *nobody]} - best.keys())
    assert study.references[0].label.unreferenced == tuple(unsolved)
    assert study.coverage.unreferenced == sum(one["instance"] in unsolved for one in [*runs, *nobody])
    for row in study.summary.frame.iter_rows(named=True):
        for kernel in KERNELS:
            rows = []
            for one in [*runs, *nobody]:
                if one["arm"] != row["arm"]:
                    continue
                times, values = accepted(one)
                score = BEFORE[kernel]
                if times:
                    reference, horizon = best[one["instance"]], one["horizon"]
                    score = gl.primal_integral(times, values, reference=reference, horizon=horizon, kernel=kernel)
                rows.append((one["panel"], one["instance"], score))
            assert row[kernel] == pytest.approx(mean_by_hand(rows, weighting), rel=1e-12, abs=1e-12)


def stripped(document):
    """A document without the names, digests and words of its references."""
    if isinstance(document, dict):
        gone = ("reference", "reading", "readings", "digest", "name", "coverage")
        return {name: stripped(value) for name, value in document.items() if name not in gone}
    return [stripped(value) for value in document] if isinstance(document, list) else document


@pytest.mark.parametrize("value", [3.0, 1e6])
def test_nothing_but_the_words_depends_on_the_reference_that_is_not_there(traces, value):
    known = {"i": 9.5, "k": 10.0}
    choices = {"draws": 50, "kernels": ["squeezed", "dimacs:1.1", "maxform"], "goals": [0.01]}
    without, with_value = (
        gl.open_study(traces, snapshots=[gl.Snapshot.from_values(values, name="mine")], **choices)
        for values in (known, known | {"j": value})
    )
    assert stripped(gl.analyse(without).document()) == stripped(gl.analyse(with_value).document())
    for column in ("squeezed", "final_gap", "final_squeezed", "first_time", "hit:0.01", "beaten"):
        assert without.scores[0].frame[column].equals(with_value.scores[0].frame[column])
    for curve in (study_mean_curve, study_attainment):
        one, other = (curve(study, by=["arm", "panel"], relative=False).frame for study in (without, with_value))
        assert one.equals(other)
    assert without.scores[0].frame.filter(instance="j")["reference"].to_list() == [None] * 4


def test_without_a_value_before_the_first_incumbent_there_is_no_score(traces):
    frame = gl.open_study(traces, policy="analysis", kernels=["raw"]).scores[0].frame
    assert frame.filter(instance="j")["raw"].to_list() == [None] * 4


def test_every_policy_says_it_and_what_somebody_solved_is_still_refused(traces):
    whole, short = (gl.Snapshot.from_values(v, name="mine") for v in ({"i": 9.0, "k": 9.0}, {"i": 9.0}))
    for policy in ("frozen", "analysis", "both"):
        study = gl.open_study(traces, snapshots=[whole], policy=policy)
        for scores in study.scores:
            assert "4 runs on instances that nobody solved, without reference, score the worst value" in (
                scores.caption()
            )
            assert scores.reading.document()["reference"]["unreferenced"] == ["j"]
            assert any("1 instance without reference: nobody solved it (j); its 4 runs" in n for n in scores.notes)
    with pytest.raises(MissingReferenceError, match=r"got 1 without: k \(missing\)"):
        _ = gl.open_study(traces, snapshots=[short]).scores
    left = gl.open_study(traces, snapshots=[short], leave_out_unscorable=True)
    assert (list(left.left_out), left.references[0].label.unreferenced) == (["k"], ("j",))


def test_a_stored_reference_that_lacks_a_solved_instance_does_not_block_the_analysis_policy(traces):
    short = gl.Snapshot.from_values({"i": 9.0}, name="mine")
    study = gl.open_study(traces, snapshots=[short], policy="analysis", draws=20)
    assert gl.analyse(study).document()["references"] is None
    assert "mine has no value of 1 instance (k): the best of these runs counts" in study.notes()


def test_each_snapshot_counts_what_it_lacks(traces):
    values = {"i": 9.0, "k": 9.0}
    both = [gl.Snapshot.from_values(v, name=n) for n, v in (("short", values), ("long", values | {"j": 5.0}))]
    study = gl.open_study(traces, snapshots=both)
    assert [scores.reading.coverage.unreferenced for scores in study.scores] == [4, 0]
    assert [study.reading_of(entry).coverage.unreferenced for entry in study.references] == [4, 0]
    assert study.coverage_of(["a"]).unreferenced == 2


@pytest.mark.slow
def test_every_command_lists_it(traces, tmp_path, capsys):
    policy = [traces, "--policy", "analysis"]
    code, scores = as_json(capsys, "score", *policy)
    assert (code, scores["reference"]["unreferenced"], scores["coverage"]["unreferenced"]) == (0, ["j"], 4)
    code, curves = as_json(capsys, "curve", *policy)
    assert code == 0
    assert "nobody solved" in json.dumps(curves)
    code, analysis = as_json(capsys, "analyse", *policy, "--draws", 20)
    assert (code, analysis["reading"]["reference"]["unreferenced"]) == (0, ["j"])
    code, compared = as_json(capsys, "compare", f"{traces}:a", f"{traces}:b", "--policy", "analysis", "--draws", 20)
    assert (code, compared["reference"]["unreferenced"], compared["coverage"]["unreferenced"]) == (0, ["j"], 4)
    assert run(["report", *policy, "--draws", "20", "-o", "out", "--format", "svg"]) == 0
    said = "4 runs on instances that nobody solved, without reference, score the worst value"
    for name in ("report.html", "methods.md", "methods.tex", "macros.tex"):
        assert said in (tmp_path / "out" / name).read_text(), name
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["facts"]["coverage"]["unreferenced"] == 4
    assert results["reading"]["reference"]["unreferenced"] == ["j"]


def test_a_fold_leaves_it_out_and_its_digest_stays(traces):
    campaign = gl.read(traces)
    envelopes = gl.build_envelopes(campaign)
    once, again = (gl.analysis_snapshot(None, envelopes) for _ in range(2))
    assert sorted(once.values) == ["i", "k"]
    assert once.digest == again.digest
    assert gl.fold_snapshot(once, envelopes, name="again").digest == once.digest


def test_the_area_of_a_run_without_reference_is_the_whole_horizon(traces):
    study = gl.open_study(traces, policy="analysis")
    figure = area_figure(study.envelopes, study.snapshot, RunKey("a", "j", 1))
    assert figure.score == 1.0
    assert figure.data.rows() == [(0.0, 1.0), (10.0, 1.0)]


def test_the_page_has_no_number_for_it(traces):
    head = page_data(gl.open_study(traces, policy="analysis", draws=20)).head
    place = head["units"]["name"].index("j")
    (snapshot,) = head["snapshots"]
    assert (snapshot["references"][place], snapshot["certified"][place], snapshot["source"][place]) == (None, False, "")
    json.dumps(head, allow_nan=False)
