"""Tables of the analyses in the paper's layout: health, pooled metrics, selected pairs and the grid of thresholds."""

import polars as pl

from gapline.report.analyses import Analyses
from gapline.report.tables.scores import kernel_column
from gapline.report.tables.table import Cell, Column, Table, bold_best, one_part, smallest
from gapline.report.terminal import number

_DASH = "–"


def health_table(analyses: Analyses) -> Table:
    """Return the counts of each arm after checking."""
    frame = analyses.health.frame
    names = ("runs", "captured", "rejected", "terminal_invalid", "empty", "late", "crashed")
    rows = [
        [Cell(" · ".join(str(row[name]) for name in analyses.health.by)), *(Cell(f"{row[name]:,}") for name in names)]
        for row in frame.iter_rows(named=True)
    ]
    columns = (
        Column("arm", "Arm", text=True),
        Column("runs", "Runs"),
        Column("captured", "Captured"),
        Column("invalid captured incumbents", "Invalid captured"),
        Column("invalid terminal solutions", "Invalid terminal"),
        Column("no valid incumbent", "No valid incumbent"),
        Column("late", "Late"),
        Column("crashed or killed", "Crashed"),
    )
    return Table(
        name="health",
        caption="Completeness after checking",
        columns=columns,
        parts=one_part(rows),
        frame=frame,
        notes=(
            "Invalid candidates stay out of the envelope; a run without a valid incumbent scores the worst value and "
            "stays in every denominator.",
        ),
    )


def pooled_table(analyses: Analyses) -> Table:
    """Return the pooled means of every kernel, a part per reference; best of tier 1 in bold."""
    pooled = analyses.metric.pooled
    kernels = list(dict.fromkeys(pooled["kernel"].to_list()))
    empties = dict(analyses.health.frame.select("arm", "empty").iter_rows())
    parts = []
    for name, label in zip(analyses.names, analyses.labels, strict=True):
        mine = pooled.filter(pl.col("reference") == name)
        first = mine.filter(pl.col("kernel") == kernels[0]).sort("score", "arm", nulls_last=True)
        arms = first["arm"].to_list()
        known = {(row["arm"], row["kernel"]): row for row in mine.iter_rows(named=True)}
        cells = [[Cell(arm) for arm in arms], [Cell(f"{empties[arm]:,}") for arm in arms]]
        for kernel in kernels:
            rows = [known[arm, kernel] for arm in arms]
            outside = any(row["out_of_envelope"] for row in rows)
            values = [row["score"] for row in rows]
            best = smallest(values, [row["tier"] == 1 and not outside for row in rows])
            texts = [number(row["score"]) + (" †" if row["out_of_envelope"] else "") for row in rows]
            cells.append(bold_best(texts, best))
        parts.append((f"{name} ({label.policy})", tuple(zip(*cells, strict=True))))
    digests = "; ".join(f"{name}: {label.digest}" for name, label in zip(analyses.names, analyses.labels, strict=True))
    return Table(
        name="pooled",
        caption="Pooled panel-equal means under every kernel",
        columns=(Column("arm", "Arm", text=True), Column("empty", "Empty"), *(kernel_column(k) for k in kernels)),
        parts=tuple(parts),
        frame=pooled,
        notes=(
            "Smaller is better within a column; magnitudes are not compared between columns. DIMACS on the unitless "
            "gap scale.",
            *(
                ("† out of its envelope: some runs end below the reference.",)
                if pooled["out_of_envelope"].any()
                else ()
            ),
            f"References {digests}.",
        ),
    )


def pairs_table(analyses: Analyses) -> Table:
    """Return the selected pairs of arms, nearest scores first."""
    found = analyses.complementarity
    rows = [
        [
            Cell(row["panel"]),
            Cell(row["a"]),
            Cell(row["b"]),
            Cell(number(row["d_score"])),
            Cell(_DASH if row["d_final"] is None else number(row["d_final"])),
            Cell(f"{100 * row['d_attainment']:.1f}"),
        ]
        for row in found.contrasts.iter_rows(named=True)
    ]
    goal = f"{100 * found.goal:g}"
    columns = (
        Column("panel", "Panel", text=True),
        Column("arm a", "Arm A", text=True),
        Column("arm b", "Arm B", text=True),
        Column("|Δ score|", r"$|\Delta\Lambda|$"),
        Column("|Δ final gap|", r"$|\Delta g_{\mathrm{final}}|$"),
        Column(f"|Δ attainment of {goal} %| (points)", rf"$|\Delta A_{{{goal}\%}}|$"),
    )
    return Table(
        name="pairs",
        caption="Pairs of arms with similar scores that end elsewhere or reach the goal at other rates",
        columns=columns,
        parts=one_part(rows),
        frame=found.contrasts,
        notes=(
            f"{found.contrasts.height} of {found.pairs.height} pairs within a panel; {found.kernel} scores against "
            f"{found.reference}; an exploratory screen. Final gaps over non-empty runs.",
        ),
    )


def grid_table(analyses: Analyses) -> Table:
    """Return how many pairs nearby thresholds would select."""
    found = analyses.complementarity
    grid = found.grid
    thresholds = grid["min_attainment"].unique().sort().to_list()
    middle = [sorted(grid[name].unique())[1] for name in ("max_score", "min_final", "min_attainment")]
    parts = []
    for (score,), block in grid.partition_by("max_score", as_dict=True, maintain_order=True).items():
        rows = []
        for (final,), line in block.partition_by("min_final", as_dict=True, maintain_order=True).items():
            counts = dict(line.select("min_attainment", "count").iter_rows())
            cells = [Cell(f"{score:.4f}"), Cell(f"{final:.3f}")]
            cells += [Cell(str(counts[a]), [score, final, a] == middle) for a in thresholds]
            rows.append(tuple(cells))
        parts.append((None, tuple(rows)))
    columns = (
        Column("max |Δ score|", r"max.\ $|\Delta\Lambda|$"),
        Column("min |Δ final gap|", r"min.\ $|\Delta g_{\mathrm{final}}|$"),
        *(Column(f"{100 * a:g} points") for a in thresholds),
    )
    return Table(
        name="grid",
        caption="Pairs that other thresholds would select",
        columns=columns,
        parts=tuple(parts),
        frame=grid,
        notes=(f"Of {found.pairs.height} pairs within a panel; in bold the rule of the report.",),
    )
