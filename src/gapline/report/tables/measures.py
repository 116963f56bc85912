"""The classical measures: times to a goal, averages and areas, ranks, ratings and pairs of arms."""

from gapline.measures.pairs import NeighbourPairs
from gapline.measures.ranks import MeanRanks
from gapline.measures.rating import Ratings
from gapline.report.numbers import DASH, count, goal_words, interval, number, p_value, percent, sentence, signed
from gapline.report.table import Column, Field, Record, Table, field, field_table, fields, frame_table
from gapline.report.tables.contrasts import by_declaration, outcomes
from gapline.study.analyse import Analysis

# The measures of time to a goal; the other columns are areas, averages and final gaps.
_TIMES = ("arm", "goal", "success_rate", "ert", "geometric_mean", "target_ecdf", "fastest", "solved")


def neighbour_tables(analysis: Analysis, /) -> list[Table]:
    """Return the tables of the classical measures that exist for this study, in the order of the questions."""
    study, frame, averages = analysis.study, analysis.neighbours, analysis.averages
    declared = sentence(study.reading.line())
    times = [name for name in frame.columns if name in _TIMES or name.startswith("par")]
    others = frame.drop([name for name in times if name != "arm"])
    if averages is not None:
        others = others.join(averages.frame, on="arm", how="left", maintain_order="left")
    note = (
        f"ert: time spent per success; par{analysis.par:g}: a miss costs {analysis.par:g} horizons; geometric mean of "
        f"times + {analysis.shift:g} {study.reading.time_unit}, a miss counted as the horizon; target ecdf: share of a "
        "grid of goals attained; fastest: share of instances with the best time; solved: share of instances ever "
        "solved."
    )
    caption = f"Classical neighbours: time to {goal_words(study.goals[0])}"
    said = declared if averages is None else sentence(averages.caption())
    tables = [
        frame_table("neighbours", caption, frame.select(times), notes=[note, declared]),
        frame_table("averages", "Final gaps, areas and averages of scores", others, notes=[said]),
    ]
    if analysis.ranks is not None and analysis.ranks.frame.height:
        tables.append(rank_table(analysis.ranks))
    if analysis.ratings is not None and analysis.ratings.frame["rating"].null_count() < len(analysis.ratings):
        tables.append(rating_table(analysis.ratings))
    if analysis.neighbour_pairs is not None and len(analysis.neighbour_pairs):
        tables.append(pair_table(analysis.neighbour_pairs))
    return tables


def rank_table(ranks: MeanRanks, /) -> Table:
    """Return mean and median ranks, with the result of the tests as notes."""
    columns = [
        *fields("arm", text=True),
        *fields("mean rank", form=lambda value: number(value, digits=3)),
        *fields("median rank", form=lambda value: number(value, digits=1)),
    ]
    joined = "; ".join(" – ".join(clique) for clique in ranks.cliques)
    groups = f"No difference shown within: {joined}." if joined else "Every pair differs by more than that."
    notes = [sentence(ranks.verdict()), *([groups] if ranks.friedman is not None else []), sentence(ranks.caption())]
    caption = "Mean ranks over instances, smaller is better"
    return field_table("ranks", caption, columns, [(None, ranks.frame.to_dicts())], ranks.frame, notes)


def rating_table(ratings: Ratings, /) -> Table:
    """Return the ratings with their intervals."""
    columns = [
        *fields("arm", text=True),
        *fields("rating", form=lambda value: number(value, digits=0)),
        Field(Column(f"{ratings.level:.0%} interval"), lambda row: interval(row["low"], row["high"], digits=0)),
        Field(Column("W/T/L"), outcomes),
    ]
    notes = [sentence(text) for text in (ratings.unbounded, ratings.reason, ratings.caption()) if text]
    caption = "Bradley-Terry ratings on the Elo scale, larger is better"
    return field_table("ratings", caption, columns, [(None, ratings.frame.to_dicts())], ratings.frame, notes)


def pair_table(pairs: NeighbourPairs, /) -> Table:
    """Return the pairs, declared contrasts first; an exploratory p-value is in brackets."""
    columns = [
        *fields("a", "b", text=True),
        *fields("instances", form=count, plain=True),
        Field(Column("Wilcoxon p (Holm)"), _wilcoxon),
        field(Column("Nemenyi p"), "nemenyi_p", p_value),
        Field(Column("P(a better)"), lambda row: percent(row["improvement"], digits=1)),
        Field(Column(f"{pairs.level:.0%} interval"), _share_interval),
        field(Column("area a − b"), "signed_area", signed),
        field(Column("|area|"), "absolute_area", number),
        Field(Column("a ahead"), lambda row: percent(row["ahead"], digits=1)),
    ]
    # A column of notes is only useful if there is a note.
    if any(pairs.frame["reason"]):
        columns.append(Field(Column("note", text=True), lambda row: row["reason"] or ""))
    notes = (
        "P(a better): probability that a run of a scores below a run of b. Area: between the mean curves, divided "
        "by the horizon; negative, a is better. a ahead: share of the time. Wilcoxon p in brackets is exploratory "
        "and not adjusted.",
        sentence(pairs.caption()),
    )
    caption = "Pairs of arms by the classical comparisons"
    return field_table("neighbour-pairs", caption, columns, by_declaration(pairs.frame), pairs.frame, notes)


def _wilcoxon(row: Record) -> str:
    exploratory = row["p"] is not None and not row["declared"]
    return f"({p_value(row['p'])})" if exploratory else p_value(row["p_holm"])


def _share_interval(row: Record) -> str:
    low, high = row["improvement_low"], row["improvement_high"]
    return DASH if low is None or high is None else f"{percent(low, digits=1)} to {percent(high, digits=1)}"
