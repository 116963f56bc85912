"""What the page says before any script runs: the declared choice in words and numbers."""

from typing import Any

from gapline import __version__
from gapline.errors import listing
from gapline.model.tables import RunStatus
from gapline.report.input import ReportInput
from gapline.report.terminal import number, percent, shown
from gapline.scoring.kernels import KernelCode, parse_kernel
from gapline.summary.cells import TIE

FAILED = (RunStatus.CRASHED, RunStatus.KILLED, RunStatus.MEMORY_LIMIT, RunStatus.LOST)


def page_words(study: ReportInput, head: dict[str, Any]) -> dict[str, Any]:
    """Return the variables of the template."""
    headline, subline = _headline(study)
    return {
        "title": shown(study.title),
        "version": __version__,
        "facts": _facts(study),
        "kernels": [kernel["name"] for kernel in head["kernels"]],
        "snapshots": [{"name": shown(e.snapshot.name), "policy": e.policy} for e in study.snapshots],
        "goals": [f"{100 * goal:g} %" for goal in study.goals],
        "weighting": study.weighting,
        "headline": headline,
        "subline": subline,
        "cards": _cards(study),
        "ranking": _ranking(study),
        "alarms": [shown(alarm) for alarm in study.alarms],
        "reading": _reading(study, head),
        "notes": [shown(note) for note in study.notes()],
        "contract": study.contract,
        "provenance": _provenance(study, head),
    }


def _facts(study: ReportInput) -> str:
    runs = study.envelopes.runs
    horizons = listing((f"{h:g}" for h in sorted(runs["horizon"].unique())), most=4)
    panels = runs["panel"].n_unique()
    return (
        f"{runs['arm'].n_unique()} arms · {runs['instance'].n_unique():,} instances in {panels} panels · "
        f"{runs.height:,} runs · horizon {horizons} s · validated by {study.envelopes.validation}"
    )


def _ranked(study: ReportInput) -> list[dict[str, Any]]:
    kernel = study.kernels[0]
    rows = list(study.summary.frame.iter_rows(named=True))
    return sorted(rows, key=lambda row: (row[kernel] is None, row[kernel] or 0.0, row["arm"]))


def _headline(study: ReportInput) -> tuple[str, str]:
    kernel = study.kernels[0]
    ranked = [row for row in _ranked(study) if row[kernel] is not None]
    if not ranked:
        hint = (
            "Some run has no score: the raw kernel needs it to be feasible at time 0, "
            "a logarithmic weight needs a horizon beyond its cutoff."
        )
        return f"No mean {kernel} score exists here", hint
    if reason := _unrankable(study):
        return f"No ranking under {kernel}", reason
    mean = f"mean {kernel} score {number(ranked[0][kernel])}"
    if len(ranked) == 1:
        return f"{shown(ranked[0]['arm'])}: {mean}", "One arm is shown."
    mean = mean.capitalize()
    first, second = ranked[0]["arm"], ranked[1]["arm"]
    ahead = f"{shown(first)} is ahead of {shown(second)} by "
    for row in study.contrasts.frame.iter_rows(named=True) if study.contrasts is not None else ():
        if {row["a"], row["b"]} == {first, second}:
            words = ahead + number(abs(row["difference"]))
            if abs(row["difference"]) < TIE:
                words = f"{shown(first)} and {shown(second)} are level"
            if row["low"] is None:
                return words, f"{mean}. No interval: {row['reason']}."
            low, high = (row["low"], row["high"]) if row["a"] == first else (-row["high"], -row["low"])
            sure = "excludes 0" if high < 0 else "includes 0: the order is not settled"
            span = f"{low:+.5f} to {high:+.5f}".replace("-", "−")
            return words, f"{mean}. {100 * study.level:g} % interval of the difference {span}, which {sure}."
    reason = study.no_intervals or "none was computed"
    return ahead + number(ranked[1][kernel] - ranked[0][kernel]), f"{mean}. No interval: {reason}."


def _unrankable(study: ReportInput) -> str | None:
    """Say why the declared kernel ranks nothing: Berthold's absolute gap reads an improvement as a loss."""
    beaten = int(study.scores[0].frame["beaten"].sum())
    if parse_kernel(study.kernels[0]).code is not KernelCode.BERTHOLD or not beaten:
        return None
    return f"berthold is out of its envelope: {beaten:,} runs end below their reference; shown, not ranked"


def _cards(study: ReportInput) -> list[dict[str, str]]:
    frame, entry = study.summary.frame, study.snapshots[0]
    failed = int(study.envelopes.runs["status"].is_in([status.value for status in FAILED]).sum())
    goal = study.goals[0]
    shares = frame[f"attainment:{goal:g}"]
    most = float(shares.max())  # type: ignore[arg-type]
    best = frame.filter(shares > most - TIE)["arm"].sort().to_list()
    beaten = int(study.scores[0].frame["beaten"].sum())
    return [
        {
            "title": f"Within {100 * goal:g} % of the reference",
            "value": percent(most, digits=1),
            "note": f"best: {', '.join(map(shown, best))}" if len(best) < frame.height else "all arms alike",
        },
        {
            "title": "What failed",
            "value": f"{int(frame['empty'].sum()):,} empty · {failed:,} crashed",
            "note": f"of {int(frame['runs'].sum()):,} runs (crashed, killed, out of memory or lost); "
            f"{int(frame['rejected'].sum()):,} candidates rejected, "
            f"{int(frame['late'].sum()):,} late",
        },
        {
            "title": "Reference",
            "value": shown(entry.snapshot.name),
            "note": f"{entry.policy} · {entry.snapshot.digest[:19]}…",
        },
        {
            "title": "Below the reference",
            "value": f"{beaten:,} runs",
            "note": "improvement, stale value, other instance or defect" if beaten else "no run ends below it",
        },
    ]


def _ranking(study: ReportInput) -> dict[str, Any]:
    kernel, goal = study.kernels[0], study.goals[0]
    means = study.summary.frame[kernel].drop_nulls()
    spans = {}
    if study.intervals is not None:
        spans = {row["arm"]: row for row in study.intervals.frame.iter_rows(named=True)}
    rows = []
    reason = _unrankable(study)
    for row in _ranked(study):
        span = spans.get(row["arm"])
        known = span is not None and span["low"] is not None
        rows.append(
            [
                "–" if reason or row[kernel] is None else str(1 + int((means < row[kernel] - TIE).sum())),
                shown(row["arm"]),
                number(row[kernel]),
                f"{number(span['low'])} to {number(span['high'])}" if span is not None and known else "–",
                percent(row["final_gap"]),
                percent(row[f"attainment:{goal:g}"], digits=1),
                *(f"{row[name]:,}" for name in ("runs", "empty", "rejected", "late")),
            ]
        )
    header = [
        "rank", "arm", f"mean {kernel}", f"{100 * study.level:g} % interval", "final gap", f"≤ {100 * goal:g} %",
        "runs", "empty", "rejected", "late",
    ]  # fmt: skip
    return {"header": header, "rows": rows, "caption": shown(study.summary.caption())}


def _reading(study: ReportInput, head: dict[str, Any]) -> list[str]:
    clock, units = head["clock"], head["units"]
    rounded = units["exact"].count(False)
    seconds = f"multiples of {10.0 ** -clock['decimals']:g} s"
    times = f"{'exact, as' if clock['exact'] else 'rounded to'} {seconds}"
    values = "exact"
    if rounded:
        finest = max(
            10.0**-decimals / value
            for decimals, value, exact in zip(
                units["decimals"], head["snapshots"][0]["references"], units["exact"], strict=True
            )
            if not exact
        )
        values = (
            f"rounded on {rounded:,} of {len(units['exact']):,} instances, to at most {finest:.1g} of the reference; "
            "a difference below that counts as equal"
        )
    return [
        "A score is the mean gap over the horizon: 0 at the reference, negative below it, smaller is better. "
        "A run without a valid candidate scores the worst value of its kernel and stays in every mean.",
        "Kernel, reference, horizon, goal, weighting and arms can be changed above; means, counts, ranks and curves "
        "are recomputed from the steps in this page. Intervals and bands were computed by Python for the declared "
        "choice and are greyed or hidden under any other.",
        f"Stamps in this page are {times}; objectives are {values}. "
        f"Objectives are shown under the transform {study.envelopes.transform}.",
        f"Time weight {study.weight}. A score is conditional on the horizon that was announced to the solver.",
    ]


def _provenance(study: ReportInput, head: dict[str, Any]) -> list[tuple[str, str]]:
    from importlib.metadata import version

    return [
        ("gapline", __version__),
        ("Vega, from vl-convert", version("vl-convert-python")),
        ("campaign", str(head["campaign"])),
        *((f"{shown(e.snapshot.name)} ({e.policy})", e.snapshot.digest) for e in study.snapshots),
    ]
