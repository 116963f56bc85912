"""The classical measures: times to a goal, averages and areas, ranks, ratings and pairs of arms."""

from gapline.measures.pairs import NeighbourPairs
from gapline.measures.ranks import MeanRanks
from gapline.measures.rating import Ratings
from gapline.report.numbers import DASH, count, goal_words, interval, number, p_value, percent, signed
from gapline.report.table import Column, Table, capital, frame_table, one_part, part
from gapline.report.tables.means import sentence
from gapline.study.analyse import Analysis

# What is measured in time to the goal; the other columns are areas, averages and final gaps.
_TIMES = ("arm", "goal", "success_rate", "ert", "geometric_mean", "target_ecdf", "fastest", "solved")


def neighbour_tables(analysis: Analysis, /) -> list[Table]:
    """Return every table of the classical measures that this study has, in the order of the questions."""
    study, frame = analysis.study, analysis.neighbours
    declared = sentence(study.reading.line())
    times = [name for name in frame.columns if name in _TIMES or name.startswith("par")]
    others = frame.drop([name for name in times if name != "arm"])
    if analysis.averages is not None:
        others = others.join(analysis.averages.frame, on="arm", how="left", maintain_order="left")
        notes = [sentence(analysis.averages.caption())]
    else:
        notes = [declared]
    goal = goal_words(study.goals[0])
    tables = [
        frame_table(
            "neighbours", f"Classical neighbours: time to {goal}", frame.select(times),
            notes=[_time_note(analysis), declared],
        ),
        frame_table("averages", "Final gaps, areas and averages of scores", others, notes=notes),
    ]  # fmt: skip
    if analysis.ranks is not None and analysis.ranks.frame.height:
        tables.append(rank_table(analysis.ranks))
    if analysis.ratings is not None and analysis.ratings.frame["rating"].null_count() < len(analysis.ratings):
        tables.append(rating_table(analysis.ratings))
    if analysis.neighbour_pairs is not None and len(analysis.neighbour_pairs):
        tables.append(pair_table(analysis.neighbour_pairs))
    return tables


def _time_note(analysis: Analysis) -> str:
    unit = analysis.study.reading.time_unit
    return (
        f"ert: time spent per success; par{analysis.par:g}: a miss costs {analysis.par:g} horizons; geometric mean of "
        f"times + {analysis.shift:g} {unit}, a miss counted as the horizon; target ecdf: share of a grid of goals "
        "attained; fastest: share of instances with the best time; solved: share of instances ever solved."
    )


def rank_table(ranks: MeanRanks, /) -> Table:
    """Return mean and median ranks, the verdict of the tests below."""
    rows = [[arm, number(mean, digits=3), number(median, digits=1)] for arm, mean, median in ranks.frame.iter_rows()]
    joined = "; ".join(" – ".join(clique) for clique in ranks.cliques)
    groups = f"No difference shown within: {joined}." if joined else "Every pair differs by more than that."
    return Table(
        name="ranks",
        caption="Mean ranks over instances, smaller is better",
        columns=(*capital("arm", text=True), *capital("mean rank", "median rank")),
        parts=one_part(rows),
        frame=ranks.frame,
        notes=(
            sentence(ranks.verdict()),
            *((groups,) if ranks.friedman is not None else ()),
            sentence(ranks.caption()),
        ),
    )


def rating_table(ratings: Ratings, /) -> Table:
    """Return the ratings with their intervals."""
    rows = [
        [
            row["arm"],
            number(row["rating"], digits=0),
            interval(row["low"], row["high"], digits=0),
            "/".join(count(row[name]) for name in ("wins", "ties", "losses")),
        ]
        for row in ratings.frame.iter_rows(named=True)
    ]
    said = [sentence(text) for text in (ratings.unbounded, ratings.reason) if text]
    return Table(
        name="ratings",
        caption="Bradley-Terry ratings on the Elo scale, larger is better",
        columns=(
            *capital("arm", text=True), *capital("rating"), Column(f"{ratings.level:.0%} interval"), Column("W/T/L"),
        ),
        parts=one_part(rows),
        frame=ratings.frame,
        notes=(*said, sentence(ratings.caption())),
    )  # fmt: skip


def pair_table(pairs: NeighbourPairs, /) -> Table:
    """Return the pairs, declared contrasts first; an exploratory p-value stands in brackets."""
    frame = pairs.frame
    kinds = {
        name: [
            [
                row["a"],
                row["b"],
                count(row["instances"]),
                f"({p_value(row['p'])})" if row["p"] is not None and not row["declared"] else p_value(row["p_holm"]),
                p_value(row["nemenyi_p"]),
                percent(row["improvement"], digits=1),
                _share_interval(row["improvement_low"], row["improvement_high"]),
                signed(row["signed_area"]),
                number(row["absolute_area"]),
                percent(row["ahead"], digits=1),
                row["reason"] or "",
            ]
            for row in frame.filter(declared=chosen).to_dicts()
        ]
        for name, chosen in (("declared", True), ("exploratory", False))
    }
    columns = [
        *capital("a", "b", text=True),
        *map(Column, ("instances", "Wilcoxon p (Holm)", "Nemenyi p", "P(a better)", f"{pairs.level:.0%} interval")),
        *map(Column, ("area a − b", "|area|", "a ahead")),
        Column("note", text=True),
    ]
    # A column of notes says something only where there is one.
    said = any(row[-1] for rows in kinds.values() for row in rows)
    width = len(columns) if said else len(columns) - 1
    return Table(
        name="neighbour-pairs",
        caption="Pairs of arms by the classical comparisons",
        columns=tuple(columns[:width]),
        parts=tuple(part(name, [row[:width] for row in rows]) for name, rows in kinds.items() if rows),
        frame=frame,
        notes=(
            "P(a better): probability that a run of a scores below a run of b. Area: between the mean curves, divided "
            "by the horizon; negative, a is better. a ahead: share of the time. Wilcoxon p in brackets is exploratory "
            "and not adjusted.",
            sentence(pairs.caption()),
        ),
    )


def _share_interval(low: float | None, high: float | None) -> str:
    return DASH if low is None or high is None else f"{percent(low, digits=1)} to {percent(high, digits=1)}"
