"""Contradictions of runs: a dual bound, an optimum or an infeasibility that a solution or a stored value refutes.

All three are claims of proof by a solver. A value that is better than they allow, by more than the solvers' tolerance
and the printed digits of both, shows that one of the two is wrong; which one is not judged here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import Scale
from gapline.contract.number_limits import INFINITE
from gapline.contract.reading import TOLERANCE
from gapline.contract.tables import RUN_KEY, Proof, RunKey
from gapline.contract.transforms import Transform, TransformKind
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.files.scratch_arrays import piece_size
from gapline.native.arrays import Floats
from gapline.native.kernel_formulas import check_tolerance, run_beats
from gapline.native.slices import step_places
from gapline.references.alarms import Alarm, AlarmKind, Claim, solution_claim, stored_claim
from gapline.references.snapshot import Snapshot

# Solvers accept violations of about this relative size: a bound and a solution that are closer than that agree.
PROOF_TOLERANCE = 1e-6


class Proven(NamedTuple):
    """A run's claim of proof: no solution of its instance is below `lower`, on the scored scale.

    `weakest` is the lowest value that the printed digits of `lower` allow.
    """

    key: RunKey
    kind: AlarmKind
    lower: float
    weakest: float
    claim: Claim


def find_contradictions(
    campaign: Campaign, envelopes: Envelopes, *, tolerance: float = TOLERANCE, solutions: Envelopes | None = None
) -> list[Alarm]:
    """Find solutions that contradict a run's proof: one alarm per instance and arm that claims it.

    The solutions are those of the same runs, or of another campaign on the same scale. A run that refutes its own dual
    bound raises an alarm of a separate kind.

    All accepted solutions count, however they were validated; bounds count inside the horizon and after it. A solution
    contradicts a bound if it is better by more than the printed digits of both, and by more than the larger of 1e-6 and
    the tolerance, relative to the bound. A run that says `optimal` and prints a bound is judged by its bound, since
    solvers stop within a gap; if it prints none, its best objective is the bound.

    >>> import gapline as gl
    >>> table = pl.DataFrame({"arm": ["a", "b"], "instance": "i", "seed": 1, "horizon": 9.0, "time": [1.0, 2.0],
    ...                       "objective": [12.0, 10.0], "bound": [11.0, None]})
    >>> campaign = gl.read(table)
    >>> print(find_contradictions(campaign, gl.build_envelopes(campaign))[0])  # doctest: +ELLIPSIS
    i: a run has a better solution than ...: bound 11.0 (run a/i/1 at 1 s), got 10.0 (run b/i/1 at 2 s, valid by solver)
    """
    check_tolerance(tolerance)
    if not _claims(campaign, envelopes):
        return []
    proofs: dict[str, list[Proven]] = defaultdict(list)
    among = envelopes if solutions is None else solutions
    for proven in _proofs(campaign, envelopes, among.runs.select("instance", value="best_raw")):
        proofs[proven.key.instance].append(proven)
    solved = among.runs.with_columns(_worst=pl.Series(among.worst_best)).filter(
        pl.col("best").is_not_null() & pl.col("instance").is_in(list(proofs))
    )
    alarms: list[Alarm] = []
    for (instance,), found in solved.sort("instance", "_worst", "best_time", "arm", "seed").group_by(
        "instance", maintain_order=True
    ):
        known = proofs[str(instance)]
        # Two are enough: the best of all, and the best of the others for the run that has it.
        best = list(found.head(2).iter_rows(named=True))
        # In another campaign the same key is another run.
        others = ((one, [row for row in best if solutions is not None or _key(row) != one.key]) for one in known)
        for one, row in _refuted(
            ((one, rows[0]) for one, rows in others if rows), tolerance, signed=among.scale.signed
        ):
            alarms.append(Alarm(one.kind, one.key.instance, one.claim, solution_claim(row, among)))
        if solutions is None:
            bounds = {one.key: one for one in known if one.kind is AlarmKind.BOUND}
            keys = pl.DataFrame(list(bounds), schema=found.select(RUN_KEY).schema, orient="row")
            same = found.join(keys, on=RUN_KEY, how="semi").iter_rows(named=True)
            for one, row in _refuted(((bounds[_key(row)], row) for row in same), tolerance, signed=among.scale.signed):
                alarms.append(Alarm(AlarmKind.OWN_BOUND, one.key.instance, one.claim, solution_claim(row, among)))
    return alarms


def find_stored_contradictions(
    campaign: Campaign, envelopes: Envelopes, snapshots: Sequence[Snapshot], *, tolerance: float = TOLERANCE
) -> list[Alarm]:
    """Find stored values, certified or not, that the proof of a run excludes: one alarm per value and arm.

    A stored value is taken as the worst that its digits allow: 524.61 may be 524.615, a whole number half a unit more.

    >>> import gapline as gl
    >>> table = pl.DataFrame({"arm": ["a"], "instance": "i", "seed": 1, "horizon": 9.0, "time": [1.0],
    ...                       "objective": [12.0], "bound": [11.0]})
    >>> campaign = gl.read(table)
    >>> stored = Snapshot.from_values({"i": 10.0}, name="s", certified=["i"])
    >>> print(find_stored_contradictions(campaign, gl.build_envelopes(campaign), [stored])[0])  # doctest: +ELLIPSIS
    i: a stored value is better than the dual bound of a run allows: bound 11.0 (run a/i/1 at 1 s), certified 10.0 (...)
    """
    check_tolerance(tolerance)
    if not _claims(campaign, envelopes):
        return []
    alarms: list[Alarm] = []
    run = set(campaign.runs["instance"].unique())
    for snapshot in snapshots:
        weakest = {
            name: entry.value + (-1.0 if envelopes.scale.of(name).maximises else 1.0) * _half_unit(entry.value)
            for name, entry in snapshot.values.items()
            if name in run and entry.value is not None
        }
        known = pl.DataFrame(
            {"instance": list(weakest), "value": list(weakest.values())}, {"instance": pl.String, "value": pl.Float64}
        )
        proofs = [
            (one, {"best": float(envelopes.scale.of(name := one.key.instance).apply(weakest[name]))})
            for one in _proofs(campaign, envelopes, known)
        ]
        for one, _ in _refuted(proofs, tolerance, signed=envelopes.scale.signed):
            claim = stored_claim(snapshot, snapshot.values[one.key.instance])
            alarms.append(Alarm(AlarmKind[f"STORED_{one.kind.name}"], one.key.instance, one.claim, claim))
    return alarms


def _claims(campaign: Campaign, envelopes: Envelopes) -> bool:
    """Return whether any run may claim a proof; a campaign of other runs than the envelopes' is refused."""
    if campaign.bound is None and "claim" not in campaign.runs.columns:
        return False
    if not campaign.runs.select(RUN_KEY).equals(envelopes.runs.select(RUN_KEY)):
        raise UsageError("contradictions: expected the campaign the envelopes were built from, got other runs")
    return True


def _half_unit(value: float) -> float:
    """Return half a unit of the last digit of a stored number.

    >>> _half_unit(524.61), _half_unit(100.0)
    (0.005, 0.5)
    """
    exponent = Decimal(repr(value)).normalize().as_tuple().exponent
    return 0.5 * 10.0 ** min(int(exponent), 0)


def _refuted(
    pairs: Iterable[tuple[Proven, Mapping[str, Any]]], tolerance: float, *, signed: bool
) -> Iterator[tuple[Proven, Mapping[str, Any]]]:
    """Yield, for each arm and instance, the strongest claim that its paired solution contradicts."""
    told = set()
    for proven, row in sorted(pairs, key=lambda pair: (pair[0].key[:2], -pair[0].lower, pair[0].key)):
        if proven.key[:2] not in told and _is_refuted(proven, row, tolerance, signed=signed):
            told.add(proven.key[:2])
            yield proven, row


def _is_refuted(proven: Proven, row: Mapping[str, Any], tolerance: float, *, signed: bool) -> bool:
    if proven.lower == np.inf:
        return True
    # A relative tolerance is useless at zero: where values may have any sign, it is absolute below 1.
    margin = max(tolerance, PROOF_TOLERANCE) * (max(1.0, abs(proven.lower)) if signed else abs(proven.lower))
    return run_beats(row, proven.weakest, 0.0) and bool(row["best"] < proven.lower - margin)


def _suspects(campaign: Campaign, envelopes: Envelopes, solved: pl.DataFrame) -> list[int]:
    """Return the runs that may be contradicted, by a solution that beats their printed bound or by any solution."""
    runs, scale = campaign.runs, envelopes.scale
    turned = [name for name in runs["instance"].unique() if scale.of(name).maximises]
    sign = np.where(runs["instance"].is_in(turned).to_numpy(), -1.0, 1.0)
    strongest = np.full(len(campaign), -np.inf)
    if campaign.bound is not None and not scale.hierarchical:
        for rows, piece in campaign.pieces(piece_size()):
            count = piece.runs["count"].to_numpy()
            own, starts = step_places(piece.runs["first"].to_numpy(), count)
            assert piece.bound is not None
            strength = np.repeat(sign[rows], count) * piece.bound[own]
            strength[~(np.abs(strength) < INFINITE)] = -np.inf
            if len(strength):
                strongest[rows[count > 0]] = np.maximum.reduceat(strength, starts[count > 0])
    signs = np.where(solved["instance"].is_in(turned).to_numpy(), -1.0, 1.0)
    values = solved.select(
        "instance", value=pl.Series(signs * solved["value"].fill_null(np.nan).to_numpy()).fill_nan(None)
    )
    least = values.group_by("instance").agg(pl.col("value").min())
    known = runs.select("instance").join(least, on="instance", how="left", maintain_order="left")
    best = known["value"].fill_null(np.inf).to_numpy()
    # Transforms keep the order, and tolerance and digits only weaken a claim: what is not beaten here is never beaten.
    found = strongest > best
    if "claim" in runs.columns:
        claims = runs["claim"].fill_null("").to_numpy()
        found |= (claims == Proof.INFEASIBLE) | ((claims == Proof.OPTIMAL) & np.isinf(strongest))
    return np.flatnonzero(found & np.isfinite(best)).tolist()


def _proofs(campaign: Campaign, envelopes: Envelopes, solved: pl.DataFrame) -> Iterator[Proven]:
    """Yield each run's claim of proof that one of the values of `solved` (instance, value) may contradict."""
    told = [name for name in ("claim", "value_resolution", "bound_resolution") if name in campaign.runs.columns]
    suspects = campaign.runs.select(*RUN_KEY, "first", "count", *told)[_suspects(campaign, envelopes, solved)]
    for row in suspects.iter_rows(named=True):
        key, transform = _key(row), envelopes.scale.of(row["instance"])
        part = slice(row["first"], row["first"] + row["count"])
        if row.get("claim") == Proof.INFEASIBLE:
            claim = Claim(None, certified=False, source=f"run {key}", arm=key.arm)
            yield Proven(key, AlarmKind.INFEASIBLE, np.inf, np.inf, claim)
            continue
        # For M·K + C it is unknown which quantity a bound refers to.
        if envelopes.scale.hierarchical:
            continue
        bounds = np.empty(0) if campaign.bound is None else campaign.bound[part]
        place = _strongest(bounds, transform)
        if place is not None:
            raw = float(bounds[place])
            claim = Claim(raw, certified=False, source=f"run {key} at {campaign.time[part][place]:g} s", arm=key.arm)
            yield Proven(key, AlarmKind.BOUND, *_lowest(raw, row.get("bound_resolution"), transform), claim)
        elif row.get("claim") == Proof.OPTIMAL and (best := _best_reported(campaign, part, transform)) is not None:
            claim = Claim(best, certified=False, source=f"run {key}", arm=key.arm)
            yield Proven(key, AlarmKind.OPTIMUM, *_lowest(best, row.get("value_resolution"), transform), claim)


def dual_bounds(campaign: Campaign, scale: Scale) -> dict[str, float]:
    """Return the strongest dual bound of any run on each instance, on the scored scale, as weak as its digits allow.

    No solution of the instance is below it if the solver is right; instances without a bound are left out.
    """
    found: dict[str, float] = {}
    if campaign.bound is None or scale.hierarchical:
        return found
    told = [name for name in ("bound_resolution",) if name in campaign.runs.columns]
    for row in campaign.runs.select("instance", "first", "count", *told).iter_rows(named=True):
        transform = scale.of(row["instance"])
        bounds = np.asarray(campaign.bound[row["first"] : row["first"] + row["count"]])
        place = _strongest(bounds, transform)
        if place is not None:
            _, lower = _lowest(float(bounds[place]), row.get("bound_resolution"), transform)
            found[row["instance"]] = max(lower, found.get(row["instance"], -np.inf))
    return found


def _strongest(bounds: Floats, transform: Transform) -> int | None:
    """Return the position of the strongest bound, None if there is none."""
    known = np.abs(bounds) < INFINITE
    if not known.any():
        return None
    # Stronger means larger for a minimised objective, and smaller for a maximised one.
    strength = np.where(known, -bounds if transform.maximises else bounds, -np.inf)
    return int(np.argmax(strength))


def _best_reported(campaign: Campaign, part: slice, transform: Transform) -> float | None:
    """Return the best objective that a run stated, accepted or not: its claim refers to that one."""
    stated = [campaign.objective[part]] + ([] if campaign.claimed is None else [campaign.claimed[part]])
    values = np.concatenate(stated)
    values = values[np.abs(values) < INFINITE]
    if not len(values):
        return None
    return float(values.max() if transform.maximises else values.min())


def _lowest(raw: float, unit: float | None, transform: Transform) -> tuple[float, float]:
    """Return the lower bound on the scored scale, and the weakest one that its printed digits allow."""
    half = 0.5 * (unit or 0.0)
    weak = raw + half if transform.maximises else raw - half
    # C/z changes sign at zero: below it, a bound of a maximised objective excludes every positive value.
    if transform.kind is TransformKind.RECIPROCAL and weak <= 0:
        return float(np.inf), float(np.inf)
    return float(transform.apply(raw)), float(transform.apply(weak))


def _key(row: Mapping[str, Any]) -> RunKey:
    return RunKey(row["arm"], row["instance"], row["seed"])
