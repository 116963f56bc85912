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

from gapline.capture.assemble import RunTrace
from gapline.capture.journals import Tally, campaign_of_journals, trace_of
from gapline.envelope.build import Envelopes, Unchecked, build_envelopes
from gapline.errors import GaplineError
from gapline.model.campaign import Campaign
from gapline.model.contract import Contract
from gapline.model.scale import Scale, choose_scale
from gapline.model.tables import RunKey, VerdictCode
from gapline.reference.contradictions import dual_bounds
from gapline.reference.snapshot import Snapshot
from gapline.serve.bounds import OpenRun
from gapline.serve.follow import Followed
from gapline.study import declared_choices

Floats = NDArray[np.float64]
# Steps of a trace that are handed on; of more, as many at equal distances, and the last.
MOST_STEPS = 500


@dataclass(slots=True, eq=False)
class View:
    """A run under way as far as it was read.

    `time` and `objective` are its accepted steps on the scored scale, `raw` the objectives as the solver said them;
    `problem` says why it cannot be scored. `envelopes` and `campaign` hold it alone.
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

    @property
    def key(self) -> RunKey:
        """The run that it is of."""
        return self.followed.key


def read_views(
    cells: Sequence[Followed], contract: Contract, maximised: frozenset[str]
) -> tuple[list[View], Campaign | None, Envelopes | None]:
    """Read the traces of runs under way; return their views, and all that can be scored as one."""
    traces = [_trace(one, maximised) for one in cells]
    trusting = contract.objective.validation == "checker"
    try:
        return _read_views(cells, traces, contract, trusting)
    except GaplineError as error:
        if len(cells) == 1:
            nothing = np.empty(0)
            return [View(cells[0], nothing, nothing, nothing, problem=error.message)], None, None
    # One of them cannot be scored, and says so by itself.
    views = []
    for one in cells:
        views += read_views([one], contract, maximised)[0]
    return views, None, None


def _trace(one: Followed, maximised: frozenset[str]) -> RunTrace:
    assert one.growing is not None
    return trace_of(one.growing.journal, None, attempts=1, asked=False, maximised=one.cell.instance.name in maximised)


def _read_views(
    cells: Sequence[Followed], traces: list[RunTrace], contract: Contract, trusting: bool
) -> tuple[list[View], Campaign, Envelopes]:
    campaign = campaign_of_journals(traces, Tally(), source="", problems=[], notes=[])
    scale = scale_of(campaign, contract)
    envelopes = build_envelopes(
        campaign, transform=scale, unchecked=Unchecked.TRUST_SOLVER if trusting else Unchecked.REFUSE
    )
    bounds = dual_bounds(campaign, scale)
    rows = {RunKey(*row[:3]): row for row in _rows(envelopes)}
    views = []
    for one, trace in zip(cells, traces, strict=True):
        _, _, _, first, count, captured, rejected, late = rows[one.key]
        part = slice(first, first + count)
        reasons = Counter(reason for reason in trace.reason or () if reason)
        views.append(
            View(
                one,
                envelopes.time[part],
                envelopes.objective[part],
                _raw_steps(trace, envelopes.time[part], scale, one.cell.instance.name),
                captured,
                rejected,
                late,
                reasons,
                checked=not trusting or not bool(np.any(np.asarray(trace.verdict) == VerdictCode.UNCHECKED)),
                bound=bounds.get(one.cell.instance.name),
            )
        )
    return views, campaign, envelopes


def _rows(envelopes: Envelopes) -> Any:
    names = ("arm", "instance", "seed", "first", "count", "captured", "rejected", "late")
    return envelopes.runs.select(names).iter_rows()


def scale_of(campaign: Campaign, contract: Contract) -> Scale:
    """Return the scale that a contract declares for the runs of a campaign."""
    stated = declared_choices(contract)
    return choose_scale(campaign, stated["transform"] or None, sense=stated["sense"])


def _raw_steps(trace: RunTrace, times: Floats, scale: Scale, instance: str) -> Floats:
    """Return the objectives of accepted steps as they were said: of equal stamps the best."""
    time, objective = np.asarray(trace.time, np.float64), np.asarray(trace.objective, np.float64)
    valid = np.isin(np.asarray(trace.verdict), (VerdictCode.VALID, VerdictCode.UNCHECKED))
    time, objective = time[valid], objective[valid]
    order = np.argsort(time, kind="stable")
    time, objective = time[order], objective[order]
    if not len(times):
        return objective[:0]
    turned = scale.of(instance).maximises
    best = np.maximum.accumulate(objective) if turned else np.minimum.accumulate(objective)
    found: Floats = best[np.searchsorted(time, times, "right") - 1]
    return found


def open_run(
    view: View, *, known: float, reference: float, certified: bool, bounds: Mapping[str, float], tolerance: float
) -> OpenRun:
    """Return a run under way as its bounds need it."""
    cell = view.followed.cell
    best = best_possible(cell.instance.name, reference, certified=certified, bounds=bounds, tolerance=tolerance)
    if view.bound is not None and not certified:
        best = view.bound if best is None else max(best, view.bound)
    if best is not None and len(view.objective):
        # What is better than can be is an alarm, and no reason for bounds that exclude what is there.
        best = min(best, float(view.objective[-1]))
    return OpenRun(view.time, view.objective, min(known, cell.horizon), cell.horizon, reference, best, view.checked)


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
    """Return at most `MOST_STEPS` of the steps of a trace, the last one among them."""
    if len(values) <= MOST_STEPS:
        return values.tolist()  # type: ignore[no-any-return]
    places = np.unique(np.linspace(0, len(values) - 1, MOST_STEPS).round().astype(np.int64))
    return values[places].tolist()  # type: ignore[no-any-return]
