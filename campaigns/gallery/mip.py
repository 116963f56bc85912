"""MIP solvers on sets whose optima are positive, negative and zero."""

from pathlib import Path

import polars as pl

import gapline as gl
from campaigns.gallery.exhibit import Exhibit
from campaigns.gallery.sentences import difference_words, first_times, means, ordered, pair
from campaigns.gallery.written import contract_block, write_contract
from gapline.generate.draws import Draws
from gapline.generate.write import setcover_files
from gapline.report.numbers import number, percent

CONTRACT = """\
seeds = 2

[study]
name = "mip"
title = "MIP solvers on optima of every sign"

[objective]
name = "cost"
checker = "mip"

[time]
horizon = $horizon

# The best of these runs, since nobody has solved drawn instances before.
[reference]
policy = "analysis"

# The one kernel that is defined for every sign.
[score]
kernel = "berthold"
goals = [0.01]

[aggregate]
weighting = "panel"
contrasts = [["highs", "scip"], ["highs", "cpsat"], ["scip", "cpsat"]]

[[instances]]
path = "instances/cover-*.mps"
panel = "cover"

[[instances]]
path = "instances/profit-*.mps"
panel = "profit"

[[instances]]
path = "instances/balance-*.mps"
panel = "balance"

[[arms]]
name = "highs"
solver = "highs"

[[arms]]
name = "scip"
solver = "scip"

[[arms]]
name = "cpsat"
solver = "cpsat"
"""


def profit_file(name: str, items: int) -> str:
    """Return a knapsack in five dimensions that minimises the negative profit: every optimum is below zero."""
    draws = Draws(f"gallery profit {name}")
    weights = [[draws.integer(10, 99) for _ in range(items)] for _ in range(5)]
    profits = [sum(row[item] for row in weights) // 5 + draws.integer(0, 20) for item in range(items)]
    columns = {
        f"x{item}": {"cost": -profits[item]} | {f"w{k}": row[item] for k, row in enumerate(weights)}
        for item in range(items)
    }
    return mps(name, columns, {f"w{k}": ("L", sum(row) // 2) for k, row in enumerate(weights)})


def balance_file(name: str, items: int) -> str:
    """Return numbers to be parted into two halves that weigh the same, which is possible: the optimum is 0."""
    draws = Draws(f"gallery balance {name}")
    left = [draws.integer(1000, 9999) for _ in range(items // 2 - 1)]
    right = [draws.integer(1000, 9999) for _ in range(items // 2 - 1)]
    # The last two make both halves equal.
    more = 10_000
    pair_left = more + max(0, sum(right) - sum(left))
    numbers = draws.shuffled([*left, *right, pair_left, pair_left + sum(left) - sum(right)])
    columns = {f"x{k}": {"over": 2 * value, "under": 2 * value} for k, value in enumerate(numbers)}
    columns["apart"] = {"cost": 1, "over": -1, "under": 1}
    return mps(name, columns, {"over": ("L", sum(numbers)), "under": ("G", sum(numbers))}, most={"apart": sum(numbers)})


def mps(
    name: str,
    columns: dict[str, dict[str, int]],
    rows: dict[str, tuple[str, int]],
    *,
    most: dict[str, int] | None = None,
) -> str:
    """Return a problem in free MPS; columns are binary, but for those that have a largest value other than 1."""
    lines = [f"NAME {name}", "ROWS", " N cost", *(f" {kind} {row}" for row, (kind, _) in rows.items())]
    lines += ["COLUMNS", " MARKER 'MARKER' 'INTORG'"]
    lines += [f" {column} {row} {value}" for column, entries in columns.items() for row, value in entries.items()]
    lines += [" MARKER 'MARKER' 'INTEND'", "RHS", *(f" RHS {row} {side}" for row, (_, side) in rows.items())]
    lines += ["BOUNDS", *(f" UP BND {column} {(most or {}).get(column, 1)}" for column in columns), "ENDATA"]
    return "\n".join(lines) + "\n"


def prepare(folder: Path, quick: bool) -> Path:
    """Draw three sets."""
    count, horizon, covers, items, numbers = (2, 6.0, 60, 40, 16) if quick else (3, 5.0, 400, 250, 60)
    (folder / "instances").mkdir(parents=True, exist_ok=True)
    for k in range(1, count + 1):
        files = {
            f"profit-{k}.mps": profit_file(f"profit-{k}", items),
            f"balance-{k}.mps": balance_file(f"{k}", numbers),
        }
        files |= {name: text.decode() for name, text in setcover_files(f"cover-{k}", covers).items()}
        for name, text in files.items():
            (folder / "instances" / name).write_text(text)
    write_contract(folder, CONTRACT, horizon=horizon)
    return folder


def learned(study: gl.Study) -> list[str]:
    """Say what the signs do, and who is better where."""
    found = means(study.scores[0], weighting=study.weighting)
    values = {name: entry.value for name, entry in study.snapshot.values.items()}
    signs = {
        "above zero": sum(value > 0 for value in values.values()),
        "below zero": sum(value < 0 for value in values.values()),
        "zero": sum(value == 0 for value in values.values()),
    }
    said = [
        f"Of {len(values)} references {signs['above zero']} lie above zero, {signs['below zero']} below, and "
        f"{signs['zero']} are zero. Berthold's gap is defined for all of them and between 0 and 1, so one mean holds "
        "the whole set; the other kernels would refuse it, and a ratio to the optimum would divide by zero.",
        f"The means are {ordered(found)}.",
    ]
    kernel = study.kernels[0]
    panels = gl.summarise(study.scores[0], by=["arm", "panel"], weighting="instance").frame
    best = {
        panel: panels.filter(panel=panel).sort(kernel).row(0, named=True) for panel in sorted(panels["panel"].unique())
    }
    leaders = ", ".join(f"{panel}: {row['arm']} {number(row[kernel])}" for panel, row in best.items())
    alike = len({row["arm"] for row in best.values()}) == 1
    said.append(
        f"By panel the best are {leaders}. "
        + ("One solver leads everywhere." if alike else "No solver leads everywhere: a mean over panels hides that.")
    )
    worst = panels.sort("final_gap", descending=True, nulls_last=True).row(0, named=True)
    others = panels.filter(pl.col("arm") == worst["arm"], pl.col("panel") != worst["panel"])["final_gap"].max()
    said.append(
        f"The farthest from the best value at the end is {worst['arm']} on `{worst['panel']}`, by "
        f"{percent(worst['final_gap'])} in the mean; on its other panels it ends within {percent(others)}. Each solver "
        "has one thread: [what a second one buys](threads.md) is a campaign of its own."
    )
    first, second = list(found)[:2]
    said.append(f"Of the two best, {difference_words(pair(study, first, second))}.")
    starts = ", ".join(f"{arm} {time:.2f} s" for arm, time in first_times(study).items() if time is not None)
    said.append(
        f"The first valid solution is there after {starts} (medians); loading the solver is in it, for all alike."
    )
    zero = study.scores[0].frame.filter(panel="balance")
    reached = sum(
        bool(len(objectives) and objectives[-1] == values[name])
        for k, name in enumerate(study.envelopes.runs["instance"])
        if study.envelopes.runs["panel"][k] == "balance"
        for _, objectives in [study.envelopes.steps(k)]
    )
    said.append(
        f"On `balance` {reached} of {zero.height} runs end on the best value. Any other value is at gap 1 from a "
        "reference of 0, however small it is: at zero a relative gap judges hits, not distances."
    )
    return said


EXHIBIT = Exhibit(
    name="mip",
    title="MIP solvers on optima of every sign",
    question=(
        "Test sets of MIP mix costs, profits that are written as negative costs, and problems whose best value is "
        "zero. Can one score hold them all, and which of three solvers has good solutions first?"
    ),
    prepare=prepare,
    contract=contract_block,
    pictures={
        "mean-convergence": "The mean gap over time; covers (above zero), profits (below) and balances (zero) alike.",
        "attainment": "The share of runs within a goal of the best value by each time.",
        "score-intervals": "Mean scores with their intervals over instances.",
    },
    learned=learned,
)
