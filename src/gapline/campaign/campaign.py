"""`Campaign`: the captured candidates of every run, before scoring."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.columns import MappedFile, Origin, PartedColumn, check_mapped, multiplied, part_edges
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.runs_table import check_parts, complete_runs
from gapline.contract.result_table import Shown
from gapline.contract.row_groups import Numbered, rows_of
from gapline.contract.tables import RUN_KEY, Reason, RunKey, VerdictCode
from gapline.errors import TraceError, UsageError, listing
from gapline.files.scratch_arrays import spans
from gapline.text import as_patterns, matches, meant

# An array or a `PartedColumn`. Both can be indexed by run; passes over a whole column go through `Campaign.pieces`.
Column = NDArray[Any]

# How a recording that was never closed counts, by the state of its process (the column `unclosed`).
UNCLOSED = {
    "gone": "recording never closed and its process gone: counts as killed, its last incumbent held to the horizon",
    "alive": "recording still open after its horizon, its process alive: counts as it was at the horizon",
}
REQUIRED_COLUMNS: dict[str, type[np.generic]] = {"time": np.float64, "objective": np.float64, "verdict": np.uint8}
OPTIONAL_COLUMNS: dict[str, type[np.generic]] = {
    "claimed": np.float64,
    "reason": np.uint8,
    "bound": np.float64,
    "primary": np.float64,
    "secondary": np.float64,
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Campaign(Shown):
    """Every run of an experiment with everything that its solvers reported.

    Parameters
    ----------
    runs
        One row per run: arm, instance, panel, seed, horizon (null if the source does not give one), status, and the
        slice `first:first+count` of the candidate columns. A run without candidates has a row with count 0.
    time, objective, verdict
        The candidates, sorted by time within each run. An event without a usable time stamp has time NaN, comes last
        in its run and is always invalid. An invalid candidate needs no objective.
    claimed, reason, bound, primary, secondary
        Optional: the solver's own objective, the code of the rejection (an index into `reasons`), the dual bound known
        at that moment (NaN if unknown), and the two components of a hierarchical objective.
    reasons
        Names of the rejection codes; code 0 means that no reason was given.
    facts
        What the source declares for the whole campaign: `checker`, `objective`, `sense`, …
    interrupted
        Cells that started but never finished: gapline or the operator cut every attempt short. They are not runs and
        have no row.
    running
        Cells that were still running when the journals were read. They are not runs yet and have no row.
    origin
        The campaign directory that the columns are mapped from, if any.
    files
        Per part of the columns, the mapped files and their state when they were opened.
    known
        Cached numbering of the names in `runs`; not used once `runs` was replaced.
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
    running: tuple[RunKey, ...] = ()
    origin: Origin | None = None
    files: tuple[tuple[MappedFile, ...], ...] = ()
    known: Numbered | None = None

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
        columns: dict[str, Any] = {name: _as_column(name, column) for name, column in given.items()}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise TraceError(f"from_arrays: expected columns of one length, got {lengths}")
        _check_codes(columns["verdict"], columns.get("reason"), reasons)
        rows = complete_runs(runs, candidates=len(columns["time"]))
        table = rows.table
        check_parts(table, columns)
        if diagnostics is None:
            diagnostics = Diagnostics(
                runs=table.height,
                empty=int((table["count"] == 0).sum()),
                candidates=len(columns["time"]),
                rejected=count_reasons(columns["verdict"], columns.get("reason"), reasons),
                unchecked=count_codes(columns["verdict"], VerdictCode.UNCHECKED),
            )
        return cls(
            runs=table,
            reasons=tuple(reasons),
            facts=dict(facts or {}),
            diagnostics=diagnostics,
            interrupted=tuple(sorted(interrupted)),
            known=rows,
            **columns,
        )

    @classmethod
    def from_runs(cls, runs: Iterable[Mapping[str, Any]]) -> Self:
        """Build from Python lists: mappings with arm, instance, seed and `trace`, a list of (time, objective[, valid]).

        >>> len(Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, 12.0)]},
        ...                         {"arm": "a", "instance": "i", "seed": 2, "horizon": 9, "trace": []}]))
        2
        """
        from gapline.traces.neutral import campaign_from_runs

        return campaign_from_runs(runs)  # type: ignore[return-value]

    def __len__(self) -> int:
        return self.runs.height

    def to_polars(self) -> pl.DataFrame:
        """Return the table of runs; the candidates are in `time`, `objective` and `verdict`."""
        return self.runs

    def caption(self) -> str:
        """Return a one-line summary."""
        arms, instances = self.runs["arm"].n_unique(), self.runs["instance"].n_unique()
        return f"{len(self):,} runs of {arms} arms on {instances} instances, {self.candidates:,} candidates"

    @property
    def candidates(self) -> int:
        """Number of captured events that belong to the rows of `runs`."""
        return int(self.runs["count"].sum())

    @property
    def rows(self) -> Numbered:
        """The runs, numbered by their names."""
        return rows_of(self.runs, self.known)

    @property
    def columns(self) -> dict[str, Column]:
        """The candidate columns that are present, by name."""
        names = (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)
        return {name: column for name in names if (column := getattr(self, name)) is not None}

    def pieces(self, most: int | None = None) -> Iterator[tuple[NDArray[np.int64], Self]]:
        """Yield the campaign in pieces: the row numbers of some runs, and a campaign of these runs with plain columns.

        Columns are not copied. A piece spans at most `most` candidates, or one run that has more, and never two parts.
        The files of a piece are checked before it is yielded, and all files after the last piece.

        >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 9, "trace": [(1, 5.0), (2, 4.0)]}
        ...         for s in (1, 2)]
        >>> [(rows.tolist(), len(piece.time)) for rows, piece in Campaign.from_runs(runs).pieces(2)]
        [([0], 2), ([1], 2)]
        """
        edges = part_edges(self.time)
        first, count = self.runs["first"].to_numpy(), self.runs["count"].to_numpy()
        if not isinstance(self.time, PartedColumn) and (most is None or len(self.time) <= most):
            self.check_files()
            yield np.arange(len(self)), self
            self.check_files()
            return
        in_order = bool(np.all(first[1:] >= first[:-1]))
        order = np.arange(len(first)) if in_order else np.argsort(first, kind="stable")
        # Sort once, not for each piece.
        runs = self.runs if in_order else self.runs[order]
        begins, ends = first[order], (first + count)[order]
        # Ends increase with the beginnings, except for empty runs, which end where they begin.
        reach = np.maximum.accumulate(ends)
        # The start of an empty run may be the end of the last part.
        owner = np.minimum(np.searchsorted(edges, begins, "right") - 1, len(edges) - 2)
        low = 0
        while low < len(order):
            high = int(np.searchsorted(owner, owner[low], "right"))
            if most is not None:
                within = int(np.searchsorted(reach[low:high], begins[low] + most, "right"))
                high = low + max(within, 1)
            rows = order[low:high]
            start, stop = int(begins[low]), int(ends[low:high].max())
            files = self.files[owner[low] : owner[low] + 1]
            check_mapped(files)
            # This copies only the blank columns that a part lacks; mapped columns are already contiguous.
            here: dict[str, Any] = {name: np.ascontiguousarray(c[start:stop]) for name, c in self.columns.items()}
            table = runs[low:high].with_columns(first=pl.Series(begins[low:high] - start, dtype=pl.Int64))
            yield rows, replace(self, runs=table, files=files, origin=None, **here)
            low = high
        self.check_files()

    def check_files(self) -> None:
        """Check that the files that the columns are mapped from have not changed since they were opened.

        Reading past the end of a mapped file that was truncated kills the process, so call this before and after every
        pass over mapped columns.

        Raises
        ------
        IntegrityError
            When a file was removed, truncated or changed; the message names it.
        """
        check_mapped(self.files)

    def notes(self) -> list[str]:
        """Return the notes of the source: first those on the whole campaign, then those on some or all of its runs."""
        cells = self.runs["import_notes"].drop_nulls() if "import_notes" in self.runs.columns else ()
        counts = Counter(note for cell in cells for note in cell.split("\n"))
        if "unclosed" in self.runs.columns:
            counts.update(UNCLOSED[word] for word in self.runs["unclosed"].drop_nulls() if word in UNCLOSED)
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
        # Cells without a run: interrupted ones and those still running.
        begun = {"interrupted": self.interrupted, "running": self.running}
        asked = []

        def keep_begun(fits: Callable[[RunKey], bool]) -> None:
            for state, keys in begun.items():
                begun[state] = tuple(filter(fits, keys))

        for name, patterns in (("arm", arm), ("panel", panel), ("instance", instance)):
            if wanted := as_patterns(patterns):
                matched = self._matching(name, wanted)
                keep = keep & pl.col(name).is_in(matched)
                if name == "panel":
                    # A cell without a run has no panel: it goes with the runs on its instance.
                    there = set(self.runs.filter(pl.col("panel").is_in(matched))["instance"])
                    keep_begun(lambda key, there=there: key.instance in there)  # type: ignore[misc]
                else:
                    keep_begun(lambda key, name=name, wanted=wanted: matches(getattr(key, name), wanted))  # type: ignore[misc]
                asked += [f"--{name} {pattern}" for pattern in wanted]
        if unwanted := as_patterns(exclude):
            keep = keep & ~pl.col("instance").is_in(self._matching("instance", unwanted, option="exclude"))
            keep_begun(lambda key: not matches(key.instance, unwanted))
            asked += [f"--exclude {pattern}" for pattern in unwanted]
        kept = self.runs.filter(keep) if asked else self.runs
        if asked and not kept.height:
            raise UsageError(f"{' '.join(asked)}: matches no run", hint="each of them alone matches some")
        return replace(self, runs=kept, interrupted=begun["interrupted"], running=begun["running"])

    def _matching(self, name: str, patterns: Sequence[str], *, option: str | None = None) -> list[str]:
        """Return the values of a column of `runs` that match a pattern; each pattern has to match some value."""
        present = sorted(self.runs[name].unique().to_list())
        for pattern in patterns:
            if not any(matches(value, [pattern]) for value in present):
                hint = meant(pattern, present, show=True)
                raise UsageError(f"--{option or name} {pattern}: matches no run", hint=hint)
        return [value for value in present if matches(value, patterns)]

    def negate(self, arms: str | Sequence[str], /) -> Self:
        """Return the campaign with the objectives and bounds of some arms negated, for sources that report -z.

        If their runs state a sense, it is reversed too. Every output names the negated arms.

        >>> runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, -12.0)]}]
        >>> Campaign.from_runs(runs).negate("a").objective.tolist()
        [12.0]
        """
        turned = self._matching("arm", as_patterns(arms), option="negate")
        chosen = self.runs["arm"].is_in(turned)
        columns = {name: getattr(self, name) for name in ("objective", "claimed", "bound")}
        signs = pl.select(pl.when(chosen).then(-1.0).otherwise(1.0)).to_series()
        columns = {name: multiplied(column, self.runs, signs) for name, column in columns.items() if column is not None}
        runs = self.runs
        if "sense" in runs.columns:
            other = pl.col("sense").replace({"min": "max", "max": "min"})
            runs = runs.with_columns(sense=pl.when(chosen).then(other).otherwise(pl.col("sense")))
        note = f"objectives of {listing(turned)} are negated: their source reports the negated objective"
        diagnostics = replace(self.diagnostics, notes=(*self.diagnostics.notes, note))
        origin = self.origin and replace(self.origin, negated=_turned(self.origin.negated, turned))
        return replace(self, runs=runs, diagnostics=diagnostics, origin=origin, **columns)

    def digest(self) -> str:
        """Return the sha256 of the content (runs, columns and declared facts), independent of the files' layout."""
        # Slices follow from the counts; rows are hashed in the order of the run keys, so file order does not matter.
        order = self.runs.sort(RUN_KEY)
        names = sorted(set(self.runs.columns) - {"first", "import_notes"})
        # The counts are hashed with the table, so the bytes of the columns can be split among runs in one way only.
        state = hashlib.sha256(msgspec.json.encode([names, sorted(self.facts.items())]))
        if self.interrupted:
            state.update(msgspec.json.encode(["interrupted", *sorted(self.interrupted)]))
        for name in names:
            cells = order[name]
            for text in _json_list(cells[part].to_list() for part in spans(len(cells), most=1 << 16)):
                state.update(text)
        for name, column in sorted(self.columns.items()):
            if name == "reason":
                continue
            state.update(name.encode())
            for low, high in slices_of(order):
                state.update(np.ascontiguousarray(column[low:high]).data)
        if self.reason is not None:
            names_by_code = np.array(self.reasons, dtype=object)
            for first, count in order.select("first", "count").iter_rows():
                codes = self.reason[first : first + count]
                for text in _json_list(names_by_code[codes[part]].tolist() for part in spans(count, most=1 << 20)):
                    state.update(text)
        return "sha256:" + state.hexdigest()

    def compact(self) -> Self:
        """Return a campaign whose columns are plain arrays with only the candidates of its runs, in their order."""
        runs = packed_runs(self)
        if runs is self.runs and not isinstance(self.time, PartedColumn):
            return self
        pieces = list(slices_of(self.runs))
        gathered: dict[str, Any] = {
            name: np.concatenate([column[low:high] for low, high in pieces]) if pieces else np.asarray(column[:0])
            for name, column in self.columns.items()
        }
        return replace(self, runs=runs, files=(), origin=None, **gathered)

    def save(self, directory: str | Path, *, overwrite: bool = False) -> Path:
        """Write the campaign directory (see `gapline.campaign.store`)."""
        from gapline.campaign.store import save_campaign

        return save_campaign(self, Path(directory), overwrite=overwrite)


def _turned(before: Sequence[str], arms: Sequence[str]) -> tuple[str, ...]:
    """Return the arms that are negated in total; negating an arm twice restores it."""
    return tuple(sorted(set(before) ^ set(arms)))


def packed_runs(campaign: Campaign) -> pl.DataFrame:
    """Return the runs with contiguous slices; the same table if they already cover the columns contiguously."""
    first, count = campaign.runs["first"].to_numpy(), campaign.runs["count"].to_numpy()
    expected = np.concatenate(([0], np.cumsum(count)[:-1])) if len(count) else count
    # The start of an empty run does not matter in a plain campaign; with parts it decides which part the run is in.
    anywhere = (count == 0) & (not isinstance(campaign.time, PartedColumn))
    if len(campaign.time) == int(count.sum()) and bool(np.all((first == expected) | anywhere)):
        return campaign.runs
    return campaign.runs.with_columns(first=pl.Series(expected, dtype=pl.Int64))


def slices_of(runs: pl.DataFrame, most: int = 1 << 20) -> Iterator[tuple[int, int]]:
    """Yield the candidate slices of runs, in their order; adjacent ones are merged, and none is longer than `most`.

    >>> list(slices_of(pl.DataFrame({"first": [4, 0, 2, 7], "count": [3, 2, 2, 0]})))
    [(4, 7), (0, 4)]
    """
    filled = runs.filter(pl.col("count") > 0)
    first = filled["first"].to_numpy()
    end = first + filled["count"].to_numpy()
    cuts = np.flatnonzero(first[1:] != end[:-1]) + 1
    lows, highs = first[np.concatenate(([0], cuts))[: len(first)]], end[np.concatenate((cuts - 1, [-1]))[: len(end)]]
    for low, high in zip(lows.tolist(), highs.tolist(), strict=True):
        yield from ((start, min(start + most, high)) for start in range(low, high, most))


def _json_list(pieces: Iterable[list[Any]]) -> Iterator[bytes]:
    """Yield a JSON list in pieces, because the whole list or text would take more memory than the column."""
    yield b"["
    for number, piece in enumerate(pieces):
        yield (b"," if number else b"") + msgspec.json.encode(piece)[1:-1]
    yield b"]"


def _as_column(name: str, column: Column) -> Column:
    """Return a read-only view of a column with the dtype of its name; copy only if the dtype differs."""
    dtype = (REQUIRED_COLUMNS | OPTIONAL_COLUMNS)[name]
    if isinstance(column, PartedColumn):
        return column if column.dtype == dtype else _as_column(name, np.asarray(column))
    view = np.asarray(column, dtype=dtype).view()
    if view.ndim != 1:
        raise TraceError(f"from_arrays: expected one dimension in {name}, got shape {view.shape}")
    view.flags.writeable = False
    return view


def _check_codes(verdict: Column, reason: Column | None, reasons: Sequence[str]) -> None:
    """Refuse unknown verdict and reason codes."""
    for name, column, known in (("verdict", verdict, len(VerdictCode)), ("reason", reason, len(reasons))):
        if column is not None and len(column) and (highest := int(column.max())) >= known:
            raise TraceError(f"{name}: expected codes below {known}, got {highest}")


def count_codes(column: Column, code: int) -> int:
    """Count the entries of a column that equal `code`."""
    return sum(int(np.count_nonzero(column[span] == code)) for span in spans(len(column)))


def count_reasons(verdict: Column, reason: Column | None, reasons: Sequence[str]) -> dict[str, int]:
    """Count invalid candidates by the name of their reason."""
    counts = np.zeros(len(reasons), np.int64)
    for span in spans(len(verdict)):
        here = verdict[span]
        # Usually no candidate is invalid; the minimum shows it, because INVALID is the lowest code.
        if here.min() != VerdictCode.INVALID:
            continue
        invalid = here == VerdictCode.INVALID
        given = np.zeros(int(np.count_nonzero(invalid)), np.uint8) if reason is None else reason[span][invalid]
        counts += np.bincount(given, minlength=len(reasons))
    named = ((reasons[c] or Reason.DECLARED_INVALID.value, int(counts[c])) for c in np.flatnonzero(counts).tolist())
    return dict(sorted(named))
