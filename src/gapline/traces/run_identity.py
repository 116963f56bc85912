"""Assign rows to runs: keys, attributes, time that goes back, and runs that share a key but differ in a setting."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.campaign import Campaign
from gapline.contract.number_limits import EXACT, INTEGER
from gapline.contract.tables import CARRIED, RUN_KEY, RUN_RECORD, TRACE_DETAILS, RunKey, VerdictCode
from gapline.errors import TraceError, listing
from gapline.text import counted
from gapline.traces.candidates import NUMBER, CandidateProblems, as_text, not_exact
from gapline.traces.columns import Dialect, mapping, option
from gapline.traces.direction import check_direction, with_notes
from gapline.traces.repeated_rows import Rows
from gapline.traces.time_units import ELAPSED, unit_of_text

# Rows of parallel logs are out of order by less than this fraction of the duration of a run.
_SHARE = 0.15


class StepsBack(NamedTuple):
    """Runs of a table in which time goes back: their rows in the campaign, and the largest step relative to the run.

    `rises` and `falls` say whether any objective is higher, or lower, than the previous one in order of time.
    """

    run: NDArray[np.int64]
    share: NDArray[np.float64]
    rises: NDArray[np.bool_]
    falls: NDArray[np.bool_]


def find_steps_back(run: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> StepsBack:
    """Find the runs in which the time of candidates decreases in the order of the source, ignoring duplicates.

    >>> columns = {"time": np.array([1.0, 9.0, 2.0, 8.0]), "objective": np.array([9.0, 5.0, 8.0, 6.0]),
    ...            "verdict": np.ones(4, np.uint8)}
    >>> found = find_steps_back(np.zeros(4, np.int32), columns)
    >>> found.share.tolist(), found.rises.tolist()
    ([0.875], [False])
    """
    time, objective, verdict = columns["time"], columns["objective"], columns["verdict"]
    at = np.flatnonzero((verdict != VerdictCode.BOUND) & (time >= 0))
    at = at[np.argsort(run[at], kind="stable")]
    back = (time[at[1:]] < time[at[:-1]]) & (run[at[1:]] == run[at[:-1]])
    at = at[np.isin(run[at], np.unique(run[at[1:]][back]))]
    accepted = (verdict[at] == VerdictCode.VALID) | (verdict[at] == VerdictCode.UNCHECKED)
    believed = pl.Series(np.where(accepted, objective[at], np.nan)).fill_nan(None)
    rows = pl.DataFrame({"run": run[at], "time": time[at], "z": believed, "written": objective[at]})
    rows = rows.unique(["run", "time", "written"], keep="first", maintain_order=True).drop("written")
    step, stamp = (pl.col("time").shift(1) - pl.col("time")).max(), pl.col("time")
    shares = rows.group_by("run").agg(share=step / (stamp.max() - stamp.min())).filter(pl.col("share") > 0)
    z = pl.col("z")
    in_order = rows.drop_nulls("z").sort("run", "time", maintain_order=True).group_by("run")
    moves = in_order.agg(rises=(z > z.shift(1)).any(), falls=(z < z.shift(1)).any())
    found = shares.join(moves, on="run", how="left").sort("run").fill_null(value=False)
    return StepsBack(*(found[name].to_numpy() for name in ("run", "share", "rises", "falls")))


class RowOrder:
    """Check the order of the rows of a table, and decide what it means if time goes back within runs."""

    def __init__(self, source: str, dialect: Dialect) -> None:
        self._source, self._sort_rows = source, dialect.sort_rows
        self._found: StepsBack | None = None

    def look(self, run: NDArray[Any], columns: Mapping[str, NDArray[Any]]) -> None:
        """Inspect the rows before they are sorted."""
        self._found = find_steps_back(run, columns)

    def settle(self, campaign: Campaign) -> Campaign:
        """Add a note on rows that were sorted, or refuse rows that seem to belong to several runs."""
        found = self._found
        if found is None or not len(found.run):
            return campaign
        if not self._sort_rows and (doubtful := _doubtful(campaign, found)).any():
            # Whether an objective gets worse depends on the direction, so check that first.
            check_direction(campaign)
            keys = campaign.runs[found.run[doubtful]].select(RUN_KEY)
            shown = listing((str(RunKey(*key)) for key in keys.iter_rows()), most=3)
            share = 100 * found.share[doubtful].max()
            split, order = (option(name, True, self._source) for name in ("number_runs", "sort_rows"))
            raise TraceError(
                f"{self._source}: several runs seem to share one arm, instance and seed: {shown}; time goes back by up "
                f"to {share:.3g} % of the run, and sorted by time the objective gets worse again",
                hint=f"{split} begins a new run wherever time goes back; {order} confirms that each is one run whose "
                "rows are out of order",
            )
        confirmed = " (--sort-rows)" if self._sort_rows else ""
        runs, share = counted(len(found.run), "run"), 100 * found.share.max()
        return with_notes(
            campaign, [f"rows of {runs} were out of order by up to {share:.3g} % of the run: sorted by time{confirmed}"]
        )


def _doubtful(campaign: Campaign, found: StepsBack) -> NDArray[np.bool_]:
    stated = campaign.facts.get("sense") or "min"
    senses = campaign.runs.get_column("sense", default=pl.Series([None] * len(campaign), dtype=pl.String))
    maximised = (senses.cast(pl.String).gather(found.run).fill_null(stated) == "max").to_numpy()
    doubtful: NDArray[np.bool_] = (found.share > _SHARE) & np.where(maximised, found.falls, found.rises)
    return doubtful


def renumber(rows: pl.DataFrame, parts: pl.Series) -> tuple[pl.Series, str]:
    """Return the seed of each row after runs were split: first parts keep their seed, others get the next free ones.

    >>> rows = pl.DataFrame({"arm": ["a"] * 4, "instance": ["i"] * 4, "seed": [1, 1, 1, 2]})
    >>> seeds, note = renumber(rows, pl.Series([0, 1, 2, 0]))
    >>> seeds.to_list(), note
    ([1, 3, 4, 2], '--number-runs: 2 runs became 4, because time goes back in 1 of them')
    """
    keyed = rows.select(RUN_KEY).with_columns(part=parts)
    each = keyed.unique(maintain_order=True)
    pair, more = ["arm", "instance"], pl.col("part") > 0
    following = pl.col("seed").max().over(pair) + more.cast(pl.Int64).cum_sum().over(pair)
    named = each.with_columns(own=pl.when(more).then(following).otherwise(pl.col("seed")))
    before, split = each.select(RUN_KEY).n_unique(), each.filter(more).select(RUN_KEY).n_unique()
    seeds = keyed.join(named, on=[*RUN_KEY, "part"], how="left", maintain_order="left")["own"].alias("seed")
    if not split:
        return seeds, f"--number-runs: time goes back in none of {counted(before, 'run')}"
    return seeds, (
        f"--number-runs: {counted(before, 'run')} became {each.height:,}, because time goes back in {split:,} of them"
    )


# A column with a new value on at least this fraction of the rows of its runs describes candidates (nodes, digests), if
# runs have at least this many rows on average: with one row per run, a setting is new on every row too.
_NEW_ON_ROWS = 0.5
_ROWS_PER_RUN = 8
# Time must go back at this fraction of the places where a setting changes, because a run begins early after the
# previous one ended late. Among runs with one candidate each, time goes back at every second change; between phases or
# operators of one run, never.
_BACK_IN_TIME = 0.25


@dataclass(frozen=True, slots=True)
class RunLadder:
    """The arm of each row with its settings in the name, the columns to leave out, and notes on all or split runs."""

    arm: pl.Series
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    split_note: str = ""


def plain_setting(cells: pl.Series) -> pl.Series:
    """Convert a further column to numbers if all its cells are numbers, so that 5 and 5.0 are one setting."""
    # Columns that are text by definition stay text, such as a version 1.50 or a core list "0".
    if cells.dtype != pl.String or RUN_RECORD.get(cells.name) == pl.String or not cells.str.contains(NUMBER).all():
        return cells
    if cells.str.contains(r"[.eE]").any():
        return cells if not_exact(cells).any() else cells.cast(pl.Float64, strict=False)
    numbers = cells.cast(pl.Int64, strict=False)
    # An integer beyond 64 bits is treated as a name of digits.
    return cells if numbers.null_count() > cells.null_count() else numbers


def split_ladders(
    extras: pl.DataFrame, keys: pl.DataFrame, time: NDArray[np.float64] | None, *, source: str
) -> RunLadder:
    """Separate runs that share arm, instance and seed (`keys`) but differ in a further column (`extras`).

    `time` is the time stamp of each row, NaN if missing; None if every column is known to describe runs.

    >>> extras = pl.DataFrame({"slices": [5, 5, 24, 24]})
    >>> keys = pl.DataFrame({"arm": ["a"] * 4, "instance": ["i"] * 4, "seed": [1] * 4})
    >>> split_ladders(extras, keys, np.array([1.0, 9.0, 2.0, 8.0]), source="t.csv").arm.to_list()
    ['a slices=5', 'a slices=5', 'a slices=24', 'a slices=24']
    """
    rows = keys.hstack(extras)
    several = varying(rows, extras.columns)
    if not several:
        return RunLadder(keys["arm"])
    left_out, notes, settings = [], [], []
    for name in several:
        inside = rows.select(*RUN_KEY, name).filter(pl.col(name).is_not_null() & _varies(name))
        values = inside.n_unique()
        runs = inside.select(RUN_KEY).n_unique()
        new_on_most = values >= _NEW_ON_ROWS * inside.height and inside.height >= _ROWS_PER_RUN * runs
        detail = name in TRACE_DETAILS or rows[name].dtype.is_nested()
        if detail or (time is not None and new_on_most):
            left_out.append(name)
            notes.append(
                f"column {name!r} differs from candidate to candidate ({values:,} values in {counted(runs, 'run')}): "
                "left out"
            )
        else:
            settings.append(name)
    if not settings:
        return RunLadder(keys["arm"], tuple(left_out), tuple(notes))
    if time is not None:
        _refuse_doubtful(rows, settings, time, source)
    arm, note = name_settings(rows, settings, source=source)
    return RunLadder(arm, tuple(left_out), tuple(notes), note)


def name_settings(rows: pl.DataFrame, settings: list[str], *, source: str) -> tuple[pl.Series, str]:
    """Add the settings that distinguish runs with the same key to the name of their arm; the columns are unchanged.

    >>> rows = pl.DataFrame({"arm": ["a", "a", "b"], "instance": "i", "seed": 1, "threads": [1, 2, 2]})
    >>> name_settings(rows, ["threads"], source="t.csv")[0].to_list()
    ['a threads=1', 'a threads=2', 'b']
    """
    # Columns with few values first: if `slices` distinguishes the runs, the name needs no `elapsed`.
    named: list[str] = []
    for name in sorted(settings, key=lambda name: rows[name].n_unique()):
        if rows.select(*RUN_KEY, *named, name).n_unique() > rows.select(*RUN_KEY, *named).n_unique():
            named.append(name)
    named.sort(key=rows.columns.index)
    arms = rows["arm"]
    parts = [pl.col("arm")]
    for name in named:
        # Name the setting for all runs of the arm, even on an instance with a single setting: one arm, one setting.
        split = rows.filter(_varies(name))["arm"].unique()
        cell = pl.lit(f" {name}=") + _in_a_name(rows[name])
        parts.append(
            pl.when(pl.col("arm").is_in(split.implode()) & pl.col(name).is_not_null()).then(cell).otherwise(pl.lit(""))
        )
    arm = rows.select(pl.concat_str(parts).alias("arm")).to_series()
    changed = arms != arm
    fresh = arm.filter(changed).unique(maintain_order=True)
    if clash := sorted(set(fresh) & set(arms)):
        raise TraceError(f"{source}: expected arms without their settings in the name, got also {listing(clash)}")
    before = listing(map(repr, arms.filter(changed).unique(maintain_order=True)), most=3)
    note = (
        f"several runs of {before} share an instance and a seed, told apart by {' and '.join(named)}: "
        f"now {counted(len(fresh), 'arm')}, {listing(map(repr, fresh), most=3)}"
    )
    return arm, note


def _in_a_name(cells: pl.Series) -> pl.Expr:
    """Return the text of a setting: 5, not 5.0, if all values are integers."""
    whole = cells.dtype.is_float() and bool((cells.drop_nulls() % 1 == 0).all())
    return (pl.col(cells.name).cast(pl.Int64, strict=False) if whole else pl.col(cells.name)).cast(pl.String)


def _varies(name: str) -> pl.Expr:
    """Return an expression that marks the rows whose key has several values in the column."""
    return pl.col(name).drop_nulls().n_unique().over(RUN_KEY) > 1


def varying(rows: pl.DataFrame, names: list[str]) -> list[str]:
    """Return the columns that have several values for the same key."""
    if not names or not rows.height:
        return []
    counts = rows.group_by(RUN_KEY).agg(pl.col(name).drop_nulls().n_unique() for name in names)
    return [name for name in names if (counts[name] > 1).any()]


def _refuse_doubtful(rows: pl.DataFrame, settings: list[str], time: NDArray[np.float64], source: str) -> None:
    """Refuse columns if the rows do not show whether they distinguish runs or describe the candidates of one run."""
    numbered = rows.with_columns(_time=pl.Series(time).fill_nan(None), _row=pl.int_range(rows.height))
    inside = numbered.filter(pl.any_horizontal(_varies(name) for name in settings)).sort(*RUN_KEY, "_row")
    changed = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift(1)) for name in settings)
    # A row without a time stamp is a run of its own without a solution, so null comparisons count as going back.
    back = (pl.col("_time") < pl.col("_time").shift(1)).fill_null(True)
    places = inside.select(
        *RUN_KEY,
        *settings,
        changed=changed.over(RUN_KEY) & (pl.int_range(pl.len()).over(RUN_KEY) > 0),
        back=back.over(RUN_KEY),
    )
    changes = places.filter("changed")
    several = places.select(RUN_KEY).n_unique()
    combinations = places.select(*RUN_KEY, *settings).n_unique()
    # Runs follow each other: a value that recurs within a key, or occurs only once in the file, is not a setting.
    in_blocks = changes.height == combinations - several
    repeated = places.select(settings).n_unique() < places.height
    whole = not any(places[name].null_count() for name in settings)
    if in_blocks and repeated and whole and changes["back"].sum() >= _BACK_IN_TIME * changes.height:
        return
    key = "/".join(map(str, places.select(RUN_KEY).row(0)))
    first = places.filter(pl.all_horizontal(pl.col(name) == places[name][0] for name in RUN_KEY))
    name = next(name for name in settings if first[name].drop_nulls().n_unique() > 1)
    cells = listing(map(str, first[name].drop_nulls().unique(maintain_order=True)), most=4)
    example = f"{first['arm'][0]} {name}={first[name].drop_nulls()[0]}"
    raise TraceError(
        f"{source}: expected one {name} in run {key}, got {cells}: several runs, or a column of candidates?",
        hint=f"several runs: put it into the arm ({example!r}); one run: leave the column {name} out of the file",
    )


def read_keys(table: pl.DataFrame, rows: Rows, problems: CandidateProblems) -> pl.DataFrame:
    """Read arm, instance and seed; a row that lacks one of them is an error, because it belongs to no run."""
    arm, instance = (as_text(table[name]) for name in ("arm", "instance"))
    seed_cells = table["seed"]
    if seed_cells.dtype == pl.String:
        stripped = seed_cells.str.strip_chars()
        seed = stripped.set(~stripped.str.contains(INTEGER).fill_null(False), None).cast(pl.Int64, strict=False)
    elif seed_cells.dtype.is_numeric():
        whole = seed_cells.cast(pl.Float64, strict=False)
        good = whole == whole.floor()
        # A float this large may be a rounded seed.
        if seed_cells.dtype.is_float():
            good &= whole.abs() <= EXACT
        seed = seed_cells.set(~good.fill_null(False), None).cast(pl.Int64, strict=False)
    else:
        seed = pl.Series("seed", [None] * table.height, dtype=pl.Int64)
    for name, values in (("arm", arm), ("instance", instance), ("seed", seed)):
        bad = (values.is_null() | (values == "")) if values.dtype == pl.String else values.is_null()
        if bad.any():
            found = rows.rows_of(bad.arg_true().to_list())
            shown = listing((f"{problems.source}:{rows.line(r)}: {table[name][head]!r}" for r, head in found), most=5)
            expected = "a whole number" if name == "seed" else "a name"
            hint = "a run that found nothing still has its arm, instance and seed"
            if name == "seed" and table[name].null_count() < table.height:
                hint = "number the seeds, or leave the column out: runs are then told apart where the time goes back"
            raise TraceError(f"expected {expected} in every {name}, got {shown}", hint=hint)
    return pl.DataFrame({"arm": arm, "instance": instance, "seed": seed})


def read_attributes(
    table: pl.DataFrame, run: NDArray[np.int32], runs: pl.DataFrame, rows: Rows, problems: CandidateProblems
) -> pl.DataFrame:
    """Read the attributes of runs: panel, horizon, status and any further column."""
    names = [name for name in table.columns if name not in RUN_KEY]
    if not names:
        return runs
    attributes = table.select(names).with_columns(_run=pl.Series(run))
    grouped, counts = attributes, None
    # With one head per run, there are no values to compare.
    if runs.height < table.height:
        by_run = attributes.group_by("_run")
        grouped = by_run.agg(pl.col(names).drop_nulls().first()).sort("_run")
        counts = by_run.agg(pl.col(names).drop_nulls().n_unique()).sort("_run")
    for name in names:
        if counts is not None and (counts[name] > 1).any():
            number = counts.filter(pl.col(name) > 1)["_run"][0]
            cells = attributes.filter(pl.col("_run") == number)[name].drop_nulls().unique(maintain_order=True).to_list()
            key = "/".join(map(str, runs.row(number)[:3]))
            raise TraceError(
                f"{problems.source}: expected one {name} in run {key}, got {listing(map(str, cells))}",
                hint=f"write one {name} for all rows of a run; rows of other runs need a seed of their own",
            )
        values = grouped[name]
        if name == "horizon" or CARRIED.get(name) == pl.Float64:
            values = _run_number(values, name, table[name], rows, problems)
        elif name in ("panel", "status") or name in CARRIED:
            values = as_text(values)
        runs = runs.with_columns(values.alias(name))
    return runs


def _run_number(values: pl.Series, name: str, cells: pl.Series, rows: Rows, problems: CandidateProblems) -> pl.Series:
    if values.dtype.is_numeric() or values.dtype in (pl.Null, pl.Boolean):
        return _finite(values.cast(pl.Float64, strict=False), name, problems)
    if values.dtype != pl.String:
        raise TraceError(f"{problems.source}: expected numbers in {name}, got {values.dtype}")
    stripped = values.str.strip_chars()
    if (strange := values.filter(~stripped.str.contains(NUMBER).fill_null(True))).len():
        head = cells.eq(strange[0]).fill_null(False).arg_true()[0]
        line = rows.line(int(rows.starts[head]))
        unit = unit_of_text(strange[0]) if name == "horizon" else None
        raise TraceError(
            f"{problems.source}:{line}: expected a number in {name}, got {strange[0]!r}",
            hint=f"{mapping(problems.source, horizon=f'{unit}:{name}')} reads a horizon such as {strange[0]}"
            if unit in ELAPSED
            else "leave the cell empty where there is none",
        )
    return _finite(stripped.cast(pl.Float64, strict=False), name, problems)


def _finite(values: pl.Series, name: str, problems: CandidateProblems) -> pl.Series:
    """Refuse infinite numbers; NaN becomes null, because some frames use it for missing values."""
    # A horizon is checked later together with its run, so that the error can name the run.
    if name != "horizon" and (endless := values.filter(values.is_infinite().fill_null(False))).len():
        raise TraceError(f"{problems.source}: expected a finite number in {name}, got {endless[0]}")
    return values if name == "horizon" else values.fill_nan(None)
