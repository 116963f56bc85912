"""Convert times in other units than seconds: milliseconds, dates, `0:01:10`.

A date says when a candidate was found, but not when its run began. It needs the `started` column of the run, or the
user's statement that the first row of each run is its start (`epoch-first`, `iso-first`).
"""

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import TraceError
from gapline.traces.candidates import plain_numbers

# Factors and divisors. Units finer than seconds divide: 1500 / 1000 is exact, but 0.001 has no exact double.
_MULTIPLIED = {"s": 1.0, "min": 60.0, "h": 3600.0}
FINER = {"ms": 1e3, "us": 1e6, "ns": 1e9}
SPELLINGS = {
    "s": "s|secs?|seconds?", "ms": "ms|msecs?|milliseconds?", "us": "us|µs|μs|microseconds?", "ns": "ns|nanoseconds?",
    "min": "m|mins?|minutes?", "h": "h|hrs?|hours?",
}  # fmt: skip
IN_WORDS = {
    "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds", "min": "minutes", "h": "hours",
    "epoch": "seconds since 1970", "iso": "dates (ISO 8601)", "clock": "hours, minutes and seconds",
}  # fmt: skip
# Units of elapsed times, units of moments (dates), and units whose cells are text.
ELAPSED = (*_MULTIPLIED, *FINER, "clock")
FIRST = "-first"
MOMENTS = ("epoch", "iso", f"epoch{FIRST}", f"iso{FIRST}")
TEXTS = ("clock", "iso", f"iso{FIRST}")
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_CLOCK = (
    r"^(?:(?:(?<days>[0-9]+)(?: days?,? *|-))?(?<hours>[0-9]+):(?<minutes>[0-5][0-9]):|(?<only>[0-9]+):)?"
    r"(?<seconds>[0-9]+(?:[.,][0-9]*)?)$"
)
_DATE = (
    r"^(?<day>[0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ](?<hour>[01][0-9]|2[0-3]):?(?<minute>[0-5][0-9])"
    r"(?::?(?<second>[0-5][0-9]|60)(?<part>[.,][0-9]+)?)?)?"
    r"(?: ?(?<zone>[zZ]|UTC|[+-][0-9]{2}(?::?[0-9]{2})?))?$"
)
# Seconds since 1970 are below the first limit until the year 5138, and milliseconds since 1970 are above it from 1973
# on; the next limits separate micro- and nanoseconds.
_MAGNITUDES = (1e11, 1e14, 1e17)
# Plausible moments of runs, in seconds since 1970.
_YEAR_1985, _YEAR_2100 = 5e8, 4.1e9
_DAY = 86400.0


def read_times(cells: pl.Series, unit: str | None) -> pl.Series:
    """Return times in seconds, and moments in seconds since 1970; all cells as text if one is not of the unit.

    >>> read_times(pl.Series(["1500", "250ms", ""]), "ms").to_list(), read_times(pl.Series([1, 90]), "min").to_list()
    ([1.5, 0.25, None], [60.0, 5400.0])
    >>> read_times(pl.Series(["0:01:10", "1:02.5", "59"]), "clock").to_list()
    [70.0, 62.5, 59.0]
    >>> read_times(pl.Series(["1970-01-02T00:00:01.5Z", "1970-01-01 01:00+01:00"]), "iso").to_list()
    [86401.5, 0.0]
    >>> read_times(pl.Series(["1500", "soon"]), "ms").to_list()
    ['1.5', 'soon']
    """
    if unit is None and cells.dtype != pl.Duration:
        return cells.cast(pl.String) if cells.dtype.is_temporal() else cells
    return _with_text(cells, _seconds(cells, unit or "s"))


def since_start(cells: pl.Series, started: pl.Series, unit: str) -> pl.Series:
    """Return moments as seconds since the start of each run; all cells as text if one is not of the unit.

    >>> since_start(pl.Series(["2026-01-01T10:00:07"]), pl.Series(["2026-01-01T10:00"]), "iso").to_list()
    [7.0]
    """
    if len(_zoned(cells) | _zoned(started)) > 1:
        raise TraceError("expected a time zone in time and started, or in neither, got one in some of the cells")
    moments, begins = _seconds(cells, unit), _starts(started, unit)
    if (missing := (moments.is_not_null() & begins.is_null()).arg_true()).len():
        got = started[missing[0]]
        raise TraceError(f"expected the moment at which the run began in every `started`, got {got!r}")
    return _with_text(cells, moments - begins)


def write_starts(started: pl.Series, unit: str) -> pl.Series:
    """Return the start times of runs in the format of a campaign; dates as text are kept.

    >>> write_starts(pl.Series([1.5]), "epoch").to_list()
    ['1970-01-01T00:00:01.500000Z']
    """
    if started.dtype == pl.String and _seconds(started, "epoch").null_count() == len(started):
        return started
    begins = pl.from_epoch((_starts(started, unit) * 1e6).round().cast(pl.Int64), time_unit="us")
    zone = "" if False in _zoned(started) else "Z"
    return begins.dt.strftime("%Y-%m-%dT%H:%M:%S%.6f" + zone).alias(started.name)


def _starts(started: pl.Series, unit: str) -> pl.Series:
    """Return the start times of runs in seconds since 1970; with unit `epoch`, dates are accepted too."""
    begins = _seconds(started, unit)
    return begins.fill_null(_seconds(started, "iso")) if unit == "epoch" else begins


def in_seconds(number: float, unit: str | None) -> float:
    """Return an elapsed time in seconds.

    >>> in_seconds(1500, "ms"), in_seconds(2, None)
    (1.5, 2.0)
    """
    return number * _MULTIPLIED.get(unit or "s", 1.0) / FINER.get(unit or "s", 1.0)


def since_first_row(time: NDArray[np.float64], run: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return moments as seconds since the earliest row of their run; event k belongs to run `run[k]`.

    >>> since_first_row(np.array([12.0, 10.0, np.nan, 5.0]), np.array([0, 0, 0, 1])).tolist()
    [2.0, 0.0, nan, 0.0]
    """
    first = np.full(int(run.max(initial=-1)) + 1, np.inf)
    stamped = np.isfinite(time)
    np.minimum.at(first, run[stamped], time[stamped])
    return np.where(stamped, time - first[run], np.nan)


def unit_of_text(text: str) -> str | None:
    """Return the unit in which a cell that is not a plain number can be read.

    >>> [unit_of_text(text) for text in ("0.5s", "12 ms", "0:01:10", "2026-01-01T10:00:07", "12,5", "soon")]
    ['s', 'ms', 'clock', 'iso', None, None]
    """
    for unit, spellings in SPELLINGS.items():
        if re.fullmatch(rf"{_NUMBER}\s*(?:{spellings})", text):
            return unit
    one = pl.Series([text])
    if ":" in text and _of_clock(one).is_not_null().item():
        return "clock"
    return "iso" if _of_iso(one).is_not_null().item() else None


def unit_of_number(largest: float, least: float, most: float) -> str | None:
    """Return the unit in which times up to `largest` are at most `most` seconds, or None.

    >>> unit_of_number(45_000, 10, 600), unit_of_number(1.7e9, 1.69e9, 600), unit_of_number(1.7e12, 1.7e12, 600)
    ('ms', 'epoch', 'epoch')
    >>> unit_of_number(25e9, 1.5e9, 300)
    'ns'
    """
    finer = 1e3 ** sum(largest >= magnitude for magnitude in _MAGNITUDES)
    if least / finer > _YEAR_1985 and largest / finer < _YEAR_2100:
        # Such numbers are too large to be elapsed seconds.
        return "epoch"
    return next((unit for unit in FINER if in_seconds(largest, unit) <= most), None)


def _seconds(cells: pl.Series, unit: str) -> pl.Series:
    """Read each cell in a unit; null if it is not of the unit."""
    kind = unit.removesuffix(FIRST)
    if cells.dtype == pl.Duration:
        # The type determines the unit.
        return _divided(cells.dt.total_nanoseconds(), 1e9)
    if cells.dtype in (pl.Date, pl.Datetime):
        dates = cells.cast(pl.Datetime("us", getattr(cells.dtype, "time_zone", None)))
        return _divided(dates.dt.timestamp("us"), 1e6) if kind in ("iso", "epoch") else _nothing(cells)
    text = cells.cast(pl.String, strict=False)
    if kind == "iso":
        return _of_iso(text)
    if kind == "clock":
        return _of_clock(text)
    numbers = _numbers(cells, SPELLINGS.get(kind, ""))
    return _of_epoch(numbers) if kind == "epoch" else _scaled(numbers, kind)


def _nothing(cells: pl.Series) -> pl.Series:
    return pl.Series(cells.name, [None], dtype=pl.Float64).new_from_index(0, len(cells))


def _numbers(cells: pl.Series, spellings: str) -> pl.Series:
    if cells.dtype.is_numeric():
        return cells.cast(pl.Float64, strict=False)
    if cells.dtype != pl.String:
        return _nothing(cells)
    if (plain := plain_numbers(cells)) is not None:
        return plain
    pattern = rf"^({_NUMBER})\s*(?:{spellings})?$"
    return cells.str.strip_chars().str.extract(pattern, 1).cast(pl.Float64, strict=False)


def _scaled(numbers: pl.Series, unit: str) -> pl.Series:
    return numbers * _MULTIPLIED[unit] if unit in _MULTIPLIED else _divided(numbers, FINER[unit])


def _divided(numbers: pl.Series, by: float | NDArray[np.float64]) -> pl.Series:
    """Divide in NumPy, because Polars multiplies by the reciprocal, which changes the last bit."""
    found = pl.Series(numbers.name, numbers.cast(pl.Float64).to_numpy() / by)
    return found.set(numbers.is_null(), None) if numbers.null_count() else found


def _of_epoch(numbers: pl.Series) -> pl.Series:
    """Read seconds, milli-, micro- or nanoseconds since 1970, distinguished by their size."""
    finer = sum((numbers.abs() >= least).cast(pl.Int64).fill_null(0).to_numpy() for least in _MAGNITUDES)
    return _divided(numbers, 1e3 ** np.asarray(finer))


def _of_clock(cells: pl.Series) -> pl.Series:
    parts = cells.str.strip_chars().str.extract_groups(_CLOCK).struct.unnest()
    return parts.select(
        (pl.col("days").cast(pl.Float64).fill_null(0) * 24 + pl.col("hours").cast(pl.Float64).fill_null(0)) * 3600
        + pl.coalesce("minutes", "only").cast(pl.Float64).fill_null(0) * 60
        + pl.col("seconds").str.replace(",", ".", literal=True).cast(pl.Float64)
    ).to_series()


def _of_iso(cells: pl.Series) -> pl.Series:
    parts = cells.str.strip_chars().str.extract_groups(_DATE).struct.unnest()
    zone = pl.col("zone").str.replace(":", "", literal=True).str.pad_end(5, "0")
    sign = pl.when(zone.str.starts_with("-")).then(-1.0).otherwise(1.0)
    offset = sign * (
        zone.str.slice(1, 2).cast(pl.Float64, strict=False).fill_null(0) * 3600
        + zone.str.slice(3, 2).cast(pl.Float64, strict=False).fill_null(0) * 60
    )
    return parts.select(
        pl.col("day").str.to_date("%Y-%m-%d", strict=False).cast(pl.Int32).cast(pl.Float64) * _DAY
        + pl.col("hour").cast(pl.Float64).fill_null(0) * 3600
        + pl.col("minute").cast(pl.Float64).fill_null(0) * 60
        + (pl.col("second").fill_null("0") + pl.col("part").str.replace(",", ".", literal=True).fill_null("")).cast(
            pl.Float64
        )
        - offset
    ).to_series()


def _zoned(cells: pl.Series) -> set[bool]:
    """Return the set of whether dates have a time zone; empty if no cell is a date."""
    if cells.dtype == pl.Datetime:
        return {getattr(cells.dtype, "time_zone", None) is not None}
    if cells.dtype != pl.String:
        return set()
    parts = cells.str.strip_chars().str.extract_groups(_DATE).struct.unnest().filter(pl.col("day").is_not_null())
    return set(parts["zone"].is_not_null().unique())


def _with_text(cells: pl.Series, seconds: pl.Series) -> pl.Series:
    """Return the seconds; if a cell is not of the unit, return text, so that messages quote that cell as written."""
    seconds = seconds.alias(cells.name)
    if cells.dtype == pl.Duration:
        return seconds
    text = cells.cast(pl.String, strict=False)
    strange = seconds.is_null() & (text.str.strip_chars() != "").fill_null(False)
    return seconds.cast(pl.String).zip_with(~strange, text) if strange.any() else seconds
