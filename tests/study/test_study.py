"""What a study opens: which runs, against what, under which choices."""

from pathlib import Path

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.contract.reading import Coverage
from gapline.contract.study_file import load_contract
from gapline.errors import GaplineError, IntegrityError, UsageError
from gapline.journal.rebuild import rebuild_campaign
from gapline.journal.register import declare, register_plan
from gapline.report.facts import make_statements
from gapline.report.statements.methods import methods_markdown
from gapline.run.campaign import run_study

REFERENCES = {"one": 200.0, "two": 240.0}


def trace_runs(arms=("a", "b", "c"), instances=("i", "j", "k"), seeds=(1, 2)):
    return [
        {"arm": arm, "instance": i, "seed": s, "horizon": 10.0, "trace": [(1.0 + k + s / 10, 12.0), (3.0 + k, 10.5)]}
        for k, arm in enumerate(arms)
        for i in instances
        for s in seeds
    ]


def open_runs(runs=None, **choices):
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ijk", 10.0), name="mine")
    return gl.open_study(gl.Campaign.from_runs(runs or trace_runs()), snapshots=[snapshot], **choices)


@pytest.fixture
def study(make_study):
    """A study of two scripted arms on two instances, run, whose snapshot was there before the first run."""
    made = make_study({"good": ["scripted", "{seed}", "3", "0.001"], "bad": ["scripted", "{seed}", "1", "0.001"]})
    (made.path / "references").mkdir()
    gl.Snapshot.from_values(REFERENCES, name="before").save(made.path / "references" / "before.json")
    amend(made.path, '\n[reference]\nsnapshot = "references/before.json"\n[aggregate]\ncontrasts = [["good", "bad"]]\n')
    run_study(made.path, pin=False)
    return made.path


def amend(folder: Path, text: str) -> None:
    """Put tables in front of the instances, where TOML takes them."""
    file = folder / "study.toml"
    head, mark, rest = file.read_text().partition("\n[[instances]]")
    file.write_text(head + text + mark + rest)


def break_cell(folder: Path, arm: str, instance: str, seed: int) -> None:
    """Cut the end off a journal, as a killed machine leaves it, and rebuild the campaign."""
    (journal,) = folder.glob(f"journal/{arm}_{instance}_{seed}_*/attempt-001/events.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    rebuild_campaign(folder)


def remove_cell(folder: Path, arm: str, instance: str, seed: int) -> None:
    import shutil

    (cell,) = folder.glob(f"journal/{arm}_{instance}_{seed}_*")
    shutil.rmtree(cell)
    rebuild_campaign(folder)


def test_a_registered_snapshot_is_frozen_and_a_registered_contrast_is_declared(study):
    opened = gl.open_study(study)
    assert opened.references[0].policy == "frozen"
    assert opened.registered is True
    assert opened.declared == (("good", "bad"),)
    assert opened.coverage == Coverage(runs=8, planned=8)
    assert opened.reading.coverage.complete


def test_a_snapshot_that_was_rewritten_after_the_runs_is_refused_as_frozen(study):
    (study / "references" / "before.json").unlink()
    gl.Snapshot.from_values({"one": 190.0, "two": 240.0}, name="before", as_of="2020-01-01T00:00:00+00:00").save(
        study / "references" / "before.json"
    )
    with pytest.raises(IntegrityError, match="registered before the first run"):
        gl.open_study(study)
    assert gl.open_study(study, policy="analysis").references[0].policy == "analysis"


def test_a_snapshot_with_an_early_date_that_nobody_registered_is_frozen_on_the_users_word_alone(study):
    other = gl.Snapshot.from_values(REFERENCES, name="other", as_of="2020-01-01T00:00:00+00:00")
    opened = gl.open_study(make_retrospective(study), snapshots=[other])
    assert opened.references[0].policy == "given"


def make_retrospective(folder: Path) -> Path:
    """Let the contract claim nothing about when its reference was known."""
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("[reference]\n", '[reference]\npolicy = "retrospective"\n'))
    return folder


def test_a_contrast_that_was_named_after_the_runs_is_not_declared_beforehand(study):
    file = study / "study.toml"
    file.write_text(file.read_text().replace('[["good", "bad"]]', '[["bad", "good"]]'))
    assert gl.open_study(study).registered is True  # the same pair, turned round
    opened = gl.open_study(study, contrasts=[("good", "bad")])
    assert opened.registered is True
    file.write_text(file.read_text().replace('contrasts = [["bad", "good"]]', 'weighting = "run"'))
    changed = gl.open_study(study)
    assert changed.declared == ()
    assert any("weighting" in note for note in changed.notes())


def test_an_interrupted_cell_is_no_run_and_withholds_the_headline(study):
    break_cell(study, "good", "one", 2)
    opened = gl.open_study(study)
    assert opened.coverage == Coverage(runs=7, planned=8, interrupted=1)
    assert opened.coverage.short
    assert "7 of 8 planned runs, 1 interrupted" in opened.summary.caption()
    states = dict(opened.cells.group_by("state").len().iter_rows())
    assert states == {"done": 7, "interrupted": 1}


def test_a_cell_that_was_never_begun_is_missing(study):
    remove_cell(study, "bad", "two", 1)
    opened = gl.open_study(study)
    assert opened.coverage == Coverage(runs=7, planned=8, missing=1)
    assert gl.open_study(study, arm="good").coverage == Coverage(runs=4, planned=4)


def test_missing_cells_count_as_empty_streams_where_that_is_asked_for(study):
    break_cell(study, "good", "one", 2)
    remove_cell(study, "good", "one", 1)
    opened = gl.open_study(study, missing="empty")
    good = opened.summary.frame.filter(arm="good").row(0, named=True)
    assert (good["runs"], good["empty"]) == (4, 2)
    # Instance `one` has two empty streams, so its mean is 1; panels count alike.
    other = gl.open_study(study, instance="two").summary.frame.filter(arm="good")["squeezed"][0]
    assert good["squeezed"] == pytest.approx((1.0 + other) / 2, abs=1e-15)
    assert not opened.coverage.short
    assert "2 of them counted as empty" in str(opened.coverage)


def test_missing_cells_are_refused_where_that_is_asked_for(study):
    remove_cell(study, "good", "one", 1)
    with pytest.raises(GaplineError, match="1 of 8 interrupted or missing: good/one/1"):
        gl.open_study(study, missing="refuse")
    with pytest.raises(UsageError, match="missing: expected"):
        gl.open_study(study, missing="whatever")


def test_runs_of_an_arm_that_the_contract_no_longer_has_are_left_out_and_counted(study):
    file = study / "study.toml"
    head, mark, last = file.read_text().rpartition("\n[[arms]]")
    file.write_text(head.replace('contrasts = [["good", "bad"]]', ""))
    assert "bad" in last
    assert mark
    opened = gl.open_study(study)
    assert opened.coverage == Coverage(runs=4, planned=4, removed=4)
    assert set(opened.envelopes.runs["arm"]) == {"good"}
    assert any("4 runs belong to arms or cells that the contract does not have" in note for note in opened.notes())


def test_the_tolerance_of_the_contract_is_the_one_that_counts(study):
    file = study / "study.toml"
    file.write_text(file.read_text().replace("[reference]\n", "[reference]\ntolerance = 0.5\n"))
    opened = gl.open_study(study)
    assert opened.tolerance == 0.5
    assert opened.reading.tolerance == 0.5
    # 250 against 200 is within a half, so the goal of 1 % counts as attained.
    assert opened.summary.frame.filter(arm="good")["attainment:0.01"][0] == 1.0


def test_tier_two_is_described_and_never_compared():
    study = open_runs(tier_two=["c"])
    assert study.tier_one == ("a", "b")
    assert study.summary.frame["arm"].to_list() == ["a", "b", "c"]
    assert study.ranking.frame["arm"].to_list() == ["a", "b"]
    assert study.contrasts.frame.select("a", "b").rows() == [("a", "b")]
    assert study.reading.tier_two == ("c",)
    with pytest.raises(UsageError, match="tier 2"):
        open_runs(tier_two=["c"], contrasts=[("a", "c")]).contrasts  # noqa: B018


def test_every_result_carries_the_reading_of_the_study():
    study = open_runs(weight="early-log:0.5", weighting="instance", tier_two=["c"])
    results = [study.summary, study.intervals, study.contrasts, study.ranking, *study.scores]
    for result in results:
        reading = result.reading
        assert reading.reference == study.reading.reference
        assert (reading.weight, reading.tier_two, reading.coverage) == ("early-log:0.5", ("c",), study.coverage)
        assert "weight early-log:0.5" in result.caption()
    assert {result.reading.weighting for result in results[:4]} == {"instance"}


def test_means_of_every_result_are_the_same_to_the_last_bit():
    study = open_runs(weighting="instance")
    means = dict(study.summary.frame.select("arm", "squeezed").iter_rows())
    assert dict(study.intervals.frame.select("arm", "mean").iter_rows()) == pytest.approx(means, abs=1e-15)
    assert dict(study.ranking.frame.select("arm", "mean").iter_rows()) == pytest.approx(means, abs=1e-15)


def test_both_policies_stand_side_by_side_and_the_declared_one_leads():
    study = open_runs(policy="both")
    assert [entry.policy for entry in study.references] == ["given", "analysis"]
    assert study.folded is study.references[1]
    assert study.reading.reference.policy == "given"


def test_without_a_reference_the_policy_analysis_takes_the_best_of_the_runs():
    campaign = gl.Campaign.from_runs(trace_runs())
    with pytest.raises(UsageError, match="expected a reference"):
        gl.open_study(campaign)
    study = gl.open_study(campaign, policy="analysis")
    assert study.references[0].policy == "analysis"
    assert study.summary.frame["squeezed"].min() >= 0


def test_several_sources_have_no_contract_in_common(study):
    opened = gl.open_study(study / "campaign", snapshots=[gl.Snapshot.from_values(REFERENCES, name="mine")])
    assert opened.contract is None
    assert opened.coverage.planned is None


def test_an_unknown_contrast_proposes_the_nearest_arm():
    with pytest.raises(UsageError, match="did you mean 'a'"):
        open_runs(contrasts=[("aa", "b")])


def test_a_solver_whose_version_changed_inside_an_arm_is_a_note_of_every_result():
    runs = [run | {"solver_version": "1.0" if run["seed"] == 1 else "1.1"} for run in trace_runs(arms=("a",))]
    assert any("a" in note and "1.0" in note and "1.1" in note for note in open_runs(runs).notes())
    assert not any("1.0" in note for note in open_runs([run | {"solver_version": "1.0"} for run in runs]).notes())


def test_unchecked_candidates_are_counted_or_left_out_never_both():
    with pytest.raises(UsageError, match="got both"):
        open_runs(validation="solver", allow_unchecked=True)


def test_the_fold_of_an_analysis_takes_the_tolerance_of_the_contract(study):
    """A proof of 300 is beaten by 250, unless the contract says that such a difference is none."""
    proven = gl.Snapshot.from_values({"one": 300.0, "two": 300.0}, name="proven", certified=["one", "two"])
    file = study / "study.toml"
    for line, certified in (("", False), ("tolerance = 0.5\n", True)):
        file.write_text(file.read_text().replace("[reference]\n", f"[reference]\n{line}"))
        opened = gl.open_study(study, snapshots=[proven], policy="analysis")
        assert {entry.certified for entry in opened.snapshot.values.values()} == {certified}
        assert {entry.certified for entry in opened.folded.snapshot.values.values()} == {certified}


def test_notes_of_a_store_stand_with_the_scores(tmp_path):
    (tmp_path / "lib.solu").write_text("=opt= i 10\n=best= j 10\n=best= k 10\n=inf= z\n")
    opened = gl.open_study(gl.Campaign.from_runs(trace_runs()), references=tmp_path / "lib.solu")
    assert opened.references[0].policy == "given"
    assert any("instances without a primal value: 1 (z)" in note for note in opened.notes())
    assert "lib: the date of these values is not stated" in opened.notes()


def test_a_plan_registered_while_the_cells_were_moved_aside_is_not_called_frozen_or_declared_beforehand(study, capsys):
    """The journal is empty for a moment; the starts in its journals are earlier than the line that was added then."""
    journal, aside = study / "journal", study / "aside"
    aside.mkdir()
    (journal / "register.jsonl").unlink()
    cells = [path for path in journal.iterdir() if path.is_dir()]
    for cell in cells:
        cell.rename(aside / cell.name)
    register_plan(study, declare(study, load_contract(study)))
    for cell in cells:
        (aside / cell.name).rename(cell)
    assert run(["score", str(study)]) == 1
    assert "registered after the runs began" in capsys.readouterr().err
    opened = gl.open_study(make_retrospective(study))
    assert (opened.references[0].policy, opened.registered) == ("registered after the runs began", False)
    assert any(note.startswith("the plan was registered after the runs began: at 20") for note in opened.notes())
    text = make_statements(opened)
    paragraph = methods_markdown(text)
    assert "a snapshot that was registered after the runs began" in paragraph
    assert "1 contrast registered after the runs began" in paragraph
    assert "The plan was registered after the runs began: at 20" in paragraph
    assert "before the first run" not in paragraph
