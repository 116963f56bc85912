"""What a study decides from its contract, its register and its caller, on campaigns that nobody had to run."""

from functools import partial

import pytest

import gapline as gl
from gapline.contract.reading import Coverage
from gapline.errors import GaplineError, TraceError, UncheckedError
from gapline.references.snapshot import Snapshot
from study.ruled_study import CELLS, write_study


@pytest.fixture
def make(tmp_path):
    return partial(write_study, tmp_path)


def two_arms():
    """Arm a ends at 8 after two seconds, arm b begins at 10: against 10 a scores 1/9, against 8 it scores 1/5."""
    return gl.Campaign.from_runs(
        [
            {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(2, 8.0)]},
            {"arm": "b", "instance": "i", "seed": 1, "horizon": 10, "trace": [(0, 10.0)]},
        ]
    )


@pytest.mark.parametrize(("policy", "means"), [("both", (1 / 9, 0.0)), ("analysis", (1 / 5, 1 / 9))])
def test_every_number_of_the_study_is_against_the_reference_that_leads(policy, means):
    study = gl.open_study(two_arms(), snapshots=[Snapshot.from_values({"i": 10.0}, name="known")], policy=policy)
    assert study.snapshot.values["i"].value == (10.0 if policy == "both" else 8.0)
    for table, column in ((study.summary, "squeezed"), (study.intervals, "mean"), (study.ranking, "mean")):
        found = dict(table.frame.select("arm", column).iter_rows())
        assert (found["a"], found["b"]) == pytest.approx(means, abs=1e-15)
    assert study.contrasts.frame["difference"].to_list() == pytest.approx([means[0] - means[1]], abs=1e-15)


def test_sensitivity_is_judged_between_what_was_asked_for_and_the_other_policy():
    known = Snapshot.from_values({"i": 10.0}, name="known")
    for policy, others in ((None, ["given", "analysis"]), ("analysis", ["analysis", "given"])):
        study = gl.open_study(two_arms(), snapshots=[known], policy=policy)
        assert [entry.policy for entry in study.both] == others
    assert gl.open_study(two_arms(), snapshots=[known], policy="both").both[1].snapshot.values["i"].value == 8.0


def test_a_goal_of_zero_never_leads(make):
    assert gl.open_study(make(tables="[score]\ngoals = [0.0, 0.05, 0.01]\n")).goals == (0.05, 0.0, 0.01)


def test_choices_of_the_caller_count_also_where_they_are_zero(make):
    folder = make(tables="[aggregate]\nbootstrap = { draws = 50, seed = 3, level = 0.8 }\n")
    declared, given = gl.open_study(folder), gl.open_study(folder, seed=0, draws=60, level=0.9)
    assert (declared.seed, declared.draws, declared.level) == (3, 50, 0.8)
    assert (given.seed, given.draws, given.level) == (0, 60, 0.9)
    assert (given.bootstrap.seed, given.bootstrap.draws, given.ranking.level) == (0, 60, 0.9)


def test_the_contracts_tiers_and_contrasts_count_as_far_as_its_arms_are_there(make):
    folder = make(tables='[aggregate]\ncontrasts = [["a", "b"]]\n')
    opened = gl.open_study(folder)
    assert (opened.tier_one, opened.tier_two, opened.declared) == (("a", "b"), ("c",), (("a", "b"),))
    assert opened.ranking.frame["arm"].to_list() == ["a", "b"]
    assert gl.open_study(folder, arm=["a", "c"]).declared == ()
    assert gl.open_study(folder, arm=["a", "b"]).tier_two == ()
    # Named here, b is descriptive: the contract's own contrast must not test it.
    assert gl.open_study(folder, tier_two=["b"]).declared == ()


def test_contrasts_were_registered_only_where_each_of_them_was(make):
    one, other = ('[aggregate]\ncontrasts = [["a", "b"]]\n', '[aggregate]\ncontrasts = [["b", "a"]]\n')
    assert gl.open_study(make(tables=one, before=one)).registered is True
    # The same pair turned round, and one that nobody registered beside it.
    assert gl.open_study(make(tables=other)).registered is True
    assert gl.open_study(make(tables=one), contrasts=[("a", "b"), ("a", "c")]).registered is False
    assert gl.open_study(make()).registered is None


def test_nobody_knows_when_a_contrast_was_named_without_a_register(make):
    folder = make(tables='[aggregate]\ncontrasts = [["a", "b"]]\n')
    assert gl.open_study(folder).registered is None
    assert gl.open_study(two_arms(), policy="analysis", contrasts=[("a", "b")]).registered is None


def test_the_contracts_tolerance_reaches_alarms_scores_and_bands(make):
    # 9 is better than a certified 10 by a tenth.
    assert [alarm.instance for alarm in gl.open_study(make(objective=9.0)).alarms] == ["i", "j"]
    wide = gl.open_study(make(objective=9.0, reference="tolerance = 0.5"))
    assert (wide.alarms, wide.scores[0].frame["beaten"].any()) == ((), False)
    # 12 is within a half of 10, so the goal of 1 % counts as attained, in the means and in the band.
    far = gl.open_study(make(reference="tolerance = 0.5"))
    assert far.summary.frame["attainment:0.01"].to_list() == [1.0] * 3
    assert far.attainment_bands["value"].max() == 1.0
    exact = gl.open_study(make())
    assert exact.summary.frame["attainment:0.01"].to_list() == [0.0] * 3
    assert exact.attainment_bands is None


def test_coverage_of_some_arms_counts_their_own_cells(make):
    study = gl.open_study(make(cells=[cell for cell in CELLS if cell != ("b", "j", 2)]))
    assert study.coverage == Coverage(runs=11, planned=12, missing=1)
    assert study.coverage_of(["a"]) == Coverage(runs=4, planned=4)
    assert study.coverage_of(["b"]) == Coverage(runs=3, planned=4, missing=1)


def test_a_filled_cell_has_the_horizon_of_its_instance_and_is_counted(make):
    study = gl.open_study(make(cells=[cell for cell in CELLS if cell != ("b", "j", 2)]), missing="empty")
    filled = study.envelopes.runs.filter(arm="b", instance="j", seed=2).row(0, named=True)
    assert (filled["horizon"], filled["steps"], filled["status"]) == (5.0, 0, "lost")
    assert (study.coverage.runs, study.coverage.missing, study.coverage.filled) == (12, 1, 1)
    assert any("1 cells without a whole run count as empty" in note for note in study.notes())


def test_a_contract_beside_an_import_plans_no_cell(make):
    study = gl.open_study(make(cells=CELLS[:5], ran=False))
    assert (study.coverage.planned, study.coverage.missing) == (None, 0)
    assert study.coverage.document()["complete"] is None
    # Beside journals of ours the same runs fall short of the plan.
    assert gl.open_study(make(cells=CELLS[:5])).coverage == Coverage(runs=5, planned=12, missing=7)


def test_runs_are_left_out_by_cell_where_we_ran_them_and_by_arm_elsewhere(make):
    cells = [*CELLS, ("a", "i", 3), ("x", "i", 1)]
    assert len(gl.open_study(make(cells=cells, ran=False)).envelopes) == 13
    assert gl.open_study(make(cells=cells)).coverage == Coverage(runs=12, planned=12, removed=2)
    with pytest.raises(GaplineError, match=r"expected runs that the contract asks for, got 1 others \(arms x\)"):
        gl.open_study(make(cells=[("x", "i", 1)]))


def test_the_contracts_policy_counts_unless_the_caller_names_another(make):
    folder = make(reference='policy = "analysis"')
    assert [entry.policy for entry in gl.open_study(folder).references] == ["analysis"]
    assert gl.open_study(folder, policy="frozen").references[0].policy == "given"


def test_unchecked_candidates_are_refused_left_out_or_trusted():
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(0, 12.0, True), (5, 10.0, None)]}
    campaign, known = gl.Campaign.from_runs([run]), Snapshot.from_values({"i": 10.0}, name="known")
    with pytest.raises(UncheckedError):
        gl.open_study(campaign, snapshots=[known])
    with pytest.raises(UncheckedError):
        gl.open_study(campaign, snapshots=[known], validation="checker")
    for choice, final in (({"allow_unchecked": True}, 0.2), ({"validation": "solver"}, 0.0)):
        found = gl.open_study(campaign, snapshots=[known], **choice).summary.frame["final_gap"][0]
        assert found == pytest.approx(final, abs=1e-15)


def test_a_contract_states_the_direction_or_it_is_judged(make):
    folder = make(ran=False)
    runs = [
        {"arm": arm, "instance": instance, "seed": seed, "horizon": {"i": 10.0, "j": 5.0}[instance]}
        | {"status": "finished", "trace": [(time, 5.0 + time) for time in range(1, 5)]}
        for arm, instance, seed in CELLS
    ]
    gl.Campaign.from_runs(runs).save(folder / "campaign", overwrite=True)
    with pytest.raises(TraceError, match="seems to be maximised"):
        gl.read(folder)
    with pytest.raises(TraceError, match="seems to be maximised") as refused:
        gl.open_study(folder.as_posix())
    assert "`[objective] sense` of study.toml" in refused.value.hint
    assert gl.open_study(folder.as_posix(), sense="max").envelopes.runs["best_raw"].unique().to_list() == [9.0]
    text = (folder / "study.toml").read_text()
    for sense, best in (("min", 6.0), ("max", 9.0)):
        (folder / "study.toml").write_text(text.replace("[objective]", f'[objective]\nsense = "{sense}"'))
        assert gl.open_study(folder.as_posix()).envelopes.runs["best_raw"].unique().to_list() == [best]
        frozen = gl.freeze_snapshot(f"campaign:{folder}", name="best", trust_solver=True)
        assert {entry.value for entry in frozen.values.values()} == {best}
