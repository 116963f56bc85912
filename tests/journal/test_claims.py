"""Who works on a cell is seen without touching its lock."""

import fcntl
import json
import os
import platform
import time

import msgspec
import pytest

from gapline.files.process_start import began
from gapline.journal import claims
from gapline.journal.claims import (
    Claimant,
    Locks,
    due_after,
    is_cell_running,
    locked_inodes,
    read_claimant,
    running_cells,
)
from gapline.journal.records import Order, order_text
from gapline.run.claim import claim, new_attempt

ELSEWHERE = {"host": "node7", "process": 12, "began": 5, "runner": None}


def plant_attempt(cell, *, age=0.0, end=False):
    """Write an attempt of another machine, ordered some seconds ago."""
    cell.mkdir(exist_ok=True)
    (cell / "claim").write_text(json.dumps(ELSEWHERE))
    attempt = new_attempt(cell)
    (attempt / "run.json").write_bytes(order_text(Order(arm="a", instance="i", seed=1, panel="p", horizon=10.0)))
    (attempt / "events.jsonl").write_text('{"seq":0}\n' + ('{"seq":1,"end":{"cause":"exit"}}\n' if end else ""))
    os.utime(attempt / "run.json", (time.time() - age,) * 2)
    return attempt


def test_a_claim_shows_as_long_as_it_is_held(tmp_path):
    cell = tmp_path / "cell"
    assert not running_cells([cell])
    with claim(cell) as held:
        assert held is not None
        assert running_cells([cell, tmp_path]) == {"cell"}
        assert read_claimant(cell).is_alive
    assert not running_cells([cell])


def test_who_looks_never_holds_the_lock(tmp_path, monkeypatch):
    """A runner that tried it in that moment would find the cell taken."""
    with claim(tmp_path):
        pass
    monkeypatch.setattr(fcntl, "flock", lambda *_: pytest.fail("a lock was tried"))
    assert not running_cells([tmp_path])


def test_a_process_that_is_gone_is_no_claimant_any_more(tmp_path):
    with claim(tmp_path):
        pass
    claimant = read_claimant(tmp_path)
    assert (claimant.host, claimant.process, claimant.began) == (platform.node(), os.getpid(), began(os.getpid()))
    assert msgspec.structs.replace(claimant, began=claimant.began + 1).is_alive is False
    assert Claimant("another", 1, 5).is_alive is None


def listed(*inodes):
    return "".join(f"{n}: FLOCK  ADVISORY  WRITE 1 fe:00:{inode} 0 EOF\n" for n, inode in enumerate(inodes, 1))


def test_a_lock_that_falls_between_two_pages_of_the_list_is_found_in_another():
    """Somebody let go of a lock while the list was read: one behind it moved up to a page that was read before."""
    long = [n for n in range(1, 101) if n != 70]
    reads = [listed(*long), listed(*range(1, 101))]
    locks = Locks(listed(*long), lambda: reads.pop(0))
    assert (0xFE, 0, 3) in locks
    assert len(reads) == 2
    assert (0xFE, 0, 70) in locks
    assert not reads


def test_a_lock_that_nobody_holds_is_looked_up_a_few_times_and_in_a_short_list_once():
    reads = []
    locks = Locks(listed(*range(1, 101)), lambda: reads.append(1))
    assert (0xFE, 0, 101) not in locks
    assert (0xFE, 0, 102) not in locks
    assert len(reads) == claims.AGAIN
    assert (0xFE, 0, 9) not in Locks(listed(1, 2), lambda: pytest.fail("one page is whole"))


def test_without_the_kernels_list_the_process_has_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "LOCKS", tmp_path / "none")
    cell = tmp_path / "cell"
    with claim(cell):
        pass
    assert locked_inodes() is None
    assert is_cell_running(cell, None)
    plant_attempt(cell, end=True)
    with claim(cell):
        pass
    assert not is_cell_running(cell, None)


@pytest.mark.parametrize(("age", "end", "expected"), [(0.0, False, True), (0.0, True, False), (1e4, False, False)])
def test_a_run_elsewhere_is_under_way_until_it_ends_or_is_overdue(tmp_path, age, end, expected):
    plant_attempt(tmp_path / "cell", age=age, end=end)
    assert bool(running_cells([tmp_path / "cell"])) is expected


def test_an_attempt_elsewhere_may_be_late_by_minutes():
    assert due_after(Order(arm="a", instance="i", seed=1, panel="p", horizon=10.0)) == 10 + 1 + 1 + claims.PATIENCE


def test_a_claim_that_cannot_be_read_names_nobody(tmp_path):
    (tmp_path / "claim").write_text("{")
    assert read_claimant(tmp_path) is None
    assert not running_cells([tmp_path])
