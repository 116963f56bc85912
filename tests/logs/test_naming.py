import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.errors import TraceError, UsageError
from gapline.logs.naming import SEED_NOTES, LogIdentity, Naming, PathPattern, overruled, refuse_missing, settle_seeds
from gapline.logs.reader import FoundRun

NAME = st.text(st.sampled_from("abcXYZ019_."), min_size=1, max_size=8)


@settings(deadline=None)
@given(NAME, NAME, st.integers(0, 10**9))
def test_a_pattern_reads_what_it_would_write(arm, instance, seed):
    pattern = PathPattern.parse("{arm}/{instance}-s{seed}.log")
    path = f"runs/{arm}/{instance}-s{seed}.log"
    assert pattern.match(path) == LogIdentity(arm, instance, seed)
    assert pattern.match(path + ".gz") == LogIdentity(arm, instance, seed)


def test_fields_do_not_cross_folders_and_the_whole_tail_must_match():
    pattern = PathPattern.parse("{panel}/{instance}.log")
    assert pattern.match("a/b/c.log") == LogIdentity(instance="c", panel="b")
    assert pattern.match("c.log") is None
    assert pattern.match("a/c.txt") is None
    assert PathPattern.parse("{instance}.log").match("c.log") == LogIdentity(instance="c")


def test_a_star_is_anything_inside_a_name():
    assert PathPattern.parse("{arm}/*/{instance}_*.csv").match("x/hgs/2024/i1_v2.csv") == LogIdentity("hgs", "i1")


def test_a_path_that_can_be_read_in_two_ways_is_not_guessed():
    pattern = PathPattern.parse("{arm}-{instance}.log")
    with pytest.raises(TraceError) as caught:
        pattern.match("hgs-X-n101-k25.log")
    assert "can be read in two ways: arm 'hgs', instance 'X-n101-k25' or arm 'hgs-X-n101', instance 'k25'" in str(
        caught.value
    )


def test_mistakes_in_a_pattern_are_named():
    with pytest.raises(UsageError, match=r"got \{instanze\}\nHint: did you mean \{instance\}\?"):
        PathPattern.parse("{instanze}.log")
    with pytest.raises(UsageError, match=r"got \{arm\} twice"):
        PathPattern.parse("{arm}/{arm}.log")
    with pytest.raises(UsageError, match="expected a field"):
        PathPattern.parse("run.log")


def test_options_rule_then_the_path_then_the_log():
    naming = Naming(LogIdentity(arm="option"), PathPattern.parse("{arm}/{instance}.log"))
    run = FoundRun(time=[], objective=[], arm="log", instance="log", seed=3, panel="log")
    who = naming.settle(run, naming.from_path("path/path.log"))
    assert who == LogIdentity("option", "path", 3, "log")
    assert overruled(run, who) == [
        "the log states another arm than the option or path pattern, which was taken",
        "the log states another instance than the option or path pattern, which was taken",
    ]


def test_an_instance_in_a_path_has_no_suffix_of_a_model():
    naming = Naming(pattern=PathPattern.parse("{instance}.log"))
    assert naming.from_path("logs/p0033.opb.gz.log").instance == "p0033"
    assert naming.from_path("logs/p0033.out").instance is None
    assert naming.matched == 1


def test_missing_identities_are_one_error_with_every_path():
    with pytest.raises(TraceError) as caught:
        refuse_missing(
            [LogIdentity("a"), LogIdentity(), LogIdentity("a", "i")], ["x/1.log", "x/2.log", "x/3.log"], pattern=None
        )
    assert str(caught.value) == (
        "expected arm and instance for every run, got 2 without: "
        "x/1.log (no instance), x/2.log (no arm and no instance)\n"
        "Hint: give --name, such as --name '{arm}/{instance}.log', or give --arm or --instance"
    )


ALONE = "no seed stated, the only run of its arm and instance: seed 0"
NUMBERED = "no seed stated: numbered in file order"


def settled(*runs, **more):
    """Return seeds and notes of runs, which stand in files 1.log, 2.log, …"""
    who = pl.DataFrame(runs, schema={"arm": pl.String, "instance": pl.String, "seed": pl.Int64}, orient="row")
    seeds, notes = settle_seeds(who, lambda rows: [f"{row + 1}.log" for row in rows], **more)
    return seeds.to_list(), [SEED_NOTES[note] for note in notes]


def test_a_silent_seed_is_0_where_arm_and_instance_are_unique():
    seeds, notes = settled(("a", "i", None), ("a", "j", None), ("b", "i", 5))
    assert seeds == [0, 0, 5]
    assert notes == [ALONE, ALONE, ""]


def test_seeds_that_are_stated_are_taken_without_a_word():
    assert settled(("a", "i", 3), ("a", "i", 4)) == ([3, 4], ["", ""])


def test_twins_without_a_seed_are_listed():
    with pytest.raises(TraceError, match=r"got none in 1.log \(a/i\), 2.log \(a/i\)"):
        settled(("a", "i", None), ("a", "i", None), ("a", "j", None))


def test_one_seed_beside_a_silent_twin_is_not_guessed_either():
    with pytest.raises(TraceError, match=r"got none in 2.log"):
        settled(("a", "i", 0), ("a", "i", None))


def test_numbering_is_asked_for_and_leaves_known_seeds_alone():
    runs = ("a", "i", None), ("a", "i", 1), ("b", "i", None), ("a", "i", None)
    seeds, notes = settled(*runs, number_runs=True)
    assert seeds == [0, 1, 0, 2]
    assert notes == [NUMBERED, "", ALONE, NUMBERED]
