"""The tables of `gapline analyse`, each built on request, and those of a report."""

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
from gapline.report.tables.design import design_tables, ladder_tables
from gapline.report.tables.health import completeness_table, health_table, reason_table
from gapline.report.tables.instances import instance_table
from gapline.report.tables.kernels import kernel_tables
from gapline.report.tables.means import arm_table, panel_table
from gapline.report.tables.measures import neighbour_tables
from gapline.study import Study
from gapline.study.analyse import Analysis

Made = Table | Sequence[Table] | None
Maker = Callable[[Analysis], Made]


def study_tables(study: Study, analysis: Analysis, said: Statements) -> list[Table]:
    """Return the tables of a report."""
    order, first = said.order, study.kernels[:1]
    tested = study.contrasts is not None and compared_rows(study.contrasts, order.descriptive).height
    replication = shown_replication(study)
    return _listed(
        arm_table(study.summary, order, kernels=first, intervals=study.intervals, no_intervals=study.no_intervals),
        panel_table(study.scores[0], order),
        _contrasts(analysis) if tested else None,
        instance_table(study, order),
        design_tables(analysis),
        _health(analysis),
        _ladders(analysis),
        sensitivity.pooled_table(analysis, over=analysis.ranked_words),
        kernel_tables(analysis),
        sensitivity.pairs_table(analysis),
        sensitivity.grid_table(analysis),
        neighbour_tables(analysis),
        varied_tables(analysis),
        None if replication is None else replication_tables(replication),
    )


def varied_tables(analysis: Analysis) -> list[Table]:
    """Return the scores under logarithmic weights and, where one is declared, under other transforms."""
    return _listed(sensitivity.cutoff_table(analysis), sensitivity.transform_table(analysis))


def _listed(*made: Made) -> list[Table]:
    return [table for one in made if one is not None for table in ((one,) if isinstance(one, Table) else one)]


def analysis_tables(analysis: Analysis, /) -> list[Table]:
    """Return every table that exists, in the order of the questions; each names its reference."""
    found: list[Table] = []
    for place, (names, make) in enumerate(_MAKERS, 1):
        doing(f"analysing: {names[0]}", place, len(_MAKERS))
        found += _read(analysis, make)
    return found


def analysis_table(analysis: Analysis, name: str, /) -> Table:
    """Return one table; only what it needs is computed."""
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
    """Build tables; add the reading of the study to those whose notes name no reference."""
    for table in _listed(make(analysis)):
        told = any("against " in note.lower() for note in table.notes)
        yield table if told else replace(table, notes=(*table.notes, sentence(analysis.study.reading.line())))


def _health(analysis: Analysis) -> Table:
    validation, checker = analysis.study.envelopes.validation, analysis.study.checker
    return health_table(analysis.main_health, validation=validation, checker=checker, over=analysis.main_words)


def _reasons(analysis: Analysis) -> Table | None:
    return reason_table(analysis.health) if analysis.health.reasons.height else None


def _ladders(analysis: Analysis) -> list[Table]:
    return ladder_tables(analysis.ladders.values())


def _completeness(analysis: Analysis) -> Table | None:
    # If the plan is complete, the table would only repeat the number of runs.
    study = analysis.study
    whole = bool((study.cells["state"] == "done").all())
    return None if whole else completeness_table(analysis.completeness, planned=study.contract is not None)


# All three come from the same bootstrap: without it, none of them exists.
def _intervals(analysis: Analysis) -> Table | None:
    found = analysis.study.intervals
    caption = "Means with their uncertainty"
    return None if found is None else _arm_rows(analysis, "intervals", caption, found.frame, [found.caption()])


def _contrasts(analysis: Analysis) -> Table | None:
    found = analysis.study.contrasts
    if found is None:
        return None
    empties = dict(analysis.health.frame.select("arm", "empty").iter_rows())
    return contrast_table(found, empties=empties, descriptive=analysis.study.tier_two)


def _ranking(analysis: Analysis) -> Table | None:
    found = analysis.study.ranking
    if found is None:
        return None
    return _arm_rows(analysis, "ranking", "Ranking", found.frame, [*found.notes, found.caption()])


def _arm_rows(analysis: Analysis, name: str, caption: str, frame: pl.DataFrame, said: Sequence[str]) -> Table:
    """Return a frame of arms as a table; arms with an integrity alarm are marked in the rows, not in the data."""
    order = order_arms(analysis.study.summary, alarms=analysis.study.alarms)
    marked = frame.with_columns(pl.Series("arm", map(order.label, frame["arm"]), dtype=pl.String))
    notes = [*map(sentence, said), *(note for note in order.notes() if note.startswith(ALARMED.strip()))]
    return replace(frame_table(name, caption, marked, text=("arm", "reason"), notes=notes), frame=frame)


def _power(analysis: Analysis) -> Table | None:
    power = analysis.power
    if not power.frame.height:
        return None
    named = power.frame.with_columns(name=pl.format("{} seeds", "seeds"))
    wide = named.pivot("name", index=["a", "b", "delta"], values="instances")
    caption = "Instances that would show a difference"
    return frame_table("power", caption, wide, text=("a", "b"), notes=[sentence(power.caption())])


_MAKERS: tuple[tuple[tuple[str, ...], Maker], ...] = (
    (("design",), design_tables),
    (("health",), _health),
    (("rejections",), _reasons),
    (("ladder-validity", "ladder-means"), _ladders),
    (("completeness",), _completeness),
    (("pooled",), sensitivity.pooled_table),
    (("saturation", "signs", "ratios", "kernel-ratios"), kernel_tables),
    (("reversals",), sensitivity.reversal_table),
    (("references",), sensitivity.reference_table),
    (("transforms",), sensitivity.transform_table),
    (("pairs",), sensitivity.pairs_table),
    (("robustness",), sensitivity.robustness_table),
    (("swaps",), sensitivity.swap_table),
    (("cutoffs",), sensitivity.cutoff_table),
    (("intervals",), _intervals),
    (("contrasts",), _contrasts),
    (("ranking",), _ranking),
    (("neighbours", "averages", "ranks", "ratings", "neighbour-pairs"), neighbour_tables),
    (("power",), _power),
)
TABLES = tuple(name for names, _ in _MAKERS for name in names)
