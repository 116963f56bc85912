"""Arrays beyond the budget lie in files without a name, and are used like any other."""

import errno
import mmap
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from gapline.files import scratch_arrays
from gapline.files.memory import limited_memory
from gapline.files.scratch_arrays import ScratchArray, piece_size, scratch_array, scratch_place, spans


def test_within_the_budget_in_memory_beyond_it_in_a_file_that_nobody_sees(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with limited_memory(16 * 8 * 10):
        small, large = ScratchArray(10), ScratchArray(11)
        assert (small.on_disk, large.on_disk) == (False, True)
        for made in (small, large):
            made.reserve(5)[:5] = np.arange(5.0)
            kept = made.cut(4)
            assert kept.tolist() == [0.0, 1.0, 2.0, 3.0]
            with pytest.raises(ValueError, match="read-only"):
                kept[0] = 1.0
        assert scratch_array(20, np.int32).dtype == np.int32
        assert scratch_array(0).tolist() == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("own_pages", [True, False])
def test_arrays_that_are_small_each_lie_in_files_once_they_are_many(own_pages, monkeypatch):
    """Of a budget of 16 shares four may be in memory; what is let go of, or cut, makes room for the next."""
    if not own_pages:
        monkeypatch.delattr(mmap, "MADV_DONTNEED")
    monkeypatch.setattr(scratch_arrays, "_held", {})
    share = 5 << 20 if own_pages else scratch_arrays._COUNTED
    with limited_memory(16 * share):
        made = [ScratchArray(share, np.uint8) for _ in range(6)]
        assert [one.on_disk for one in made] == [False] * 4 + [True] * 2
        shown = made[0].array[:10]
        del made[:2]
        assert not ScratchArray(share, np.uint8).on_disk
        kept = [ScratchArray(share, np.uint8), ScratchArray(share, np.uint8)]
        # The first is still shown by somebody.
        assert [one.on_disk for one in kept] == [False, True]
        assert len(shown) == 10
        kept[0].array[:] = 7
        assert kept[0].cut(3).tolist() == [7, 7, 7]
        assert not ScratchArray(share - 3, np.uint8).on_disk
        # What is small counts for nothing.
        assert not ScratchArray(scratch_arrays._COUNTED // 2, np.uint8).on_disk


@pytest.mark.parametrize("budget", [16 * 8 * 20, 16 * 8, 8])
def test_rooms_are_filled_and_kept_in_part_in_memory_in_a_file_and_beyond_what_a_pass_may_hold(budget):
    with limited_memory(budget):
        made = ScratchArray(20)
        assert made.on_disk == (budget < 16 * 8 * 20)
        end = 0
        for size, kept in ((3, 2), (8, 8), (1, 0), (4, 1)):
            room = made.room(end, end + size)
            assert len(room) == size
            room[:] = 10 * end + np.arange(size)
            made.keep(end, [(0, kept)])
            end += kept
        assert made.cut(end).tolist() == [0.0, 1.0, *(20.0 + k for k in range(8)), 100.0]


def test_the_room_of_a_file_is_one_piece_of_memory_and_is_written_also_in_small_pieces(monkeypatch):
    write = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, at: write(file, data[:5], at))
    with limited_memory(16 * 8):
        made = ScratchArray(20)
        rooms = [made.room(0, 4), made.room(4, 8)]
        assert np.shares_memory(*rooms)
        assert not np.shares_memory(rooms[0], made.array)
        rooms[1][:] = np.arange(4.0)
        made.keep(0, [(0, 4)])
        assert made.cut(4).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_pieces_of_the_room_are_kept_one_behind_the_other():
    with limited_memory(16 * 8):
        made = ScratchArray(20)
        made.room(0, 4)[:] = np.arange(4.0)
        assert made.room_apart
        made.keep(0, [(0, 1), (2, 2)])
        assert made.cut(3).tolist() == [0.0, 2.0, 3.0]


def test_memory_of_a_large_array_is_given_back_in_parts_and_what_is_kept_stays():
    """A page that was given back is all zeros when it is looked at again."""
    size, page = 1 << 20, mmap.PAGESIZE // 8
    made = ScratchArray(size)
    whole = made.array
    whole[:] = 1.0
    made.give_back(1, 4 * page - 1)
    assert [whole[k * page : (k + 1) * page].sum() for k in range(5)] == [page, 0, 0, page, page]
    cut = made.cut(5 * page + 1)
    assert whole[4 * page : 6 * page].all()
    assert not whole[6 * page :].any()
    assert len(cut) == 5 * page + 1
    assert not cut.flags.writeable


def test_files_are_closed_with_their_arrays():
    before = len(list(Path("/proc/self/fd").iterdir()))
    with limited_memory(128):
        arrays = [scratch_array(100) for _ in range(20)]
        cut = ScratchArray(100)
        kept = cut.cut(3)
        del arrays, cut, kept
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_full_disk_is_said_before_anything_is_written(monkeypatch):
    def full(*_arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with (
        limited_memory(128),
        pytest.raises(OSError, match=r"a scratch file of 800 bytes, got: No space left") as caught,
    ):
        scratch_array(100)
    assert "TMPDIR" in str(caught.value)
    assert caught.value.filename == str(scratch_place())
    with limited_memory(16 * 8):
        made = ScratchArray(20)
        made.room(0, 4)
        with pytest.raises(OSError, match=r"a scratch file of 32 bytes"):
            made.keep(0, [(0, 4)])


def test_a_disk_that_takes_back_what_it_reserved_is_said_too(monkeypatch):
    def full(*_arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with limited_memory(16 * 8):
        made = ScratchArray(20)
        made.room(0, 4)
        with pytest.raises(OSError, match=r"a scratch file of 32 bytes, got: No space left"):
            made.keep(0, [(0, 4)])


def test_no_room_for_a_file_at_all(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with limited_memory(128), pytest.raises(OSError, match="expected room for a scratch file"):
        scratch_array(100)


def test_a_place_in_memory_gives_way_to_one_on_a_disk(monkeypatch):
    kinds = {tempfile.gettempdir(): "tmpfs", "/var/tmp": "ext4"}
    monkeypatch.delenv("TMPDIR", raising=False)
    monkeypatch.setattr(scratch_arrays, "_file_system", lambda place: kinds[str(place)])
    assert scratch_place() == Path("/var/tmp")
    kinds["/var/tmp"] = "tmpfs"
    assert scratch_place() == Path(tempfile.gettempdir())
    kinds["/var/tmp"] = "ext4"
    monkeypatch.setenv("TMPDIR", tempfile.gettempdir())
    assert scratch_place() == Path(tempfile.gettempdir())


def test_the_file_system_of_a_place_is_that_of_its_innermost_mount():
    assert scratch_arrays._file_system(Path("/proc/self")) == "proc"


def test_spans_cover_everything_once():
    with limited_memory(128 * 3):
        assert piece_size() == 3
        assert [(part.start, part.stop) for part in spans(7)] == [(0, 3), (3, 6), (6, 7)]
    assert list(spans(0)) == []
