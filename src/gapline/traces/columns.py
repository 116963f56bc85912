"""Convert user tables to neutral traces: other names, semicolons, decimal commas, no seed, one column per time.

Nothing is guessed about numbers: columns are mapped, commas are decimal marks and times are in other units than seconds
only if the user says so.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import quote
from typing import Any, NamedTuple, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.choices import InputChoices, choice_values
from gapline.contract.tables import CARRIED, RUN_KEY, TRACE_OPTIONAL, TRACE_REQUIRED
from gapline.errors import TraceError, UsageError, closest, listing
from gapline.text import meant
from gapline.traces.time_units import (
    ELAPSED,
    FIRST,
    IN_WORDS,
    MOMENTS,
    SPELLINGS,
    TEXTS,
    in_seconds,
    read_times,
    since_start,
    write_starts,
)

KNOWN = (*TRACE_REQUIRED, *TRACE_OPTIONAL, *CARRIED)
# Columns that are recognised in any case. `status` is not among them: a foreign column `Status` may hold anything.
_ANY_CASE = (*TRACE_REQUIRED, "valid", "panel", "horizon")
_NUMBERS = ("time", "objective", "claimed", "bound", "primary", "secondary", "horizon", "resolution", "size")
_MOMENT = r"(?:t(?:ime)?\s*=\s*)?([0-9]+(?:[.,][0-9]+)?)\s*(?:{})?"
# Common names for the start time of a run.
_STARTS = ("started", "start", "begin", "began", "starttime", "startedat", "startstamp", "begintime", "startdate")
# Columns that gapline computes for the runs table, and temporary columns of the readers.
_OURS = ("first", "count", "_run", "_row", "_time", "_known", "_blank")
# Sources that are not files; messages about them are written for a caller in Python.
_UNNAMED = ("frame", "records")
_SYNONYMS = {
    "arm": "solver algorithm algo alg method configuration config tool heuristic optimizer approach",
    "instance": "problem model name benchmark case dataset instancename file filename graph",
    "seed": "run rep repetition replicate trial runid iterationseed",
    "time": "elapsed runtime seconds sec secs t walltime wall cputime times elapsedtime timestamp timesec",
    "objective": "cost value obj best fitness incumbent primal primalbound objectivevalue objvalue bestcost ub z y f",
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a table differs from a neutral trace, and the caller's statements about its rows.

    The other fields are those of `gapline.contract.choices.InputChoices`; a column mapping states units too.

    >>> Dialect.parse("arm=solver,time=elapsed").columns
    {'arm': 'solver', 'time': 'elapsed'}
    >>> dialect = Dialect.parse("time=ms:elapsed,horizon=min:limit")
    >>> dialect.columns, dialect.time_unit, dialect.horizon_unit
    ({'time': 'elapsed', 'horizon': 'limit'}, 'ms', 'min')
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    decimal: str = "."
    sense: str | None = None
    time_unit: str | None = None
    number_runs: bool = False
    sort_rows: bool = False
    allow_empty: bool = False
    horizon_unit: str | None = None

    @property
    def reshapes(self) -> bool:
        """Whether a column mapping or a decimal comma is declared."""
        return bool(self.columns) or self.decimal != "."

    @property
    def from_first_row(self) -> bool:
        """Whether the first row of each run is its start."""
        return self.time_unit is not None and self.time_unit.endswith(FIRST)

    @classmethod
    def parse(
        cls, columns: str | Mapping[str, str] | None = None, decimal: str | None = None, **choices: Unpack[InputChoices]
    ) -> "Dialect":
        """Parse `ours=theirs,…` or a mapping; unknown column names are refused."""
        if decimal not in (None, ".", ","):
            raise UsageError(f"--decimal: expected . or , got {decimal!r}")
        for name in ("sense", "time_unit"):
            *others, last = choice_values(name)
            if (value := choices.get(name)) not in (None, *others, last):
                option = name.replace("_", "-")
                raise UsageError(f"--{option}: expected {', '.join(others)} or {last}, got {value!r}")
        if choices.get("number_runs") and choices.get("sort_rows"):
            raise UsageError("--number-runs and --sort-rows contradict each other: split runs, or sort their rows")
        pairs = dict(columns or {}) if not isinstance(columns, str) else {}
        for part in columns.split(",") if isinstance(columns, str) else ():
            ours, equals, theirs = (text.strip() for text in part.partition("="))
            if not (ours and equals and theirs) or ours in pairs:
                raise UsageError(f"--columns: expected pairs such as arm=solver,time=elapsed, got {part!r}")
            pairs[ours] = theirs
        for name in pairs:
            if name not in KNOWN:
                hint = meant(name, KNOWN) or "the name of the trace stands first: time=elapsed"
                raise UsageError(f"--columns: expected {listing(KNOWN, most=9)}, got {name!r}", hint=hint)
        pairs, units = _take_units(pairs)
        time_unit = choices.get("time_unit") or units.get("time")
        if time_unit != units.get("time", time_unit):
            raise UsageError(f"--time-unit {time_unit} and --columns time={units['time']}:… contradict each other")
        stated: Any = dict(choices) | {"time_unit": time_unit, "horizon_unit": units.get("horizon")}
        return cls(pairs, decimal or ".", **stated)


PLAIN = Dialect()


def _take_units(pairs: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Split `ms:elapsed` into the name of a column and its unit."""
    names, units = dict(pairs), {}
    for ours in ("time", "horizon"):
        unit, _, name = names.get(ours, "").partition(":")
        if name and unit in choice_values("time_unit"):
            names[ours], units[ours] = name, unit
    if units.get("horizon") in MOMENTS:
        raise UsageError(f"--columns: expected a horizon in {listing(ELAPSED)}, got {units['horizon']!r}")
    return names, units


class Shaped(NamedTuple):
    """A table with the columns of a neutral trace, the line of each row, and the runs of the rows if known."""

    table: pl.DataFrame
    lines: NDArray[np.int64]
    runs: list[int] | None
    notes: list[str]


def find_separator(header: bytes) -> str:
    r"""Return the separator of the columns of a header: a comma, a semicolon or a tab.

    >>> find_separator(b'arm;"a, b";time'), find_separator(b"arm\ttime"), find_separator(b"x")
    (';', '\t', ',')
    """
    bare = re.sub(rb'"[^"]*"', b"", header)
    return max(",;\t", key=lambda mark: bare.count(mark.encode()))


def header_names(header: bytes) -> list[str]:
    """Return the names in the first line of a table."""
    cells = header.split(find_separator(header).encode())
    return [cell.decode("utf-8", "replace").strip().strip('"').strip() for cell in cells]


def is_neutral(names: Sequence[str]) -> bool:
    """Say whether column names are those of a trace, one row per candidate or one row per run."""
    lower = {name.lower() for name in names}
    return {"time", "objective"} <= lower or ("instance" in lower and len(_moments(names, PLAIN)) > 1)


def _moments(names: Sequence[str], dialect: Dialect) -> dict[str, float]:
    """Return the columns named by a time, such as 10, 2.5s or t=10; none if there is a `time` or `objective` column."""
    unit = dialect.time_unit or "s"
    if {"time", "objective"} & {name.lower() for name in names} or unit not in SPELLINGS:
        return {}
    pattern = re.compile(_MOMENT.format(SPELLINGS[unit]), re.IGNORECASE | re.ASCII)
    named = {name: match[1] for name in names if (match := pattern.fullmatch(name))}
    # `1,5` is a time only if commas are decimal marks.
    other = "," if dialect.decimal == "." else "."
    return {name: in_seconds(float(text.replace(",", ".")), unit) for name, text in named.items() if other not in text}


def shape_table(table: pl.DataFrame, dialect: Dialect, *, source: str, first_line: int) -> Shaped:
    """Convert a table to the columns of a neutral trace; if that fails, the error proposes a command that works."""
    lines = np.arange(first_line, first_line + table.height)
    table, left_out = _plain_columns(table, source)
    table, notes = _rename(table, dialect, source)
    notes = left_out + notes
    runs = None
    moments = _moments(table.columns, dialect)
    if is_wide := len(moments) > 1:
        table, rows, note = _unfold(table, moments)
        lines, runs = lines[rows], rows.tolist()
        notes.append(note)
    if any(name not in (*table.columns, "seed") for name in TRACE_REQUIRED):
        got = listing(table.columns) or "no columns"
        hint = propose(table.columns, source=source)
        raise TraceError(f"{source}: expected columns {listing(TRACE_REQUIRED)}, got {got}", hint=hint)
    if dialect.decimal == ",":
        # Dates and clock times are parsed with either mark.
        numbers = [name for name in _NUMBERS if name != "time" or dialect.time_unit not in TEXTS]
        table = table.with_columns(_with_points(table[name]) for name in numbers if name in table.columns)
    table, about_time = (table, []) if is_wide else _with_seconds(table, dialect, source)
    return Shaped(table, lines, runs, notes + about_time)


def _with_seconds(table: pl.DataFrame, dialect: Dialect, source: str) -> tuple[pl.DataFrame, list[str]]:
    """Convert times, horizons and starts from the stated units."""
    unit, notes = dialect.time_unit, []
    if dialect.horizon_unit is not None and "horizon" in table.columns:
        table = table.with_columns(read_times(table["horizon"], dialect.horizon_unit))
    if unit in ("epoch", "iso"):
        if "started" not in table.columns:
            names = [name for name in table.columns if re.sub(r"[^a-z]", "", name.lower()) in _STARTS]
            raise TraceError(
                f"{source}: times that are dates do not say when a run began: expected a column `started`, got none",
                hint=f"{mapping(source, started=names[0] if names else 'NAME')} names the column that says it; "
                f"{option('time_unit', f'{unit}{FIRST}', source)} counts from the first row of each run, which is "
                "right only if that row was written when the run began",
            )
        try:
            times = since_start(table["time"], table["started"], unit)
        except TraceError as error:
            raise TraceError(f"{source}: {error.message}") from error
        table = table.with_columns(times, started=write_starts(table["started"], unit))
        notes.append(f"times are {IN_WORDS[unit]} and count from the `started` of each run")
    else:
        table = table.with_columns(read_times(table["time"], unit))
        if dialect.from_first_row:
            if "seed" not in table.columns:
                raise TraceError(
                    f"{source}: expected a column `seed`, got none: dates do not say where a run begins",
                    hint=f"{mapping(source, seed='NAME')} names the column that numbers the runs of an arm on an "
                    "instance",
                )
            notes.append("times count from the first row of each run: what a solver took before it is not counted")
        elif unit not in (None, "s"):
            notes.append(f"times are read as {IN_WORDS[unit]}")
    return table, notes


def _plain_columns(table: pl.DataFrame, source: str) -> tuple[pl.DataFrame, list[str]]:
    """Strip column names, drop columns with reserved names or unsupported types, and convert categories to text."""
    names = [name.strip() for name in table.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TraceError(
            f"{source}: expected each column once, got {listing(twice)} more than once",
            hint="rename or remove the columns that are not meant",
        )
    table = table.rename(dict(zip(table.columns, names, strict=True)))
    ours = [name for name in names if name in _OURS]
    notes = [f"left out, because gapline uses the names itself: {listing(ours)}"] if ours else []
    table = table.drop(ours).with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    odd = {name: kind for name, kind in table.schema.items() if name not in KNOWN and _is_odd(kind)}
    if odd:
        shown = listing(f"{name} ({str(kind).partition('(')[0]})" for name, kind in odd.items())
        notes.append(f"left out, because a run has numbers and text alone: {shown}")
    return table.drop(odd), notes


def _is_odd(kind: pl.DataType) -> bool:
    return kind.is_nested() or kind in (pl.Binary, pl.Object, pl.Duration)


def _rename(table: pl.DataFrame, dialect: Dialect, source: str) -> tuple[pl.DataFrame, list[str]]:
    wanted, notes = {}, []
    for ours, theirs in dialect.columns.items():
        found = theirs if theirs in table.columns else _same_but_case(theirs, table.columns)
        if found is None:
            unit, colon, name = theirs.partition(":")
            hint = meant(theirs, table.columns, show=True)
            if colon and ours in ("time", "horizon") and name in table.columns:
                hint = f"{unit!r} is no unit: {listing(choice_values('time_unit'), most=20)}"
            raise TraceError(f"{source}: expected the column {theirs!r}, declared as {ours}, got none", hint=hint)
        if ours in table.columns and ours != found:
            notes.append(f"column {ours!r} of the file is left out: {found!r} was declared to be it")
        wanted[ours] = found
    for name in _ANY_CASE:
        if name not in table.columns and name not in wanted and (found := _same_but_case(name, table.columns)):
            wanted[name] = found
    renamed = {ours: table[theirs].alias(ours) for ours, theirs in wanted.items()}
    rest = [column for column in table if column.name not in (*wanted, *wanted.values())]
    return (pl.DataFrame([*renamed.values(), *rest]) if wanted else table), notes


def _same_but_case(name: str, names: Sequence[str]) -> str | None:
    same = [one for one in names if one.lower() == name.lower()]
    return same[0] if len(same) == 1 else None


def _unfold(table: pl.DataFrame, moments: dict[str, float]) -> tuple[pl.DataFrame, NDArray[np.int64], str]:
    """Convert one row per run with a column per time into one row per changed value."""
    numeric = all(table[name].dtype.is_numeric() for name in moments)
    cells = table.with_columns(pl.col(name).cast(pl.Float64 if numeric else pl.String) for name in moments)
    index = [name for name in table.columns if name not in moments]
    long = cells.with_row_index("_row").unpivot(
        list(moments), index=["_row", *index], variable_name="time", value_name="objective"
    )
    long = long.with_columns(pl.col("time").replace_strict(moments, return_dtype=pl.Float64)).sort("_row", "time")
    value = pl.col("objective")
    there = value.is_not_null() if numeric else value.is_not_null() & (value.str.strip_chars() != "")
    kept = long.filter(there)
    # A table of best values repeats them until there is a better one; a repeated value is not another candidate.
    kept = kept.filter(value.ne_missing(value.shift(1).over("_row")))
    without = long.filter(~there.any().over("_row")).unique("_row", maintain_order=True)
    blank = [pl.lit(None, dtype=kept[name].dtype).alias(name) for name in ("time", "objective")]
    both = pl.concat([kept, without.with_columns(blank)]).sort("_row", maintain_order=True)
    first, last = min(moments.values()), max(moments.values())
    note = f"one row per run, {len(moments):,} times from {first:g} to {last:g}: a value counts from its column's time"
    # The value was found at some moment since the previous column.
    if "resolution" not in both.columns:
        both = both.with_columns(resolution=pl.lit(max(np.diff(sorted({0.0, *moments.values()})).tolist())))
    return both.drop("_row"), both["_row"].to_numpy().astype(np.int64), note


def _with_points(cells: pl.Series) -> pl.Series:
    """Convert decimal commas; a cell that also has a point stays text and is reported, as it may mean thousands."""
    if cells.dtype != pl.String:
        return cells
    spoilt = cells.str.contains(".", literal=True).fill_null(False)
    points = cells.str.replace(",", ".", literal=True)
    return points.zip_with(~spoilt, cells + " (a point where commas were declared)")


def number_seeds(
    table: pl.DataFrame, stamps: NDArray[np.float64], blank: NDArray[np.bool_], runs: Sequence[int] | None
) -> tuple[pl.Series, str]:
    """Number the runs of a table without seeds: from `runs` if given; otherwise a run begins where time goes back.

    `blank` marks the rows with neither a time nor an objective.
    """
    keys = table.select(name for name in RUN_KEY if name in table.columns)
    if runs is not None:
        seed = (pl.col("_run").rank("dense").over(keys.columns) - 1).cast(pl.Int64)
        seeds = keys.with_columns(_run=pl.Series(runs, dtype=pl.Int64)).select(seed=seed)["seed"]
        how = "in the order of the rows"
    else:
        seeds = number_parts(keys, stamps, blank).alias("seed")
        how = "a run beginning where the time goes back"
    if not (seeds > 0).any():
        return seeds, "no `seed` column: one run per arm and instance, seed 0"
    number = keys.with_columns(seeds).n_unique()
    return seeds, f"no `seed` column: {number:,} runs numbered from 0, {how}"


def number_parts(keys: pl.DataFrame, stamps: NDArray[np.float64], blank: NDArray[np.bool_]) -> pl.Series:
    """Number the parts of rows with the same key; a part begins where time goes back.

    >>> keys = pl.DataFrame({"arm": ["a", "a", "b", "a"]})
    >>> number_parts(keys, np.array([1.0, 2.0, 0.0, 1.0]), np.zeros(4, np.bool_)).to_list()
    [0, 0, 0, 1]
    """
    names = keys.columns
    # A row without time and objective is a run of its own; a bad time stamp alone does not begin a run.
    rows = keys.with_columns(_time=pl.Series(stamps).fill_nan(None), _blank=pl.Series(blank))
    rows = rows.with_columns(pl.col("_time").forward_fill().over(*names, "_blank"))
    before = {name: pl.col(name).shift(1).over(names) for name in ("_time", "_blank")}
    begins = pl.col("_blank") | before["_blank"] | (pl.col("_time") < before["_time"])
    begins = begins.fill_null(False) & before["_blank"].is_not_null()
    return rows.select(part=begins.cast(pl.Int64).cum_sum().over(names))["part"]


def option(name: str, value: object, *sources: str) -> str:
    """Return an option as the user has to write it: on the command line, or in Python if the source is not a file.

    >>> option("time_unit", "ms", "t.csv"), option("time_unit", "ms", "frame"), option("sort_rows", True, "t.csv")
    ('--time-unit ms', "time_unit='ms'", '--sort-rows')
    """
    if sources and set(sources) <= {*_UNNAMED}:
        return f"{name}={value!r}"
    return f"--{name.replace('_', '-')}" + ("" if value is True else f" {value}")


def mapping(source: str, **columns: str) -> str:
    """Return a column mapping as the user has to write it.

    >>> mapping("t.csv", time="elapsed"), mapping("records", time="elapsed")
    ('--columns time=elapsed', "columns={'time': 'elapsed'}")
    """
    pairs = ",".join(f"{ours}={theirs}" for ours, theirs in columns.items())
    return option("columns", columns if source in _UNNAMED else pairs, source)


def _explain(missing: Sequence[str], source: str) -> str | None:
    """Return a hint on missing columns for which no column of the file can be proposed."""
    known, missing = len(missing) < len(TRACE_REQUIRED), [name for name in missing if name != "seed"]
    # A file without any of the required columns may not be a table of runs at all.
    if not missing or not known:
        return None
    named = mapping(source, **dict.fromkeys(missing, "NAME"))
    arms = ", or `gapline import --arm NAME` names the arm of all rows" if missing == ["arm"] else ""
    return f"{named} if {listing(missing)} has another name in the table{arms}"


def propose(names: Sequence[str], *, source: str, command: str = "score") -> str | None:
    """Return a command that maps the columns of a file, as far as they can be guessed."""
    there = {name.lower() for name in names}
    missing = [name for name in TRACE_REQUIRED if name not in there]
    if {"instance", "value"} <= there:
        return f"these are reference values: gapline score TRACES --references {quote(source)}"
    if len(names) == 1 and len({*re.split(r"[^a-z]+", names[0].lower())} & {*KNOWN}) > 1:
        return "columns are separated by commas, semicolons or tabs"
    free, found = [name for name in names if name.lower() not in KNOWN], {}
    words = {ours: (ours, *_SYNONYMS[ours].split()) for ours in missing}
    plain = {name: re.sub(r"[^a-z0-9]", "", name.lower()) for name in free}
    guesses: tuple[Callable[[str], list[str]], ...] = (
        lambda ours: [name for word in words[ours] for name in free if plain[name] == word],
        lambda ours: [name for word in words[ours] for name in free if len(word) > 3 and word in plain[name]],
        lambda ours: [name] if ours != "seed" and (name := closest(ours, free)) else [],
    )
    # Certain matches come first, so that a column that clearly belongs to one name is not guessed for another.
    for guess in guesses:
        for ours in missing:
            if ours not in found and (fits := guess(ours)):
                found[ours] = fits[0]
                free.remove(fits[0])
    found = {ours: found[ours] for ours in missing if ours in found}
    if not found:
        return _explain(missing, source)
    open_ones = [f"{name}=…" for name in missing if name not in (*found, "seed")]
    if source in _UNNAMED:
        return f"columns={found!r}" + (f" and {listing(open_ones)}" if open_ones else "")
    pairs = ",".join([*(f"{ours}={theirs}" for ours, theirs in found.items()), *open_ones])
    end = " -o campaign" if command == "import" else ""
    return f"gapline {command} {quote(source)} --columns {quote(pairs)}{end}"
