"""Mean and attainment curves on the terminal and as files, with every step on request."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.version import VERSION
from gapline.errors import UsageError
from gapline.files.atomic_write import write_atomically
from gapline.files.scratch_arrays import spans
from gapline.native.slices import AT_ONCE
from gapline.report.canvas import Canvas, log_words
from gapline.report.curve_figure import attainment_figure, draw_column, mean_curve_figure
from gapline.report.drawing import FILE_FORMATS, write_drawing, write_file
from gapline.report.numbers import goal_words
from gapline.report.terminal_plot import StepCurve, print_caption, print_plot
from gapline.report.writers.csv import csv_pieces
from gapline.scoring.attainment import AttainmentCurves, attainment_curve
from gapline.scoring.curve import MeanCurves, Points, group_curves, mean_curve
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.moments import log_start, moments_of_both
from gapline.statistics.bands import curve_bands, drawn_bands
from gapline.study import Study

if TYPE_CHECKING:
    from gapline.report.classical_curves import ClassicalCurve

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EveryStep:
    """All steps of the mean curves of a study's first kernel, by group."""

    study: Study
    by: tuple[str, ...]
    relative: bool

    def curves(self) -> Iterator[tuple[tuple[object, ...], Floats, Floats]]:
        """Yield group, times and values of each curve; long ones are in scratch files."""
        study = self.study
        kernel = parse_kernel(study.kernels[0], tolerance=study.tolerance)
        of = (study.envelopes, study.references[0].snapshot, kernel, list(self.by))
        found = group_curves(*of, weighting=study.weighting, relative=self.relative)
        return ((key, time, value) for key, time, value, _ in found)

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of `MeanCurves.frame` in parts."""
        for key, time, value in self.curves():
            for span in spans(len(time), most=AT_ONCE):
                size = span.stop - span.start
                named = {n: pl.Series([cell]).new_from_index(0, size) for n, cell in zip(self.by, key, strict=True)}
                yield pl.DataFrame({**named, "time": time[span], "value": value[span]})

    def documents(self) -> list[dict[str, Any]]:
        """Return one JSON entry per curve; all of them are in memory."""
        return [
            dict(zip(self.by, key, strict=True)) | {"time": time.tolist(), "value": value.tolist()}
            for key, time, value in self.curves()
        ]


# From this total number of steps on, curves are shown at moments, and this is their number: a screen has fewer places,
# and a spreadsheet accepts half as many rows.
MOST_STEPS, MOMENTS = 2_000_000, 2001
# How a mean curve is requested: at moments, or with every step whatever their number.
Asked = Points | Literal["all"]


@dataclass(frozen=True, slots=True)
class CurvePair:
    """The two curve views of one reading, with bands if requested.

    With a `start`, they are drawn on logarithmic time from there on; the numbers are the same. `arms` are all arms of
    the study, which determine the looks. `every` holds all steps of a mean that is drawn at moments, for its numbers.
    """

    mean: MeanCurves
    attainment: AttainmentCurves
    mean_bands: pl.DataFrame | None = None
    attainment_bands: pl.DataFrame | None = None
    no_bands: str | None = None
    band_words: str = ""
    start: float | None = None
    arms: tuple[str, ...] = ()
    every: EveryStep | None = None

    @property
    def end(self) -> float:
        """The last horizon, or 1 on relative time."""
        return max(self.mean.horizons.values(), default=0.0)

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield all numbers as rows of one long table: curve (mean or attainment), groups, goal, time, value (+ band).

        Long mean curves with every step come in parts.
        """
        mean = _labelled(self.mean.frame)
        parts = [mean, self.attainment.frame.with_columns(curve=pl.lit("attainment"))]
        if self.mean_bands is not None:
            parts.append(self.mean_bands.with_columns(curve=pl.lit("mean band")))
        if self.attainment_bands is not None:
            goal = pl.lit(self.attainment.goals[0])
            parts.append(self.attainment_bands.with_columns(curve=pl.lit("attainment band"), goal=goal))
        # Bands have low and high but no value, curves the opposite: the missing columns are null.
        table = pl.concat(parts, how="diagonal_relaxed")
        front = ["curve", *self.mean.by, "goal", "time", "value"]
        table = table.select(*front, *(name for name in table.columns if name not in front))
        if self.every is None:
            yield table
            return
        for part in self.every.frames():
            yield pl.concat([table.clear(), _labelled(part)], how="diagonal_relaxed")
        yield table[mean.height :]

    def document(self) -> dict[str, Any]:
        """Return the curves for JSON: choices, then one entry per series with its breakpoints."""
        mean, attainment = self.mean, self.attainment
        document: dict[str, Any] = {
            **mean.reading.document(),
            "kernel": mean.kernel,
            "relative": mean.relative,
            "horizon": self.end,
            "log_time_from": self.start,
            "points": mean.points if self.every is None else None,
            "mean": series_documents(mean.frame, list(mean.by)) if self.every is None else self.every.documents(),
            "attainment": series_documents(attainment.frame, [*attainment.by, "goal"]),
        }
        if self.no_bands is not None:
            document["no_bands"] = self.no_bands
        bands = {"mean_bands": self.mean_bands, "attainment_bands": self.attainment_bands}
        return document | {
            name: series_documents(frame, list(mean.by)) for name, frame in bands.items() if frame is not None
        }

    def draw(self) -> Any:
        """Draw the mean curve above the attainment curve."""
        words = self.band_words
        mean = mean_curve_figure(self.mean, self.mean_bands, words, start=self.start)
        attained = attainment_figure(
            self.attainment, end=self.end, bands=self.attainment_bands, band_words=words, start=self.start
        )
        return draw_column([mean, attained], self.arms)

    def print(self) -> None:
        """Plot both curves on the terminal."""
        axis: dict[str, Any] = {"start": self.start, "end": self.end, "arms": self.arms}
        axis["time_label"] = "t/Γ" if self.mean.relative else "s"
        mean = [StepCurve(" · ".join(key) or "all", time, value) for key, time, value in self.mean.groups()]
        print_plot(mean, title=f"mean {self.mean.kernel} gap", **axis)
        # In characters, a plot of several goals at once would be unreadable.
        for goal in self.attainment.goals:
            one, keys = self.attainment.frame.filter(goal=goal), [*self.attainment.by, "goal"]
            curves = [
                StepCurve(" · ".join(map(str, key[:-1])) or "all", part["time"].to_numpy(), part["value"].to_numpy())
                for key, part in one.partition_by(keys, as_dict=True, maintain_order=True).items()
            ]
            title = f"share of runs within {goal_words(goal)} of the reference"
            print_plot(curves, title=title, low=0.0, high=1.0, **axis)
        print_caption(self.mean.caption() + log_words(self.start, "of the horizon" if self.mean.relative else "s"))


def _labelled(mean: pl.DataFrame) -> pl.DataFrame:
    return mean.with_columns(curve=pl.lit("mean"), goal=pl.lit(None, pl.Float64))


def study_mean_curve(study: Study, /, *, by: list[str], relative: bool, points: Points | None = None) -> MeanCurves:
    """Return the mean curves of a study's first kernel, under its reading.

    Curves with very many steps are evaluated at some moments, which the caption states; `points` requests others,
    whatever the number of steps.
    """
    entry, choices = study.references[0], _choices(study, by, relative)
    if points is None and has_many_steps(study):
        points = partial(moments_of_both, log_start(study.envelopes, relative=relative), count=MOMENTS)
    choices |= {"kernel": study.kernels[0], "policy": entry.policy, "points": points}
    found = mean_curve(study.envelopes, entry.snapshot, **choices)
    # A mean curve applies no time weight: its reading says uniform, whatever weight the study declares.
    return replace(found, reading=study.reading_of(entry, kernels=found.reading.kernels, weight="uniform"))


def has_many_steps(study: Study, /) -> bool:
    """Return whether mean curves are shown at moments; depends on the steps alone, so that all outputs agree."""
    return int(study.envelopes.runs["steps"].sum()) > MOST_STEPS


def study_attainment(study: Study, /, *, by: list[str], relative: bool) -> AttainmentCurves:
    """Return the attainment curves of a study's first goal, under its reading."""
    entry, choices, goals = study.references[0], _choices(study, by, relative), study.goals[:1]
    found = attainment_curve(study.envelopes, entry.snapshot, goals=goals, policy=entry.policy, **choices)
    reading = study.reading_of(entry, kernels=found.reading.kernels, weight="uniform", goals=goals)
    return replace(found, reading=reading)


def _choices(study: Study, by: list[str], relative: bool) -> dict[str, Any]:
    return {"by": by, "weighting": study.weighting, "relative": relative, "tolerance": study.tolerance}


def study_curves(
    study: Study,
    /,
    *,
    by: list[str],
    relative: bool = False,
    bands: bool = False,
    log_time: bool = False,
    points: Asked | None = None,
) -> CurvePair:
    """Return both curves of a study; bands, logarithmic time and moments only on request.

    If very many steps are requested, the numbers contain each of them, in parts, and drawings use the usual moments.
    """
    every = EveryStep(study, tuple(by), relative) if points == "all" and has_many_steps(study) else None
    mean = study_mean_curve(study, by=by, relative=relative, points=None if points == "all" else points)
    start = log_start(study.envelopes, relative=relative) if log_time else None
    attainment = study_attainment(study, by=by, relative=relative)
    pair = CurvePair(mean, attainment, start=start, arms=study.arms, every=every)
    if not bands:
        return pair
    drawn = _choices(study, by, relative) | study.band_choices
    mean_bands = drawn_bands(curve_bands(study.envelopes, study.snapshot, kernel=study.kernels[0], **drawn))
    attained = drawn_bands(curve_bands(study.envelopes, study.snapshot, goal=study.goals[0], **drawn))
    pair = replace(pair, mean_bands=mean_bands, attainment_bands=attained, band_words=study.band_words)
    # Say it if requested bands do not exist; the user should not have to notice.
    why = "no bands: every curve has a panel with one instance, or instances that are all alike"
    return pair if mean_bands is not None else replace(pair, no_bands=why)


def series_documents(frame: pl.DataFrame, keys: list[str]) -> list[dict[str, Any]]:
    """Return one entry per group of `keys`, with its other columns as lists."""
    values = [name for name in frame.columns if name not in keys]
    parts = frame.partition_by(keys, as_dict=True, maintain_order=True) if keys else {(): frame}
    return [
        dict(zip(keys, key, strict=True)) | {name: part[name].to_list() for name in values}
        for key, part in parts.items()
    ]


def write_curves(
    curves: "CurvePair | ClassicalCurve",
    path: Path,
    *,
    canvas: Canvas | None = None,
    provenance: Sequence[str] = (f"gapline {VERSION}",),
) -> list[Path]:
    """Write the numbers (.csv, .json) or the drawing (.svg, .png, .pdf) of curves, with its texts in a file next to it.

    Returns the written files.
    """
    words = path.with_suffix(".txt")
    form = path.suffix.lstrip(".").lower()
    if form == "csv":
        write_atomically(path, lambda stream: [stream.write(part) for part in csv_pieces(curves.pieces())])
    elif form == "json":
        write_file(path, json.dumps(curves.document(), allow_nan=False, ensure_ascii=False) + "\n")
    elif form in FILE_FORMATS:
        write_file(words, write_drawing(curves.draw(), path, canvas=canvas, provenance=provenance).text())
        return [path, words]
    else:
        raise UsageError(f"{path}: expected a name ending in .csv, .json, .svg, .png or .pdf, got {form or 'none'}")
    return [path]
