"""What a number says of itself."""

from dataclasses import replace

from gapline.contract.layout import Identity
from gapline.contract.reading import Coverage, Reading, ReferenceLabel, add_coverage, vouched

LABEL = ReferenceLabel("frozen", "bks-2026", "sha256:0123456789abcdef")
READING = Reading(LABEL, ("squeezed",), "uniform", (30.0,), "checker", "none", coverage=Coverage(8, planned=8))


def test_the_line_names_every_choice_that_could_differ():
    assert READING.line() == (
        "against bks-2026 (frozen, sha256:0123456789ab…); weight uniform; horizon 30 s; validated by checker; "
        "8 of 8 planned runs"
    )
    more = replace(READING, weighting="panel", transform="shift:1", tier_two=("z",), time_unit="evaluations")
    for words in ("panel-equal", "horizon 30 evaluations", "transform shift:1", "descriptive, not compared: z"):
        assert words in more.line()


def test_the_document_keeps_announced_and_scored_horizons_apart():
    document = replace(READING, announced=(60.0,)).document()
    assert document["horizons"] == {"announced": [60.0], "scored": [30.0]}
    digest = "sha256:0123456789abcdef"
    assert document["reference"] == {"policy": "frozen", "name": "bks-2026", "digest": digest, "unreferenced": []}
    assert document["coverage"]["complete"] is True


def test_coverage_in_words_and_when_it_is_short():
    whole = Coverage(4, planned=8, interrupted=1, missing=3)
    assert str(whole) == "4 of 8 planned runs, 1 interrupted, 3 missing"
    assert (whole.complete, whole.short) == (False, True)
    assert str(Coverage(4, unreferenced=1)) == (
        "4 runs; 1 run on instances that nobody solved, without reference, scores the worst value"
    )
    filled = Coverage(8, planned=8, missing=4, filled=4, removed=2)
    assert str(filled) == (
        "4 of 8 planned runs, 4 missing, 4 of them counted as empty; 2 runs outside the contract left out"
    )
    assert (filled.complete, filled.short) == (False, False)
    assert str(Coverage(1)) == "1 run"
    assert Coverage(1).document()["complete"] is None


def test_what_was_planned_is_known_only_where_every_part_knows_it():
    parts = [Coverage(3, empty=1, planned=4, missing=1), Coverage(2, empty=2, planned=2)]
    assert add_coverage(parts) == Coverage(5, empty=3, planned=6, missing=1)
    assert add_coverage([*parts, Coverage(1)]).planned is None


def test_a_column_in_the_file_is_a_declaration_and_no_validation():
    assert vouched("declared") == "valid as the source declares"
    assert [vouched(who) for who in ("checker", "solver")] == ["validated by checker", "validated by solver"]


def test_packages_are_named_where_there_are_some():
    known = Identity("demo.zip", "sha256:" + "1" * 64, "swh:1:dir:" + "2" * 40)
    read = replace(READING, packages=(known,))
    assert read.line() == f"{READING.line()}; from the package demo.zip (sha256:111111111111…)"
    assert read.document() == READING.document() | {"packages": [known.document()]}
