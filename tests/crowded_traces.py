"""Traces of many arms with names of 1 to 60 letters, some of them alike but for a letter in the middle."""

import random
from pathlib import Path

LENGTHS = (1, 60, 2, 12, 60, 20, 3, 31, 45, 60)


def crowd_names(arms: int) -> list[str]:
    """Return different names; those of 60 letters have the same beginning and the same end."""
    return [_name(k, LENGTHS[k % len(LENGTHS)]) for k in range(arms)]


def _name(k: int, length: int) -> str:
    letter = chr(ord("a") + k)
    if length == 60:
        return f"kayros-adaptive-large-neighbourhood-{letter}-search-with-restarts-v1.0"[:60].ljust(60, "0")
    return (f"{letter}-solver-of-a-long-line-of-solvers-with-release-7.5")[:length]


def write_crowd(folder: Path, arms: int) -> list[str]:
    """Write `traces.csv` and `refs.csv`; returns the names of the arms."""
    names, draw = crowd_names(arms), random.Random(arms)
    rows = ["arm,instance,seed,time,objective,valid,horizon,panel"]
    for number, arm in enumerate(names):
        for i in range(6):
            panel = "small" if i < 3 else "large"
            for seed in (1, 2):
                head = f"{arm},{panel}-{i},{seed}"
                if number == arms - 1 and i == 0:
                    rows.append(f"{head},,,,30,{panel}")
                    continue
                time, objective = 0.0, 200.0 + 30 * draw.random()
                for _ in range(5):
                    time += 7 * draw.random() * (1 + number / arms)
                    objective = max(99.5, objective - 45 * draw.random() / (1 + number / arms))
                    valid = "false" if draw.random() < 0.05 else "true"
                    rows.append(f"{head},{time:.3f},{objective:.2f},{valid},30,{panel}")
    (folder / "traces.csv").write_text("\n".join(rows) + "\n")
    instances = [f"{'small' if i < 3 else 'large'}-{i}" for i in range(6)]
    (folder / "refs.csv").write_text("instance,value\n" + "".join(f"{name},100\n" for name in instances))
    return names
