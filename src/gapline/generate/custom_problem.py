"""A custom problem: a solver and a checker of thirty lines each, which run as they are and are to be replaced."""

import json
from collections.abc import Sequence
from pathlib import Path

from gapline.contract.layout import CONTRACT_FILE, INSTANCES
from gapline.generate.draws import Draws
from gapline.generate.study import Panel, ProblemFacts, contract_text, new_study
from gapline.generate.write import write_file

PANELS = (Panel(10, 2), Panel(20, 2))
_SIDE = 1000

SOLVER = '''\
"""A solver of your own: it prints one JSON line for each better solution that it finds. Replace what it does.

The contract starts it as: python3 solver.py INSTANCE SEED HORIZON MOVE
"""
import json
import math
import random
import sys
import time

path, seed, horizon, move = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
end = time.monotonic() + 0.9 * horizon  # be done before the horizon: what comes later is not scored
draws = random.Random(seed)

# The instance, here points [x, y] through which a short round trip is wanted. Read your own format.
with open(path) as file:
    points = json.load(file)["points"]


def length(tour):  # the objective, to be minimised
    return sum(round(math.dist(points[a], points[b])) for a, b in zip(tour, tour[1:] + tour[:1]))


def say(**line):  # flushed at once: the moment at which a line arrives is the time that counts
    print(json.dumps(line), flush=True)


say(solver="mine", version="1.0")  # who it is; another version is another solver
best, value, failures = list(range(len(points))), math.inf, 0
while time.monotonic() < end and failures < 3000:
    a, b = sorted(draws.sample(range(len(points)), 2))
    tour = best[:]
    tour[a : b + 1] = tour[a : b + 1][::-1] if move == "reverse" else [tour[b], *tour[a + 1 : b], tour[a]]
    failures += 1
    if length(tour) < value:
        best, value, failures = tour, length(tour), 0
        say(objective=value, solution=best)  # the solution is whatever your checker reads
'''

CHECKER = '''\
"""A checker of your own: it recomputes every candidate from the instance. Replace the inside of `check`.

Keep it apart from the solver: what both get wrong, nobody notices. A new version judges all candidates again.
"""
import json
import math
import sys


def check(instance, solution):
    """Return the objective of a solution, or raise a ValueError that says what is wrong with it."""
    with open(instance) as file:
        points = json.load(file)["points"]
    if not isinstance(solution, list) or not all(type(stop) is int for stop in solution):
        raise ValueError("malformed solution: expected a list of whole numbers")
    if sorted(solution) != list(range(len(points))):
        # "kind: detail"; tables count the kinds.
        raise ValueError(f"not a round trip: expected each of {len(points)} points once")
    return sum(round(math.dist(points[a], points[b])) for a, b in zip(solution, solution[1:] + solution[:1]))


# Who it is; then one line in for each candidate, one line out.
print(json.dumps({"checker": "mine", "version": "1.0"}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    try:
        answer = {"valid": True, "objective": check(asked["instance"], asked["solution"])}
    except ValueError as error:
        answer = {"valid": False, "reason": str(error)}
    print(json.dumps(answer), flush=True)
'''

_ARM = """
[[arms]]
name = "{move}"
solver = "command"
command = ["python3", "solver.py", "{{instance}}", "{{seed}}", "{{horizon}}", "{move}"]
"""
_TWO = "\n# Two settings of one program. Runs start in this directory, and any language will do."


def write_own_study(
    folder: str | Path, *, name: str = "", horizon: float = 5.0, seeds: int | Sequence[int] = 2
) -> Path:
    """Write `study.toml`, `solver.py`, `checker.py` and small instances, and return the path of the contract."""
    name = name or "mine"
    with new_study(Path(folder)) as study:
        blocks = []
        for panel in PANELS:
            for number in range(1, panel.count + 1):
                stem = f"points-n{panel.customers}-{number}"
                write_file(study / INSTANCES / f"{stem}.json", _points(f"{name} {stem}", panel.customers).encode())
            size = panel.customers
            pattern = f"{INSTANCES}/points-n{size}-*.json"
            blocks.append(f'[[instances]]\npath = "{pattern}"\npanel = "n={size}"\nsize = {size}\n')
        write_file(study / "solver.py", SOLVER.encode())
        write_file(study / "checker.py", CHECKER.encode())
        text = contract_text(
            ProblemFacts("Round trips", "length", (), ("reverse", "swap")),
            name=name,
            title="",
            checker="command:python3 checker.py",
            horizon=horizon,
            seeds=seeds,
            instances="\n".join(blocks),
            arms=_TWO + _ARM.format(move="reverse") + _ARM.format(move="swap"),
        )
        write_file(study / CONTRACT_FILE, text.encode())
    return Path(folder) / CONTRACT_FILE


def _points(name: str, count: int) -> str:
    draws = Draws(f"gapline points/1 {name}")
    return json.dumps({"points": [[draws.integer(0, _SIDE), draws.integer(0, _SIDE)] for _ in range(count)]}) + "\n"
