"""Studies that the tests of figures, tables and files read: the built-in campaign, a hand-made one, a hostile one."""

from functools import cache

import numpy as np
import polars as pl

import gapline as gl
from crowded_traces import crowd_names
from gapline.report.facts import Statements, make_statements
from gapline.report.paper.sensitivity import synthetic_study
from gapline.report.table import Table, Text
from gapline.report.write import for_report
from gapline.study import Study
from gapline.study.analyse import Analysis, analyse

HOSTILE = (
    "a_b & 50% #1 {x} $y$ ^~\\",
    "</script><img src=x onerror=alert(1)>",
    '=HYPERLINK("http://x")',
    "中文 | ёж | naïve",
    "\u202egnp.exe\x1b[31m",
    "\\input{/etc/passwd}",
    "[brackets]*",
)


def report_of(campaign: gl.Campaign, snapshot: gl.Snapshot, **choices: object) -> Study:
    """Open a study as a report shows it, with few draws."""
    return for_report(gl.open_study(campaign, snapshots=[snapshot], **({"draws": 50} | choices)))


@cache
def synthetic() -> Study:
    return for_report(synthetic_study())


@cache
def synthetic_analyses() -> Analysis:
    return analyse(synthetic())


@cache
def synthetic_said() -> Statements:
    return make_statements(synthetic())


@cache
def by_hand(**choices) -> Study:
    """Two arms on two instances against 10 and 20; arm b has an empty run."""
    traces = {
        ("a", "i", 1): [(0, 20.0), (5, 10.0)],
        ("a", "i", 2): [(0, 30.0)],
        ("a", "j", 1): [(0, 20.0)],
        ("a", "j", 2): [(0, 60.0)],
        ("b", "i", 1): [(0, 12.0)],
        ("b", "i", 2): [],
        ("b", "j", 1): [(0, 19.0)],
        ("b", "j", 2): [(2, 20.0), (3, 15.0, False)],
    }
    runs = [
        {
            "arm": arm,
            "instance": instance,
            "seed": seed,
            "panel": "p",
            "horizon": 10.0,
            "trace": [(*e, True)[:3] for e in trace],
        }
        for (arm, instance, seed), trace in traces.items()
    ]
    campaign = gl.Campaign.from_runs(runs)
    snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 20.0}, name="mine")
    return report_of(campaign, snapshot, **choices)


def by_columns(facts=None, tier_two=(), **columns):
    """Two arms on one instance, with further columns of the runs."""
    runs = pl.DataFrame({"arm": ["a", "b"], "instance": ["i"] * 2, "seed": [1, 1], "horizon": [9.0] * 2, **columns})
    runs = runs.with_columns(first=pl.Series([0, 1]), count=pl.Series([1, 1]))
    campaign = gl.Campaign.from_arrays(
        runs=runs, time=[1.0, 2.0], objective=[12.0, 13.0], verdict=[1, 1], facts=facts or {}
    )
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="known")
    return report_of(campaign, snapshot, tier_two=tier_two)


@cache
def hierarchical() -> Study:
    """Arm a ends at K = 2, C = 50, then 40; arm b has more of the primary objective."""
    runs = pl.DataFrame(
        {"arm": ["a", "a", "b"], "instance": ["i"] * 3, "seed": [1, 2, 1], "horizon": [9.0] * 3}
    ).with_columns(first=pl.Series([0, 2, 3]), count=pl.Series([2, 1, 1]))
    secondary = np.array([60.0, 50.0, 40.0, 20.0])
    campaign = gl.Campaign.from_arrays(
        runs=runs, time=np.array([1.0, 2.0, 1.0, 1.0]), objective=secondary, verdict=np.ones(4, np.uint8),
        primary=np.array([3.0, 2.0, 2.0, 3.0]), secondary=secondary,
    )  # fmt: skip
    snapshot = gl.Snapshot.from_entries(
        {"i": {"value": 220.0, "primary": 2.0, "secondary": 20.0}}, name="known", store={"name": "s"}
    )
    return report_of(campaign, snapshot, transform="hierarchical:100")


@cache
def hostile() -> Study:
    """Arms, instances, panels and a snapshot with names that want to be more than names."""
    runs = [
        {
            "arm": arm,
            "instance": f"{name} {k}",
            "seed": 1,
            "panel": name,
            "horizon": 10.0,
            "trace": [(k, 12.0 + n, True)],
        }
        for n, arm in enumerate(HOSTILE)
        for name in HOSTILE[:3]
        for k in (1, 2)
    ]
    campaign = gl.Campaign.from_runs(runs)
    values = dict.fromkeys(campaign.runs["instance"].unique().to_list(), 10.0)
    snapshot = gl.Snapshot.from_values(values, name=HOSTILE[0])
    return report_of(campaign, snapshot, title=HOSTILE[1], contrasts=[(HOSTILE[0], HOSTILE[1])])


# Members of JavaScript's Object.prototype: a plain object that is used as a map has them all from the start.
INHERITED = (
    "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf",
    "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__",
)  # fmt: skip


@cache
def inherited() -> Study:
    """Arms, instances and panels with the names that every object of JavaScript has."""
    return _crowd(INHERITED, {name: (name, f"{name} 2") for name in INHERITED}, name="__proto__")


@cache
def crowd(arms: int = 80) -> Study:
    """More arms than a figure has colours and dashes for."""
    panels = {panel: tuple(f"{panel} {k}" for k in range(4)) for panel in ("small", "large")}
    return _crowd(tuple(f"solver {k:02d}" for k in range(arms)), panels, name="known before")


@cache
def paper_sized() -> Study:
    """20 arms on 200 instances of four panels, names of 1 to 60 letters, some of which LaTeX and pages would obey."""
    draw = np.random.default_rng(19)
    odd = ("a_b & 50% #1 {x} $y$ ^~\\", "[brackets]*", "中文 naïve", "WIDE_" + "M" * 25 + "W" * 24 + "_12345")
    arms = (*crowd_names(16), *odd)
    panels = ("small", "large_2 (60 %)", "p" * 60, "X")
    instances = [
        f"instance_{k}-with-a-name-of-sixty-letters-in-all".ljust(60, "x") if k % 5 == 0 else f"i{k}"
        for k in range(200)
    ]
    runs = [
        {
            "arm": arm, "instance": instance, "seed": 1, "panel": panels[k % 4], "horizon": 10.0,
            "status": "time-limit",
            "trace": [] if number == 19 and k % 20 == 0 else [
                (time, 1000 * (1 + (0.06 + 0.015 * number) * gap), valid) for time, gap, valid in zip(
                    np.sort(draw.uniform(0, 10, 4)).tolist(), np.sort(draw.uniform(0, 1, 4))[::-1].tolist(),
                    (draw.uniform(size=4) > 0.03).tolist(), strict=True,
                )
            ],
        }
        for number, arm in enumerate(arms) for k, instance in enumerate(instances)
    ]  # fmt: skip
    snapshot = gl.Snapshot.from_values(
        {instance: 1001.0 if k % 7 == 0 else 1000.0 for k, instance in enumerate(instances)}, name="known_before"
    )
    choices = {"contrasts": [arms[:2], arms[-2:]], "goals": [0.05, 0.2], "tier_two": [arms[3]], "title": "paper-sized"}
    return report_of(gl.Campaign.from_runs(runs), snapshot, **choices)


@cache
def paper_sized_analyses() -> Analysis:
    return analyse(paper_sized())


def _crowd(arms: tuple[str, ...], panels: dict[str, tuple[str, ...]], *, name: str) -> Study:
    generator = np.random.default_rng(14)
    runs = [
        {
            "arm": arm, "instance": instance, "seed": seed, "panel": panel, "horizon": 10.0, "status": "time-limit",
            "trace": [(t, 100.0 * (1 + (0.2 + number / len(arms)) * gap)) for t, gap in zip(
                np.sort(generator.uniform(0, 10, 4)).tolist(), np.sort(generator.uniform(0, 1, 4))[::-1].tolist(),
                strict=True,
            )],
        }
        for number, arm in enumerate(arms) for panel, names in panels.items() for instance in names for seed in (1, 2)
    ]  # fmt: skip
    values = {instance: 99.0 for names in panels.values() for instance in names}
    snapshot = gl.Snapshot.from_values(values, name=name)
    return report_of(gl.Campaign.from_runs(runs), snapshot, title=name, contrasts=[arms[:2], arms[-2:]], goals=[0.2])


def rows_of(table: Table) -> list[dict[str, Text]]:
    """Return the rows of a table by the heads of its columns."""
    heads = [column.head for column in table.columns]
    return [dict(zip(heads, row, strict=True)) for row in table.rows]
