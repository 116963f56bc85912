"""The definitions once more, slow and obvious, in exact rationals: nothing here comes from the package.

Written from the paper's sections 2-4 and appendices A, C and D. A candidate is (time, objective, verdict) with verdict
True, False or None (unchecked); a step is (time, objective). Floats are taken at their exact value.
"""

from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise

DIGITS = Context(prec=60)
Step = tuple[Fraction, Fraction]
# A relative difference up to this is none, where decimals decide: a goal, a threshold, a beaten reference.
TOLERANCE = 1e-9


def envelope(candidates: Iterable[tuple], horizon: float, *, trust_unchecked: bool = False) -> list[Step]:
    """Keep valid candidates up to the horizon, the best of each stamp, and of those the strict improvements."""
    best_of_stamp: dict[Fraction, Fraction] = {}
    for time, objective, verdict in candidates:
        if verdict is False or (verdict is None and not trust_unchecked):
            continue
        if Fraction(time) > Fraction(horizon):
            continue
        stamp, value = Fraction(time), Fraction(objective)
        best_of_stamp[stamp] = min(value, best_of_stamp.get(stamp, value))
    steps: list[Step] = []
    for stamp in sorted(best_of_stamp):
        if not steps or best_of_stamp[stamp] < steps[-1][1]:
            steps.append((stamp, best_of_stamp[stamp]))
    return steps


def gap(
    kernel: str, z: Fraction | float | None, reference: Fraction | float, *, tolerance: float = TOLERANCE
) -> Fraction | None:
    """Return the instantaneous gap; z None means that there is no incumbent, a result None that no gap exists."""
    name, _, argument = kernel.partition(":")
    if z is None:
        if name == "raw":
            return None
        return Fraction(float(argument)) - 1 if name == "dimacs" else Fraction(1)
    z, star = Fraction(z), Fraction(reference)
    if name == "squeezed":
        return (z - star) / (z + star)
    if name in ("maxform", "berthold"):
        signed = (z - star) / max(z, star)
        return signed if name == "maxform" else abs(signed)
    if name == "dimacs":
        theta = Fraction(float(argument))
        return z / star - 1 if z < theta * star * (1 - Fraction(tolerance)) else theta - 1
    if name == "raw":
        return z / star - 1
    raise ValueError(kernel)


def log(x: Fraction) -> Fraction:
    """Return ln x to sixty digits."""
    ratio = DIGITS.divide(Decimal(x.numerator), Decimal(x.denominator))
    return Fraction(DIGITS.ln(ratio))


def weight_between(weight: str, start: Fraction, end: Fraction, horizon: Fraction) -> Fraction:
    """Return the integral of the time weight over [start, end] (appendix C)."""
    name, _, argument = weight.partition(":")
    if name == "uniform":
        return end - start
    if name == "early-log":
        cutoff = Fraction(float(argument))
        low, high = max(start, cutoff), max(end, cutoff)
        return log(high / low) if high > low else Fraction(0)
    if name == "end-log":
        cutoff = Fraction(float(argument))
        low, high = max(horizon - end, cutoff), max(horizon - start, cutoff)
        return log(high / low) if high > low else Fraction(0)
    if name == "steps":
        pairs = [tuple(Fraction(float(x)) for x in part.split("=")) for part in argument.split(",")]
        total = Fraction(0)
        for k, (edge, value) in enumerate(pairs):
            upper = pairs[k + 1][0] if k + 1 < len(pairs) else end
            total += value * max(Fraction(0), min(end, upper) - max(start, edge))
        return total
    raise ValueError(weight)


def integral(
    steps: Sequence[Step], reference: float, horizon: float, *, kernel: str = "squeezed", weight: str = "uniform"
) -> Fraction | None:
    """Return the time average of the gap; None where the raw gap has none before the first incumbent."""
    limit = Fraction(horizon)
    points = [(Fraction(0), None), *((Fraction(t), Fraction(z)) for t, z in steps), (limit, None)]
    total = Fraction(0)
    for (start, z), (end, _) in pairwise(points):
        here = gap(kernel, z, reference)
        if here is None:
            if not steps or steps[0][0] > 0:
                return None
            continue
        total += here * weight_between(weight, start, end, limit)
    return total / weight_between(weight, Fraction(0), limit, limit)


def final_gap(steps: Sequence[Step], reference: float) -> Fraction | None:
    """Return the raw gap of the last incumbent, None for an empty run."""
    return gap("raw", steps[-1][1], reference) if steps else None


def hitting_time(
    steps: Sequence[Step], reference: float, goal: float, *, tolerance: float = TOLERANCE
) -> Fraction | None:
    """Return the first time at which the raw gap is at most the goal and the tolerance, None where it never is."""
    for time, z in steps:
        if z - Fraction(reference) <= (Fraction(goal) + Fraction(tolerance)) * Fraction(reference):
            return time
    return None


def value_at(steps: Sequence[Step], time: Fraction) -> Fraction | None:
    """Return the incumbent held at a time, None before the first."""
    held = None
    for stamp, z in steps:
        if stamp <= time:
            held = z
    return held


def mean_curve(
    runs: Sequence[tuple[Sequence[Step], float]], weights: Sequence[Fraction], *, kernel: str = "squeezed"
) -> list[tuple[Fraction, Fraction]]:
    """Return (time, weighted mean gap from there on) at 0 and at every breakpoint of any run."""
    stamps = sorted({Fraction(0), *(t for steps, _ in runs for t, _ in steps)})
    curve = []
    for stamp in stamps:
        terms = [
            w * gap(kernel, value_at(steps, stamp), reference)
            for (steps, reference), w in zip(runs, weights, strict=True)
        ]
        curve.append((stamp, sum(terms, Fraction(0)) / sum(weights)))
    return curve


def attainment(
    runs: Sequence[tuple[Sequence[Step], float]], weights: Sequence[Fraction], *, goal: float, time: Fraction
) -> Fraction:
    """Return the weighted share of runs that have attained the goal by a time (equation 7)."""
    total = Fraction(0)
    for (steps, reference), w in zip(runs, weights, strict=True):
        hit = hitting_time(steps, reference, goal)
        if hit is not None and hit <= time:
            total += w
    return total / sum(weights)


def area(curve: Sequence[tuple[Fraction, Fraction]], horizon: float) -> Fraction:
    """Return the mean height of a step curve over [0, horizon]."""
    ends = [t for t, _ in curve[1:]] + [Fraction(horizon)]
    return sum(((end - t) * v for (t, v), end in zip(curve, ends, strict=True)), Fraction(0)) / Fraction(horizon)


def mean(cells: Sequence[tuple[str, str, Fraction]], *, weighting: str) -> Fraction:
    """Return the panel-, instance- or run-equal mean of (panel, instance, score) cells (equation 6)."""
    if weighting == "run":
        return sum((x for _, _, x in cells), Fraction(0)) / len(cells)
    panels: dict[str, dict[str, list[Fraction]]] = {}
    for panel, instance, x in cells:
        panels.setdefault(panel, {}).setdefault(instance, []).append(x)
    instance_means = {p: [sum(xs, Fraction(0)) / len(xs) for xs in of.values()] for p, of in panels.items()}
    if weighting == "instance":
        everything = [x for xs in instance_means.values() for x in xs]
        return sum(everything, Fraction(0)) / len(everything)
    panel_means = [sum(xs, Fraction(0)) / len(xs) for xs in instance_means.values()]
    return sum(panel_means, Fraction(0)) / len(panel_means)


def order_is_kept(solutions: Sequence[tuple[float, float]], multiplier: float) -> bool:
    """Say whether M·K + C orders every two observed solutions by K first (appendix D asks it of neighbouring K)."""
    return all(
        Fraction(multiplier) * (Fraction(more_k) - Fraction(k)) > Fraction(c) - Fraction(more_c)
        for k, c in solutions
        for more_k, more_c in solutions
        if more_k > k
    )


def close(got: float | None, exact: Fraction | None, *, within: float = 1e-12) -> bool:
    """Compare a computed float with an exact value, relative to the larger of 1 and that value."""
    if got is None or exact is None:
        return got is None and exact is None
    return abs(Fraction(got) - exact) <= Fraction(within) * max(Fraction(1), abs(exact))
