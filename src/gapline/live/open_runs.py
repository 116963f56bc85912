"""Runs under way: their traces so far, read like those of whole runs, and the bounds on their scores.

Candidates are judged and accepted by the same functions as those of whole runs. If a checker decides, no candidate of a
run under way has a verdict yet: its steps are claims, and are reported as such.
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
from gapline.live.journal_follower import CellProgress
from gapline.references.contradictions import dual_bounds
from gapline.references.snapshot import Snapshot
from gapline.study import declared_choices

Floats = NDArray[np.float64]
# A journal is thinned to its steps once it has this many events more than twice its steps.
SLACK = 100
# Most steps of a trace in the document; of longer traces, every second, fourth, … step, and the last.
MOST_STEPS = 500
# As plain numbers, because every look compares them for every run.
_VALID, _UNCHECKED = int(VerdictCode.VALID), int(VerdictCode.UNCHECKED)


@dataclass(slots=True, eq=False)
class RunView:
    """A run under way as far as it was read.

    `time` and `objective` are its accepted steps on the scored scale, `raw` the objectives as the solver printed them;
    `problem` says why it cannot be scored.
    """

    followed: CellProgress
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
    trace: dict[str, list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.trace = {"time": thin_steps(self.time), "objective": thin_steps(self.raw)}

    @property
    def key(self) -> RunKey:
        """The key of the run."""
        return self.followed.key


def read_views(
    cells: Sequence[CellProgress], contract: Contract, maximised: frozenset[str]
) -> tuple[list[RunView], Campaign | None, Envelopes | None]:
    """Read the traces of runs under way; return their views, and their campaign and envelopes if all can be scored.

    Events that are not steps are dropped from the journals now and then: they cannot become steps later.
    """
    try:
        return _read_views(cells, [_trace(one, maximised) for one in cells], contract)
    except GaplineError as error:
        if len(cells) == 1:
            nothing = np.empty(0)
            return [RunView(cells[0], nothing, nothing, nothing, problem=error.message)], None, None
    # At least one of them cannot be scored: read one by one, only that one has a problem.
    return [view for one in cells for view in read_views([one], contract, maximised)[0]], None, None


def _trace(one: CellProgress, maximised: frozenset[str]) -> RunTrace:
    assert one.growing is not None
    journal, is_maximised = one.growing.journal, one.cell.instance.name in maximised
    so_far = Journal(journal.path, journal.order, version=journal.version, claim=journal.claim)
    so_far.events = journal.events
    trace = trace_of(so_far, None, attempts=1, asked=False, maximised=is_maximised, digest=False)
    # Most carried values are known only at the end of a run: an empty column costs as much as one of numbers.
    trace.carried = {name: value for name, value in trace.carried.items() if value is not None}
    return trace


def _read_views(
    cells: Sequence[CellProgress], traces: list[RunTrace], contract: Contract
) -> tuple[list[RunView], Campaign, Envelopes]:
    trusting = contract.objective.validation == "checker"
    campaign = campaign_of_journals(traces)
    scale = scale_of(campaign, contract)
    envelopes = build_envelopes(
        campaign, transform=scale, unchecked=Unchecked.TRUST_SOLVER if trusting else Unchecked.REFUSE
    )
    bounds = dual_bounds(campaign, scale)
    rows = {RunKey(*row[:3]): row[3:] for row in _rows(envelopes)}
    views = []
    for one, trace in zip(cells, traces, strict=True):
        assert one.growing is not None
        first, count, captured, rejected, late = rows[one.key]
        time, objective = (column[first : first + count] for column in (envelopes.time, envelopes.objective))
        instance, events = one.cell.instance.name, one.growing.journal.events
        maximises = scale.of(instance).maximises
        steps = _step_places(trace, time, maximises=maximises)
        unchecked = trusting and bool(np.any(trace.verdict == _UNCHECKED))
        found = Counter(captured=captured, rejected=rejected, late=late, unchecked=unchecked) + one.growing.forgotten
        reasons = Counter(reason for reason in trace.reason or () if reason) + one.growing.reasons
        views.append(
            RunView(
                one,
                time,
                objective,
                trace.objective[steps],
                found["captured"],
                found["rejected"],
                found["late"],
                reasons,
                checked=not found["unchecked"],
                bound=bounds.get(instance),
            )
        )
        if not scale.hierarchical and len(events) > 2 * count + SLACK:
            events.keep(steps.tolist(), _bound_place(trace, maximises=maximises))
            one.growing.forgotten, one.growing.reasons = found - Counter(captured=count), reasons
    return views, campaign, envelopes


def _bound_place(trace: RunTrace, *, maximises: bool) -> int | None:
    """Return the place of the strongest dual bound of a trace."""
    stated = np.asarray([] if trace.bound is None else trace.bound)
    usable = np.abs(stated) < INFINITE
    return int(np.argmax(np.where(usable, -stated if maximises else stated, -np.inf))) if usable.any() else None


def _rows(envelopes: Envelopes) -> Any:
    names = ("arm", "instance", "seed", "first", "count", "captured", "rejected", "late")
    return envelopes.runs.select(names).iter_rows()


def scale_of(campaign: Campaign, contract: Contract) -> Scale:
    """Return the scale that a contract declares, for the runs of a campaign."""
    stated = declared_choices(contract)
    return choose_scale(campaign, stated["transform"] or None, sense=stated["sense"])


def _step_places(trace: RunTrace, times: Floats, *, maximises: bool) -> NDArray[np.int64]:
    """Return the places of the candidates that are accepted steps: of equal stamps, the best."""
    valid = np.flatnonzero((trace.verdict == _VALID) | (trace.verdict == _UNCHECKED))
    places = valid[np.argsort(trace.time[valid], kind="stable")]
    if not len(times):
        return places[:0]
    objective = -trace.objective[places] if maximises else trace.objective[places]
    best = np.minimum.accumulate(objective)
    # The places at which each best value was first reached.
    better = np.flatnonzero(np.concatenate(([True], best[1:] < best[:-1])))
    last = np.searchsorted(trace.time[places], times, "right") - 1
    found: NDArray[np.int64] = places[better[np.searchsorted(better, last, "right") - 1]]
    return found


def open_run(view: RunView, *, known: float, reference: float, best: float | None, certified: bool) -> OpenRun:
    """Return a run under way in the form that its bounds need; `best` is the best possible value of its instance."""
    if view.bound is not None and not certified:
        best = view.bound if best is None else max(best, view.bound)
    if best is not None and len(view.objective):
        # A value better than the best possible one is an alarm, but the bounds must still include it.
        best = min(best, float(view.objective[-1]))
    horizon = view.followed.cell.horizon
    return OpenRun(view.time, view.objective, min(known, horizon), horizon, reference, best, view.checked)


def best_possible(
    instance: str, reference: float, *, certified: bool, bounds: Mapping[str, float], tolerance: float
) -> float | None:
    """Return the best possible value of an instance; None if it is unknown.

    A certified value may be beaten by the tolerance before an alarm is raised.
    """
    return reference - tolerance * abs(reference) if certified else bounds.get(instance)


def is_certified(snapshot: Snapshot, instance: str) -> bool:
    """Whether the value of an instance is a proven optimum."""
    entry = snapshot.values.get(instance)
    return entry is not None and entry.certified


def thin_steps(values: Floats) -> list[float]:
    """Return at most `MOST_STEPS` of the steps of a trace, including the last one.

    Their distance is a power of two, so that the steps that are kept stay the same while a trace grows: only the last
    one changes, until the trace has doubled.

    >>> thin_steps(np.arange(1000.0))[:3], thin_steps(np.arange(1000.0))[-2:]
    ([0.0, 4.0, 8.0], [996.0, 999.0])
    """
    distance = 1
    # The last step may have to be kept in addition.
    while (len(values) - 1) // distance + 2 > MOST_STEPS and len(values) > MOST_STEPS:
        distance *= 2
    kept = values[::distance].tolist()
    if len(values) and (len(values) - 1) % distance:
        kept.append(float(values[-1]))
    return kept  # type: ignore[no-any-return]
