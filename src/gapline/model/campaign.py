"""`Campaign`: what the solvers said, before anybody judged it."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import TraceError, UsageError, listing
from gapline.model.diagnostics import Diagnostics
from gapline.model.tables import CARRIED, DEFAULT_PANEL, RUN_KEY, RUNS, Reason, RunKey, RunStatus, VerdictCode
from gapline.model.text import meant

Column = NDArray[Any]

REQUIRED_COLUMNS: dict[str, type[np.generic]] = {"time": np.float64, "objective": np.float64, "verdict": np.uint8}
OPTIONAL_COLUMNS: dict[str, type[np.generic]] = {
    "claimed": np.float64,
    "reason": np.uint8,
    "bound": np.float64,
    "primary": np.float64,
    "secondary": np.float64,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Campaign:
    """Every run of an experiment and everything its solvers emitted.

    Parameters
    ----------
    runs
        One row per run: arm, instance, panel, seed, horizon (null where the source states none), status, and the
        slice `first:first+count` of the candidate columns. A run that captured nothing is a row with count 0.
    time, objective, verdict
        The candidates, sorted by time inside each run. An event without a usable stamp has time NaN, stands last in
        its run and is always invalid. An invalid candidate needs no objective.
    claimed, reason, bound, primary, secondary
        Optional: the solver's own objective, the code of the rejection (an index into `reasons`), the dual bound known
        at that moment (NaN where none), and the two components of a hierarchical objective.
    reasons
        Names of the rejection codes; code 0 means that no reason was given.
    facts
        What the source declares of the whole campaign: `checker`, `objective`, `sense`, …
    interrupted
        Cells that were begun and never ran to the end: attempts were cut short by us or the operator, none is whole.
        They are no runs and have no row.
    """

    runs: pl.DataFrame
    time: Column
    objective: Column
    verdict: Column
    claimed: Column | None = None
    reason: Column | None = None
    bound: Column | None = None
    primary: Column | None = None
    secondary: Column | None = None
    reasons: tuple[str, ...] = ("",)
    facts: Mapping[str, str] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    interrupted: tuple[RunKey, ...] = ()

    @classmethod
    def from_arrays(
        cls,
        *,
        runs: pl.DataFrame,
        time: Column,
        objective: Column,
        verdict: Column,
        reasons: Sequence[str] = ("",),
        facts: Mapping[str, str] | None = None,
        diagnostics: Diagnostics | None = None,
        interrupted: Iterable[RunKey] = (),
        **optional: Column | None,
    ) -> Self:
        """Wrap columns that are already sorted by run and time, without copying them.

        Missing run columns are filled: panel "all", horizon null, status "unknown".

        >>> import numpy as np, polars as pl
        >>> runs = pl.DataFrame({"arm": ["a"], "instance": ["i"], "seed": [1], "horizon": [30.0],
        ...                      "first": [0], "count": [2]})
        >>> campaign = Campaign.from_arrays(runs=runs, time=np.array([1.0, 2.0]), objective=np.array([9.0, 8.0]),
        ...                                 verdict=np.array([1, 1], dtype=np.uint8))
        >>> len(campaign), campaign.candidates
        (1, 2)
        """
        if unknown := sorted(set(optional) - set(OPTIONAL_COLUMNS)):
            raise UsageError(f"from_arrays: expected columns among {listing(OPTIONAL_COLUMNS)}, got {listing(unknown)}")
        given = {"time": time, "objective": objective, "verdict": verdict} | {
            name: column for name, column in optional.items() if column is not None
        }
        columns = {name: _as_column(name, column) for name, column in given.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise TraceError(f"from_arrays: expected columns of one length, got {lengths}")
        _check_codes(columns["verdict"], columns.get("reason"), reasons)
        table = _complete_runs(runs, candidates=len(columns["time"]))
        if diagnostics is None:
            diagnostics = Diagnostics(
                runs=table.height,
                empty=int((table["count"] == 0).sum()),
                candidates=len(columns["time"]),
                rejected=count_reasons(columns["verdict"], columns.get("reason"), reasons),
                unchecked=int(np.count_nonzero(columns["verdict"] == VerdictCode.UNCHECKED)),
            )
        return cls(
            runs=table,
            reasons=tuple(reasons),
            facts=dict(facts or {}),
            diagnostics=diagnostics,
            interrupted=tuple(sorted(interrupted)),
            **columns,
        )

    @classmethod
    def from_runs(cls, runs: Iterable[Mapping[str, Any]]) -> Self:
        """Build from Python lists: mappings with arm, instance, seed and `trace`, a list of (time, objective[, valid]).

        >>> len(Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, 12.0)]},
        ...                         {"arm": "a", "instance": "i", "seed": 2, "horizon": 9, "trace": []}]))
        2
        """
        from gapline.capture.neutral import campaign_from_runs

        return campaign_from_runs(runs)  # type: ignore[return-value]

    def __len__(self) -> int:
        return self.runs.height

    def __repr__(self) -> str:
        arms, instances = self.runs["arm"].n_unique(), self.runs["instance"].n_unique()
        return f"Campaign({len(self):,} runs of {arms} arms on {instances} instances, {self.candidates:,} candidates)"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>" + self.runs._repr_html_()

    @property
    def candidates(self) -> int:
        """Captured events that belong to the runs at hand."""
        return int(self.runs["count"].sum())

    @property
    def columns(self) -> dict[str, Column]:
        """The candidate columns that are present, by name."""
        names = (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)
        return {name: column for name in names if (column := getattr(self, name)) is not None}

    def notes(self) -> list[str]:
        """Return what its source has to say: of the whole, then of runs at hand, with their number where not all."""
        cells = self.runs["import_notes"].drop_nulls() if "import_notes" in self.runs.columns else ()
        counts = Counter(note for cell in cells for note in cell.split("\n"))
        among = [note if n == len(self) else f"{note} ({n:,} of {len(self):,} runs)" for note, n in counts.items()]
        return [*self.diagnostics.notes, *among]

    def keys(self) -> Iterator[RunKey]:
        """Yield the identity of each run."""
        yield from (RunKey(*row) for row in self.runs.select(RUN_KEY).iter_rows())

    def filter(
        self,
        *,
        arm: str | Sequence[str] = (),
        panel: str | Sequence[str] = (),
        instance: str | Sequence[str] = (),
        exclude: str | Sequence[str] = (),
    ) -> Self:
        """Keep runs whose arm, panel and instance match a name or pattern (`X-n*`), and no pattern of `exclude`.

        Each pattern has to match some run.
        """
        keep = pl.lit(True)
        interrupted = self.interrupted
        asked = []
        for name, patterns in (("arm", arm), ("panel", panel), ("instance", instance)):
            if wanted := as_patterns(patterns):
                matched = self._matching(name, wanted)
                keep = keep & pl.col(name).is_in(matched)
                if name == "panel":
                    # An interrupted cell has no panel of its own: it stays with the runs on its instance.
                    there = set(self.runs.filter(pl.col("panel").is_in(matched))["instance"])
                    interrupted = tuple(key for key in interrupted if key.instance in there)
                else:
                    interrupted = tuple(key for key in interrupted if matches(getattr(key, name), wanted))
                asked += [f"--{name} {pattern}" for pattern in wanted]
        if unwanted := as_patterns(exclude):
            keep = keep & ~pl.col("instance").is_in(self._matching("instance", unwanted, option="exclude"))
            interrupted = tuple(key for key in interrupted if not matches(key.instance, unwanted))
            asked += [f"--exclude {pattern}" for pattern in unwanted]
        kept = self.runs.filter(keep)
        if asked and not kept.height:
            raise UsageError(f"{' '.join(asked)}: matches no run", hint="each of them alone matches some")
        return replace(self, runs=kept, interrupted=interrupted)

    def _matching(self, name: str, patterns: Sequence[str], *, option: str | None = None) -> list[str]:
        """Return the values of a column of the runs that match one of the patterns; each has to match something."""
        present = sorted(self.runs[name].unique().to_list())
        for pattern in patterns:
            if not any(matches(value, [pattern]) for value in present):
                hint = meant(pattern, present, show=True)
                raise UsageError(f"--{option or name} {pattern}: matches no run", hint=hint)
        return [value for value in present if matches(value, patterns)]

    def negate(self, arms: str | Sequence[str], /) -> Self:
        """Return the campaign with the objectives and bounds of some arms negated, for sources that report -z.

        The sense of their runs turns too, where they state one, and every output says what was negated.

        >>> runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, -12.0)]}]
        >>> Campaign.from_runs(runs).negate("a").objective.tolist()
        [12.0]
        """
        turned = self._matching("arm", as_patterns(arms), option="negate")
        chosen = self.runs["arm"].is_in(turned)
        columns = {name: getattr(self, name) for name in ("objective", "claimed", "bound")}
        columns = {name: np.array(column) for name, column in columns.items() if column is not None}
        for first, count in self.runs.filter(chosen).select("first", "count").iter_rows():
            for column in columns.values():
                column[first : first + count] *= -1.0
        runs = self.runs
        if "sense" in runs.columns:
            other = pl.col("sense").replace({"min": "max", "max": "min"})
            runs = runs.with_columns(sense=pl.when(chosen).then(other).otherwise(pl.col("sense")))
        note = f"objectives of {listing(turned)} are negated: their source reports the negated objective"
        diagnostics = replace(self.diagnostics, notes=(*self.diagnostics.notes, note))
        columns = {name: _as_column(name, column) for name, column in columns.items()}
        return replace(self, runs=runs, diagnostics=diagnostics, **columns)

    def digest(self) -> str:
        """Return the sha256 of the content: runs, columns and declared facts, whatever the files look like."""
        whole = self.compact()
        # Slices follow from the counts; rows are hashed in the order of the run keys, so file order does not matter.
        order = whole.runs.with_row_index("_row").sort(RUN_KEY)
        names = sorted(set(whole.runs.columns) - {"first", "import_notes"})
        # The counts are in the table, so the bytes of the columns that follow can be cut in one way only.
        state = hashlib.sha256(msgspec.json.encode([names, sorted(whole.facts.items())]))
        if whole.interrupted:
            state.update(msgspec.json.encode(["interrupted", *sorted(whole.interrupted)]))
        for name in names:
            state.update(msgspec.json.encode(order[name].to_list()))
        for name, column in sorted(whole.columns.items()):
            if name == "reason":
                continue
            state.update(name.encode())
            for first, count in order.select("first", "count").iter_rows():
                state.update(np.ascontiguousarray(column[first : first + count]).tobytes())
        if whole.reason is not None:
            names_by_code = np.array(whole.reasons, dtype=object)
            for first, count in order.select("first", "count").iter_rows():
                state.update(msgspec.json.encode(names_by_code[whole.reason[first : first + count]].tolist()))
        return "sha256:" + state.hexdigest()

    def compact(self) -> Self:
        """Return a campaign whose columns hold the candidates of its runs and nothing else, in their order."""
        first = self.runs["first"].to_numpy()
        count = self.runs["count"].to_numpy()
        expected = np.concatenate(([0], np.cumsum(count)[:-1])) if len(count) else count
        if len(self.time) == int(count.sum()) and bool(np.all((first == expected) | (count == 0))):
            return self
        pieces = [(int(f), int(f + c)) for f, c in zip(first, count, strict=True)]
        gathered: dict[str, Any] = {
            name: np.concatenate([column[a:b] for a, b in pieces]) if pieces else column[:0]
            for name, column in self.columns.items()
        }
        return replace(self, runs=self.runs.with_columns(first=pl.Series(expected, dtype=pl.Int64)), **gathered)

    def save(self, directory: str | Path, *, overwrite: bool = False) -> Path:
        """Write the campaign directory (see `gapline.model.store`)."""
        from gapline.model.store import save_campaign

        return save_campaign(self, Path(directory), overwrite=overwrite)


def as_patterns(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return one pattern or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)


def matches(value: str, patterns: Iterable[str]) -> bool:
    """Say whether a name is one of the patterns or fits one (`X-n*`)."""
    return any(value == pattern or fnmatchcase(value, pattern) for pattern in patterns)


def _as_column(name: str, column: Column) -> Column:
    """Give a column its dtype and make the view read-only, copying only where the dtype is another one."""
    dtype = (REQUIRED_COLUMNS | OPTIONAL_COLUMNS)[name]
    view = np.asarray(column, dtype=dtype).view()
    if view.ndim != 1:
        raise TraceError(f"from_arrays: expected one dimension in {name}, got shape {view.shape}")
    view.flags.writeable = False
    return view


def _check_codes(verdict: Column, reason: Column | None, reasons: Sequence[str]) -> None:
    """Refuse codes that nobody has given a meaning to."""
    for name, column, known in (("verdict", verdict, len(VerdictCode)), ("reason", reason, len(reasons))):
        if column is not None and len(column) and (highest := int(column.max())) >= known:
            raise TraceError(f"{name}: expected codes below {known}, got {highest}")


def _can_hold(found: pl.DataType, meant: pl.DataType) -> bool:
    """Say whether a column can hold what gapline reads from it: text, or numbers; one without any value can."""
    if found == pl.Null:
        return True
    return found.is_float() or found.is_integer() if meant == pl.Float64 else found == pl.String


def _complete_runs(runs: pl.DataFrame, *, candidates: int) -> pl.DataFrame:
    """Fill, cast and check the runs table."""
    required = (*RUN_KEY, "first", "count")
    if missing := [name for name in required if name not in runs.columns]:
        raise TraceError(f"runs table: expected columns {listing(required)}, got no {listing(missing)}")
    defaults = {"panel": DEFAULT_PANEL, "horizon": None, "status": RunStatus.UNKNOWN.value}
    table = runs.with_columns(
        pl.lit(value, dtype=RUNS[name]).alias(name) for name, value in defaults.items() if name not in runs.columns
    )
    try:
        table = table.with_columns(pl.col(name).cast(dtype) for name, dtype in RUNS.items())
    except pl.exceptions.PolarsError as error:
        raise TraceError(f"runs table: expected { ({n: str(t) for n, t in RUNS.items()}) }, got {error}") from error
    for name in CARRIED.keys() & set(table.columns):
        if not _can_hold(table.schema[name], CARRIED[name]):
            raise TraceError(f"runs table: expected {CARRIED[name]} in {name}, got {table.schema[name]}")
    table = table.with_columns(pl.col("panel").fill_null(DEFAULT_PANEL), pl.col("status").fill_null("unknown"))
    # Known columns first, so that a file does not depend on the order in which a reader made them.
    extras = [name for name in table.columns if name not in RUNS]
    table = table.select(*RUNS, *extras)
    for name in required:
        if table[name].null_count():
            raise TraceError(f"runs table: expected a value in every {name}, got {table[name].null_count()} nulls")
    _check_run_values(table)
    first, count = table["first"].to_numpy(), table["count"].to_numpy()
    if np.any(count < 0) or np.any(first < 0) or np.any(first + count > candidates):
        raise TraceError(f"runs table: expected slices inside 0:{candidates}, got one outside")
    # Slices may stand in any order, but each candidate belongs to one run.
    ordered = np.argsort(first, kind="stable")
    ends = (first + count)[ordered][:-1]
    if np.any(ends > first[ordered][1:]) or int(count.sum()) != candidates:
        raise TraceError(
            f"runs table: expected slices that cover {candidates} candidates once, got {int(count.sum())} or overlaps"
        )
    return table


def _check_run_values(table: pl.DataFrame) -> None:
    """Refuse duplicate keys, statuses nobody knows and horizons that are not positive and finite."""
    twins = table.group_by(RUN_KEY).len().filter(pl.col("len") > 1).sort(RUN_KEY)
    if twins.height:
        names = listing(str(RunKey(*row)) for row in twins.select(RUN_KEY).iter_rows())
        raise TraceError(f"expected each run once, got duplicates: {names}")
    known = [status.value for status in RunStatus]
    if strange := table.filter(~pl.col("status").is_in(known))["status"].unique().to_list():
        raise TraceError(f"status: expected one of {listing(known)}, got {listing(map(repr, strange))}")
    bad = table.filter(pl.col("horizon").is_not_null() & ~(pl.col("horizon").is_finite() & (pl.col("horizon") > 0)))
    if bad.height:
        shown = listing(f"{RunKey(*row[:3])} {row[3]}" for row in bad.select(*RUN_KEY, "horizon").iter_rows())
        raise TraceError(f"horizon: expected positive finite seconds, got {shown}")


def count_reasons(verdict: Column, reason: Column | None, reasons: Sequence[str]) -> dict[str, int]:
    """Count invalid candidates by the name of their reason."""
    given = np.zeros_like(verdict) if reason is None else np.asarray(reason)
    found, counts = np.unique(given[verdict == VerdictCode.INVALID], return_counts=True)
    named = ((reasons[int(c)] or Reason.DECLARED_INVALID.value, int(n)) for c, n in zip(found, counts, strict=True))
    return dict(sorted(named))
