"""The conformance suite catches what it is there to catch: readers that are wrong in one way each."""

from pathlib import Path

import pytest

from gapline.errors import TraceError
from gapline.logs.reader import Found, FoundRun, LogFile, Reader
from gapline.testing.readers import ReaderConformance

SAMPLE = b"TOY\n1.0 20\n2.5 17\nend\n"


def looks_like(_path: str, head: bytes) -> bool:
    return head.startswith(b"TOY")


def read(log: LogFile) -> Found:
    lines = log.data.decode("utf-8", "replace").splitlines()
    if not lines or lines[0] != "TOY":
        raise TraceError(f"{log.path}: expected TOY, got something else")
    found = Found()
    rows = []
    if not log.data.endswith(b"\n"):
        found.refuse_torn(f"{log.path}:{len(lines)}", lines.pop())
    for number, line in enumerate(lines[1:], start=2):
        cells = line.split()
        if len(cells) == 2 and all(cell.isascii() and cell.replace(".", "", 1).isdigit() for cell in cells):
            rows.append((float(cells[0]), float(cells[1])))
        elif line != "end":
            found.problems.append(f"{log.path}:{number}: expected time and objective, got {line[:20]!r}")
    rows = [row for row in rows if max(row) < 1e300]
    found.runs.append(FoundRun(time=[t for t, _ in rows], objective=[z for _, z in rows], status="finished"))
    return found


class TestGood(ReaderConformance):
    reader = Reader("toy", "a toy", looks_like, read)
    sample = SAMPLE
    candidates = ((1.0, 20.0), (2.5, 17.0))


def suite_with(**changes):
    parts = {"name": "toy", "describes": "a toy", "looks_like": looks_like, "read": read} | changes

    class Suite(ReaderConformance):
        reader = Reader(**parts)
        sample = SAMPLE
        candidates = ((1.0, 20.0), (2.5, 17.0))

    return Suite()


def altered(change):
    def reading(log: LogFile) -> Found:
        found = read(log)
        for run in found.runs:
            change(run)
        return found

    return reading


def test_a_reader_that_claims_everything_is_caught():
    suite = suite_with(looks_like=lambda _path, _head: True)
    with pytest.raises(AssertionError, match="toy claims"):
        suite.test_foreign_bytes_are_not_recognised()


def test_a_reader_that_claims_the_sample_of_another_is_caught():
    suite = suite_with(looks_like=lambda _path, _head: False)
    with pytest.raises(AssertionError, match="recognised by"):
        suite.test_the_sample_is_recognised_by_this_reader_alone()


def test_a_reader_that_believes_half_a_number_is_caught():
    def believing(log: LogFile) -> Found:
        return read(LogFile(log.path, log.data + b"\n"))

    with pytest.raises(
        AssertionError, match=r"cut at byte \d+: \{\('objective', 2.0\)\} is not in the file, and no line is named"
    ):
        suite_with(read=believing).test_every_prefix_is_read_or_refused()


def test_whole_seconds_out_of_floats_are_caught():
    suite = suite_with(read=altered(lambda run: setattr(run, "time", [int(t) for t in run.time])))
    with pytest.raises(AssertionError):
        suite.test_the_sample_gives_its_runs_and_candidates()


def test_an_unknown_status_is_caught():
    suite = suite_with(read=altered(lambda run: setattr(run, "status", "done")))
    with pytest.raises(AssertionError, match="status 'done'"):
        suite.test_runs_are_well_formed()


def test_a_reader_that_raises_on_broken_bytes_is_caught():
    suite = suite_with(read=lambda log: read(LogFile(log.path, log.data.decode("ascii").encode())))
    with pytest.raises(UnicodeDecodeError):
        suite.test_mutated_bytes_give_an_error_or_a_counted_rejection()


def test_a_reader_that_keeps_state_is_caught():
    seen = []

    def reading(log: LogFile) -> Found:
        seen.append(log)
        found = read(log)
        found.runs[0].seed = len(seen)
        return found

    with pytest.raises(AssertionError):
        suite_with(read=reading).test_reading_twice_gives_the_same()


def test_the_suite_writes_companions(tmp_path: Path):
    suite = suite_with()
    suite.companions = {"data/f1.dat": b"1"}
    suite.write(tmp_path, "toy.log", SAMPLE)
    assert (tmp_path / "data" / "f1.dat").read_bytes() == b"1"
