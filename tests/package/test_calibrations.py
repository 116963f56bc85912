"""Calibrations are packed under the names that stand in for the hosts, and still read."""

import pytest

from gapline.errors import IntegrityError
from gapline.journal.calibration import Calibration, add_calibration, read_calibrations
from gapline.package.attempts import calibrated_hosts, stage_calibrations
from gapline.package.scrub import Scrubber, alias_hosts


def calibrated(folder, *hosts):
    folder.mkdir()
    for host in hosts:
        made = Calibration(host=host, processor="p", work="w", seconds=1.5, spread=0.1, repeats=3)
        add_calibration(folder, made)
    return folder


def test_hosts_get_their_other_names(tmp_path):
    study = calibrated(tmp_path / "s", "node2", "node1", "node2")
    hosts = calibrated_hosts(study)
    assert hosts == ("node2", "node1", "node2")
    (tmp_path / "p").mkdir()
    stage_calibrations(study, tmp_path / "p", Scrubber(alias_hosts(hosts)))
    assert sorted(read_calibrations(tmp_path / "p")) == [("host-1", "p"), ("host-2", "p")]


def test_they_are_copied_where_hosts_are_kept(tmp_path):
    study = calibrated(tmp_path / "s", "node2")
    (tmp_path / "p").mkdir()
    stage_calibrations(study, tmp_path / "p", None)
    assert (tmp_path / "p" / "calibrations.jsonl").read_bytes() == (study / "calibrations.jsonl").read_bytes()


def test_without_any_nothing_is_written(tmp_path):
    stage_calibrations(tmp_path, tmp_path, Scrubber())
    assert list(tmp_path.iterdir()) == []


def test_a_changed_line_is_refused(tmp_path):
    path = calibrated(tmp_path / "s", "node2") / "calibrations.jsonl"
    path.write_bytes(path.read_bytes().replace(b"1.5", b"1.4"))
    with pytest.raises(IntegrityError, match=r"calibrations.jsonl:1: expected a calibration"):
        calibrated_hosts(tmp_path / "s")
