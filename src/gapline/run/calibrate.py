"""How fast this machine is: a fixed work load of our own, timed several times, so that times of two machines can be set
against each other.

One round counts with whole numbers in plain Python, computes with floats on arrays that fit into a cache, and walks
through memory that does not. Its result is a number that every machine gets alike, so that no machine can have done
less. The best of several rounds counts: whatever else a machine does only makes a round longer.
"""

import datetime
import math
import platform
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

from gapline.contract.layout import CAMPAIGN, CONTRACT_FILE, JOURNALS, is_study
from gapline.errors import GaplineError, UsageError
from gapline.executors.place import read_place
from gapline.journal.calibration import Calibration, add_calibration
from gapline.process.machine import describe_machine, load_average
from gapline.run.campaign import rebuild_campaign

# Another name for any change of the work: seconds of two work loads are not comparable.
WORK = "gapline-mix/1"
RESULT = 61_543_713
REPEATS = 5
# Rounds of a quiet machine differ by a few percent.
UNSTEADY = 0.1

_MODULUS = 2**31 - 1


def one_round(*, count: int = 1_000_000, vector: int = 4_096, passes: int = 10_000, cells: int = 2**22) -> int:
    """Do the work once and return its result."""
    state = 1
    for _ in range(count):
        state = state * 48_271 % _MODULUS
    values = np.arange(1, vector + 1, dtype=np.float64) / vector
    # Products and roots of numbers between 0 and 1 stay there, and both are rounded alike on every machine; so is an
    # exact sum, which NumPy's own is not.
    for _ in range(passes):
        values = np.sqrt(values * values[::-1] + 0.25 * values)
    table = np.arange(cells, dtype=np.int64)
    places = (table * 2_654_435_761 + state) % cells
    walked = int(table[places[places]].sum() % _MODULUS)
    return (state + int(math.fsum(values) * 1024) + walked) % _MODULUS


def calibrate(*, repeats: int = REPEATS, work: Callable[[], int] = one_round) -> Calibration:
    """Time the work load on this machine."""
    times = []
    for _ in range(repeats):
        began = perf_counter()
        result = work()
        times.append(perf_counter() - began)
        if result != RESULT:
            raise GaplineError(f"calibration {WORK}: expected the result {RESULT}, got {result}")
    machine = describe_machine()
    best = min(times)
    return Calibration(
        host=machine["host"],
        processor=machine["processor"],
        work=work_name(),
        seconds=best,
        spread=(statistics.median(times) - best) / best,
        repeats=repeats,
        load=load_average(),
        moment=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )


def calibrate_here(study: str | Path, on: str | None, /) -> str:
    """Time this machine for a study before its runs, where they are made here; say what was measured."""
    if read_place(on).kind != "local":
        raise UsageError(
            f"--calibrate: expected runs on this machine, got --on {on}",
            hint=f"run `gapline doctor {study} --calibrate` on each machine",
        )
    facts = calibration_facts(calibrate_study(study))
    return "; ".join(str(facts[name]) for name in facts if name != "host")


def calibration_facts(made: Calibration) -> dict[str, object]:
    """Return a measurement as `gapline doctor` prints it; one that other work disturbed says so."""
    facts: dict[str, object] = {
        "host": made.host,
        "calibration": f"{made.seconds:.4f} s, best of {made.repeats}; their median {made.spread:.1%} longer",
        "calibration work": made.work,
    }
    if made.spread > UNSTEADY:
        facts["warning"] = "the rounds differ by more than a tenth: do it again when the machine has nothing else to do"
    return facts


def work_name() -> str:
    """Return the work load with what it runs on: another Python or NumPy needs other seconds for it."""
    python = ".".join(platform.python_version_tuple()[:2])
    numpy = ".".join(np.__version__.split(".")[:2])
    return f"{WORK} (Python {python}, NumPy {numpy})"


def calibrate_study(study: str | Path, /) -> Calibration:
    """Time this machine and record it in a study, whose campaign then has it beside every run on this host."""
    folder = Path(study)
    if not is_study(folder):
        raise UsageError(f"{folder}: expected a study directory to record a calibration in, got no {CONTRACT_FILE}")
    begun = (folder / JOURNALS).is_dir()
    if (folder / CAMPAIGN).is_dir() and not begun:
        raise UsageError(
            f"{folder}: expected a study whose runs gapline makes, got an imported campaign",
            hint="state what its hosts are worth with --time-scale HOST=FACTOR",
        )
    made = calibrate()
    add_calibration(folder, made)
    # The runs that are there already take it over from the journals.
    if begun:
        rebuild_campaign(folder)
    return made
