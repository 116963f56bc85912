"""The solves inside one text of a MIP solver: where each begins, who it is, and which facts its header states."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from gapline.capture.loglines import file_name, parse_number

# What only this solver prints. A banner opens a session: what an earlier session set no longer holds.
_BANNERS = {
    "Gurobi Optimizer version": "gurobi",
    "Gurobi ": "gurobi",
    "Running HiGHS ": "highs",
    "SCIP version ": "scip",
    "Welcome to IBM(R) ILOG(R) CPLEX": "cplex",
    "Version identifier: ": "cplex",
    "Welcome to the CBC MILP Solver": "cbc",
    "FICO Xpress ": "xpress",
    "Cardinal Optimizer v": "copt",
    "MOSEK Version ": "mosek",
    "OptVerse Optimizer": "optverse",
}
_BANNER_TEXTS = tuple(_BANNERS)
_SIGNS = {"SCIP Status ": "scip", " time | node ": "scip", "CPLEX> ": "cplex", "CPXPARAM_": "cplex"}
BANNER = re.compile(
    rb"^(?:Gurobi Optimizer version |Gurobi \S{1,20} .{0,40}logging started|Running HiGHS |SCIP version |SCIP Status  "
    rb"| time \| node |Welcome to IBM\(R\) ILOG\(R\) CPLEX|Version identifier: \S{1,20} \| |CPXPARAM_"
    rb"|Welcome to the CBC MILP Solver|FICO Xpress |Cardinal Optimizer v|MOSEK Version |OptVerse Optimizer)",
    re.MULTILINE,
)
# "Gurobi " alone may open any line; `_STARTING` says which of them open a log.
_STARTS = (*(text for text in _BANNERS if text != "Gurobi "), "@01 ", "Optimize a model with ", "original problem has ")
_STARTING = re.compile(
    r"(Gurobi )\S{1,20} .{0,40}logging started|(read problem <)|(?:CPLEX> )?(Problem ')[^']{1,300}' read"
    r"|(?:MIP|LP|QP) (?:\S{1,200} )?(has )[0-9]{1,12} rows"
)
# Lines that begin the next solve of a session, where the solve before has ended.
_PREPARES = ("Set parameter ", "Read MPS format model", "Read LP format model", "Reading time = ")
_BODIES = (
    "Expl Unexpl |", " time | node ", "Src  Proc. InQueue", "   Node  Left     Objective", "Cbc00",
    "BestSoln    BestBound", "BestBound  BestSolution", "BRANCHES RELAXS",
)  # fmt: skip
_ENDS = (
    "Best objective ", "Explored ", "SCIP Status ", "Solving report", "MIP - ", "Result - ", " *** Search ",
    "MIP status ", "Optimizer terminated.", "Model is infeasible",
)  # fmt: skip
_INSTANCES = (
    re.compile(r"Read (?:MPS|LP|REW|RLP) format model from file (.{1,500})"),
    re.compile(r"read problem <(.{1,500})>"),
    re.compile(r"Problem '(.{1,500})' read"),
    re.compile(r"Reading Problem (\S{1,200})"),
    re.compile(r"(?:MIP|LP) (\S{1,200}) has [0-9]{1,12} rows"),
    re.compile(r"command line - \S{1,300} (\S{1,300}\.(?:mps|lp)(?:\.gz)?)\b"),
    re.compile(r"Reading from '(.{1,500})'"),
    re.compile(r"Open file '(.{1,500})'"),
    re.compile(r"@01 (\S{1,500})"),
)
_LIMITS = (
    re.compile(r"Set parameter TimeLimit to value (\S{1,40})"),
    re.compile(r"Set option time_limit to (\S{1,40})"),
    re.compile(r"limits/time = (\S{1,40})"),
    re.compile(r"CPXPARAM_TimeLimit\s{1,80}(\S{1,40})"),
    re.compile(r"command line - .{0,600}?-sec(?:onds)? (\S{1,40})"),
    re.compile(r"\s{0,8}(?:MAXTIME|TIMELIMIT) = -?(\S{1,40})"),
    re.compile(r"Setting parameter 'TimeLimit' to (\S{1,40})"),
)
_SEEDS = (
    re.compile(r"Set parameter Seed to value ([0-9]{1,18})"),
    re.compile(r"Set option random_seed to ([0-9]{1,18})"),
    re.compile(r"randomization/randomseedshift = ([0-9]{1,18})"),
    re.compile(r"CPXPARAM_RandomSeed\s{1,80}([0-9]{1,18})"),
)
_SENSE = re.compile(r"(Minimizing|Maximizing) (?:a )?MI|\s{1,8}Objective sense\s{1,20}: (minimize|maximize)")
_SUFFIXES = re.compile(r"(?:\.(?:mps|lp|rew|rlp|cip|nl|mod|sav|gz|bz2|zst|zip|7z))+$", re.IGNORECASE)


@dataclass(slots=True)
class Solve:
    """The lines of one solve with their numbers, and what its header states."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    solver: str | None = None
    has_body: bool = False
    has_ended: bool = False
    instance: str | None = None
    horizon: float | None = None
    seed: int | None = None
    sense: str | None = None
    is_cpu: bool = False
    banner: str | None = None
    starts: set[str] = field(default_factory=set)


def split_solves(lines: list[tuple[int, str]]) -> list[Solve]:
    """Split a text into its solves; one without a banner of its own inherits what its session has set."""
    solves = [Solve()]
    for number, line in lines:
        current = solves[-1]
        start = _start(line)
        if start is None:
            is_next = current.has_ended and line.startswith(_PREPARES)
        else:
            is_next = current.has_body or current.has_ended or start in current.starts
        if is_next:
            current = Solve()
            solves.append(current)
        if start is not None:
            current.starts.add(start)
        current.lines.append((number, line))
        _read_header(current, line)
    for before, solve in pairwise(solves):
        if solve.banner is None and solve.solver in (None, before.solver):
            solve.solver, solve.banner, solve.is_cpu = before.solver, before.banner, before.is_cpu
            solve.horizon = before.horizon if solve.horizon is None else solve.horizon
            solve.seed = before.seed if solve.seed is None else solve.seed
    return solves


def _start(line: str) -> str | None:
    """Return which of the lines that open a solve this is."""
    if line.startswith(_STARTS):
        return next(start for start in _STARTS if line.startswith(start))
    found = _STARTING.match(line)
    return next(filter(None, found.groups())) if found else None


def _read_header(solve: Solve, line: str) -> None:
    if line.startswith(_BODIES) or line.lstrip(" ").startswith(_BODIES) or "BestSoln    BestBound" in line:
        solve.has_body = True
    elif line.startswith(_ENDS):
        solve.has_ended = True
    if line.startswith(_BANNER_TEXTS):
        solver = next(name for text, name in _BANNERS.items() if line.startswith(text))
        # Gurobi opens a log file with one banner and a session with another, which alone has the version in full.
        if solve.banner is None or solver == solve.solver:
            solve.solver, solve.banner = solver, line
    if solve.solver is None:
        solve.solver = next((solver for sign, solver in _SIGNS.items() if line.startswith(sign)), None)
    if solve.has_body:
        # Headers end where the table begins, so rows cost no patterns.
        return
    line = line.removeprefix("CPLEX> ")
    if named := _first(_INSTANCES, line):
        solve.instance = bare_name(named)
    if limit := _first(_LIMITS, line):
        value = parse_number(limit)
        # A limit of 1e20 or 1e75 is how solvers say that there is none.
        solve.horizon = value if value is not None and 0 < value < 1e9 else solve.horizon
    if seed := _first(_SEEDS, line):
        solve.seed = int(seed)
    if sense := _SENSE.match(line):
        solve.sense = "max" if "axim" in sense[0] else "min"
    if "timing/clocktype = 1" in line:
        solve.is_cpu = True
    if line.startswith("command line - "):
        # CBC counts processor time unless it is told otherwise.
        solve.is_cpu = "elapsed" not in line.lower()


def _first(patterns: tuple[re.Pattern[str], ...], line: str) -> str | None:
    return next((match[1] for pattern in patterns if (match := pattern.match(line))), None)


def bare_name(path: str) -> str | None:
    """Return the name of a model without folder and suffixes.

    >>> bare_name("models/yard7.mps.gz")
    'yard7'
    """
    return _SUFFIXES.sub("", file_name(path)) or None
