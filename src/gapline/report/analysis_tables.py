"""The tables of `gapline analyse`, each made when it is asked for, and those of a report."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import polars as pl

from gapline.contract.progress import doing
from gapline.errors import UsageError, closest
from gapline.report.facts import Statements
from gapline.report.numbers import sentence
from gapline.report.order import ALARMED, order_arms
from gapline.report.replication import replication_tables, shown_replication
from gapline.report.table import Table, frame_table
from gapline.report.tables import sensitivity
from gapline.report.tables.contrasts import compared_rows, contrast_table
from gapline.report.tables.design import design_tables
from gapline.report.tables.health import completeness_table, health_table, reason_table
from gapline.report.tables.instances import instance_table
from gapline.report.tables.kernels import kernel_tables
from gapline.report.tables.ladders import ladder_tables
from gapline.report.tables.means import arm_table, panel_table
from gapline.report.tables.measures import neighbour_tables
from gapline.study import Study
from gapline.study.analyse import Analysis

Maker = Callable[[Analysis], Sequence[Table]]


def study_tables(study: Study, analysis: Analysis, said: Statements) -> list[Table]:
    """Return the tables of a report."""
    order, first = said.order, study.kernels[:1]
    tested = study.contrasts is not None and compared_rows(study.contrasts, order.descriptive).height
    replication = shown_replication(study)
    return [
        arm_table(study.summary, order, kernels=first, intervals=study.intervals, no_intervals=study.no_intervals),
        panel_table(study.scores[0], order),
        *(_contrasts(analysis) if tested else []),
        instance_table(study, order),
        *design_tables(analysis),
        *_health(analysis),
        *ladder_tables(analysis.ladders.values()),
        *_pooled(analysis, over=analysis.ranked_words),
        *_kernels(analysis),
        *_pairs(analysis),
        sensitivity.grid_table(analysis.complementarity, against=str(study.folded.label)),
        *neighbour_tables(analysis),
        *varied_tables(analysis),
        *([] if replication is None else replication_tables(replication)),
    ]


def analysis_tables(analysis: Analysis, /) -> list[Table]:
    """Return every table that there is, in the order of the questions; each says what it is against."""
    found: list[Table] = []
    for place, (names, make) in enumerate(_MAKERS, 1):
        doing(f"analysing: {names[0]}", place, len(_MAKERS))
        found += _read(analysis, make)
    return found


def analysis_table(analysis: Analysis, name: str, /) -> Table:
    """Return one table; nothing is made that it does not need."""
    for names, make in _MAKERS:
        if name in names:
            found = [table for table in _read(analysis, make) if table.name == name]
            if not found:
                raise UsageError(f"--table {name}: expected a table that there is, got one without any row here")
            return found[0]
    near = closest(name, TABLES)
    raise UsageError(
        f"--table: expected one of {', '.join(TABLES)}, got {name!r}", hint=f"did you mean {near!r}?" if near else None
    )


def _read(analysis: Analysis, make: Maker) -> Iterator[Table]:
    """Make tables; one whose notes say nothing of a reference gets the reading of the study."""
    for table in make(analysis):
        told = any("against " in note.lower() for note in table.notes)
        yield table if told else replace(table, notes=(*table.notes, sentence(analysis.study.reading.line())))


def _health(analysis: Analysis) -> list[Table]:
    validation, checker = analysis.study.envelopes.validation, analysis.study.checker
    return [health_table(analysis.main_health, validation=validation, checker=checker, over=analysis.main_words)]


def _reasons(analysis: Analysis) -> list[Table]:
    return [reason_table(analysis.health)] if analysis.health.reasons.height else []


def _completeness(analysis: Analysis) -> list[Table]:
    # Without a gap in the plan the table would only repeat the number of runs.
    study = analysis.study
    whole = bool((study.cells["state"] == "done").all())
    return [] if whole else [completeness_table(analysis.completeness, planned=study.contract is not None)]


def _pooled(analysis: Analysis, over: str | None = None) -> list[Table]:
    words = analysis.main_words if over is None else over
    return [sensitivity.pooled_table(analysis.metrics, analysis.labels, _empties(analysis), over=words)]


def _kernels(analysis: Analysis) -> list[Table]:
    return kernel_tables(analysis.metrics, analysis.labels, over=analysis.main_words)


def _references(analysis: Analysis) -> list[Table]:
    return [] if analysis.references is None else [sensitivity.shift_table(analysis.references)]


def _transforms(analysis: Analysis) -> list[Table]:
    if analysis.transforms is None:
        return []
    return [sensitivity.transform_table(analysis.transforms, against=str(analysis.study.references[0].label))]


def _pairs(analysis: Analysis) -> list[Table]:
    study, found = analysis.study, analysis.complementarity
    return [sensitivity.pairs_table(found, against=str(study.folded.label), descriptive=study.tier_two)]


def _robustness(analysis: Analysis) -> list[Table]:
    return [sensitivity.robustness_table(analysis.robustness, baseline=analysis.study.reading.line())]


def _swaps(analysis: Analysis) -> list[Table]:
    if not any(analysis.horizon.swaps.values()):
        return []
    return [sensitivity.swap_table(analysis.horizon, against=str(analysis.study.references[0].label))]


def _cutoffs(analysis: Analysis) -> list[Table]:
    reading = analysis.study.reading
    words = {"against": str(reading.reference), "ranked": str(reading.instance_set), "unit": reading.time_unit}
    return [sensitivity.cutoff_table(analysis.cutoffs, descriptive=reading.tier_two, **words)]


def varied_tables(analysis: Analysis) -> list[Table]:
    """Return the scores under logarithmic weights and, where one is declared, under other transforms."""
    return [*_cutoffs(analysis), *_transforms(analysis)]


# All three come from the same bootstrap: where there is none, none of them exists.
def _intervals(analysis: Analysis) -> list[Table]:
    found = analysis.study.intervals
    if found is None:
        return []
    return [_arm_rows(analysis, "intervals", "Means with their uncertainty", found.frame, [found.caption()])]


def _contrasts(analysis: Analysis) -> list[Table]:
    found = analysis.study.contrasts
    if found is None:
        return []
    return [contrast_table(found, empties=_empties(analysis), descriptive=analysis.study.tier_two)]


def _ranking(analysis: Analysis) -> list[Table]:
    found = analysis.study.ranking
    if found is None:
        return []
    return [_arm_rows(analysis, "ranking", "Ranking", found.frame, [*found.notes, found.caption()])]


def _arm_rows(analysis: Analysis, name: str, caption: str, frame: pl.DataFrame, said: Sequence[str]) -> Table:
    """Return a frame of arms as it is; arms of an integrity alarm are marked in the rows, not in the data."""
    order = order_arms(analysis.study.summary, alarms=analysis.study.alarms)
    marked = frame.with_columns(pl.Series("arm", map(order.label, frame["arm"]), dtype=pl.String))
    notes = [*map(sentence, said), *(note for note in order.notes() if note.startswith(ALARMED.strip()))]
    return replace(frame_table(name, caption, marked, text=("arm", "reason"), notes=notes), frame=frame)


def _power(analysis: Analysis) -> list[Table]:
    power = analysis.power
    if not power.frame.height:
        return []
    named = power.frame.with_columns(name=pl.format("{} seeds", "seeds"))
    wide = named.pivot("name", index=["a", "b", "delta"], values="instances")
    caption = "Instances that would show a difference"
    return [frame_table("power", caption, wide, text=("a", "b"), notes=[sentence(power.caption())])]


def _empties(analysis: Analysis) -> dict[str, int]:
    return dict(analysis.health.frame.select("arm", "empty").iter_rows())


_MAKERS: tuple[tuple[tuple[str, ...], Maker], ...] = (
    (("design",), design_tables),
    (("health",), _health),
    (("rejections",), _reasons),
    (("ladder-validity", "ladder-means"), lambda analysis: ladder_tables(analysis.ladders.values())),
    (("completeness",), _completeness),
    (("pooled",), _pooled),
    (("saturation", "signs", "ratios", "kernel-ratios"), _kernels),
    (("reversals",), lambda analysis: [sensitivity.reversal_table(analysis.metrics)]),
    (("references",), _references),
    (("transforms",), _transforms),
    (("pairs",), _pairs),
    (("robustness",), _robustness),
    (("swaps",), _swaps),
    (("cutoffs",), _cutoffs),
    (("intervals",), _intervals),
    (("contrasts",), _contrasts),
    (("ranking",), _ranking),
    (("neighbours", "averages", "ranks", "ratings", "neighbour-pairs"), neighbour_tables),
    (("power",), _power),
)
TABLES = tuple(name for names, _ in _MAKERS for name in names)
