"""Some runs of a campaign directory, opened again by another process."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from gapline.errors import IntegrityError, UsageError
from gapline.model.campaign import Campaign
from gapline.model.multiplied import multiplied
from gapline.model.origin import Origin
from gapline.model.remote import is_url, local_path, url_of
from gapline.model.store import open_campaign, read_manifest


def origin_of(campaign: Campaign) -> Origin:
    """Return where a campaign lies; one that was read from elsewhere lies nowhere that others could look."""
    if campaign.origin is None:
        raise UsageError(
            "--on: expected one campaign directory or study, whose columns lie in files, got another source",
            hint="make one first: gapline import FILES -o DIR, or gapline merge SOURCES -o DIR",
        )
    url = url_of(Path(campaign.origin.directory))
    # A copy here is nothing that others see: they make copies of their own.
    return campaign.origin if url is None else replace(campaign.origin, directory=url)


def reopen(origin: Origin, runs: pl.DataFrame) -> Campaign:
    """Open some runs of a campaign directory, whose digests are verified once per process; their candidates alone."""
    whole = _opened(origin.directory, origin.seal)
    if not is_url(origin.directory) and read_manifest(Path(origin.directory)).get("seal") != origin.seal:
        raise _changed(origin.directory)
    filled = runs.filter(pl.col("count") > 0)
    first, ends = filled["first"].to_numpy(), (filled["first"] + filled["count"]).to_numpy()
    start, stop = (int(first.min()), int(ends.max())) if len(first) else (0, 0)
    columns: dict[str, Any] = {name: column[start:stop] for name, column in whole.columns.items()}
    table = runs.with_columns(first=pl.when(pl.col("count") > 0).then(pl.col("first") - start).otherwise(0))
    if origin.negated:
        signs = pl.select(pl.when(table["arm"].is_in(origin.negated)).then(-1.0).otherwise(1.0)).to_series()
        for name in {"objective", "claimed", "bound"} & columns.keys():
            columns[name] = multiplied(columns[name], table, signs)
    if origin.scaled:
        columns["time"] = multiplied(columns["time"], table, table["time_scale"])
    return replace(whole, runs=table, **columns)


@lru_cache(maxsize=4)
def _opened(directory: str, seal: str) -> Campaign:
    campaign = open_campaign(local_path(directory))
    if campaign.origin is None or campaign.origin.seal != seal:
        raise _changed(directory)
    return campaign


def _changed(directory: str) -> IntegrityError:
    return IntegrityError(f"{directory}: expected the campaign that was opened, got one that was changed meanwhile")
