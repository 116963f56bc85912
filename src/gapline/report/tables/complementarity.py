"""Pairs of arms with similar scores that end elsewhere, in the paper's layout, and the grid of thresholds."""

from collections.abc import Sequence

from gapline.errors import listing
from gapline.report.numbers import goal_words, number
from gapline.report.table import Column, Table, Text, capital, one_part, part
from gapline.study.complementarity import Complementarity


def pairs_table(found: Complementarity, /, *, against: str, descriptive: Sequence[str] = ()) -> Table:
    """Return the selected pairs of arms, nearest scores first."""
    rows = [
        [
            row["panel"],
            *(row[arm] + (" (descriptive)" if row[arm] in descriptive else "") for arm in ("a", "b")),
            *(number(row[name]) for name in ("d_score", "d_final")),
            number(100 * row["d_attainment"], digits=1),
        ]
        for row in found.contrasts.iter_rows(named=True)
    ]
    goal = goal_words(found.goal)
    columns = (
        *capital("panel", text=True),
        Column("arm a", "Arm A", text=True),
        Column("arm b", "Arm B", text=True),
        Column("|Δ score|", r"$|\Delta\Lambda|$"),
        Column("|Δ final gap|", r"$|\Delta g_{\mathrm{final}}|$"),
        Column(f"|Δ attainment of {goal}| (points)", rf"$|\Delta A_{{{goal.removesuffix(' %')}\%}}|$"),
    )
    counts = [int(n) for n in found.grid["count"]]
    return Table(
        name="pairs",
        caption="Pairs of arms with similar scores that end elsewhere or reach the goal at other rates",
        columns=columns,
        parts=one_part(rows),
        frame=found.contrasts,
        notes=(
            f"{found.contrasts.height} of {found.pairs.height} pairs within a panel; {found.kernel} scores against "
            f"{against}; an exploratory screen. Final gaps over non-empty runs. With halved and doubled "
            f"thresholds {min(counts)} to {max(counts)} pairs.",
            *((f"Descriptive, not compared: {listing(descriptive)}.",) if descriptive else ()),
        ),
    )


def grid_table(found: Complementarity, /, *, against: str) -> Table:
    """Return how many pairs nearby thresholds would select."""
    grid = found.grid
    thresholds = grid["min_attainment"].unique().sort().to_list()
    # Each threshold is halved, kept and doubled: the one in the middle is the rule of the report.
    middle = [sorted(grid[name].unique())[1] for name in ("max_score", "min_final", "min_attainment")]
    blocks: dict[float, list[list[Text | str]]] = {}
    for (score, final), line in grid.partition_by("max_score", "min_final", as_dict=True, maintain_order=True).items():
        counts = dict(line.select("min_attainment", "count").iter_rows())
        cells = [Text(str(counts[a]), [score, final, a] == middle) for a in thresholds]
        blocks.setdefault(score, []).append([f"{score:.4f}", f"{final:.3f}", *cells])
    columns = (
        Column("max |Δ score|", r"max.\ $|\Delta\Lambda|$"),
        Column("min |Δ final gap|", r"min.\ $|\Delta g_{\mathrm{final}}|$"),
        *(Column(f"{100 * a:g} points") for a in thresholds),
    )
    return Table(
        name="grid",
        caption="Pairs that other thresholds would select",
        columns=columns,
        parts=tuple(part(None, rows) for rows in blocks.values()),
        frame=grid,
        notes=(
            f"Of {found.pairs.height} pairs within a panel, {found.kernel} scores against {against}; in bold "
            "the rule of the report.",
        ),
    )
