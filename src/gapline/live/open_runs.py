"""The runs under way: their traces so far, as the whole ones are read, and the bounds on their scores.

What a solver said is judged and accepted by the functions that do so for whole runs. Under a checker no candidate of a
run under way has a verdict yet: its steps are claims, and are called so.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapline.campaign.assembly import RunTrace
from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import Scale, choose_scale
from gapline.contract.contract import Contract
from gapline.contract.number_limits import INFINITE
from gapline.contract.tables import RunKey, VerdictCode
from gapline.envelope.build import Envelopes, Unchecked, build_envelopes
from gapline.errors import GaplineError
from gapline.journal.campaign import campaign_of_journals, trace_of
from gapline.journal.read import Journal
from gapline.live.bounds import OpenRun
from gapline.live.follow import Followed
from gapline.references.contradictions import dual_bounds
from gapline.references.snapshot import Snapshot
from gapline.study import declared_choices

Floats = NDArray[np.float64]
# Steps of a trace that are handed on; of more, every second, fourth, … one, and the last.
MOST_STEPS = 500
# As plain numbers: each is compared with for every run of every look.
_VALID, _UNCHECKED, _BOUND = int(VerdictCode.VALID), int(VerdictCode.UNCHECKED), int(VerdictCode.BOUND)


@dataclass(slots=True, eq=False)
class View:
    """A run under way as far as it was read.

    `time` and `objective` are its accepted steps on the scored scale, `raw` the objectives as the solver said them;
    `problem` says why it cannot be scored. `taken` events are in it, of a journal that was begun `begun` times; `kept`
    is what later looks need of them: the steps, and the strongest dual bound.
    """

    followed: Followed
    time: Floats
    objective: Floats
    raw: Floats
    captured: int = 0
    rejected: int = 0
    late: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    checked: bool = True
    problem: str | None = None
    bound: float | None = None
    kept: RunTrace | None = None
    taken: int = 0
    begun: int = 1
    trace: dict[str, list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.trace = {"time": thinned(self.time), "objective": thinned(self.raw)}

    @property
    def key(self) -> RunKey:
        """The run that it is of."""
        return self.followed.key


Known = Mapping[RunKey, View]


def read_views(
    cells: Sequence[Followed], contract: Contract, maximised: frozenset[str], known: Known | None = None
) -> tuple[list[View], Campaign | None, Envelopes | None]:
    """Read the traces of runs under way; return their views, and all that can be scored as one.

    Of a run that is `known`, the events since then are read, beside its steps: what was no step before is none now.
    """
    before = [_before(one, (known or {}).get(one.key)) for one in cells]
    traces = [_trace(one, view, maximised) for one, view in zip(cells, before, strict=True)]
    try:
        return _read_views(cells, before, traces, contract)
    except GaplineError as error:
        if len(cells) == 1:
            nothing = np.empty(0)
            return [View(cells[0], nothing, nothing, nothing, problem=error.message)], None, None
    # One of them cannot be scored, and says so by itself.
    return [view for one in cells for view in read_views([one], contract, maximised, known)[0]], None, None


def _before(one: Followed, view: View | None) -> View | None:
    """Return the view of a run to go on from, None where it has to be read from its beginning."""
    if view is None or view.kept is None or one.growing is None or view.followed.growing is not one.growing:
        return None
    return view if view.begun == one.growing.starts else None


def _trace(one: Followed, before: View | None, maximised: frozenset[str]) -> RunTrace:
    """Return the new events of a run, those that its view keeps before them."""
    assert one.growing is not None
    journal, is_maximised = one.growing.journal, one.cell.instance.name in maximised
    tail = Journal(journal.path, journal.order, version=journal.version, claim=journal.claim)
    tail.events = journal.events.after(0 if before is None else before.taken)
    trace = trace_of(tail, None, attempts=1, asked=False, maximised=is_maximised, digest=False)
    # Most of what is carried is known at the end of a run alone: a column of nothing costs as much as one of numbers.
    trace.carried = {name: value for name, value in trace.carried.items() if value is not None}
    kept = None if before is None else before.kept
    if kept is not None:
        trace.reason = None if trace.reason is None else ["" for _ in kept.time] + list(trace.reason)
        trace.bound = np.full(len(trace.time), np.nan) if trace.bound is None else trace.bound
        for name in ("time", "objective", "verdict", "bound"):
            setattr(trace, name, np.concatenate([getattr(kept, name), np.asarray(getattr(trace, name))]))
        trace.claimed = trace.primary = trace.secondary = None
    return trace


def _read_views(
    cells: Sequence[Followed], before: Sequence[View | None], traces: list[RunTrace], contract: Contract
) -> tuple[list[View], Campaign, Envelopes]:
    trusting = contract.objective.validation == "checker"
    campaign = campaign_of_journals(traces)
    scale = scale_of(campaign, contract)
    envelopes = build_envelopes(
        campaign, transform=scale, unchecked=Unchecked.TRUST_SOLVER if trusting else Unchecked.REFUSE
    )
    bounds = dual_bounds(campaign, scale)
    rows = {RunKey(*row[:3]): row[3:] for row in _rows(envelopes)}
    views = []
    for one, known, trace in zip(cells, before, traces, strict=True):
        assert one.growing is not None
        first, count, captured, rejected, late = rows[one.key]
        time, objective = (column[first : first + count] for column in (envelopes.time, envelopes.objective))
        instance = one.cell.instance.name
        maximises = scale.of(instance).maximises
        raw = _raw_steps(trace, time, maximises=maximises)
        unchecked = bool(np.any(np.asarray(trace.verdict) == _UNCHECKED))
        view = View(
            one,
            time,
            objective,
            raw,
            captured,
            rejected,
            late,
            Counter(reason for reason in trace.reason or () if reason),
            checked=not (trusting and unchecked),
            bound=bounds.get(instance),
            kept=None if scale.hierarchical else _kept(trace, time, raw, unchecked=unchecked, maximises=maximises),
            taken=len(one.growing.journal.events),
            begun=one.growing.starts,
        )
        if known is not None:
            # What was kept, its steps, is counted already, when it came.
            view.captured += known.captured - len(known.time)
            view.rejected += known.rejected
            view.late += known.late
            view.reasons += known.reasons
            view.checked &= known.checked
        views.append(view)
    return views, campaign, envelopes


def _kept(trace: RunTrace, time: Floats, raw: Floats, *, unchecked: bool, maximises: bool) -> RunTrace:
    """Return of a trace what later looks need: its steps, and the strongest dual bound."""
    kept = RunTrace(time, raw, np.full(len(time), _UNCHECKED if unchecked else _VALID, np.uint8))
    kept.bound = np.full(len(time), np.nan)
    stated = np.asarray([] if trace.bound is None else trace.bound, np.float64)
    usable = np.abs(stated) < INFINITE
    if usable.any():
        place = int(np.argmax(np.where(usable, -stated if maximises else stated, -np.inf)))
        row = {"time": np.asarray(trace.time)[place], "objective": np.nan, "verdict": _BOUND, "bound": stated[place]}
        for name, value in row.items():
            setattr(kept, name, np.append(getattr(kept, name), np.asarray(value, getattr(kept, name).dtype)))
    return kept


def _rows(envelopes: Envelopes) -> Any:
    names = ("arm", "instance", "seed", "first", "count", "captured", "rejected", "late")
    return envelopes.runs.select(names).iter_rows()


def scale_of(campaign: Campaign, contract: Contract) -> Scale:
    """Return the scale that a contract declares for the runs of a campaign."""
    stated = declared_choices(contract)
    return choose_scale(campaign, stated["transform"] or None, sense=stated["sense"])


def _raw_steps(trace: RunTrace, times: Floats, *, maximises: bool) -> Floats:
    """Return the objectives of accepted steps as they were said: of equal stamps the best."""
    if not len(times):
        return np.empty(0)
    verdict: NDArray[np.uint8] = np.asarray(trace.verdict, np.uint8)
    valid = np.flatnonzero((verdict == _VALID) | (verdict == _UNCHECKED))
    time = np.asarray(trace.time, np.float64)[valid]
    order = np.argsort(time, kind="stable")
    time, objective = time[order], np.asarray(trace.objective, np.float64)[valid][order]
    best = np.maximum.accumulate(objective) if maximises else np.minimum.accumulate(objective)
    found: Floats = best[np.searchsorted(time, times, "right") - 1]
    return found


def open_run(view: View, *, known: float, reference: float, best: float | None, certified: bool) -> OpenRun:
    """Return a run under way as its bounds need it; `best` is the best value of its instance that is possible."""
    if view.bound is not None and not certified:
        best = view.bound if best is None else max(best, view.bound)
    if best is not None and len(view.objective):
        # What is better than can be is an alarm, and no reason for bounds that exclude what is there.
        best = min(best, float(view.objective[-1]))
    horizon = view.followed.cell.horizon
    return OpenRun(view.time, view.objective, min(known, horizon), horizon, reference, best, view.checked)


def best_possible(
    instance: str, reference: float, *, certified: bool, bounds: Mapping[str, float], tolerance: float
) -> float | None:
    """Return the best value of an instance that is possible, None where nobody knows one.

    A certified value may be passed by the tolerance before an alarm rings.
    """
    return reference - tolerance * abs(reference) if certified else bounds.get(instance)


def is_certified(snapshot: Snapshot, instance: str) -> bool:
    """Say whether the value of an instance is a proven optimum."""
    entry = snapshot.values.get(instance)
    return entry is not None and entry.certified


def thinned(values: Floats) -> list[float]:
    """Return at most `MOST_STEPS` of the steps of a trace, the last one among them.

    Their distance is a power of two, so that those which are kept stay the same ones while a trace grows: only the last
    is another one, until it has doubled.

    >>> thinned(np.arange(1000.0))[:3], thinned(np.arange(1000.0))[-2:]
    ([0.0, 4.0, 8.0], [996.0, 999.0])
    """
    distance = 1
    # Besides these the last one may have to be kept.
    while (len(values) - 1) // distance + 2 > MOST_STEPS and len(values) > MOST_STEPS:
        distance *= 2
    kept = values[::distance].tolist()
    if len(values) and (len(values) - 1) % distance:
        kept.append(float(values[-1]))
    return kept  # type: ignore[no-any-return]
