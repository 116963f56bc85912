"""What lies in a journal and is not ours is named, and nothing of ours is."""

import pytest

from gapline.journal.unknown_files import find_strays, stray_note

CELL = "journal/hgs_x_1_e40f34790c"
OURS = [
    "journal/register.jsonl", "journal/campaign.lock", f"{CELL}/claim", f"{CELL}/attempt-001/run.json",
    f"{CELL}/attempt-001/events.jsonl", f"{CELL}/attempt-001/verdicts-c-1.jsonl", f"{CELL}/attempt-001/stdout.log",
    f"{CELL}/attempt-001/.run.json.ab12_xyz", f"{CELL}/attempt-1000/stderr.log",
]  # fmt: skip
THEIRS = [
    "journal/.DS_Store", "journal/register.jsonl~", "journal/.register.jsonl.swp", "journal/notes/mine.txt",
    f"{CELL}/.nfs000000000000123", f"{CELL}/attempt-001.bak/events.jsonl", f"{CELL}/attempt-1/events.jsonl",
    f"{CELL}/attempt-001/run.json.orig", f"{CELL}/attempt-001/.DS_Store", f"{CELL}/attempt-001/events.jsonl~",
]  # fmt: skip


def put(study, names):
    for name in names:
        (study / name).parent.mkdir(parents=True, exist_ok=True)
        (study / name).touch()


def test_nothing_of_ours_is_a_stray(tmp_path):
    assert find_strays(tmp_path) == []
    put(tmp_path, OURS)
    assert find_strays(tmp_path) == []


@pytest.mark.parametrize("name", THEIRS)
def test_what_is_not_ours_is_named(tmp_path, name):
    put(tmp_path, [*OURS, name])
    (found,) = find_strays(tmp_path)
    assert name.startswith(found)


def test_the_note_counts_and_lists():
    assert stray_note(["b", "a"]) == "2 files or folders in the journal are not of gapline and left out: a, b"
