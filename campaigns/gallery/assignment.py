"""Quadratic assignment: which facility goes where, so that as little as possible flows far. Solver and checker.

The contract starts it as: python3 assignment.py INSTANCE SEED HORIZON VERSION
"""

import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

Table = list[list[int]]


def draw(size: int, name: str) -> tuple[Table, Table]:
    """Return flows and distances, both symmetric."""
    draws = random.Random(name)
    tables = []
    for _ in range(2):
        upper = {(i, j): draws.randrange(1, 100) for i in range(size) for j in range(i)}
        tables.append([[0 if i == j else upper[max(i, j), min(i, j)] for j in range(size)] for i in range(size)])
    return tables[0], tables[1]


def cost(flows: Table, distances: Table, place: list[int]) -> int:
    """Return what flows how far."""
    return sum(
        flow * distances[a][b] for a, row in zip(place, flows, strict=True) for b, flow in zip(place, row, strict=True)
    )


def change(flows: Table, distances: Table, place: list[int], i: int, j: int) -> int:
    """Return how much more it costs when two facilities change places."""
    a, b = distances[place[i]], distances[place[j]]
    difference = sum(
        (f - g) * (b[p] - a[p])
        for k, (f, g, p) in enumerate(zip(flows[i], flows[j], place, strict=True))
        if k not in (i, j)
    )
    return 2 * difference


def search(
    flows: Table, distances: Table, seed: int, steps: int | None = None, *, slow: bool = False, end: float = 0.0
) -> Iterator[tuple[int, list[int]]]:
    """Yield ever better assignments: swaps that are accepted when they beat what stood some hundred steps ago."""
    draws, size = random.Random(seed), len(flows)
    place = draws.sample(range(size), size)
    value = best = cost(flows, distances, place)
    yield best, place
    memory, step = [value] * 200, 0
    while (steps is None or step < steps) and (steps is not None or time.monotonic() < end):
        i, j = draws.sample(range(size), 2)
        if slow:
            # The planted mistake: the same number, for size / 4 times the work.
            turned = place[:]
            turned[i], turned[j] = turned[j], turned[i]
            new = cost(flows, distances, turned)
        else:
            new = value + change(flows, distances, place, i, j)
        if new <= value or new < memory[step % len(memory)]:
            place[i], place[j], value = place[j], place[i], new
        memory[step % len(memory)] = value
        step += 1
        if value < best:
            best = value
            yield best, place


def check(instance: str, solution: list[int]) -> int | str:
    """Return the objective of an assignment, computed anew, or what is wrong with it."""
    problem = json.loads(Path(instance).read_text())
    if sorted(solution) != list(range(len(problem["flows"]))):
        return "not an assignment of each facility to a place of its own"
    return cost(problem["flows"], problem["distances"], solution)


def main() -> None:
    """Solve one instance and print every better assignment as a line of JSON."""
    path, seed, horizon, version = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    end = time.monotonic() + 0.98 * horizon
    problem = json.loads(Path(path).read_text())
    print(json.dumps({"solver": "assignment", "version": version}), flush=True)
    for value, place in search(problem["flows"], problem["distances"], seed, slow=version == "1.2", end=end):
        print(json.dumps({"objective": value, "solution": place}), flush=True)


if __name__ == "__main__":
    main()
