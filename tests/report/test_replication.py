"""A replication in words: one sentence for each way it can end, and Markdown that holds all of it."""

import json

import pytest

from gapline.report.replication import (
    print_replication,
    rank_sentence,
    remark_lines,
    replication_document,
    replication_markdown,
    verdict_sentence,
)
from gapline.study.replication import Agreement, Conclusion, Condition, Measured, RankAgreement, ReplicatedPart, Shift
from study.test_replication import found

BELOW = Measured(instances=8, difference=-0.2, low=-0.3, high=-0.1)
ABOVE = Measured(instances=8, difference=0.2, low=0.1, high=0.3)
OPEN = Measured(instances=8, difference=-0.1, low=-0.3, high=0.1)
NONE = Measured(instances=1, difference=-0.1, reason="one instance")


def pair(old, new, agreement, name="b"):
    same = (old.difference < 0) == (new.difference < 0)
    return Conclusion(a="a", b=name, declared=True, old=old, new=new, order_agrees=same, agreement=agreement)


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        (
            [pair(BELOW, BELOW, Agreement.AGREES)],
            "The conclusions hold: of 1 difference told apart there, 1 is told apart here too, the same way round.",
        ),
        (
            [pair(BELOW, ABOVE, Agreement.CONTRADICTS), pair(BELOW, BELOW, Agreement.AGREES, "c")],
            "Contradicted: 1 of 2 differences is the other way round: a − b (−0.20000 there, +0.20000 here).",
        ),
        (
            [pair(BELOW, OPEN, Agreement.SAME_SIGN), pair(BELOW, BELOW, Agreement.AGREES, "c")],
            "No conclusion is contradicted: of 2 differences told apart there, 1 is told apart here too, the same way "
            "round, 1 is of the same sign here and not told apart.",
        ),
        (
            [pair(OPEN, BELOW, Agreement.SAME_SIGN)],
            "There was no conclusion to hold: of 1 difference none was told apart there, and 1 of them has the same "
            "sign here.",
        ),
        (
            [pair(BELOW, NONE, Agreement.NOT_TESTED)],
            "Nothing was tested: no pair of arms has an interval there and here.",
        ),
    ],
    ids=["holds", "contradicted", "open", "nothing to hold", "not tested"],
)
def test_the_verdict_is_one_sentence(pairs, said):
    assert verdict_sentence(found(conclusions=tuple(pairs))) == said


def test_who_moved_and_what_is_lacking_stands_in_the_sentence():
    shift = Shift(
        arm="a", tier=1, panel=None, instances=8, old=0.1, new=0.2, shift=0.1, low=0.05, high=0.2, verdict="worse"
    )
    inside = Shift(
        arm="b", tier=1, panel="p", instances=4, old=0.1, new=0.2, shift=0.1, low=0.05, high=0.2, verdict="worse"
    )
    noisy = Condition(kind="fairness", what="disturbed runs", old="0 of 30", new="4 of 30")
    text = verdict_sentence(found(shifts=(shift, inside), runs=30, conditions=(noisy,)))
    assert text.endswith(
        "; shown to have moved: a (worse by 0.10000), with 0 of 30 runs disturbed by other work there and 4 of 30 here"
        "; 2 of 32 runs are not compared."
    )


def test_ties_are_stated():
    ranks = RankAgreement(arms=3, tau=None, tied_old=1, tied_both=2)
    assert rank_sentence(ranks) == (
        "Order of 3 arms by mean score: Kendall tau-b does not exist (0 pairs in the same order, 0 in the other, "
        "3 tied: 1 there, 0 here, 2 in both)."
    )


def test_the_part_and_the_horizons_are_told_everywhere(capsys):
    origin = found().origin
    from msgspec.structs import replace

    words = (
        "scored at 5 s; announced to the solvers: 10 s there, 5 s here: a score is conditional on the announced horizon"
    )
    part = ReplicatedPart(arms=("a",), panels=("p",), seeds=(1, 2), horizon_scale=0.5)
    one = found(origin=replace(origin, part=part), horizons=words, alarms=("here: beaten",), notes=("few",))
    lines = remark_lines(one)
    assert lines[0].startswith(
        "a.zip (sha256:2, swh:1:dir:3) run again, arms a; panels p; seeds 1, 2; horizons × 0.5: 32 of 32"
    )
    assert lines[1:] == [f"Both are {words}.", "note: few", "ALARM here: beaten"]
    assert words in replication_markdown(one)
    assert json.loads(json.dumps(replication_document(one)))["horizons"] == words
    print_replication(one)
    assert capsys.readouterr().out.count(words) == 2


def test_markdown_is_the_verdict_the_tables_and_the_remarks():
    text = replication_markdown(found())
    places = [
        text.index(part)
        for part in ("### Replication", "**The conclusions hold", "a − b", "| panel |", "| what |", "- a.zip")
    ]
    assert places == sorted(places)
