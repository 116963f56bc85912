"""`gapline.read`: read a trace file, a campaign or study directory, a frame, records, or several of them."""

from collections.abc import Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.join import join_campaigns
from gapline.campaign.remote import is_url, local_path, matching_urls
from gapline.campaign.store import open_campaign
from gapline.contract.choices import InputChoices, SourceChoices, takes_choices
from gapline.contract.layout import JOURNALS, campaign_directory, is_study
from gapline.contract.result_table import Shown
from gapline.errors import TraceError, UsageError, listing, near
from gapline.files.archives import is_zip
from gapline.traces.campaign_archive import name_after, read_archive
from gapline.traces.candidate_checks import check_source
from gapline.traces.columns import Dialect
from gapline.traces.direction import check_direction, state_sense, with_notes
from gapline.traces.merge import contract_senses, gather_parts, journal_campaign, with_contract_senses
from gapline.traces.neutral import campaign_from_records, campaign_from_runs, campaign_from_table, read_neutral
from gapline.traces.package_source import is_package, naming_packages, opened_package
from gapline.traces.recordings import is_recorded, read_recorded


def is_pandas(source: object) -> bool:
    """Say whether an object is a pandas frame, without importing pandas."""
    return any(f"{one.__module__}.{one.__name__}".startswith("pandas.") for one in type(source).__mro__) and hasattr(
        source, "columns"
    )


def frame_of_pandas(frame: Any) -> pl.DataFrame:
    """Convert a pandas frame without its index; a column of mixed types becomes text."""
    names = [str(name) for name in frame.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TraceError(f"frame: expected each column once, got {listing(twice)} more than once")
    return pl.DataFrame([_column(name, frame.iloc[:, place]) for place, name in enumerate(names)])


def _column(name: str, cells: Any) -> pl.Series:
    kind, is_plain = cells.dtype.kind, isinstance(cells.dtype, np.dtype)
    if kind == "M" and not is_plain:
        return _moments(name, cells.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()).dt.replace_time_zone("UTC")
    if is_plain and kind in "mM":
        return _moments(name, cells.to_numpy())
    if is_plain and kind == "f":
        # pandas represents missing values by NaN.
        return pl.Series(name, cells.to_numpy(np.float64)).fill_nan(None)
    if is_plain and kind in "biu":
        return pl.Series(name, cells.to_numpy())
    missing = cells.isna().tolist()
    values = [None if none else value for value, none in zip(cells.tolist(), missing, strict=True)]
    try:
        return pl.Series(name, values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def _moments(name: str, values: Any) -> pl.Series:
    """Convert dates or durations; Polars has no resolution of seconds, so they become microseconds."""
    unit = np.datetime_data(values.dtype)[0]
    return pl.Series(name, values if unit in ("ms", "us", "ns") else values.astype(f"{values.dtype.kind}8[us]"))


@takes_choices(SourceChoices)
def read(source: Any, /, **choices: Unpack[SourceChoices]) -> Campaign:
    """Read a campaign from a file, a directory, a URL, a frame, records, or a list of these.

    Parameters
    ----------
    source
        A path to a neutral trace (.csv, .jsonl, .parquet, .arrow; .gz and .zst too), to a campaign directory or a study
        directory, to a replication package (.zip, .tar.zst), to a .zip of a campaign directory or of traces; a URL of
        a campaign directory, a package or a trace (`s3://bucket/campaign`); a pattern of such paths
        (`traces/*.jsonl`); a frame with the Arrow PyCapsule interface (pandas, polars, pyarrow, duckdb); a list of
        records; or a list of any of these, which must hold disjoint runs.
    {choices}

    >>> campaign = read([{"arm": "a", "instance": "i", "seed": 1, "time": 0.5, "objective": 12.0}])
    >>> campaign.diagnostics.notes
    ('no `valid` column: candidates count as valid because the solver said so',)
    """
    campaign = read_in_parts(source, **choices)
    campaign = with_notes(campaign, check_source(campaign, allow_empty=choices.get("allow_empty", False)))
    return gather_parts(judge_direction(campaign, source))


def judge_direction(campaign: Campaign, source: Any) -> Campaign:
    """Check the direction of a campaign and add notes on it; a study's contract may state the direction."""
    given = source if isinstance(source, list | tuple) else [source]
    paths = [one for one in given if isinstance(one, str | Path) and not is_url(one)]
    studies = [path for path in paths if is_study(path) or is_package(path)]
    return with_notes(campaign, check_direction(campaign, contract_senses(studies) if studies else None))


@naming_packages()
def read_in_parts(source: Any, /, **choices: Unpack[SourceChoices]) -> Campaign:
    """Read like `read`, but keep the columns of several sources in parts and do not check the direction."""
    rows: Any = {name: choices[name] for name in InputChoices.__annotations__ if name in choices}  # type: ignore[literal-required]
    dialect, checker = Dialect.parse(choices.get("columns"), choices.get("decimal"), **rows), choices.get("checker")
    campaign = _read(source, dialect) if checker is None else _judged(source, dialect, checker)
    if choices.get("strict"):
        refuse_problems(campaign.diagnostics)
    return state_sense(campaign, dialect.sense)


def refuse_problems(read: Diagnostics) -> None:
    """Raise an error if the reader reported problems."""
    if read.problem_count:
        raise TraceError(
            f"--strict: expected no problems, got {read.problem_count:,}: {listing(read.problems, most=5)}",
            hint="mend the file; without --strict they are named and counted, and what cannot be used is left out",
        )


def _read(source: Any, dialect: Dialect) -> Campaign:
    if isinstance(source, str | Path):
        return _read_url(source, dialect) if is_url(source) else _read_path(Path(source), dialect)
    if isinstance(source, Campaign):
        return _no_table(source, dialect, "a campaign")
    if isinstance(source, pl.LazyFrame):
        source = source.collect()
    if isinstance(source, Shown):
        raise UsageError(f"read: expected traces, got {type(source).__name__}, which is made of them")
    # Polars, pyarrow and duckdb share this interface, so none of them has to be imported.
    if (by_pandas := is_pandas(source)) or hasattr(source, "__arrow_c_stream__"):
        table = frame_of_pandas(source) if by_pandas else pl.DataFrame(source)
        return campaign_from_table(table, source="frame", first_line=0, dialect=dialect)
    if isinstance(source, Sequence) and not isinstance(source, bytes):
        # Mappings are rows of one table; other items of a list are separate sources.
        if all(isinstance(item, dict) for item in source) and source:
            if all("trace" in item for item in source):
                return campaign_from_runs(source, dialect=dialect)
            return campaign_from_records(source, dialect=dialect)
        if source:
            # Several sources share no contract, but the contract of each source applies to its own runs.
            return join_campaigns([with_contract_senses(_read(item, dialect), item) for item in source])
        raise UsageError("read: expected at least one source, got an empty list")
    raise UsageError(f"read: expected a path, a frame, records or a list of them, got {type(source).__name__}")


def _judged(source: Any, dialect: Dialect, checker: str) -> Campaign:
    """Read the journals of a study with the verdicts of another checker than the contract's."""
    path = Path(source) if isinstance(source, str | Path) else None
    if path is not None and is_package(path):
        package = opened_package(path, journals=True)
        if any(name.count("/") > 1 for name in package.digests if name.startswith(f"{JOURNALS}/")):
            from gapline.journal.campaign import read_study

            judged = read_study(package.folder, checker=checker)
            return _no_table(name_after(judged, package.folder, path), dialect, path)
    if path is None or not (path / JOURNALS).is_dir():
        raise UsageError(
            f"--checker: expected a study directory with journals, got {'several sources' if path is None else path}",
            hint="verdicts of other checkers lie beside the journals of a study",
        )
    from gapline.journal.campaign import read_study

    return _no_table(read_study(path, checker=checker), dialect, path)


def _no_table(campaign: Campaign, dialect: Dialect, what: object) -> Campaign:
    if dialect.reshapes or dialect.time_unit is not None:
        raise UsageError(f"--columns, --decimal and --time-unit: expected a table, got {what}, whose columns are known")
    return campaign


def matching(source: str | Path) -> list[str]:
    """Return the paths of a source: itself, or the sorted matches of a pattern such as `traces/*.jsonl`.

    URLs are downloaded first.
    """
    given = str(source)
    if is_url(source):
        return [str(local_path(url)) for url in matching_urls(given)]
    # Brackets and stars are legal in file names, so an existing path is never treated as a pattern.
    if Path(given).exists() or not has_magic(given):
        return [given]
    found = matches_of(given)
    if not found:
        raise TraceError(f"{given}: expected files that match, got none", hint=f"paths start at {Path.cwd()}")
    return found


def matches_of(pattern: str) -> list[str]:
    """Return the sorted paths that match a pattern; none if it has no star, question mark or bracket."""
    # Not `Path.glob`: a pattern may be absolute, and its `**` matches files only in newer Pythons.
    return sorted(glob(pattern, recursive=True)) if has_magic(pattern) else []  # noqa: PTH207


def _read_url(url: str | Path, dialect: Dialect) -> Campaign:
    found = [_read_path(Path(one), dialect) for one in matching(url)]
    return found[0] if len(found) == 1 else join_campaigns(found)


def _read_path(path: Path, dialect: Dialect) -> Campaign:
    matched = matching(path)
    if matched != [str(path)]:
        return join_campaigns([_read_path(Path(one), dialect) for one in matched])
    if not path.exists():
        hint = near(path) or f"paths start at {Path.cwd()}"
        raise TraceError(f"{path}: expected a trace file, campaign or study directory, got no such file", hint=hint)
    if is_package(path):
        return _no_table(_read_package(path), dialect, path)
    if is_zip(path):
        return read_archive(path, lambda place: _read_plain(place, dialect))
    return _read_plain(path, dialect)


def _read_package(path: Path) -> Campaign:
    """Open the campaign of a package, whose files were verified against its sums."""
    package = opened_package(path)
    campaign = name_after(open_campaign(campaign_directory(package.folder)), package.folder, path)
    # Do not check these files later: no other process changes a private folder, and it is removed at exit.
    return replace(campaign, files=())


def _read_plain(path: Path, dialect: Dialect) -> Campaign:
    """Read a directory or a trace, but not a zip: nested archives are not unpacked."""
    if path.is_dir():
        return _no_table(_read_directory(path), dialect, path)
    if is_recorded(path):
        return _no_table(read_recorded(path), dialect, path)
    return read_neutral(path, dialect=dialect)


def _read_directory(path: Path) -> Campaign:
    """Open the campaign of a directory; of a running or interrupted study, the complete runs in its journals."""
    campaign = journal_campaign(path)
    return open_campaign(campaign_directory(path)) if campaign is None else campaign
