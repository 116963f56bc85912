"""What tools for judging solvers can do, who has it, and where gapline shows that it has it.

A row: what, who has it, who has part of it, gapline's own state, and the page or test that shows it. What others have was
found by trying them or reading their documentation; whoever knows better is welcome to correct a row.
"""

from typing import NamedTuple

YES, PART, NO = "yes", "part", "no"


class Feature(NamedTuple):
    """One row of the table; what shows it is a page of docs/ or a test."""

    what: str
    have: str
    partly: str
    state: str
    shown: str
    note: str = ""


_MIP = "import-formats.md#mip-logs-incumbents-without-a-stamp"

FEATURES: dict[str, tuple[Feature, ...]] = {
    "Input": (
        Feature("trace file of time and objective, not tied to a solver", "QOBLIB tools", "IPET, IOHanalyzer, iohinspector, moocore, Routing Arena, mzn-bench, Timefold benchmarker", YES, "score.md"),
        Feature("float seconds of wall clock", "IPET, gurobi-logtools, CP-SAT log tools, moocore, benchopt, DIMACS controller, Routing Arena, mzn-bench, miplog, QOBLIB tools, Timefold benchmarker", "Rubberband, AlgBench, iohinspector, BenchExec", YES, "score.md"),
        Feature("logs of SCIP", "IPET, Rubberband, miplog", "", YES, _MIP),
        Feature("logs of Gurobi", "gurobi-logtools, miplog", "IPET, Rubberband, QOBLIB tools", YES, _MIP),
        Feature("logs of CPLEX", "IPET, miplog", "Rubberband", YES, _MIP),
        Feature("logs of Xpress", "IPET, miplog", "Rubberband", YES, _MIP),
        Feature("logs of HiGHS", "miplog", "", YES, _MIP),
        Feature("logs of COPT", "miplog", "", YES, _MIP),
        Feature("logs of CP-SAT", "CP-SAT log tools", "", YES, "import-formats.md"),
        Feature("traces of routing heuristics (HGS, PyVRP, LKH, DIMACS)", "", "DIMACS controller, Routing Arena", YES, "import-formats.md", "FILO writes no trace, only its last cost and seconds"),
        Feature("data of IOHprofiler and COCO", "IOHanalyzer, iohinspector", "cocopp", PART, "import-formats.md#coco-and-iohprofiler-evaluations-and-a-reference-of-0", "one objective; a reference of 0 needs a declared shift"),
        Feature("format recognised from the file", "IPET, Rubberband, IOHanalyzer, miplog", "iohinspector", YES, "import-logs.md#formats"),
        Feature("several runs in one file", "IPET, Rubberband, gurobi-logtools, IOHanalyzer, iohinspector, cocopp, moocore, mzn-bench, miplog, QOBLIB tools", "", YES, "import-formats.md"),
        Feature("dual bounds kept beside incumbents", "IPET, gurobi-logtools, CP-SAT log tools, miplog", "Rubberband, QOBLIB tools", YES, "mip.md#dual-bounds"),
    ),
    "What counts as a trace": (
        Feature("a checker's verdict on every incumbent", "DIMACS controller", "Routing Arena, mzn-bench, Timefold benchmarker", YES, "contract.md#checkers"),
        Feature("final solution or status checked", "IPET, Rubberband, DIMACS controller, Routing Arena, mzn-bench, QOBLIB tools", "BenchExec, Timefold benchmarker", YES, "references.md#when-two-runs-contradict-each-other"),
        Feature("best-so-far enforced", "IOHanalyzer, iohinspector, cocopp, DIMACS controller, Timefold benchmarker", "CP-SAT log tools, Routing Arena", YES, "tests/native/test_accept.py"),
        Feature("faults of the data named (order, doubles, gaps)", "", "gurobi-logtools, cocopp, QOBLIB tools, Timefold benchmarker", YES, "import-logs.md#what-an-import-keeps-and-what-it-says"),
        Feature("invalid, empty and crashed runs counted", "IPET, Rubberband, BenchExec, mzn-bench, QOBLIB tools, Timefold benchmarker", "gurobi-logtools, cocopp, benchopt", YES, "trust.md#what-is-counted-under-which-name"),
        Feature("a stated score for a run that found nothing", "IPET, Rubberband, cocopp, DIMACS controller, Routing Arena", "IOHanalyzer, iohinspector, Timefold benchmarker", YES, "score.md#what-a-score-means"),
        Feature("a run that stops early lasts to the horizon", "IOHanalyzer, iohinspector, cocopp, DIMACS controller, Routing Arena", "", YES, "score.md#what-a-score-means"),
        Feature("candidates after the deadline kept apart", "DIMACS controller, BenchExec", "IPET, Rubberband, IOHanalyzer, iohinspector, cocopp, Routing Arena", YES, "tests/native/test_accept.py"),
    ),
    "Measures": (
        Feature("primal integral", "IPET, DIMACS controller, Routing Arena", "Rubberband, iohinspector", YES, "score.md#what-a-score-means"),
        Feature("integral over the horizon, so that runs compare", "iohinspector, DIMACS controller, Routing Arena", "IPET, Rubberband", YES, "score.md#what-a-score-means"),
        Feature("squeezed gap (z − z*) / (z + z*)", "", "", YES, "score.md#what-a-score-means"),
        Feature("signed gap over the larger value", "", "", YES, "score.md#what-a-score-means"),
        Feature("Berthold's gap, of every sign", "", "IPET, Rubberband", YES, "score.md#objectives-that-are-maximised-zero-or-negative"),
        Feature("threshold of the DIMACS challenge", "DIMACS controller", "Routing Arena", YES, "score.md#choices-and-where-they-are-printed"),
        Feature("better than the reference counts as negative", "DIMACS controller, Routing Arena", "", YES, "score.md#what-a-score-means"),
        Feature("dual and primal-dual integrals", "", "IPET, Rubberband, CP-SAT log tools, miplog", YES, "neighbours.md"),
        Feature("expected running time, PAR-k", "IOHanalyzer, iohinspector, cocopp", "QOBLIB tools", YES, "neighbours.md"),
        Feature("ECDF over targets", "IOHanalyzer, iohinspector, cocopp", "gurobi-logtools, moocore, rliable, BenchExec", YES, "neighbours.md"),
        Feature("empirical attainment function and its difference", "IOHanalyzer, iohinspector, moocore", "", YES, "neighbours.md", "two dimensions; moocore has more"),
        Feature("mean convergence over runs", "IOHanalyzer, iohinspector, cocopp, benchopt", "IPET, gurobi-logtools, rliable", YES, "score.md#curves"),
        Feature("table of final gaps", "IPET, Rubberband, gurobi-logtools, Routing Arena", "IOHanalyzer, cocopp, benchopt, mzn-bench, QOBLIB tools, Timefold benchmarker", YES, "report.md#what-is-in-the-directory"),
        Feature("measures of one's own", "benchopt, rliable", "IPET, Rubberband, iohinspector, BenchExec, Timefold benchmarker", YES, "score.md#a-kernel-or-a-statistic-of-your-own"),
        Feature("the same runs under several measures: what flips", "", "", YES, "analyse.md"),
    ),
    "References": (
        Feature("best-known values from a file", "IPET, Rubberband, cocopp, DIMACS controller, Routing Arena, QOBLIB tools", "BenchExec", YES, "references.md#stores-to-freeze-from"),
        Feature("best of these runs as the reference", "benchopt", "CP-SAT log tools, IOHanalyzer, iohinspector, mzn-bench, Timefold benchmarker", YES, "references.md#two-readings-of-the-same-runs"),
        Feature("frozen, versioned set of references", "", "IPET, cocopp, QOBLIB tools", YES, "references.md#freeze"),
        Feature("digest of the references", "", "cocopp", YES, "references.md#what-is-in-the-file"),
        Feature("origin of each value", "", "cocopp, QOBLIB tools", YES, "references.md#where-does-a-value-come-from"),
        Feature("reference named beside every number", "DIMACS controller", "cocopp, QOBLIB tools", YES, "tests/contract/test_reading.py"),
        Feature("what another reference would change", "", "", YES, "references.md#two-readings-of-the-same-runs"),
    ),
    "Means and statistics": (
        Feature("seeds, then instances, then panels", "cocopp, rliable", "IPET, Rubberband, gurobi-logtools, IOHanalyzer, iohinspector, benchopt, Routing Arena, Timefold benchmarker", YES, "tests/scoring/test_weighting.py"),
        Feature("shifted geometric mean", "IPET, Rubberband", "", YES, "neighbours.md"),
        Feature("groups of instances", "IPET, Rubberband, cocopp, BenchExec", "gurobi-logtools, IOHanalyzer, iohinspector, benchopt, Routing Arena, mzn-bench, QOBLIB tools, Timefold benchmarker", YES, "contract.md#at-the-size-of-a-paper"),
        Feature("missing cells named and handled", "IPET", "Rubberband, gurobi-logtools, AlgBench, IOHanalyzer, iohinspector, cocopp, benchopt, BenchExec, mzn-bench, QOBLIB tools, Timefold benchmarker", YES, "tests/study/test_coverage.py"),
        Feature("confidence intervals", "rliable", "IOHanalyzer, iohinspector, cocopp", YES, "statistics.md", "of means, differences, interquartile means, ratings and probabilities; rliable has those of medians too"),
        Feature("paired or two-sample tests", "IPET, Rubberband, IOHanalyzer, cocopp", "rliable", YES, "neighbours.md"),
        Feature("correction for many comparisons", "IOHanalyzer, cocopp", "", YES, "statistics.md"),
        Feature("statistics that repeat to the last digit", "cocopp", "", YES, "tests/statistics/test_draws.py"),
        Feature("ranks and ratings", "IOHanalyzer, iohinspector, Timefold benchmarker", "IPET, cocopp, rliable", YES, "neighbours.md"),
    ),
    "Output and operation": (
        Feature("figures for a paper", "gurobi-logtools, IOHanalyzer, iohinspector, cocopp, benchopt, rliable, Timefold benchmarker", "moocore, BenchExec", YES, "report.md#in-a-paper"),
        Feature("interactive plots", "Rubberband, gurobi-logtools, CP-SAT log tools, IOHanalyzer, benchopt, BenchExec, mzn-bench", "cocopp, Timefold benchmarker", YES, "report.md"),
        Feature("one page that needs no network", "BenchExec, Timefold benchmarker", "gurobi-logtools, IOHanalyzer, cocopp, mzn-bench", YES, "report.md"),
        Feature("LaTeX tables", "IPET, Rubberband, IOHanalyzer, cocopp, BenchExec", "benchopt", YES, "report.md#in-a-paper"),
        Feature("command line", "IPET, gurobi-logtools, cocopp, benchopt, DIMACS controller, Routing Arena, BenchExec, mzn-bench, miplog, QOBLIB tools", "Rubberband", YES, "terminal.md"),
        Feature("Python interface", "gurobi-logtools, CP-SAT log tools, AlgBench, iohinspector, cocopp, moocore, benchopt, rliable, mzn-bench, miplog", "IPET, Routing Arena, BenchExec", YES, "python.md"),
        Feature("runs the solvers", "AlgBench, benchopt, DIMACS controller, Routing Arena, BenchExec, mzn-bench, Timefold benchmarker", "cocopp", YES, "run-a-campaign.md"),
        Feature("times of machines of different speed", "DIMACS controller, Routing Arena", "", YES, "more-than-one-machine.md#times-of-different-machines"),
        Feature("record of machine and versions of each run", "Rubberband, AlgBench, benchopt, DIMACS controller, BenchExec, Timefold benchmarker", "IPET, gurobi-logtools, CP-SAT log tools, IOHanalyzer, iohinspector, cocopp, Routing Arena, mzn-bench, QOBLIB tools", YES, "more-than-one-machine.md#was-it-measured-fairly"),
        Feature("followed while it runs", "", "Rubberband, gurobi-logtools, AlgBench, benchopt, DIMACS controller, BenchExec", YES, "watch.md"),
        Feature("more than a million points of traces", "moocore, miplog", "Rubberband, gurobi-logtools, iohinspector, cocopp, benchopt, BenchExec, Timefold benchmarker", YES, "score.md#more-than-memory-holds"),
    ),
}  # fmt: skip

# Said by name, so that nobody has to find it out.
OTHERS_ARE_BETTER = (
    "**moocore** knows fronts of any number of objectives (hypervolume, EAF, epsilon indicators); gapline knows time and one"
    " objective.",
    "**cocopp** and **IOHanalyzer** are made for black-box functions and evaluations: dimensions, targets per function and"
    " comparison with years of archived results are there and not here; so are two objectives.",
    "**IPET** lets its user define what is read of a log line by line, and validates primal and dual bounds of hundreds of"
    " runs against a table of a MIP library in one step.",
    "**Rubberband** and **BenchExec** keep the results of a whole team over years, with comparison tables of thousands of"
    " runs; gapline keeps studies as folders and leaves the archive to git and packages. BenchExec's limits by cgroups are"
    " those of competitions, many users of one machine included.",
    "**rliable** and **pandas** take any table of numbers; gapline wants to know what a run, a horizon and a reference are."
    " rliable also has intervals of medians and optimality gaps, and gapline's are of means, differences, interquartile"
    " means, ratings and probabilities.",
    "**IOHanalyzer** is a web service too: nothing has to be installed to look at data that somebody has uploaded there.",
    "**benchopt** fetches data sets and solvers and runs them with one command of its own community's collections; here a"
    " study brings its instances.",
    "**gurobi-logtools** and **CP-SAT log tools** show cuts, presolve, LP and node logs; gapline reads incumbents and bounds.",
    "They have had users for years, and gapline has had few: expect rough edges here that they have lost.",
)
