"""Verdict files: one per checker version."""

import pytest

from gapline.errors import TraceError
from gapline.journal.verdicts import read_verdicts


def write(attempt, checker, version, checked, *lines, candidates=2):
    attempt.mkdir(parents=True, exist_ok=True)
    head = f'{{"checker":"{checker}","version":"{version}","checked":"{checked}","candidates":{candidates}}}'
    path = attempt / f"verdicts-{checker}-{version}.jsonl"
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


def test_verdicts_are_read_by_event_and_what_is_missing_is_unchecked(tmp_path):
    lines = ['{"seq":1,"valid":true,"objective":9.5}', '{"seq":3,"valid":false,"reason":"odd"}', '{"seq":4}']
    write(tmp_path, "mine", "1", "2026-08-01", *lines, candidates=5)
    (found,) = read_verdicts(tmp_path)
    assert found.head.label == "mine 1"
    assert found.by_sequence[1].objective == 9.5
    assert (found.by_sequence[3].valid, found.by_sequence[3].reason) == (False, "odd")
    # Of five candidates two have a verdict: on one the checker failed, and two were never asked about.
    assert found.unchecked == 3


@pytest.mark.parametrize(("line", "number"), [("{", 1), ("", 1), ('{"seq":"x"}', 2)])
def test_a_file_that_was_damaged_is_named_with_its_line(tmp_path, line, number):
    path = write(tmp_path, "mine", "1", "2026-08-01", line)
    if number == 1:
        path.write_text(line)
    with pytest.raises(TraceError, match=rf"verdicts-mine-1\.jsonl:{number}: expected"):
        read_verdicts(tmp_path)
