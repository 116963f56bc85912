"""The classical curves of `gapline curve`: target ECDF, attainment surfaces and the differences of two arms."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from gapline.errors import UsageError
from gapline.measures.attainment_surface import AttainmentDifference, attainment_difference, attainment_surface
from gapline.measures.running_times import TARGETS, target_ecdf
from gapline.report.canvas import log_words
from gapline.report.curve_figure import CurveFigure, draw_column, thin_curves, time_axis
from gapline.report.curves import series_documents
from gapline.report.drawing import style
from gapline.report.figures.attainment_difference import (
    COLUMNS,
    ROWS,
    difference_figure,
    difference_map,
    draw_difference,
)
from gapline.report.terminal_plot import StepCurve, print_caption, print_plot
from gapline.scoring.moments import log_start
from gapline.study import Study
from gapline.terminal import say_words, width
from gapline.text import printable

# Characters from empty to full: a difference in the share of runs that attain a gap.
SHADES = " ░▒▓█"


@dataclass(frozen=True, slots=True, eq=False)
class ClassicalCurve:
    """One kind of curve of a study with its numbers; `pair` is set for a difference.

    `exact` is false for a difference that was evaluated on a grid. With a `start`, time is logarithmic from there on.
    """

    kind: str
    frame: pl.DataFrame
    study: Study
    pair: AttainmentDifference | None = None
    exact: bool = True
    start: float | None = None

    @property
    def end(self) -> float:
        """The last horizon, or 1 on relative time."""
        return 1.0 if self.study.relative else float(self.study.envelopes.runs["horizon"].to_numpy().max())

    def caption(self) -> str:
        """Return the content of the figure and the choices behind it, in one line."""
        words = {
            "target-ecdf": f"share of (run, goal) pairs attained, {len(TARGETS)} goals from {TARGETS[0]:g} to "
            f"{TARGETS[-1]:g}",
            "eaf": "raw gap that a share of the runs has attained by a time, every run alike",
            "eaf-difference": "share of runs that have attained a raw gap by a time, first arm minus second, every run "
            "alike",
        }
        cells = f" (at the middle of {COLUMNS} × {ROWS} cells: too many steps for exact rectangles)"
        unit = "of the horizon" if self.study.relative else self.study.reading.time_unit
        return f"{words[self.kind]}{'' if self.exact else cells}; {self._reading}{log_words(self.start, unit)}"

    @property
    def _reading(self) -> str:
        # In attainment surfaces every run has the same weight, whatever the weighting of the means.
        weighting = self.study.weighting if self.kind == "target-ecdf" else None
        return replace(self.study.reading, weighting=weighting).line()

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield all numbers as rows of one long table."""
        yield self.frame

    def document(self) -> dict[str, Any]:
        """Return choices and numbers for JSON."""
        keys = {"target-ecdf": ["arm"], "eaf": ["arm", "level"], "eaf-difference": ["a", "b"]}[self.kind]
        return {
            **self.study.reading.document(),
            "kind": self.kind,
            "relative": self.study.relative,
            "horizon": self.end,
            "exact": self.exact,
            "curves": series_documents(self.frame, keys),
        }

    def draw(self) -> Any:
        """Return the chart in the style of the report."""
        if self.pair is not None:
            return style(draw_difference(difference_figure(self.pair, self._reading), arms=self.study.arms))
        return draw_column(self._figures(), self.study.arms)

    def print(self) -> None:
        """Plot the curve on the terminal."""
        unit = "t/Γ" if self.study.relative else self.study.reading.time_unit
        axis: dict[str, Any] = {"arms": self.study.arms, "start": self.start, "end": self.end, "time_label": unit}
        if self.pair is not None:
            # The axis and its labels take twelve columns.
            for line in difference_lines(self.pair, unit, width=max(8, width() - 12)):
                say_words(line.rstrip())
        for figure in () if self.pair is not None else self._figures():
            parts = figure.data.partition_by("series", maintain_order=True)
            # A surface only begins when enough runs have an incumbent: there is nothing to draw before.
            curves = [StepCurve(p["series"][0], p["time"].to_numpy(), p["value"].to_numpy()) for p in parts]
            low, high = (0.0, 1.0) if figure.shares else (None, None)
            if curves:
                print_plot(curves, title=figure.title, low=low, high=high, **axis)
            else:
                say_words(f"{figure.title}: never attained")
        print_caption(self.caption())

    def _figures(self) -> list[CurveFigure]:
        clock = "time t/Γ" if self.study.relative else "time"
        axis: dict[str, Any] = {"start": 0.0, "end": self.end} | time_axis(clock, self.start, self.end)
        if self.kind == "target-ecdf":
            data = thin_curves(self.frame, self.start, by=("arm",), end=self.end)
            title = "Target ECDF: share of goals attained, larger is better"
            axis |= {"value_title": "share of (run, goal) pairs", "shares": True}
            return [CurveFigure(data, title, self.caption(), **axis)]
        figures = []
        for level in self.frame["level"].unique().sort().to_list():
            part = self.frame.filter(level=level).select(series="arm", time="time", value="gap")
            data = thin_curves(part, self.start, end=self.end)
            title = f"Raw gap attained by {100 * level:g} % of the runs, smaller is better"
            figures.append(CurveFigure(data, title, self.caption(), value_title="raw gap", **axis))
        return figures


def classical_curve(
    study: Study, kind: str, pair: tuple[str, str] | None = None, /, *, log_time: bool = False
) -> ClassicalCurve:
    """Return one kind of curve of a study; a difference is of `pair`, by default of the first declared contrast."""
    envelopes, snapshot = study.envelopes, study.snapshot
    start = log_start(envelopes, relative=study.relative) if log_time else None
    if kind == "target-ecdf":
        frame = target_ecdf(envelopes, snapshot, weighting=study.weighting, tolerance=study.tolerance)
        return ClassicalCurve(kind, frame, study, start=start)
    if envelopes.scale.signed:
        raise UsageError(f"{kind}: expected positive objectives, which raw gaps need, got a scale of any sign")
    if kind == "eaf":
        return ClassicalCurve(kind, attainment_surface(envelopes, snapshot), study, start=start)
    chosen = pair or next(iter(study.declared), None)
    if chosen is None:
        arms = study.envelopes.runs["arm"].unique().sort().to_list()
        raise UsageError("eaf-difference: expected two arms, got none", hint=f"--pair A B, of {', '.join(arms)}")
    found = attainment_difference(envelopes, snapshot, *chosen, relative=study.relative)
    exact = found.rectangles()
    # Arms with thousands of runs differ almost everywhere: then use the numbers of the map.
    frame = difference_figure(found, "").data if exact is None else exact
    named = frame.select(pl.lit(found.a).alias("a"), pl.lit(found.b).alias("b"), pl.all())
    return ClassicalCurve(kind, named, study, found, exact=exact is not None)


def difference_lines(pair: AttainmentDifference, unit: str, *, width: int = 64, height: int = 12) -> list[str]:
    """Return two maps in characters, one for each arm that attains more: fuller characters mean more runs."""
    found = difference_map(pair, columns=width, rows=height)
    lines = []
    for name, side in ((pair.a, 1.0), (pair.b, -1.0)):
        levels = np.ceil(np.clip(side * found.shares, 0.0, 1.0) * (len(SHADES) - 1) - 1e-9).astype(int)
        lines.append(f"{printable(name)} attains more (░ up to 25 %, █ over 75 % of the runs)")
        for row in reversed(range(height)):
            head = f"{100 * found.gaps[row + 1]:8.2f} % " if row in (height - 1, height // 2) else " " * 11
            head = f"{100 * found.gaps[0]:8.2f} % " if row == 0 else head
            lines.append(f"{head}│{''.join(SHADES[k] for k in levels[:, row])}")
        lines += [" " * 11 + "└" + "─" * width, " " * 12 + f"0{f'{pair.end:g} {unit}':>{width - 1}}"]
    return lines
