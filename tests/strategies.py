"""What hypothesis draws: runs and campaigns, with the numbers that break things.

A run is a mapping as `Campaign.from_runs` takes it; its trace holds (time, objective, valid) with valid True, False or
None (unchecked).
"""

import math
from collections import Counter

from hypothesis import strategies as st

KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2")
BOUNDED = ("squeezed", "maxform", "berthold")

TINY, SMALL_NORMAL, HUGE = 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308
HOSTILE = (
    TINY, 3 * TINY, SMALL_NORMAL, math.nextafter(SMALL_NORMAL, 0), 1e-300, math.nextafter(1, 0), 1.0,
    math.nextafter(1, 2), 10.0, math.nextafter(10, 11), 9007199254740993.0, 1e300, 1e308, HUGE / 2, HUGE,
)  # fmt: skip

ordinary = st.floats(0.5, 1000.0) | st.integers(1, 60).map(float)
hostile = st.sampled_from(HOSTILE) | st.floats(TINY, HUGE)
positives = ordinary | hostile

horizons = st.sampled_from([1.0, 7.0, 30.0, 0.1, 3600.0]) | st.floats(0.01, 1e5)


def stamps(horizon: float) -> st.SearchStrategy[float]:
    """Times with ties, at zero, at the horizon, one bit before and after it, and well beyond."""
    edges = [0.0, horizon, math.nextafter(horizon, 0), math.nextafter(horizon, math.inf), 2 * horizon, TINY]
    grid = st.integers(0, 12).map(lambda k: k / 8 * horizon)
    return grid | st.sampled_from(edges) | st.floats(0, 1.5 * horizon)


def traces(
    horizon: float, *, objectives=positives, verdicts=(True, True, True, False), max_size: int = 12
) -> st.SearchStrategy[list[tuple]]:
    """Candidates in any order; an invalid one may carry an objective that would be refused."""
    good = st.tuples(stamps(horizon), objectives, st.sampled_from(verdicts))
    return st.lists(good, max_size=max_size)


@st.composite
def runs(draw, *, objectives=positives, verdicts=(True, True, True, False), horizon=None, max_size=12):
    limit = draw(horizons) if horizon is None else horizon
    trace = draw(traces(limit, objectives=objectives, verdicts=verdicts, max_size=max_size))
    return {"arm": "a", "instance": "i", "seed": 1, "horizon": limit, "trace": trace}


@st.composite
def campaigns(draw, *, objectives=ordinary, verdicts=(True, True, True, False), horizon=None, max_runs=10):
    """Runs with distinct keys on instances of several panels, one horizon per instance, and a reference for each.

    Returns (runs, references). Cells are unbalanced on purpose; some runs are empty.
    """
    names = ["i1", "i2", "j1", "j2", "j3"]
    panels = {name: name[0] for name in names}
    limits = {name: draw(horizons) if horizon is None else horizon for name in names}
    references = {name: draw(objectives) for name in names}
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(["a", "b"]), st.sampled_from(names), st.integers(0, 3)),
            min_size=1, max_size=max_runs, unique=True,
        )
    )  # fmt: skip
    chosen = [
        {
            "arm": arm,
            "instance": name,
            "seed": seed,
            "panel": panels[name],
            "horizon": limits[name],
            "trace": draw(traces(limits[name], objectives=objectives, verdicts=verdicts, max_size=5)),
        }
        for arm, name, seed in keys
    ]
    return chosen, references


@st.composite
def whole_traces(draw, *, two_levels: bool = False):
    """Runs with every column that a campaign can have, as `campaign_from_traces` takes them.

    Accepted objectives are positive; with `two_levels` every event has primary and secondary components.
    """
    names = ['i, "1"', "07", "=1+1", "naïve π"]
    limits = {name: draw(horizons) for name in names}
    sizes = {name: draw(st.none() | st.integers(1, 50).map(float)) for name in names}
    columns = draw(st.sets(st.sampled_from(["bound", "claimed", "reason"])))
    senses = {name: draw(st.sampled_from(["min", "min", "max"])) for name in names}
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(["a", "-b", "null", "1e5"]), st.sampled_from(names), st.integers(-9, 2**62)),
            min_size=1, max_size=6, unique=True,
        )
    )  # fmt: skip
    found = []
    for arm, name, seed in keys:
        verdict = draw(st.lists(st.sampled_from([0, 1, 1, 2, 3] if "bound" in columns else [0, 1, 1, 2]), max_size=6))
        size = len(verdict)
        maybe = st.lists(positives | st.just(math.nan), min_size=size, max_size=size)
        exact = st.lists(positives, min_size=size, max_size=size)
        time = draw(st.lists(stamps(limits[name]), min_size=size, max_size=size))
        objective = draw(exact)
        optional = {column: draw(maybe) for column in ("bound", "claimed") if column in columns}
        for place, code in enumerate(verdict):
            # A rejected candidate may lack anything; a bound alone has a bound and no objective.
            lacks = draw(st.integers(0, 3)) if code == 0 else 1 if code == 3 else 0
            objective[place] = math.nan if lacks & 1 else objective[place]
            time[place] = math.nan if lacks & 2 else time[place]
            if code == 3:
                optional["bound"][place] = draw(positives)
        if two_levels:
            levels = st.lists(st.integers(1, 40).map(float), min_size=size, max_size=size)
            optional |= {"primary": draw(levels), "secondary": draw(exact)}
        if "reason" in columns:
            words = st.sampled_from(["", "too heavy", 'says "no", twice', "=1+1"])
            optional["reason"] = [draw(words) if code == 0 else "" for code in verdict]
        carried = {"size": sizes[name], "solver_version": "1.50", "slices": draw(st.sampled_from([5, 24]))}
        carried |= {"sense": senses[name], "validation": "declared"}
        status = draw(st.sampled_from(["finished", "crashed", "unknown"]))
        run = {"arm": arm, "instance": name, "seed": seed, "panel": name[0], "horizon": limits[name]}
        found.append(
            run
            | {"time": time, "objective": objective, "verdict": verdict, "status": status, **optional}
            | {"carried": carried}
        )
    return found, {name: draw(ordinary) for name in names}


def verdict_counts(trace: list[tuple]) -> Counter:
    return Counter(verdict for _, _, verdict in trace)
