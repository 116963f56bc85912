"""What a campaign of scripted solvers holds, and what it must hold."""

from pathlib import Path

import gapline

ARMS = {"steady": ["scripted", "{seed}", "5", "0"], "silent": ["silent"], "crashing": ["dies", "3"]}


def content(study: Path) -> dict[tuple[str, str, int], tuple[str, list[float], list[int]]]:
    """What a score is made of, stamps aside: they are the host's and differ from run to run."""
    campaign = gapline.open(study / "campaign")
    found = {}
    for row in campaign.runs.iter_rows(named=True):
        part = slice(row["first"], row["first"] + row["count"])
        found[row["arm"], row["instance"], row["seed"]] = (
            row["status"],
            campaign.objective[part].tolist(),
            campaign.verdict[part].tolist(),
        )
    return found


def expected(*seeds: int) -> dict[tuple[str, str, int], tuple[str, list[float], list[int]]]:
    found = {}
    for instance in ("one", "two"):
        for seed in seeds:
            steady = [1000.0 / (number + seed + 1) for number in range(5)]
            found["steady", instance, seed] = ("finished", steady, [1] * 5)
            found["silent", instance, seed] = ("finished", [], [])
            found["crashing", instance, seed] = ("crashed", [10.0, 9.0], [1, 1])
    return found


def children_of(parent: int) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()] or [
        int(pid) for path in Path(f"/proc/{parent}/task").glob("*/children") for pid in path.read_text().split()
    ]


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
