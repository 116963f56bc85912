"""Lines are written whole or not at all."""

import os

import pytest

from gapline.journal.line import EVENTS_FILE, JournalWriter
from gapline.journal.read import JournalState, read_journal
from journal.sample_journal import bodies


def test_a_journal_is_never_overwritten(attempt):
    with pytest.raises(FileExistsError):
        JournalWriter(attempt / EVENTS_FILE)


def test_a_short_write_is_cut_back_to_the_last_whole_line(tmp_path, monkeypatch):
    """A full disk takes part of a line first and only then says so."""
    writer = JournalWriter(tmp_path / EVENTS_FILE)
    writer.append(bodies()[:2])
    before = (tmp_path / EVENTS_FILE).read_bytes()
    true_write = os.write
    answers = iter([lambda file, data: true_write(file, bytes(data)[:7])])

    def full(file: int, data: bytes) -> int:
        step = next(answers, None)
        if step is None:
            raise OSError(28, "No space left on device")
        return step(file, data)

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="more bytes were needed"):
        writer.append(bodies()[2:3])
    monkeypatch.undo()
    assert (tmp_path / EVENTS_FILE).read_bytes() == before
    # The journal goes on where it was: a small line may still fit.
    writer.append(bodies()[2:])
    writer.close()
    assert read_journal(tmp_path).state is JournalState.WHOLE
