"""Under what two studies were measured."""

import pytest

from gapline.package.conditions import RecordedFacts, conditions, count_disturbed, read_recorded
from gapline.package.replication_plan import opened_package
from package.two_studies import paced, study_of

ARMS = {"a": 1.0, "b": 2.0}
FACTS = {
    "machine": "EPYC, 2 cores", "solver": "toy", "solver_version": "1.0", "threads": 1, "cpus": "0", "host": "h",
    "cpu_share": 0.9, "foreign_share": 0.01, "jitter": 0.001, "overshoot": 0.1, "disturbed": "", "limits": "sampled",
}  # fmt: skip


def rows_of(old, new, *recorded):
    found = conditions(study_of(paced(ARMS, **old)), study_of(paced(ARMS, **new)), *recorded)
    return {one.what: one for one in found}


def test_what_differs_is_told_and_what_is_alike_is_kept():
    rows = rows_of(
        FACTS, FACTS | {"solver_version": "1.1", "machine": "Xeon", "disturbed": "slow disk", "jitter": 0.03}
    )
    differing = {what: (one.old, one.new) for what, one in rows.items() if one.differs}
    assert differing == {
        "machine": ("EPYC, 2 cores", "Xeon"),
        "solver of a": ("toy 1.0", "toy 1.1"),
        "solver of b": ("toy 1.0", "toy 1.1"),
        "disturbed runs": ("0 of 32", "32 of 32"),
        "jitter of the stamps, worst": ("1.00 ms", "30.00 ms"),
    }
    assert rows["CPU share, median"].old == "0.90"
    assert rows["threads of a"].old == rows["threads of a"].new == "1"


def test_what_nobody_recorded_is_no_difference():
    rows = rows_of({}, FACTS)
    assert rows["machine"].old == ""
    assert not any(one.differs for one in rows.values())
    # Of runs that nobody supervised nothing is known of their disturbance.
    assert "disturbed runs" not in rows
    assert count_disturbed(study_of(paced(ARMS))) == 0


def test_versions_and_files_come_from_the_orders():
    old, new = RecordedFacts(), RecordedFacts()
    old.facts["python"].add("3.11.7")
    new.facts["python"] |= {"3.11.7", "3.12.1"}
    old.programs["a"].add("sha256:" + "0" * 64)
    new.programs["a"].add("sha256:" + "1" * 64)
    rows = rows_of(FACTS, FACTS, (old, new))
    assert (rows["python"].old, rows["python"].new) == ("3.11.7", "3.11.7 and 3.12.1")
    assert rows["files of a"].differs
    assert "files of b" not in rows


@pytest.mark.slow
def test_orders_are_read_from_the_journals_of_a_package(toy_package):
    import platform

    with opened_package(toy_package) as opened:
        # One that is torn says nothing, and does not hide the others.
        torn = next((opened.folder / "journal").glob("*/*/run.json"))
        torn.write_bytes(torn.read_bytes()[:20])
        found = read_recorded(opened.folder)
    assert found.facts["python"] == {platform.python_version()}
    assert set(found.programs) == {"quick", "steady", "third"}
    assert all(len(digests) == 1 for digests in found.programs.values())
