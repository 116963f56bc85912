"""docs/what-the-numbers-mean.md: its steps are run as they stand, with fractions, and are what gapline says."""

import ast
import math
import operator
import re
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest
from handbook.drawings import CANDIDATES, DRAWINGS, HORIZON, REFERENCE, worked_envelopes, worked_snapshot

import gapline as gl
from gapline.contract.names import KERNELS, WEIGHTS
from gapline.contract.transforms import Transform, TransformKind
from gapline.errors import UsageError
from gapline.measures.areas import area_over_curve, confined_primal_integral, time_quality_hypervolume
from gapline.measures.running_times import expected_running_time, penalised_mean, performance_profile
from gapline.scoring.weighting import Weighting

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "what-the-numbers-mean.md").read_text(encoding="utf-8")
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
FUNCTIONS = {"ln": math.log, "exp": math.exp, "log10": math.log10}


def tables(under: str) -> list[list[dict[str, str]]]:
    """Return the tables of a section, each a list of rows by column."""
    section = re.split(r"\n#{2,3} ", PAGE.partition(f"# {under}\n")[2])[0]
    found = []
    for block in re.findall(r"(?:^\|.*\n)+", section, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()]
        found.append([dict(zip(head, row, strict=True)) for row in rows])
    return found


def number(cell: str) -> Fraction | None:
    return None if cell in ("none", "") else Fraction(cell)


def worked_out(expression: str):
    """Compute what stands in a cell by hand: exactly, as long as there is no logarithm."""

    def of(node):
        if isinstance(node, ast.Constant):
            return Fraction(str(node.value))
        if isinstance(node, ast.UnaryOp):
            assert isinstance(node.op, ast.USub)
            return -of(node.operand)
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](*map(of, node.args))
        return OPERATORS[type(node.op)](of(node.left), of(node.right))

    return of(ast.parse(expression.strip("`"), mode="eval").body)


def gapline_score(kernel="squeezed", weight="uniform", *, reference=REFERENCE, trace=CANDIDATES):
    run = {"arm": "a", "instance": "i1", "seed": 1, "horizon": HORIZON, "trace": list(trace)}
    scores = gl.score(
        gl.build_envelopes(gl.Campaign.from_runs([run])), {"i1": reference}, kernels=kernel, weight=weight
    )
    return scores.frame[kernel][0]


def steps() -> list[dict[str, str]]:
    return tables("The score by hand")[1]


def accepted() -> list[tuple[Fraction, Fraction]]:
    """Follow step 1 of the page: valid, in time, better than all before."""
    kept: list[tuple[Fraction, Fraction]] = []
    for row in tables("The score by hand")[0]:
        time, objective = Fraction(row["time"]), Fraction(row["objective"])
        good = row["checker"] == "valid" and time <= HORIZON and (not kept or objective < kept[-1][1])
        assert good == row["what becomes of it"].startswith("accepted"), row
        if good:
            kept.append((time, objective))
    return kept


def test_the_candidates_are_those_that_are_drawn_and_scored():
    shown = [
        (int(row["time"]), int(row["objective"]), row["checker"] == "valid") for row in tables("The score by hand")[0]
    ]
    assert tuple(shown) == CANDIDATES
    in_csv = re.findall(r"^mine,i1,1,(\d+),(\d+),(true|false),20$", PAGE, re.MULTILINE)
    assert tuple((int(t), int(z), valid == "true") for t, z, valid in in_csv) == CANDIDATES


def test_the_steps_lead_to_the_score_and_gapline_agrees():
    """From the first table alone, by the rules of the page, every cell of the second; then gapline to the last bit."""
    trace = accepted()
    edges = [Fraction(0), *(time for time, _ in trace), Fraction(int(HORIZON))]
    objectives = [None, *(z for _, z in trace)]
    *rows, total = steps()
    assert len(rows) == len(objectives)
    area = Fraction(0)
    for row, (start, end), z in zip(rows, pairwise(edges), objectives, strict=True):
        gap = Fraction(1) if z is None else (z - 10) / (z + 10)
        area += gap * (end - start)
        assert [number(row[c]) for c in ("from", "to", "seconds", "objective", "gap $\\varrho$", "seconds × gap")] == [
            start, end, end - start, z, gap, gap * (end - start),
        ]  # fmt: skip
    assert number(total["seconds × gap"]) == area
    said = re.search(r"\$\\Lambda\$ = (\S+) / 20 = (\S+) = \*\*(\S+)\*\*", PAGE)
    assert [Fraction(said[k]) for k in (1, 2, 3)] == [area, area / 20, area / 20]
    assert gapline_score() == float(area / 20)


@pytest.mark.parametrize(
    ("under", "reference"), [("Kernels: the gap at one moment", 10.0), ("analysis", 6.0)], ids=["frozen", "analysis"]
)
def test_every_kernel(under, reference):
    (table,) = tables(under)
    for row in table:
        kernel = row["kernel"].strip("`")
        for objective in ("30", "15", "6"):
            gap = gl.score_of_raw_gap(int(objective) / reference - 1, kernel)
            assert gap == pytest.approx(float(Fraction(row[objective])), abs=1e-15), (kernel, objective)
        if row["by hand"]:
            exact = worked_out(row["by hand"])
            gaps = [Fraction(row[column]) for column in ("no solution", "30", "15", "6")]
            assert exact == sum(gap * width for gap, width in zip(gaps, (2, 4, 8, 6), strict=True)) / 20
            assert f"{float(exact):.5f}" == row["score"]
            assert gapline_score(kernel, reference=reference) == pytest.approx(float(exact), abs=1e-15)
        else:
            assert row["score"] == "none"
            assert gapline_score(kernel, reference=reference) is None


def test_the_analysis_reference_of_the_page_is_the_one_of_gapline():
    folded = gl.analysis_snapshot(worked_snapshot(), worked_envelopes())
    assert gapline_score(reference=folded.values["i1"].value) == gapline_score(reference=6.0)


def test_a_reference_that_was_known_later():
    objective, by_hand, score = re.search(r"against the value (\d+) that .*? is `(.*?)` = ([\d.]+)\.", PAGE).groups()
    exact = worked_out(by_hand)
    assert f"{float(exact):.5f}" == score
    assert gapline_score(reference=float(objective)) == pytest.approx(float(exact), abs=1e-15)


def test_every_transform():
    """Each row has objectives that are scored as those of the page, so that its score is that of the page."""
    (table,) = tables("Objectives that are not positive costs")
    kinds = {str(kind) for kind in TransformKind}
    assert {row["transform"].strip("`").partition(":")[0] for row in table} == kinds
    for row in table:
        transform = row["transform"].strip("`")
        parts = [[float(Fraction(one)) for one in cell.split(" and ")] for cell in row["objectives"].split(", ")]
        reference = [float(Fraction(one)) for one in row["reference"].split(" and ")]
        priced = "hierarchical" in transform
        columns = [("primary", 0), ("secondary", 1)] if priced else [("objective", 0)]
        data = {name: [part[k] for part in parts] for name, k in columns}
        if priced:
            data["objective"] = [5 * first + second for first, second in parts]
            reference = [5 * reference[0] + reference[1]]
        frame = pl.DataFrame({"time": [2.0, 6.0, 14.0], **data}).with_columns(
            arm=pl.lit("a"), instance=pl.lit("i1"), seed=1, horizon=HORIZON, valid=True,
            sense=pl.lit("max" if Transform.parse(transform).maximises else "min"),
        )  # fmt: skip
        envelopes = gl.build_envelopes(gl.read(frame), transform=transform)
        score = gl.score(envelopes, {"i1": reference[0]}).frame["squeezed"][0]
        assert score == pytest.approx(0.205, abs=1e-15), row


def test_the_performance_profile_of_the_page():
    other = {"arm": "other", "instance": "i1", "seed": 1, "horizon": HORIZON, "trace": [(4, 15, True)]}
    mine = {"arm": "mine", "instance": "i1", "seed": 1, "horizon": HORIZON, "trace": list(CANDIDATES)}
    profile = performance_profile(
        gl.build_envelopes(gl.Campaign.from_runs([mine, other])), worked_snapshot(), goal=0.5
    ).frame
    time, of_the_other, ratio = re.search(r"the ratio of this run is `(\d+) / (\d+)` = ([\d.]+)", PAGE).groups()
    assert int(time) / int(of_the_other) == float(ratio)
    assert profile.rows() == [("mine", 1.0, 0.0), ("mine", float(ratio), 1.0), ("other", 1.0, 1.0)]


def test_every_kernel_and_weight_has_its_place():
    for name in (*KERNELS, *WEIGHTS):
        assert f"`{name.partition(':')[0]}" in PAGE or f"### {name.partition(':')[0]}\n" in PAGE, name


def test_every_weight():
    (table,) = tables("Time weights: which moments count")
    for row in table:
        value = worked_out(row["by hand"])
        assert f"{float(value):.5f}" == row["score"]
        assert gapline_score(weight=row["weight"].strip("`")) == pytest.approx(float(value), abs=1e-15)


def test_the_edges_of_weights():
    """Before the cutoff nothing counts; cutoffs have their bounds; an empty run scores 1 whatever the weight."""
    names = [row["weight"].strip("`") for row in tables("Time weights: which moments count")[0]]
    for early, late in ((0.5, 1), (0, 0.7)):
        assert gapline_score(weight="early-log:1", trace=[(early, 15, True)]) == gapline_score(
            weight="early-log:1", trace=[(late, 15, True)]
        )
    assert gapline_score(weight="end-log:1", trace=[(1, 15, True), (19, 6, True)]) == gapline_score(
        weight="end-log:1", trace=[(1, 15, True)]
    )
    assert [gapline_score(weight=name, trace=()) for name in names] == [1.0] * len(names)
    for wrong in ("early-log:0", "end-log:0", "early-log:20", "end-log:20", "steps:0=0"):
        with pytest.raises(UsageError):
            gapline_score(weight=wrong)


def test_every_weighting():
    (table,) = tables("Means: which runs count alike")
    assert [row["weighting"].strip("`") for row in table] == [str(rule) for rule in Weighting]
    runs = [
        {"arm": "a", "instance": instance, "panel": panel, "seed": seed, "horizon": HORIZON, "trace": list(trace)}
        for instance, panel, seed, trace in (
            ("i1", "p", 1, CANDIDATES), ("i1", "p", 2, ()),
            ("i2", "p", 1, [(0, 10, True)]), ("j1", "q", 1, [(0, 30, True)]),
        )
    ]  # fmt: skip
    scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), dict.fromkeys(("i1", "i2", "j1"), 10.0))
    for row in table:
        exact = worked_out(row["by hand"])
        assert f"{float(exact) + 1e-12:.5f}" == row["mean"]
        got = gl.summarise(scores, by="arm", weighting=row["weighting"].strip("`")).frame["squeezed"][0]
        assert got == pytest.approx(float(exact), abs=1e-15)


def test_the_mean_curve_and_its_area():
    (table,) = tables("Mean convergence curve")
    curve = gl.mean_curve(worked_envelopes(empty=True), worked_snapshot()).frame
    assert curve["time"].to_list() == [float(row["from"]) for row in table]
    for row, value in zip(table, curve["value"], strict=True):
        mean = (Fraction(row["run 1"]) + Fraction(row["run 2"])) / 2
        assert Fraction(row["mean"]) == mean
        assert Fraction(row["seconds × mean"]) == mean * (int(row["to"]) - int(row["from"]))
        assert value == pytest.approx(float(mean), abs=1e-15)
    area, mean, value = re.search(r"mean of the scores, `(.*?)` = `(.*?)` = (\S+)\.\s", PAGE).groups()
    assert worked_out(area) == worked_out(mean) == Fraction(value)
    assert worked_out(area) == sum(Fraction(row["seconds × mean"]) for row in table) / 20


def test_attainment_and_final_gaps():
    (table,) = tables("Attainment curve")
    curve = gl.attainment_curve(worked_envelopes(empty=True), worked_snapshot(), goals=[0.5, 0.01]).frame
    got = {(goal, time): value for _, goal, time, value in curve.rows()}
    assert got == {(float(row["goal"]), float(row["from"])): float(Fraction(row["share"])) for row in table}
    frame = gl.score(worked_envelopes(empty=True), worked_snapshot()).frame
    assert "(6 - 10)/10 = -0.4 for the run, none for the empty one" in PAGE
    assert frame["final_gap"].to_list() == [-0.4, None]
    assert "*final squeezed gap*, -1/4 and 1" in PAGE
    assert frame["final_squeezed"].to_list() == [-0.25, 1.0]


def test_every_edge():
    (table,) = tables("Edges")
    for row in table:
        trace = [tuple(map(int, pair)) for pair in re.findall(r"\((\d+), (\d+)\)", row["accepted (time, objective)"])]
        for kernel in ("squeezed", "dimacs:1.1", "raw"):
            exact, got = number(row[kernel]), gapline_score(kernel, trace=trace)
            assert got == (None if exact is None else pytest.approx(float(exact), abs=1e-15)), (row["case"], kernel)
        run = {"arm": "a", "instance": "i1", "seed": 1, "horizon": HORIZON, "trace": trace}
        final = gl.score(gl.build_envelopes(gl.Campaign.from_runs([run])), {"i1": 10.0}).frame["final_gap"][0]
        exact = number(row["final gap"])
        assert final == (None if exact is None else pytest.approx(float(exact), abs=1e-15)), row["case"]


def test_every_measure_that_readers_know():
    (table,) = tables("Measures you know")
    one, both, known = worked_envelopes(), worked_envelopes(empty=True), worked_snapshot()
    measured = {
        "primal integral, in seconds": HORIZON * gapline_score("berthold", reference=6.0),
        "DIMACS score": 100 * gapline_score("dimacs:1.1"),
        "confined integral, $\\alpha$ = 10 s": confined_primal_integral(one, known, alpha=10.0)[0],
        "AOCC": area_over_curve(one, known)[0],
        "hypervolume over time": time_quality_hypervolume(one, known)[0],
        "ERT to 50 %": expected_running_time(both, known, goals=[0.5])["ert"][0],
        "PAR-10 to 50 %": penalised_mean(both, known, goals=[0.5])["mean"][0],
    }
    assert [row["measure"] for row in table] == list(measured)
    for row in table:
        value = float(worked_out(row["by hand"]))
        assert f"{value:.5f}" == row["value"]
        assert measured[row["measure"]] == pytest.approx(value, rel=1e-14), row["measure"]


def test_the_confined_integral_is_a_weight_of_ours_too():
    weight = gl.function_weight(lambda t: math.exp(-t / 10), name="fading")
    confined = confined_primal_integral(worked_envelopes(), worked_snapshot(), alpha=10.0)[0]
    assert gapline_score("maxform", weight) == pytest.approx(confined, abs=1e-12)


def test_every_drawing_is_made_by_us_and_shown():
    shown = re.findall(r"!\[[^\]]+\]\(pictures/(definitions-[\w-]+)\.svg\)", PAGE)
    assert sorted(shown) == sorted(name for name in DRAWINGS if name.startswith("definitions-"))


def test_the_glossary_has_our_words_in_order():
    (table,) = tables("Glossary")
    words = [row["word"].strip("*") for row in table]
    assert words == sorted(words)
    wanted = {"arm", "panel", "tier", "candidate", "incumbent", "envelope", "late", "fold", "goal", "reading"}
    assert wanted <= set(words)
