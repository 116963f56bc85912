"""The end of a MIP solve: the final objective and bound with their digits, the moment, and the reason.

Values and proofs come from the lines that state them about the MIP, which are read here. The package miplog knows more
endings, but it keeps no digits and takes a root relaxation (Xpress 8, CBC as a library) or a last row (CPLEX) for the
result: its proof of optimality counts only if a line states it, its values only for solvers whose lines are unknown
here.
"""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from gapline.contract.number_limits import INFINITE
from gapline.contract.tables import Proof, RunStatus
from gapline.errors import import_extra
from gapline.logs.readers.mip_rows import Number, read_printed
from gapline.logs.readers.mip_solves import Solve

_NO_VERSION = "0.0.0"
_USUAL_BANNERS = {
    "scip": f"SCIP version {_NO_VERSION} [precision: 8 byte]",
    "cbc": "Welcome to the CBC MILP Solver ",
}
_VERSION = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,6}){1,4}")
_FINISHED = ("optimal", "infeasible", "unbounded", "infeasible_or_unbounded", "other_limit")
_STATUS = dict.fromkeys(_FINISHED, RunStatus.FINISHED) | {
    "time_limit": RunStatus.TIME_LIMIT,
    "memory_limit": RunStatus.MEMORY_LIMIT,
    "user_interrupt": RunStatus.KILLED,
}
# Endings that miplog 0.2 counts among other limits or does not recognise.
_STOPPED = re.compile(r"interrupt|termination signal", re.IGNORECASE)
_STARVED = re.compile(r"memory limit|out of memory", re.IGNORECASE)
_CLOSING_LINES = 40
# The texts before the final objective, the final bound and the end; "…" matches anything.
_LINES: dict[str, dict[str, tuple[str, ...]]] = {
    "scip": {"value": ("Primal Bound",), "bound": ("Dual Bound",), "end": ("Solving Time (sec)",)},
    "gurobi": {"value": ("Best objective ",), "bound": ("Best objective …, best bound ",), "end": ("Explored … in ",)},
    "highs": {"value": ("  Primal bound",), "bound": ("  Dual bound",), "end": ("  Timing",)},
    "cplex": {
        "value": ("MIP - …Objective =",),
        "bound": ("Current MIP best bound =",),
        "end": ("Total (root+branch&cut) =",),
    },
    "cbc": {
        "value": ("Objective value:",),
        "bound": ("Lower bound:", "Upper bound:"),
        "cpu": ("Time (CPU seconds):",),
        "wall": ("Time (Wallclock seconds):",),
    },
    "xpress": {
        "value": ("Best integer solution found is", "Final MIP objective", "Objective value ="),
        "bound": ("Best bound is", "Final MIP bound", "Best Bound ="),
        "end": (" *** Search …Time:", "  Solution time / primaldual integral :"),
    },
    "copt": {"value": ("Best solution ",), "bound": ("Best bound ",), "end": ("Solve time ",)},
    "mosek": {
        "value": ("Objective of best integer solution :",),
        "bound": ("Best objective bound ",),
        "end": ("Optimizer terminated. Time:",),
    },
}
_HEADS = {
    solver: [(*text.partition("…")[::2], kind) for kind, texts in kinds.items() for text in texts]
    for solver, kinds in _LINES.items()
}
# The number must end with the text: `-1,0641e+05` is not -1.
_NUMBER = re.compile(r"[ :=]{0,40}([+-]?[0-9.]{1,40}(?:[eE][+-]?[0-9]{1,4})?)(?=[\s/(]|[,.](?:\s|$)|s\b|$)")
# The lines in which a solver states that it has proven the optimum of the MIP.
_OPTIMAL = {
    "scip": re.compile(r"SCIP Status .{0,40}\[optimal solution found\]"),
    "gurobi": re.compile(r"Optimal solution found"),
    "highs": re.compile(r"\s{0,4}(?:Model s|S)tatus[\s:]{1,40}Optimal"),
    "cplex": re.compile(r"MIP - Integer optimal"),
    "cbc": re.compile(r"Result - Optimal solution found|Cbc0001I Search completed - best objective (?!1e\+50)"),
    "xpress": re.compile(r"\s?\*\*\* Search completed|Problem is integer optimal|STATUS: ?MIP_?OPTIMAL"),
    "copt": re.compile(r"MIP status\s{1,20}: solved|Solution status\s{0,20}: integer optimal"),
    "mosek": re.compile(r"An optimal solution satisfying|\s{0,8}Solution status\s{0,8}: INTEGER_OPTIMAL"),
}
# Why CBC as a library stopped, which miplog does not read.
_CBC_STOPS = {
    "Cbc0003I Exiting on maximum nodes": RunStatus.FINISHED,
    "Cbc0019I Exiting on maximum solutions": RunStatus.FINISHED,
    "Cbc0020I Exiting on maximum time": RunStatus.TIME_LIMIT,
    "Cbc0027I Exiting on user event": RunStatus.KILLED,
    "Cbc0001I Search completed": RunStatus.FINISHED,
}
# HiGHS omits trailing zeros of its twelve digits.
_DIGITS = {"highs": 12}


class Closing(NamedTuple):
    """The final objective and bound, the moment of the end, how the solve ended, and what it claims to have proven.

    None if the log does not state it.
    """

    value: Number | None
    bound: Number | None
    end: float | None
    status: RunStatus
    claim: Proof | None = None


def ask_miplog(solve: Solve) -> Mapping[str, Any]:
    """Return miplog's facts on a solve; empty if the text is too short for it."""
    miplog = import_extra("miplog", "mip")
    text = "\n".join(line for _, line in solve.lines) + "\n"
    if solve.banner is not None and solve.banner not in text:
        text = f"{solve.banner}\n{text}"
    elif solve.banner is None and solve.solver in _USUAL_BANNERS:
        # miplog recognises a truncated log only by its banner, which a library call may not print.
        text = f"{_USUAL_BANNERS[solve.solver]}\n{text}"
    try:
        # miplog 0.2 cuts lines by bytes and panics inside a multi-byte character.
        facts = miplog.parse_text(text.encode("ascii", "replace").decode("ascii"))
    except ValueError:
        return {}
    except BaseException as error:
        # A panic inside the extension is a BaseException of its own; it means that miplog cannot read this text.
        if type(error).__name__ != "PanicException":
            raise
        return {}
    return facts if isinstance(facts, dict) and facts.get("solver") == solve.solver else {}


def read_version(solve: Solve, facts: Mapping[str, Any]) -> str | None:
    """Return the version of the solver: miplog's, or that in a banner that miplog does not know."""
    version = facts.get("version")
    if isinstance(version, str) and version != _NO_VERSION:
        return version
    printed = _VERSION.search(solve.banner or "")
    return printed[0] if printed else None


def read_closing(solve: Solve, facts: Mapping[str, Any], *, cut: bool = False) -> Closing:
    """Read how a solve ended from its closing lines and miplog's facts."""
    bounds, timing, termination = (facts.get(name) or {} for name in ("bounds", "timing", "termination"))
    proof = _OPTIMAL.get(solve.solver or "")
    is_stated = proof is not None and any(proof.match(line) for _, line in solve.lines)
    if termination.get("status") == Proof.OPTIMAL and not is_stated:
        termination = {}
    printed = _printed(solve)
    value, bound, end = (printed.get(kind) for kind in ("value", "bound", "end"))
    if solve.solver not in _LINES:
        value, bound = exact_number(bounds.get("primal")), exact_number(bounds.get("dual"))
    if end is None:
        end = printed.get("cpu" if solve.is_cpu else "wall")
    if end is None:
        end = exact_number(timing.get("cpu_seconds" if solve.is_cpu else "wall_seconds"))
    moment = None if end is None else end.value
    ended = solve.has_ended or termination.get("status", "unknown") != "unknown" or bool(termination.get("raw_reason"))
    status = RunStatus.KILLED if cut or not ended else _status(solve, termination, moment)
    said = str(termination.get("status"))
    claim = Proof(said) if said in list(Proof) and status is RunStatus.FINISHED else None
    if bound is None and claim is Proof.OPTIMAL and solve.solver in ("cplex", "cbc"):
        # They print no bound if no gap is left.
        bound = value
    value, bound = (None if number is None or abs(number.value) >= INFINITE else number for number in (value, bound))
    return Closing(value, bound, moment, status, claim)


def _printed(solve: Solve) -> dict[str, Number]:
    """Return the first number of each kind, or a later one that is the same with more digits."""
    best: dict[str, Number] = {}
    heads = _HEADS.get(solve.solver or "", [])
    any_head = tuple(head for head, _, _ in heads)
    for _, line in solve.lines:
        if not line.startswith(any_head) or len(line) > 200:
            continue
        for head, middle, kind in heads:
            if not line.startswith(head):
                continue
            rest = line[len(head) :]
            number = _NUMBER.match(rest.partition(middle)[2] if middle else rest)
            read = read_printed(number[1], _DIGITS.get(solve.solver or "", 0)) if number else None
            known = best.get(kind)
            if read is not None and (known is None or (read.unit < known.unit and known.may_be(read.value))):
                best[kind] = read
    return best


def exact_number(value: object) -> Number | None:
    """Return a number of miplog, whose printed digits are unknown, or None."""
    return Number(float(value), 0.0) if isinstance(value, int | float) and math.isfinite(value) else None


def _status(solve: Solve, termination: Mapping[str, Any], end: float | None) -> RunStatus:
    status = _STATUS.get(str(termination.get("status")), RunStatus.UNKNOWN)
    reasons = [str(termination.get("raw_reason") or "")]
    if status is RunStatus.UNKNOWN:
        first = solve.ended_at or 0
        reasons += [line for _, line in solve.lines[first : first + _CLOSING_LINES] if len(line) < 100]
        if solve.solver == "cbc":
            stops = (stop for line in solve.lines for text, stop in _CBC_STOPS.items() if line[1].startswith(text))
            status = next(stops, status)
    if any(_STOPPED.search(reason) for reason in reasons):
        return RunStatus.KILLED
    if any(_STARVED.search(reason) for reason in reasons):
        return RunStatus.MEMORY_LIMIT
    # The callable library of CPLEX does not say why it stopped; at the limit, there is only one reason.
    at_limit = end is not None and solve.horizon is not None and end >= solve.horizon
    return RunStatus.TIME_LIMIT if status is RunStatus.UNKNOWN and solve.solver == "cplex" and at_limit else status
