import tomllib
from dataclasses import replace

import polars as pl
import pytest

from gapline.contract.contract import Contract
from gapline.contract.layout import Identity
from gapline.contract.reading import Coverage
from gapline.errors import UsageError
from gapline.report.facts import instance_set_digest, make_statements
from gapline.report.statements.methods import (
    NOT_DECLARED,
    contrast_sentence,
    methods_clauses,
    methods_latex,
    methods_markdown,
)
from gapline.report.writers.latex_text import number_cell
from gapline.report.writers.markdown import plain
from report.report_studies import by_columns, by_hand, hierarchical, synthetic
from study.ladder_study import TRACES, ladder_study

CONTRACT = """
seeds = [1, 2]
[study]
name = "by hand"
[objective]
name = "50% of the cost_a"
sense = "min"
checker = "cvrp"
[time]
horizon = 10
threads = 2
machine = "one core"
[reference]
tolerance = 1e-6
[[instances]]
path = "i.vrp"
[[arms]]
name = "a"
solver = "pyvrp"
"""
TOPICS = [
    "objective", "transform", "validation", "arms and solvers", "instances", "clock", "charged work", "horizon",
    "granularity", "threads", "machine", "reference", "kernel", "time weight", "coverage", "failures", "aggregation",
    "goals", "uncertainty", "contrasts", "provenance",
]  # fmt: skip


def written(write, study):
    return write(make_statements(study))


def clauses(study, **changes):
    changed = replace(study, **changes)
    return {clause.topic: clause for clause in methods_clauses(make_statements(changed).facts)}


def contracted():
    """The study by hand as if a contract had declared it."""
    contract = Contract.model_validate(tomllib.loads(CONTRACT))
    return replace(by_hand(), contract=contract, contract_text=CONTRACT, tolerance=contract.reference.tolerance)


def test_completeness_is_judged_against_the_plan(tmp_path, monkeypatch):
    """The union of all arms' cells is no plan: a ladder is planned on few instances."""
    study = ladder_study(tmp_path)
    text = written(methods_markdown, study)
    assert "13 of 14 planned runs, 1 missing" in text
    assert "Missing runs: sliced 24 (i, seed 2); means are over the runs that are there." in text
    monkeypatch.setitem(TRACES, ("sliced 24", "i", 2), [(6, 15.0, True)])
    whole = ladder_study(tmp_path)
    text = written(methods_markdown, whole)
    assert "14 of 14 planned runs" in text
    assert "issing" not in text
    assert whole.summary.balance.complete
    assert not any("missing" in note for note in whole.notes())


def test_every_clause_is_there_with_and_without_a_contract():
    for study in (by_hand(), contracted(), synthetic()):
        beaten = ["beaten references"] * (study.scores[0].beaten is not None)
        place = TOPICS.index("kernel")
        assert list(clauses(study)) == [*TOPICS[:place], *beaten, *TOPICS[place:]]


def test_what_nobody_said_is_marked_and_nothing_else():
    missing = {topic for topic, clause in clauses(by_hand()).items() if not clause.declared}
    assert missing == {
        "objective", "validation", "arms and solvers", "instances", "clock", "charged work", "granularity", "threads",
        "machine", "coverage", "contrasts",
    }  # fmt: skip
    declared = clauses(contracted(), coverage=Coverage(8, planned=8))
    assert {topic for topic, clause in declared.items() if not clause.declared} == {
        "validation", "instances", "contrasts",
    }  # fmt: skip
    for found in (clauses(by_hand()), declared):
        for clause in found.values():
            assert (NOT_DECLARED in clause.text) == (not clause.declared)


def test_the_numbers_in_the_text_are_those_of_the_data():
    found = clauses(contracted())
    assert "50% of the cost_a, minimised" in found["objective"].text
    assert "2 threads" in found["threads"].text
    assert "8 runs with 9 captured candidates, 1 candidate was rejected" in found["failures"].text
    assert "1 run without any valid candidate: such a run scores 1" in found["failures"].text
    assert "2 arms, 2 instances in 1 panel, 2 runs per arm and instance" in found["aggregation"].text
    one = by_hand().envelopes.select(pl.col("seed") == by_hand().envelopes.runs["seed"].min())
    assert "1 run per arm and instance" in clauses(by_hand(), envelopes=one)["aggregation"].text
    assert by_hand().references[0].snapshot.digest in found["reference"].text
    assert "only by more than a relative 1e-06" in found["reference"].text
    assert contracted().campaign.digest() in found["provenance"].text


def test_of_a_typed_file_nothing_is_claimed_that_nobody_knows():
    text = written(methods_markdown, by_hand())
    for claim in ("independent checker", "was checked", "announced", "crashed", "declared beforehand", "0 crashed"):
        assert claim not in text, claim
    assert "The source declares which candidates are valid" in text
    assert "The horizon is 10 s, as stated in the file" in text
    assert "Of 8 runs the source does not say how they ended." in text


@pytest.mark.parametrize(
    ("facts", "validation", "words"),
    [
        ({"checker": "cvrp 1.2"}, "checker", "recomputed by the checker cvrp 1.2"),
        ({}, "checker", "The source declares which candidates are valid"),
        ({}, "declared", "The source declares which candidates are valid"),
        ({"checker": "cvrp 1.2"}, "declared", "The source declares which candidates are valid"),
        ({"checker": "cvrp 1.2"}, "solver", "because the solver said so"),
    ],
)
def test_a_checker_is_named_only_where_one_looked(facts, validation, words):
    clause = clauses(by_columns(facts, validation=[validation] * 2))["validation"]
    assert words in clause.text
    assert ("cvrp" in clause.text) == (validation == "checker" and bool(facts))


def test_statuses_are_counted_where_they_are_known():
    text = clauses(by_columns(status=["crashed", "unknown"]))["failures"].text
    assert "1 run crashed, were killed or were lost; a run that stopped after valid candidates (1 of these)" in text
    assert "Of 1 run the source does not say how they ended" in text
    assert "does not say" not in clauses(by_columns(status=["crashed", "finished"]))["failures"].text


def test_superseded_attempts_are_counted_from_the_runs_by_why_and_are_no_problems_of_the_reading():
    study = by_columns(attempts=[3, 1])
    text = clauses(study)["failures"].text
    assert "the first whole and undisturbed one of a run, 2 further were made; they are kept and not counted." in text
    assert "problem" not in text
    because = {"cut short": 1, "changed after it was written": 1}
    known = replace(study.campaign.diagnostics, superseded=because, left_behind=4, over_cap=5)
    text = clauses(replace(study, campaign=replace(study.campaign, diagnostics=known)))["failures"].text
    assert "2 further were made (1 changed after it was written, 1 cut short); they are kept" in text
    assert "Processes that outlived the clearing of their run: 4." in text
    assert "Events over the cap of a journal, which are in no run: 5." in text
    assert "further" not in clauses(by_columns(attempts=[1, 1]))["failures"].text


def test_solvers_versions_and_tiers_are_named_and_a_change_is_a_warning():
    study = by_columns(solver=["pyvrp", "jsprit"], solver_version=["0.10", "2.0"])
    assert "a (pyvrp 0.10), b (jsprit 2.0)." in clauses(study)["arms and solvers"].text
    described = clauses(replace(study, tier_two=("b",)))["arms and solvers"].text
    assert "Descriptive (tier 2), neither ranked nor tested: b." in described
    changed = by_columns(arm=["a", "a"], seed=[1, 2], solver=["pyvrp"] * 2, solver_version=["0.10", "0.11"])
    text = clauses(changed)["arms and solvers"].text
    assert "a (pyvrp 0.10 and 0.11)" in text
    assert "The version changed between runs of a." in text


def test_the_digest_of_the_instances_is_stated():
    study = by_columns(instance_digest=["sha256:aa", "sha256:aa"])
    assert instance_set_digest(study.envelopes.runs) in clauses(study)["instances"].text


def test_both_parts_of_a_hierarchical_objective_and_the_condition_on_its_multiplier_are_stated():
    text = clauses(hierarchical())["transform"].text
    assert "under the transform hierarchical:100" in text
    assert "K and C" in text
    assert "keeps the lexicographic order" in text


def test_coverage_counts_what_was_planned():
    found = clauses(by_hand(), coverage=Coverage(22, planned=48, interrupted=2, missing=24))
    assert found["coverage"].text == "The numbers rest on 22 of 48 planned runs, 2 interrupted, 24 missing."


def test_contrasts_are_called_declared_only_where_that_is_on_record():
    assert "declared beforehand" in contrast_sentence([("a", "b")], True)
    assert "named after the runs" in contrast_sentence([("a", "b")], False)
    assert "declared" not in contrast_sentence([("a", "b")], None)


def test_a_contrast_with_a_descriptive_arm_is_not_counted():
    assert "1 contrast named" in clauses(by_hand(contrasts=(("a", "b"),)))["contrasts"].text
    with pytest.raises(UsageError, match="tier 2"):
        clauses(by_hand(contrasts=(("a", "b"),), tier_two=("b",)))


def test_a_policy_is_said_in_words_for_every_snapshot():
    text = clauses(synthetic())["reference"].text
    assert "given with the scoring" in text
    assert "analysis-time reference" in text
    assert all(entry.snapshot.digest in text for entry in synthetic().references)


@pytest.mark.parametrize(
    ("write", "expected"), [(methods_markdown, "50% of the cost\\_a"), (methods_latex, "50\\% of the cost\\_a")]
)
def test_both_forms_escape_the_contract(write, expected):
    study = contracted()
    assert expected in written(write, study)


def test_the_sentence_that_heads_the_report_stands_below_the_paragraph_in_both_forms():
    for study in (by_hand(), synthetic()):
        headline = make_statements(study).headline
        markdown, latex = written(methods_markdown, study), written(methods_latex, study)
        assert markdown.endswith(f"\n## Result\n\n{plain(headline.text)}. {plain(headline.detail)}\n")
        assert f"\\paragraph{{Result.}}\n{number_cell(headline.text)}. " in latex
        # A paragraph of its own.
        assert "\n\n\\paragraph{Result.}" in latex


def test_who_kept_the_limits_is_said_of_runs_that_were_supervised():
    study = by_hand()
    assert "limits" not in clauses(study)
    runs = study.envelopes.runs
    for kept, words in (
        ("sampled", "kept by sampling ten times a second"),
        ("kernel: processes, cores, memory, number of processes",
         "kept by the kernel (cgroup v2: processes, cores, memory, number of processes)"),
    ):  # fmt: skip
        envelopes = replace(study.envelopes, runs=runs.with_columns(limits=pl.lit(kept)))
        text = clauses(study, envelopes=envelopes)["limits"].text
        assert text == f"Limits on cores, memory and processes were {words}."


ONE, TWO = (Identity(f"{name}.zip", f"sha256:{digit * 64}", f"swh:1:dir:{digit * 40}") for name, digit in ("a1", "b2"))


def test_a_package_is_named_by_what_finds_it_again_and_a_directory_is_not():
    study = by_hand()
    assert "package" not in clauses(study)
    text = clauses(study, packages=(ONE,))["package"].text
    assert text == (
        f"The runs, references and verdicts are those of the replication package a.zip ({ONE.sha256}, {ONE.swhid})."
    )
    assert "replication packages a.zip (" in clauses(study, packages=(ONE, TWO))["package"].text
    packed = replace(study, packages=(ONE,))
    markdown = written(methods_markdown, packed)
    # To be copied from there as they are.
    assert ONE.sha256 in markdown
    assert ONE.swhid in markdown
    latex = written(methods_latex, packed).replace("\\allowbreak{}", "")
    assert ONE.sha256 in latex
    assert ONE.swhid in latex
