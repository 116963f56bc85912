"""Split the text of a MIP solver into solves, and read the facts that the header of each states."""

import re
from dataclasses import dataclass, field
from itertools import pairwise

from gapline.logs.lines import file_name, parse_number

# Lines that only this solver prints. A banner opens a session: settings of an earlier session no longer hold.
_BANNERS = {
    "Gurobi Optimizer version": "gurobi",
    "Gurobi ": "gurobi",
    "Running HiGHS ": "highs",
    "SCIP version ": "scip",
    "Welcome to IBM(R) ILOG(R) CPLEX": "cplex",
    "Version identifier: ": "cplex",
    "Log started (V": "cplex",
    "Welcome to the CBC MILP Solver": "cbc",
    # A session of Xpress 8 opens with its own banner, and each solve of it with `FICO Xpress v8.5.1, solve started`.
    "FICO Xpress-Optimizer ": "xpress",
    "FICO Xpress Solver ": "xpress",
    "FICO Xpress v": "xpress",
    "Cardinal Optimizer v": "copt",
    "Using Cardinal Optimizer v": "copt",
    "MOSEK Version ": "mosek",
    "OptVerse Optimizer": "optverse",
}
_BANNER_TEXTS = tuple(_BANNERS)
_SIGNS = {
    "SCIP Status ": "scip", " time | node ": "scip", "original problem has ": "scip", "CPLEX> ": "cplex",
    "CPXPARAM_": "cplex", "Starting solution of the Linear programming relaxation": "cbc",
}  # fmt: skip
BANNER = re.compile(
    rb"^(?:Gurobi Optimizer version |Gurobi \S{1,20} .{0,40}logging started|Running HiGHS |SCIP version |SCIP Status  "
    rb"| time \| node |original problem has [0-9]{1,12} variables "
    rb"|Welcome to IBM\(R\) ILOG\(R\) CPLEX|Version identifier: \S{1,20} \| |CPXPARAM_"
    rb"|Log started \(V[0-9.]{3,20}\)|Welcome to the CBC MILP Solver"
    rb"|Starting solution of the Linear programming relaxation"
    rb"|FICO Xpress(?: v| Solver |-Optimizer )|(?:Using )?Cardinal Optimizer v|MOSEK Version |OptVerse Optimizer)",
    re.MULTILINE,
)
# "Gurobi " alone may open any line, and CPLEX restarts its log for each model that it reads; see `_STARTING`.
_NO_STARTS = ("Gurobi ", "Log started (V")
_STARTS = (
    *(text for text in _BANNERS if text not in _NO_STARTS),
    "@01 ",
    "Optimize a model with ",
    "original problem has ",
    # CBC as a library solves the relaxation before the MIP, and a session of CBC prints its banner once.
    "Starting solution of the Linear programming relaxation",
    "Continuous objective value is ",
)
_STARTING = re.compile(
    r"(Gurobi )\S{1,20} .{0,40}logging started|(read problem <)|(?:CPLEX> )?(Problem ')[^']{1,300}' read"
    r"|(?:MIP|LP|QP) (?:\S{1,200} )?(has )[0-9]{1,12} rows|(Multi-objectives: optimize objective )"
)
# Lines that begin the next solve of a session if the solve before has ended.
_PREPARES = (
    "Set parameter ", "Read MPS format model", "Read LP format model", "Reading time = ", "Reading from '",
    "Setting parameter '", "Log started (V", "CPXPARAM_", "SCIP> optimize", "presolving:",
    "feasible solution found by ",
)  # fmt: skip
_BODIES = (
    "Expl Unexpl |", " time | node ", "Src  Proc. InQueue", "   Node  Left     Objective", "Cbc00",
    "BestSoln    BestBound", "BestBound  BestSolution", "BRANCHES RELAXS",
)  # fmt: skip
_ENDS = (
    "Best objective ", "Explored ", "SCIP Status ", "Solving report", "MIP - ", "Result - ", " *** Search ",
    "MIP status ", "Optimizer terminated.", "Model is infeasible", "Total (root+branch&cut) =",
    "Cbc0001I Search completed", "Cbc0005I Partial search", "Problem is infeasible",
)  # fmt: skip
# The first match counts.
_INSTANCE = re.compile(
    r"Read (?:MPS|LP|REW|RLP) format model from file (.{1,500})"
    r"|read problem <(.{1,500})>"
    r"|Problem '(.{1,500})' read"
    r"|Reading Problem (\S{1,200})"
    r"|(?:MIP|LP) (\S{1,200}) has [0-9]{1,12} rows"
    r"|command line - \S{1,300} (\S{1,300}\.(?:mps|lp)(?:\.gz)?)\b"
    r"|Reading from '(.{1,500})'"
    r"|Open file '(.{1,500})'"
    r"|@01 (\S{1,500})"
    r"|(?:Minim|Maxim)izing MI\w{2,4} (?!using |noname)(\S{1,200})"
)
_PARAMETER = re.compile(
    r"(?:Set parameter|Changed value of parameter) (\w{1,60}) to (?:value )?(.{1,200})"
    r"|Set option (\w{1,80}) to (.{1,200})"
    r"|([a-z]\w{0,60}(?:/\w{1,60}){1,5}) = (.{1,200})"
    r"|CPXPARAM_(\w{1,80})\s{1,80}(\S{1,80})"
    r"|Setting parameter '(\w{1,60})' to (.{1,200})"
    r"|\s{0,8}([A-Z][A-Z0-9_]{3,40}) ?= ?(\S{1,60})\s{0,8}$"
    # The list of non-default parameters that Gurobi prints before each solve.
    r"|([A-Z][A-Za-z]{2,40})  (\S{1,60})$"
)
_MODELS = re.compile(r" (\S{1,300}\.(?:mps|lp)(?:\.gz)?)(?= )")
_COMMAND = re.compile(r" -([A-Za-z]\w{0,40})(?: (?!-)(\S{1,200}))?")
_LIMITS = ("TimeLimit", "time_limit", "limits/time", "sec", "seconds", "MAXTIME", "TIMELIMIT")
_SEEDS = ("Seed", "random_seed", "randomization/randomseedshift", "RandomSeed")
# Parameters for the output of a solve, not for its search; a seed is not a setting of an arm.
NO_SETTINGS = frozenset((*_SEEDS, "LogFile", "log_file", "ResultFile", "solution", "solve", "quit", "printingOptions"))
_SENSE = re.compile(
    r"(Minimizing|Maximizing) (?:a )?MI|\s{1,8}Objective sense\s{1,20}: (minimize|maximize)"
    r"|\s?CoinLpIO::readLp\(\): Maximization problem"
)
# CBC accepts any abbreviation of its commands, with one dash, with two, or (from PuLP) with none.
_MAXIMIZES = re.compile(r" -{0,2}max(?:i(?:m(?:i(?:z(?:e)?)?)?)?)?(?= )")
_RELAXATION = re.compile(r"Continuous objective value is (\S{1,40}) - ")
_LIMIT_CHANGED = re.compile(r"seconds was changed from \S{1,40} to (\S{1,40})")
# The inner search of a CBC heuristic, printed at high log levels, says nothing about the MIP.
_SUBTREE = "Cbc0028I Starting sub-tree"
_SUBTREE_ENDS = ("Cbc0001I ", "Cbc0005I ", "Cbc0006I ", "Cbc3007W ")
_PROMPTS = re.compile(r"(?:Coin:)+")
_OBJECTIVE = re.compile(r"Multi-objectives: optimize objective ([0-9]{1,6})\b")
_SUFFIXES = re.compile(
    r"(?:\.(?:mps|lp|rew|rlp|cip|opb|wbo|osil|cnf|wcnf|fzn|pip|zpl|nl|mod|sav|gz|bz2|xz|zst|zip|7z))+$", re.IGNORECASE
)


@dataclass(slots=True)
class Solve:
    """The lines of one solve with their numbers, and the facts in its header.

    `ended_at` is the index of the first line that states the end. `objective` is its number among the objectives of one
    model, which Gurobi optimises one after the other. `relaxation` is the root LP value of CBC as printed, in the sense
    of the model; `in_subtree` says that the lines are those of a heuristic's own search, `has_models` that the session
    reads several models.
    """

    lines: list[tuple[int, str]] = field(default_factory=list)
    solver: str | None = None
    has_body: bool = False
    ended_at: int | None = None
    instance: str | None = None
    parameters: dict[str, str] = field(default_factory=dict)
    sense: str | None = None
    is_cpu: bool = False
    banner: str | None = None
    fingerprint: str | None = None
    objective: int | None = None
    relaxation: str | None = None
    in_subtree: bool = False
    has_models: bool = False
    starts: set[str] = field(default_factory=set)

    @property
    def has_ended(self) -> bool:
        """Whether the log states that the solve ended."""
        return self.ended_at is not None

    @property
    def horizon(self) -> float | None:
        """The time limit in seconds; None for values such as 1e20 or 1e75, with which solvers express no limit."""
        value = parse_number(_value(self.parameters, _LIMITS).removeprefix("-"))
        return value if value is not None and 0 < value < 1e9 else None

    @property
    def seed(self) -> int | None:
        """The seed, if one was set."""
        text = _value(self.parameters, _SEEDS)
        return int(text) if text.isdecimal() and len(text) < 19 else None


def split_solves(lines: list[tuple[int, str]]) -> list[Solve]:
    """Split a text into its solves; one without a banner of its own inherits the settings of its session."""
    solves = [Solve()]
    for number, printed in lines:
        current = solves[-1]
        line = _PROMPTS.sub("", printed, count=1) if printed.startswith("Coin:") else printed
        if _is_of_subtree(current, line):
            continue
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
    solves = _without_tails(solves)
    for before, solve in pairwise(solves):
        if solve.banner is None and solve.solver in (None, before.solver):
            solve.solver, solve.banner, solve.is_cpu = before.solver, before.banner, before.is_cpu
            solve.parameters = before.parameters | solve.parameters
            if (solve.objective or 0) > 1:
                solve.fingerprint = before.fingerprint
            solve.has_models = before.has_models
            if solve.instance is None and solve.fingerprint == before.fingerprint and not solve.has_models:
                solve.instance = before.instance
    return solves


def _is_of_subtree(solve: Solve, line: str) -> bool:
    """Whether a line belongs to a search inside a heuristic of CBC; updates the state at its start and end."""
    if line.startswith(_SUBTREE):
        solve.in_subtree = True
    elif solve.in_subtree:
        is_end = line.startswith(_SUBTREE_ENDS)
        # If the end was not printed, the result or the next solve is not part of it.
        solve.in_subtree = not is_end and not line.startswith(("Result - ", *_BANNER_TEXTS))
        return is_end or solve.in_subtree
    return solve.in_subtree


def _without_tails(solves: list[Solve]) -> list[Solve]:
    """Merge solves that were prepared but never run (a parameter, the LP of a fixed MIP) into the previous one."""
    kept = solves[:1]
    for solve in solves[1:]:
        if solve.starts or solve.has_body:
            kept.append(solve)
        else:
            kept[-1].lines += solve.lines
    return kept


def _start(line: str) -> str | None:
    """Return which of the opening lines of a solve this is, or None."""
    # Most lines are rows, and most rows begin with a space.
    if line.startswith(" "):
        return None
    if line.startswith(_STARTS):
        return next(start for start in _STARTS if line.startswith(start))
    found = _STARTING.match(line)
    return next(filter(None, found.groups())) if found else None


def _read_header(solve: Solve, line: str) -> None:
    if line.startswith(_BODIES) or line.lstrip(" ").startswith(_BODIES) or "BestSoln    BestBound" in line:
        solve.has_body = True
    if line.startswith(_ENDS) and not solve.has_ended:
        solve.ended_at = len(solve.lines) - 1
    if line.startswith(_BANNER_TEXTS):
        solver = next(name for text, name in _BANNERS.items() if line.startswith(text))
        # Gurobi opens a log file with one banner and a session with another; only the latter has the full version.
        if solve.banner is None or solver == solve.solver:
            solve.solver, solve.banner = solver, line
            # CBC counts processor time unless it is configured otherwise.
            solve.is_cpu = solver == "cbc"
    if solve.solver is None:
        solve.solver = next((solver for sign, solver in _SIGNS.items() if line.startswith(sign)), None)
        solve.is_cpu = solve.solver == "cbc"
    # Headers end where the table begins, so that rows need no regex matching.
    if (not solve.has_body or line.startswith("  Objective sense")) and len(line) <= 2000:
        _read_facts(solve, line.removeprefix("CPLEX> "))


def _read_facts(solve: Solve, line: str) -> None:
    if named := _INSTANCE.match(line):
        solve.instance = bare_name(next(filter(None, named.groups())))
    if parameter := _PARAMETER.match(line):
        name, value = filter(None, parameter.groups())
        solve.parameters[name] = value.strip()
    if sense := _SENSE.match(line):
        solve.sense = "max" if "axim" in sense[0] else "min"
    if objective := _OBJECTIVE.match(line):
        solve.objective = int(objective[1])
    if line.startswith("Model fingerprint: "):
        solve.fingerprint = line[19:].strip()
    if "timing/clocktype = 1" in line:
        solve.is_cpu = True
    if line.startswith("command line - "):
        solve.parameters |= dict(_COMMAND.findall(line))
        solve.has_models = len(set(_MODELS.findall(line))) > 1
        solve.is_cpu = "elapsed" not in line.lower()
        if _MAXIMIZES.search(line):
            solve.sense = "max"
    if line.startswith("Option for timeMode changed from cpu to elapsed"):
        solve.is_cpu = False
    if line.startswith("Version: ") and solve.solver == "cbc" and solve.banner is not None:
        # CBC prints its version below its banner, once for all solves of a session.
        solve.banner = f"{solve.banner}\n{line}"
    if relaxation := _RELAXATION.match(line):
        solve.relaxation = relaxation[1]
    if (limit := _LIMIT_CHANGED.match(line)) and not _value(solve.parameters, _LIMITS):
        solve.parameters["seconds"] = limit[1]


def _value(parameters: dict[str, str], names: tuple[str, ...]) -> str:
    return next((parameters[name] for name in names if name in parameters), "")


def bare_name(path: str) -> str | None:
    """Return the name of a model without folder and suffixes.

    >>> bare_name("models/yard7.mps.gz")
    'yard7'
    """
    return _SUFFIXES.sub("", file_name(path)) or None
