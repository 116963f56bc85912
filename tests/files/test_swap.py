"""A directory in the place of another: killed at any moment, the old or the new one is there, whole, with all else."""

from pathlib import Path

import pytest

import gapline as gl
from gapline.files import atomic_write
from killed_writers import writers

# Saves a campaign over another one.
CAMPAIGN = """
import numpy.ma
import gapline as gl
import gapline.campaign.assembly, gapline.campaign.store

def prepare(place):
    run = {"arm": "new", "instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, 12.0)]}
    campaign = gl.Campaign.from_runs([run])
    campaign.digest()
    return lambda: campaign.save(place, overwrite=True)
"""
TWO_STEPS = """
from gapline.files import atomic_write

def fill(folder):
    for name in ("one", "two"):
        (folder / name).write_text("new")

def prepare(place):
    atomic_write._RENAME_EXCHANGE = 1 << 20  # the system refuses it
    return lambda: atomic_write.replace_directory(place, fill, ours={"one", "two"})
"""


def campaign(arm: str) -> gl.Campaign:
    return gl.Campaign.from_runs([{"arm": arm, "instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, 12.0)]}])


def add_others(folder: Path) -> None:
    """Put beside the files what others put there: a file, a link to nowhere, a link to a file, a folder."""
    (folder / "references.json").write_text("{}")
    (folder / "nowhere").symlink_to("gone")
    (folder / "notes").symlink_to(folder.parent / "notes.txt")
    (folder.parent / "notes.txt").write_text("years of work")
    (folder / "thesis").mkdir()
    (folder / "thesis" / "chapter.tex").write_text("more years")


@pytest.fixture
def place(tmp_path) -> Path:
    """A campaign and what others put beside its files."""
    folder = campaign("old").save(tmp_path / "c")
    add_others(folder)
    return folder


def others_are_there(place: Path) -> bool:
    return (
        (place / "references.json").read_text() == "{}"
        and (place / "nowhere").readlink() == Path("gone")
        and (place / "notes").is_symlink()
        and (place / "notes").read_text() == "years of work"
        and (place / "thesis" / "chapter.tex").read_text() == "more years"
    )


@pytest.mark.slow
def test_killed_before_every_change_of_the_file_system_a_whole_campaign_is_there(place):
    found = []
    with writers(CAMPAIGN, place) as killed_before:
        for change in range(1000):
            killed = killed_before(change)
            (arm,) = gl.open(place).runs["arm"]
            found.append(arm)
            assert (place / "references.json").read_text() == "{}"
            assert (place / "nowhere").readlink() == Path("gone")
            assert len(list(place.parent.glob("*/thesis/chapter.tex"))) == 1
            # The next writer clears away what this one left.
            campaign("old").save(place, overwrite=True)
            assert others_are_there(place)
            assert sorted(path.name for path in place.parent.iterdir()) == ["c", "notes.txt"]
            if not killed:
                break
    # One step: before it the old campaign, after it the new one, and never anything else.
    assert found == ["old"] * found.index("new") + ["new"] * (len(found) - found.index("new"))
    assert len(found) > 10


def test_where_the_system_cannot_swap_the_old_one_stands_aside_whole_and_nothing_is_lost(tmp_path):
    place, seen = tmp_path / "c", set()

    def fill(folder):
        for name in ("one", "two"):
            (folder / name).write_text("old")

    atomic_write.replace_directory(place, fill, ours={"one", "two"})
    add_others(place)
    with writers(TWO_STEPS, place) as killed_before:
        for change in range(1000):
            killed = killed_before(change)
            there = place if place.exists() else next(path.parent for path in tmp_path.glob(".c.*/thesis"))
            seen.add(((there / "one").read_text(), (there / "two").read_text()))
            atomic_write.replace_directory(place, fill, ours={"one", "two"})
            assert others_are_there(place)
            assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "notes.txt"]
            if not killed:
                break
    assert seen == {("old", "old"), ("new", "new")}


def test_a_link_to_itself_is_refused_as_no_directory(tmp_path):
    """In older Pythons its resolving is a RuntimeError, which nobody could tell from a defect of ours."""
    loop = tmp_path / "loop"
    loop.symlink_to("loop")
    with pytest.raises(NotADirectoryError):
        atomic_write.replace_directory(loop, lambda folder: (folder / "file").write_text("x"), ours={"file"})
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


def test_a_link_to_a_directory_stays_a_link(place, tmp_path):
    link = tmp_path / "link"
    link.symlink_to("c")
    campaign("new").save(link, overwrite=True)
    assert link.readlink() == Path("c")
    assert gl.open(place).runs["arm"].to_list() == ["new"]
    assert others_are_there(place)


def test_a_writer_that_fails_leaves_the_old_directory_and_nothing_else(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "mine").write_text("old")

    def fail(folder):
        (folder / "mine").write_text("half")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        atomic_write.replace_directory(tmp_path / "d", fail, ours={"mine"})
    assert [path.name for path in tmp_path.iterdir()] == ["d"]
    assert (tmp_path / "d" / "mine").read_text() == "old"


def test_what_a_namesake_left_behind_is_not_touched(tmp_path):
    """`c` and `c.d` lie side by side: what a writer of `c.d` left is not for `c` to clear."""
    theirs = tmp_path / ".c.d.abcdefgh.gapline"
    theirs.mkdir()
    (theirs / "mine").write_text("x")
    atomic_write.replace_directory(tmp_path / "c", lambda folder: (folder / "mine").write_text("new"), ours={"mine"})
    assert (theirs / "mine").exists()
