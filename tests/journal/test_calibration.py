"""Recorded calibrations: lines that are only added, the last of a machine counts."""

import msgspec
import pytest

from gapline.errors import TraceError
from gapline.journal.calibration import Calibration, add_calibration, calibration_columns, read_calibrations

ONE = Calibration(host="node1", processor="old", work="mix/1", seconds=2.0, spread=0.01, repeats=5)


def test_the_last_measurement_of_a_machine_counts_and_all_are_kept(tmp_path):
    assert read_calibrations(tmp_path) == {}
    again = Calibration(host="node1", processor="old", work="mix/1", seconds=1.5, spread=0.02, repeats=5, load=0.1)
    # The same name on another processor is another machine.
    renewed = Calibration(host="node1", processor="new", work="mix/1", seconds=1.0, spread=0.0, repeats=5)
    for made in (ONE, renewed, again):
        path = add_calibration(tmp_path, made)
    assert path.read_text().count("\n") == 3
    assert read_calibrations(tmp_path) == {("node1", "old"): again, ("node1", "new"): renewed}


def test_a_run_has_that_of_its_machine_or_none():
    known = {("node1", "old"): ONE}
    there = {"host": "node1", "processor": "old", "cores": "4"}
    assert calibration_columns(known, there) == {
        "calibration": 2.0,
        "calibration_spread": 0.01,
        "calibration_work": "mix/1",
    }
    other = calibration_columns(known, {"host": "node1", "processor": "new"})
    assert other == dict.fromkeys(("calibration", "calibration_spread", "calibration_work"))
    # A study that nobody calibrated has no such columns.
    assert calibration_columns({}, there) == {}


def test_a_line_that_is_none_is_named(tmp_path):
    path = add_calibration(tmp_path, ONE)
    path.write_text(path.read_text() + '{"host": 3}\n')
    with pytest.raises(TraceError, match=r"calibrations.jsonl:2: expected a calibration"):
        read_calibrations(tmp_path)


def test_a_flipped_bit_anywhere_is_seen_and_lines_of_before_are_read(tmp_path):
    path = add_calibration(tmp_path, ONE)
    whole = path.read_bytes()
    for place in range(len(whole) - 1):
        changed = bytearray(whole)
        changed[place] ^= 4
        path.write_bytes(bytes(changed))
        with pytest.raises(TraceError, match=r"calibrations.jsonl:1: expected a calibration"):
            read_calibrations(tmp_path)
    path.write_bytes(msgspec.json.encode(ONE) + b"\n")
    assert list(read_calibrations(tmp_path).values()) == [ONE]
