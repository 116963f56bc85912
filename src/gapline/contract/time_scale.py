"""Time on different machines: seconds of a host are converted into those of a reference machine before scoring.

A factor of 1.37 for a host means that one second there does the work of 1.37 seconds of the reference machine: every
time of its runs (stamps, budget, resolution of the stamps) is multiplied by it. Nothing is scaled unless requested,
and columns of the runs table record the scaling, so that no output can omit it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from gapline.errors import MixedScoresError, listing

DECLARED = "declared"
# Where a run was made: the name of the host, or its class if no host is named.
PLACES = ("host", "machine")
_COLUMNS = {"time_scale", "time_scale_source", "own_horizon"}


@dataclass(frozen=True, slots=True)
class TimeScale:
    """The factor by which the times of each host were multiplied; hosts that are not named keep theirs (factor 1).

    `source` says where the factors come from; those of a caller or a contract are `declared`.

    >>> str(TimeScale((("node2", 1.37),), DECLARED))
    'node2 × 1.37, other hosts × 1 (declared)'
    """

    factors: tuple[tuple[str, float], ...]
    source: str

    def __str__(self) -> str:
        named = [f"{name} × {factor:.6g}" for name, factor in self.factors]
        return f"{listing([*named, 'other hosts × 1'], most=7)} ({self.source})"

    def document(self) -> dict[str, object]:
        """Return the content for JSON."""
        return {"factors": dict(self.factors), "source": self.source}


def is_scaled(runs: pl.DataFrame, /) -> bool:
    """Return whether times of these runs were scaled; a single column of that name in a file does not count."""
    return set(runs.columns) >= _COLUMNS and runs["time_scale_source"].drop_nulls().len() > 0


def time_scale_of(runs: pl.DataFrame, /) -> TimeScale | None:
    """Return the time scale of these runs, None if times are as recorded."""
    if not is_scaled(runs):
        return None
    factors = {
        names[0] if names else "?": factor
        for names, factor in zip(names_of_hosts(runs), runs["time_scale"], strict=True)
        if factor is not None and factor != 1.0
    }
    sources = runs["time_scale_source"].drop_nulls().unique().sort().to_list()
    return TimeScale(tuple(sorted(factors.items())), listing(sources))


def join_time_scales(scales: Sequence[TimeScale | None], /) -> TimeScale | None:
    """Join the time scales of the parts of one reading; different scales are refused."""
    sources = {None if scale is None else scale.source for scale in scales}
    known: dict[str, float] = {}
    for name, factor in (pair for scale in scales if scale is not None for pair in scale.factors):
        if known.setdefault(name, factor) != factor or len(sources) > 1:
            said = listing(dict.fromkeys("none" if scale is None else str(scale) for scale in scales))
            raise MixedScoresError(f"expected scores of one time scale, got {said}", hint="state it with --time-scale")
    source = next(iter(sources)) if len(sources) == 1 else None
    return None if source is None else TimeScale(tuple(sorted(known.items())), source)


def names_of_hosts(runs: pl.DataFrame) -> list[tuple[str, ...]]:
    """Return the names by which the host of each run may be given, its own name first."""
    columns = [runs[name].cast(pl.String).to_list() for name in PLACES if name in runs.columns]
    return [tuple(name for name in row if name is not None) for row in zip(*columns, strict=True)]
