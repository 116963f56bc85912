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
from gapline.live.journal_follower import CellProgress
from gapline.references.contradictions import dual_bounds
from gapline.references.snapshot import Snapshot
from gapline.study import declared_choices

Floats = NDArray[np.float64]
# A journal forgets what is no step once it has so many more events than twice its steps.
SLACK = 100
# Steps of a trace that are handed on; of more, every second, fourth, … one, and the last.
MOST_STEPS = 500
# As plain numbers: each is compared with for every run of every look.
_VALID, _UNCHECKED = int(VerdictCode.VALID), int(VerdictCode.UNCHECKED)


@dataclass(slots=True, eq=False)
class RunView:
    """A run under way as far as it was read.

    `time` and `objective` are its accepted steps on the scored scale, `raw` the objectives as the solver said them;
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
        """The run that it is of."""
        return self.followed.key


def read_views(
    cells: Sequence[CellProgress], contract: Contract, maximised: frozenset[str]
) -> tuple[list[RunView], Campaign | None, Envelopes | None]:
    """Read the traces of runs under way; return their views, and all that can be scored as one.

    Their journals forget now and then what is not needed any more: what is no step now is none later.
    """
    try:
        return _read_views(cells, [_trace(one, maximised) for one in cells], contract)
    except GaplineError as error:
        if len(cells) == 1:
            nothing = np.empty(0)
            return [RunView(cells[0], nothing, nothing, nothing, problem=error.message)], None, None
    # One of them cannot be scored, and says so by itself.
    return [view for one in cells for view in read_views([one], contract, maximised)[0]], None, None


def _trace(one: CellProgress, maximised: frozenset[str]) -> RunTrace:
    assert one.growing is not None
    journal, is_maximised = one.growing.journal, one.cell.instance.name in maximised
    so_far = Journal(journal.path, journal.order, version=journal.version, claim=journal.claim)
    so_far.events = journal.events
    trace = trace_of(so_far, None, attempts=1, asked=False, maximised=is_maximised, digest=False)
    # Most of what is carried is known at the end of a run alone: a column of nothing costs as much as one of numbers.
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
    """Return the scale that a contract declares for the runs of a campaign."""
    stated = declared_choices(contract)
    return choose_scale(campaign, stated["transform"] or None, sense=stated["sense"])


def _step_places(trace: RunTrace, times: Floats, *, maximises: bool) -> NDArray[np.int64]:
    """Return the places of the candidates that are accepted steps: of equal stamps the best."""
    valid = np.flatnonzero((trace.verdict == _VALID) | (trace.verdict == _UNCHECKED))
    places = valid[np.argsort(trace.time[valid], kind="stable")]
    if not len(times):
        return places[:0]
    objective = -trace.objective[places] if maximises else trace.objective[places]
    best = np.minimum.accumulate(objective)
    # Where the best value so far was first reached.
    better = np.flatnonzero(np.concatenate(([True], best[1:] < best[:-1])))
    last = np.searchsorted(trace.time[places], times, "right") - 1
    found: NDArray[np.int64] = places[better[np.searchsorted(better, last, "right") - 1]]
    return found


def open_run(view: RunView, *, known: float, reference: float, best: float | None, certified: bool) -> OpenRun:
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


def thin_steps(values: Floats) -> list[float]:
    """Return at most `MOST_STEPS` of the steps of a trace, the last one among them.

    Their distance is a power of two, so that those which are kept stay the same ones while a trace grows: only the last
    is another one, until it has doubled.

    >>> thin_steps(np.arange(1000.0))[:3], thin_steps(np.arange(1000.0))[-2:]
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
