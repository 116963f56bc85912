"""The data of the page: a small head that is read at once, and compressed blocks that are decoded later."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.names import parse_weight
from gapline.contract.reading import vouched
from gapline.contract.version import VERSION
from gapline.native.time_weights import weight_arrays
from gapline.references.choice import LabelledSnapshot
from gapline.references.policy import Policy
from gapline.references.resolve import instance_sizes, transformed_references
from gapline.report.looks import LEADERS, MOST_LOOKS, looks_of
from gapline.report.page import encode
from gapline.report.page.encode import Block, Floats, Grid, Integers, Steps
from gapline.report.page.runs import Others, add_other_candidates, fact_name, fact_order, fact_text
from gapline.report.writers.latex_text import SPECIAL
from gapline.report.writers.terminal import short_names
from gapline.scoring.kernels import kernel_range, parse_kernel
from gapline.scoring.moments import log_start
from gapline.scoring.run_references import reference_column
from gapline.statistics.cells import TIE, CellIndex, build_cells, finite_or_none
from gapline.statistics.estimate import method_words
from gapline.statistics.intervals import generator_start
from gapline.statistics.means import check_horizons
from gapline.study import Study
from gapline.text import printable

# Columns of the runs table that the page shows elsewhere, or that mean nothing to a reader.
_SHOWN_ELSEWHERE = {
    "arm", "instance", "panel", "seed", "horizon", "announced", "status", "first", "count", "captured", "rejected",
    "unchecked", "late", "steps", "terminal_valid", "best", "best_raw", "best_time",
}  # fmt: skip


_COLUMNS = (
    "horizon", "announced", "status", "terminal_valid", "captured", "rejected", "unchecked", "late", "steps",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PageData:
    """The head as JSON values, and the blocks as base64 text by name."""

    head: dict[str, Any]
    blocks: dict[str, str]


def page_data(study: Study, *, log_time: bool = False, most: float = math.inf) -> PageData | None:
    """Collect the head and encode the blocks; with `log_time`, the page opens with a logarithmic time axis.

    Returns None if the steps alone would take more than `most` letters.
    """
    envelopes = study.envelopes
    runs = envelopes.runs
    check_horizons(runs)
    cells = build_cells(runs)
    references = [reference_column(entry.snapshot, envelopes) for entry in study.references]
    by_unit = [column[np.unique(cells.unit, return_index=True)[1]] for column in references]
    # The blocks contain the runs in the order of their units, so that the steps of a unit are contiguous.
    order = np.argsort(cells.unit, kind="stable")
    steps, block, others = Steps(envelopes, cells, order), Block(), Block()
    clock, grids = encode.time_grid(steps.time, steps=steps.total), steps.grids(by_unit)
    steps.add(block, clock, grids)
    kernels = kernel_words(study)
    for place, kernel in enumerate(kernels):
        if kernel["kind"] == "custom":
            kernel["gaps"] = _add_gaps(block, place, kernel["name"], steps, [c[order] for c in references])
    text = block.encode()
    # The steps are by far the largest part: if they do not fit, skip the rest.
    if len(text) > most:
        return None
    del steps
    beside = add_other_candidates(others, study, order, clock, [grids[u] for u in cells.unit])
    # Rounded like the steps of the page: the first step must not be after the start of the axis.
    start = log_start(envelopes)
    snapped = float(clock.snap(np.array([start]))[0])
    names = [name for _, name in cells.units]
    head = page_document(study, cells) | {
        "units": {
            "name": names,
            "panel": cells.panel.tolist(),
            "decimals": [grid.decimals for grid in grids],
            "exact": [grid.exact for grid in grids],
        },
        "snapshots": snapshot_words(study, names, by_unit, grids),
        "kernels": kernels,
        "clock": {"decimals": clock.decimals, "exact": clock.exact},
        "logTime": {
            "seconds": snapped if snapped > 0 else start,
            "share": log_start(envelopes, relative=True),
            "declared": log_time,
        },
        "blocks": {"steps": block.columns, "others": others.columns},
    }
    table = _runs_table(runs[order.tolist()], cells, order, beside)
    return PageData(head, {"runs": encode.compress_json(table), "steps": text, "others": others.encode()})


def page_document(study: Study, cells: CellIndex, /) -> dict[str, Any]:
    """Return the head of the page: names, choices, and the results of Python for the declared choice.

    The caller adds units, snapshots and the logarithmic time axis, and for steps also their clock and blocks.
    """
    envelopes, scale = study.envelopes, study.reading.time_scale
    return {
        "title": study.title,
        "version": VERSION,
        "campaign": study.campaign_digest,
        "arms": list(cells.arms),
        "panels": list(cells.panels),
        "units": {},
        "snapshots": [],
        "kernels": kernel_words(study),
        "weight": _weight(study.weight, float(envelopes.runs["horizon"].to_numpy().max())),
        "goals": list(study.goals),
        # Send tolerance and tie with the data: the script has no constants of its own for decisions.
        "tolerance": study.tolerance,
        "tie": TIE,
        "weighting": study.weighting,
        "level": study.level,
        # One per arm; with more arms than the limit, the leaders keep their colours.
        "looks": _looks(study, cells.arms),
        "mostLooks": MOST_LOOKS,
        "leaders": LEADERS,
        "clock": None,
        # The start of a logarithmic axis, in seconds and as a share of the horizons.
        "logTime": {},
        "reasons": list(study.campaign.reasons),
        "latex": SPECIAL,
        # In every caption, like the horizon: a reader of a single chart must not miss it.
        "validation": vouched(envelopes.validation, study.checker)
        + (f", time scaled: {scale}" if scale is not None else ""),
        "timeScale": None if scale is None else str(scale),
        "transform": str(envelopes.scale),
        "signed": envelopes.scale.signed,
        "intervals": _rows(study.intervals.frame) if study.intervals is not None else [],
        "contrasts": _rows(study.contrasts.frame) if study.contrasts is not None else [],
        "intervalCaption": study.intervals.caption() if study.intervals is not None else "",
        "contrastCaption": _sentences([study.contrasts.caption(), *study.contrasts.notes()]) if study.contrasts else "",
        "noIntervals": study.no_intervals,
        "judging": _judging(study),
        "bands": {"mean": _bands(study.mean_bands), "attainment": _bands(study.attainment_bands)},
        "blocks": {},
    }


def _looks(study: Study, arms: Sequence[str]) -> list[dict[str, Any]]:
    """Return the look of each arm, with its name at the end of a line in a longer and a shorter form."""
    shown = [printable(arm) for arm in arms]
    labels, briefs = short_names(shown, 24), short_names(shown, 11)
    return [
        {"colour": look.colour, "dash": look.dash, "shape": look.shape, "label": labels[name], "brief": briefs[name]}
        for look, name in zip(looks_of(arms, study.arms).values(), shown, strict=True)
    ]


def _judging(study: Study) -> dict[str, Any]:
    """Return the facts with which the page judges another choice like Python: method, level, start of its draws."""
    return {
        "method": study.interval,
        "how": method_words(study.interval, study.draws, study.seed),
        "level": study.level,
        "draws": study.draws,
        "generator": generator_start(study.seed),
        "spares": generator_start([study.seed, 1]),
        # Simultaneous intervals need other draws, which the page does not make.
        "together": study.simultaneous and bool(study.declared),
        "declared": [list(pair) for pair in study.declared],
    }


def snapshot_words(study: Study, names: list[str], references: list[Floats], grids: list[Grid]) -> list[dict[str, Any]]:
    """Describe the references and their values for the named instances; `references` has a column for each."""
    found = []
    for entry, column in zip(study.references, references, strict=True):
        stored = [entry.snapshot.values.get(name) for name in names]
        prior = _prior(study, entry, names)
        found.append(
            {
                "prior": None if prior is None else _on_grids(prior, grids),
                "name": entry.snapshot.name,
                "policy": entry.policy,
                "digest": entry.snapshot.digest,
                "references": _on_grids(column, grids),
                "certified": [reference is not None and reference.certified for reference in stored],
                "source": ["" if reference is None else reference.source for reference in stored],
            }
        )
    return found


def _on_grids(values: Floats, grids: list[Grid]) -> list[float | None]:
    """Return references for the page: a run that equals its reference must also equal it on a rounded grid."""
    return [
        # An instance without a reference was solved by no run: nothing on the page is measured against it.
        finite_or_none(float(value if grid.exact or np.isnan(value) else grid.snap(np.array([value]))[0]))
        for value, grid in zip(values.tolist(), grids, strict=True)
    ]


def _prior(study: Study, entry: LabelledSnapshot, names: list[str]) -> Floats | None:
    """Return the values known before these runs were folded in; None if the reference was not folded from them."""
    if entry.policy != Policy.ANALYSIS:
        return None
    if not study.stored:
        return np.full(len(names), np.nan)
    before = next((one for one in study.stored if one.digest == entry.snapshot.parent), None)
    sizes = instance_sizes(study.envelopes.runs)
    return None if before is None else transformed_references(before, names, scale=study.envelopes.scale, sizes=sizes)


def kernel_words(study: Study) -> list[dict[str, Any]]:
    """Describe the kernels; the gaps of a user-defined kernel at each step are in the blocks."""
    kernels = [parse_kernel(name, tolerance=study.tolerance) for name in study.kernels]
    return [
        {name: getattr(kernel, name) for name in ("name", "before", "parameter", "tolerance")}
        | {"kind": kernel.code.name.lower(), "range": [finite_or_none(end) for end in kernel_range(kernel.name)]}
        for kernel in kernels
    ]


def _add_gaps(block: Block, place: int, name: str, steps: Steps, references: list[Floats]) -> list[dict[str, Any]]:
    """Add the gap at every step against each reference: a user-defined kernel exists in Python only."""
    return [
        {"column": own, "decimals": steps.add_gaps(block, own, parse_kernel(name), column).decimals}
        for own, column in ((f"gap-{place}-{number}", column) for number, column in enumerate(references))
    ]


def _weight(name: str, longest: float) -> dict[str, Any]:
    """Return the weight for the page; for a user-defined function, which only exists in Python, a table."""
    weight = parse_weight(name)
    edges, values = (part.tolist() for part in weight_arrays(weight, longest))
    kind = weight.code.name.lower()
    return {"name": weight.name, "kind": kind, "cutoff": weight.cutoff, "edges": edges, "values": values}


def _sentences(facts: list[str]) -> str:
    return ". ".join(f"{fact[:1].upper()}{fact[1:]}" for fact in facts)


def _rows(frame: pl.DataFrame) -> list[dict[str, Any]]:
    rows = frame.iter_rows(named=True)
    return [{name: finite_or_none(v) if isinstance(v, float) else v for name, v in row.items()} for row in rows]


def _bands(frame: pl.DataFrame | None) -> dict[str, dict[str, list[float]]]:
    """Return time and bounds for each arm; six digits are more than a screen shows."""
    if frame is None:
        return {}
    names = [name for name in ("time", "low", "high", "joint_low", "joint_high") if name in frame.columns]
    return {
        part["arm"][0]: {name: [float(f"{x:.6g}") for x in part[name]] for name in names}
        for part in frame.partition_by("arm", maintain_order=True)
    }


def _runs_table(runs: pl.DataFrame, cells: CellIndex, order: Integers, beside: Others) -> dict[str, Any]:
    """Return the runs, ordered by unit, as columns; texts of further columns are stored once each."""
    table: dict[str, Any] = {
        "arm": cells.arm[order].tolist(),
        "unit": cells.unit[order].tolist(),
        # Seeds may exceed the integers that a double can hold.
        "seed": [str(seed) for seed in runs["seed"]],
        **{name: runs[name].to_list() for name in _COLUMNS},
        **{name: column.tolist() for name, column in beside._asdict().items()},
    }
    if "print_slack" in runs.columns:
        table["slack"] = runs["print_slack"].fill_null(0.0).to_list()
    carried = {}
    for name in fact_order([name for name in runs.columns if name not in _SHOWN_ELSEWHERE]):
        if runs[name].null_count() < runs.height:
            known: dict[str, int] = {}
            codes = [known.setdefault(fact_text(name, value), len(known)) for value in runs[name]]
            carried[fact_name(name)] = {"texts": list(known), "codes": codes}
    table["carried"] = carried
    return table
