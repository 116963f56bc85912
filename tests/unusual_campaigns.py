"""Fifty campaigns that differ from what one expects, each as the rows of a trace file, references and options."""

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Row = dict[str, Any]
HORIZON = 10.0


@dataclass(frozen=True)
class Unusual:
    """One campaign: rows of a neutral trace, reference values (with `certified` where they are proven), choices."""

    name: str
    rows: list[Row]
    references: Mapping[str, float]
    certified: frozenset[str] = frozenset()
    choices: Mapping[str, Any] = field(default_factory=dict)

    def trace(self) -> str:
        """Return the trace file."""
        names = list(dict.fromkeys(name for row in self.rows for name in row))
        lines = [",".join("" if row.get(name) is None else str(row[name]) for name in names) for row in self.rows]
        return "\n".join([",".join(names), *lines]) + "\n"

    def reference_file(self) -> str:
        """Return the references as a CSV."""
        lines = [f"{name},{value},{str(name in self.certified).lower()}" for name, value in self.references.items()]
        return "\n".join(["instance,value,certified", *lines]) + "\n"


def falling(chance: random.Random, end: float, *, steps: int = 4) -> list[tuple[float, float]]:
    """Return the times and objectives of a run that ends at a value."""
    times = sorted(round(chance.uniform(0.1, 9.5), 3) for _ in range(steps))
    values = sorted((round(end * (1 + chance.uniform(0.01, 0.5)), 4) for _ in range(steps - 1)), reverse=True)
    return list(zip(times, [*values, end], strict=True))


def runs(
    arm: str,
    instances: range | list[int],
    chance: random.Random,
    *,
    level: Callable[[int], float] = lambda k: 110.0 + k,
    seeds: tuple[int, ...] = (1, 2),
    **facts: Any,
) -> list[Row]:
    """Return the rows of an arm: on instance k a run ends near a level."""
    rows: list[Row] = []
    for k in instances:
        for seed in seeds:
            key = {"arm": arm, "instance": f"i{k:02d}", "seed": seed, "horizon": HORIZON, **facts}
            end = round(level(k) * (1 + chance.uniform(0, 0.03)), 4)
            rows += [key | {"time": time, "objective": value} for time, value in falling(chance, end)]
    return rows


def empty(arm: str, instances: range | list[int], seeds: tuple[int, ...] = (1, 2)) -> list[Row]:
    """Return the rows of runs that found nothing."""
    return [
        {"arm": arm, "instance": f"i{k:02d}", "seed": seed, "horizon": HORIZON, "time": None, "objective": None}
        for k in instances
        for seed in seeds
    ]


def renamed(rows: list[Row], arm: str) -> list[Row]:
    """Return the same runs under another arm: nothing differs."""
    return [row | {"arm": arm} for row in rows]


def known(number: int, value: float = 100.0) -> dict[str, float]:
    """Return a reference value of each instance."""
    return {f"i{k:02d}": value + k for k in range(number)}


def unusual_campaigns() -> Iterator[Unusual]:
    """Yield the campaigns; the same on every machine."""
    chance = random.Random(29)
    for number in (1, 2, 3, 5):
        rows = [row for arm in "abc" for row in runs(arm, range(number), chance)]
        yield Unusual(f"{number} instances", rows, known(number))
    for number in (1, 6):
        yield Unusual(f"one arm on {number}", runs("only", range(number), chance), known(number))
    yield Unusual("one run", runs("only", range(1), chance, seeds=(1,)), known(1))
    for number in (1, 4, 8):
        rows = [row for arm in "ab" for row in empty(arm, range(number))]
        yield Unusual(f"all empty on {number}", rows, known(number))
    yield Unusual("one arm empty", [*runs("a", range(6), chance), *empty("b", range(6))], known(6))
    yield Unusual("empty and alone", empty("only", range(3)), known(3))
    for number in (1, 2, 7):
        rows = runs("a", range(number), chance)
        yield Unusual(f"all tied on {number}", [*rows, *renamed(rows, "b")], known(number))
    rows = runs("a", range(6), chance)
    yield Unusual("three arms, two tied", [*rows, *renamed(rows, "b"), *runs("c", range(6), chance)], known(6))
    yield from _instance_sets(chance)
    yield from _references(chance)
    yield from _declared(chance)


def _instance_sets(chance: random.Random) -> Iterator[Unusual]:
    """Arms that ran other instances: the easy half, none in common, one too few, a missing seed."""
    hard: Callable[[int], float] = lambda k: 110.0 + 15 * (k >= 6)  # noqa: E731
    whole = runs("a", range(12), chance, level=hard)
    easy = runs("b", range(6), chance, level=lambda _k: 116.0)
    for missing in ("leave-out", "common", "empty"):
        yield Unusual(f"the easy half, {missing}", [*whole, *easy], known(12), choices={"missing": missing})
    two = [*whole, *runs("c", range(12), chance, level=hard), *easy]
    for missing in ("leave-out", "common", "empty"):
        yield Unusual(f"two whole arms and one easy, {missing}", two, known(12), choices={"missing": missing})
    yield Unusual("nothing in common", [*runs("a", range(4), chance), *runs("b", range(4, 8), chance)], known(8))
    for number in range(4):
        sets = {arm: sorted(chance.sample(range(8), chance.randint(3, 8))) for arm in "abcd"}
        rows = [row for arm, instances in sets.items() for row in runs(arm, instances, chance)]
        missing = ("leave-out", "leave-out", "common", "empty")[number]
        yield Unusual(f"random sets {number}, {missing}", rows, known(8), choices={"missing": missing})
    rows = [*runs("a", range(6), chance), *runs("b", range(5), chance), *runs("b", [5], chance, seeds=(1,))]
    yield Unusual("a missing seed", rows, known(6))
    rows = [*runs("a", range(6), chance), *runs("b", range(6), chance), *runs("c", [0], chance)]
    yield Unusual("an arm with one instance", rows, known(6))


def _references(chance: random.Random) -> Iterator[Unusual]:
    """References that are beaten, proven and beaten, equal to the best of the runs; bounds that contradict runs."""
    both = [*runs("a", range(6), chance), *runs("b", range(6), chance)]
    yield Unusual("one reference beaten", both, known(6) | {"i00": 125.0})
    yield Unusual("every reference beaten", both, known(6, 130.0))
    kernels = ("berthold", "squeezed")
    yield Unusual("beaten under berthold", both, known(6) | {"i00": 125.0}, choices={"kernels": kernels})
    yield Unusual("certified and beaten", both, known(6) | {"i00": 125.0}, frozenset({"i00"}))
    yield Unusual("every certified value beaten", both, known(6, 130.0), frozenset(known(6)))
    bounds = [row | {"bound": 90.0} for row in both]
    yield Unusual("bounds that hold", bounds, known(6))
    crossed = [row | {"bound": 140.0 if row["arm"] == "b" and row["instance"] == "i01" else 90.0} for row in both]
    yield Unusual("a bound beyond its own incumbent", crossed, known(6))
    best: dict[str, float] = {}
    for row in both:
        best[row["instance"]] = min(best.get(row["instance"], 1e9), row["objective"])
    yield Unusual("references are the best of these runs", both, best)
    yield Unusual("nothing below a threshold", both, known(6, 50.0), choices={"kernels": ("dimacs:1.1", "squeezed")})


def _declared(chance: random.Random) -> Iterator[Unusual]:
    """What is declared and what is not: verdicts, panels, ladders, contrasts, tiers, horizons, directions."""
    both = [*runs("a", range(6), chance), *runs("b", range(6), chance)]
    yield Unusual("checked", [row | {"valid": "true"} for row in both], known(6))
    judged = [row | {"valid": "false" if row["arm"] == "b" and row["seed"] == 1 else "true"} for row in both]
    yield Unusual("some rejected", judged, known(6))
    yield Unusual("status stated", [row | {"status": "crashed" if row["seed"] == 2 else "finished"} for row in both],
                  known(6))  # fmt: skip
    bare = [{name: value for name, value in row.items() if name != "horizon"} for row in both]
    yield Unusual("horizon of an option", bare, known(6), choices={"horizon": HORIZON})
    yield Unusual("a shorter horizon", both, known(6), choices={"horizon": 5.0})
    panels = [row | {"panel": "small" if row["instance"] < "i01" else "large"} for row in both]
    yield Unusual("panels of one and five", panels, known(6))
    three = [*both, *runs("c", range(6), chance)]
    yield Unusual("a declared contrast", three, known(6), choices={"contrasts": [("c", "a")]})
    yield Unusual("a descriptive arm", three, known(6), choices={"tier_two": ("c",)})
    yield Unusual("all descriptive", both, known(6), choices={"tier_two": ("a", "b")})
    ladder = [row for slices in (1, 2, 10) for row in runs("step", range(6), chance, slices=slices)]
    yield Unusual("a ladder alone", ladder, known(6))
    yield Unusual("a ladder and an arm", [*ladder, *runs("a", range(6), chance, slices=1)], known(6))
    upward = [row | {"objective": round(1e4 / row["objective"], 6), "sense": "max"} for row in both]
    yield Unusual("maximised", upward, {name: 1e4 / value for name, value in known(6).items()})
    late = [row | {"time": row["time"] + 9} for row in both]
    yield Unusual("mostly late", late, known(6))
