"""A campaign of 40 cells for the tests of executors, what must come out of it, and the score table of a study."""

from pathlib import Path

import gapline
from gapline.journal.attempts import read_cell
from gapline.journal.read import JournalState

SEEDS = tuple(range(1, 11))
ARMS = {"steady": ["scripted", "{seed}", "5", "0"], "waiting": ["waits"]}
# Scripted solvers say all they know in the first minutes, however busy the machine is: against this horizon it does not
# show when exactly, not even in the last printed digit of a score that lies at the edge of rounding.
HORIZON = 1e9


def content(study: Path) -> dict[tuple[str, str, int], tuple[str, list[float]]]:
    """What each run found, stamps aside."""
    campaign = gapline.open(study / "campaign")
    found = {}
    for row in campaign.runs.iter_rows(named=True):
        part = slice(row["first"], row["first"] + row["count"])
        found[row["arm"], row["instance"], row["seed"]] = (row["status"], campaign.objective[part].tolist())
    return found


def expected() -> dict[tuple[str, str, int], tuple[str, list[float]]]:
    found = {}
    for instance in ("one", "two"):
        for seed in SEEDS:
            found["steady", instance, seed] = ("finished", [1000.0 / (number + seed + 1) for number in range(5)])
            found["waiting", instance, seed] = ("finished", [10.0])
    return found


def score_table(study: Path) -> list[tuple[object, ...]]:
    """The table of scores as it is printed: four digits."""
    envelopes = gapline.build_envelopes(gapline.open(study / "campaign"))
    snapshot = gapline.Snapshot.from_values({"one": 5.0, "two": 7.0}, name="fixed")
    scores = gapline.score(envelopes, snapshot, kernels=["squeezed", "dimacs:1.1"])
    rows = scores.frame.sort("arm", "instance", "seed").select(
        "arm", "instance", "seed", "squeezed", "dimacs:1.1", "final_gap", "status"
    )
    return [tuple(round(x, 4) if isinstance(x, float) else x for x in row) for row in rows.iter_rows()]


def broken_and_whole(study: Path) -> tuple[int, int]:
    """Count the broken and the whole attempts."""
    states = [
        attempt.state for cell in (study / "journal").iterdir() if cell.is_dir() for attempt in read_cell(cell).attempts
    ]
    return states.count(JournalState.BROKEN), states.count(JournalState.WHOLE)


def ancestors(process: int) -> list[int]:
    """Return the parents of a process, nearest first."""
    found = []
    while process > 1:
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[1])
        found.append(process)
    return found


def processes_named(study: Path) -> list[int]:
    """Return the living processes that the waiting solvers have named."""
    pids = [int(path.name.partition("-")[2]) for path in study.glob("alive-*")]
    return [pid for pid in pids if Path(f"/proc/{pid}").exists()]
