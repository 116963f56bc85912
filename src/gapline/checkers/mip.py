"""Mixed-integer programs: bounds, integrality and rows of an MPS or LP file, and the objective recomputed.

A solution is an object of variable names and values; variables that are not named are zero. A value within
`INTEGRALITY` of a whole number is rounded to it where the variable must be whole, and everything else is computed from
the rounded solution: a solver's 1517.9999999999998 becomes 1518. Bounds and rows may be missed by `FEASIBILITY`,
relatively to their right-hand side where that is greater than one.
"""

import math
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gapline.checkers.verdict import LastInstance, Verdict, shown_value
from gapline.errors import import_extra

INTEGRALITY = 1e-6
FEASIBILITY = 1e-6
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MipInstance:
    """A program by columns and rows; an entry of the matrix is (`entry_row`, `entry_column`, `entry`)."""

    names: dict[str, int]
    row_names: list[str]
    cost: Floats
    offset: float
    lower: Floats
    upper: Floats
    whole: npt.NDArray[np.bool_]
    may_be_zero: npt.NDArray[np.bool_]
    row_lower: Floats
    row_upper: Floats
    entry_row: npt.NDArray[np.int64]
    entry_column: npt.NDArray[np.int64]
    entry: Floats


class MipChecker:
    """Check the values of variables against an MPS or LP file; the objective is the file's, its constant included."""

    name = "mip"

    def __init__(self) -> None:
        import_extra("highspy", "mip")
        self._instances = LastInstance(read_mip)

    @property
    def version(self) -> str:
        """The tolerances and the version of the file reader: both can change a verdict."""
        return f"integrality {INTEGRALITY:g}, feasibility {FEASIBILITY:g}, highspy {version('highspy')}"

    def check(self, instance: str | Path, solution: object, /) -> Verdict:
        """Return the verdict on an object of variable names and values."""
        problem = self._instances.get(instance)
        values = read_values(solution, problem)
        if isinstance(values, Verdict):
            return values
        nearest = np.rint(values)
        far = problem.whole & (np.abs(values - nearest) > INTEGRALITY)
        if far.any():
            column = int(np.argmax(far))
            return Verdict.reject(f"not integral: {list(problem.names)[column]} is {values[column]:.9g}")
        values = np.where(problem.whole, nearest, values)
        reason = bound_reason(problem, values) or row_reason(problem, values)
        if reason:
            return Verdict.reject(reason)
        # `fsum` rounds correctly, so that the order of the variables in the file does not matter.
        objective = math.fsum([*(problem.cost * values).tolist(), problem.offset])
        if not math.isfinite(objective):
            return Verdict.reject("malformed solution: its objective is not finite")
        return Verdict.accept(objective)


def read_values(solution: object, problem: MipInstance) -> Floats | Verdict:
    """Return the value of every variable, or the rejection of a solution that is not an object of finite numbers."""
    if not isinstance(solution, dict):
        return Verdict.reject(
            f"malformed solution: expected an object of names and values, got {shown_value(solution)}"
        )
    values = np.zeros(len(problem.names))
    for name, value in solution.items():
        # In Python True is an int, but it is no value here; an integer of thousands of digits does not fit a float.
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not abs(value) <= 1e300:
            return Verdict.reject(
                f"malformed solution: expected a finite value of {name[:40]!r}, got {shown_value(value)}"
            )
        if name not in problem.names:
            return Verdict.reject(f"unknown variable: {name[:40]!r}")
        values[problem.names[name]] = value
    return values


def bound_reason(problem: MipInstance, values: Floats) -> str:
    """Return which variable violates its bounds, or an empty text; a semi-continuous one may also be zero."""
    exempt = problem.may_be_zero & (values == 0)
    lower, upper = np.where(exempt, 0.0, problem.lower), np.where(exempt, 0.0, problem.upper)
    return _range_reason("bound", list(problem.names), values, lower, upper)


def row_reason(problem: MipInstance, values: Floats) -> str:
    """Return which row is violated, or an empty text."""
    activity: Floats = np.zeros(len(problem.row_names))
    # Not `activity[rows] += …`, which adds only once if a row has several entries.
    np.add.at(activity, problem.entry_row, problem.entry * values[problem.entry_column])
    return _range_reason("row", problem.row_names, activity, problem.row_lower, problem.row_upper)


def _range_reason(kind: str, names: list[str], values: Floats, lower: Floats, upper: Floats) -> str:
    below, above = (
        difference > FEASIBILITY * np.maximum(1.0, np.where(np.isfinite(limit), np.abs(limit), 1.0))
        for difference, limit in ((lower - values, lower), (values - upper, upper))
    )
    if not (below | above).any():
        return ""
    k = int(np.argmax(below | above))
    return f"{kind} violated: {names[k]} is {values[k]:.9g}, expected {lower[k]:g} to {upper[k]:g}"


def read_mip(path: Path) -> MipInstance:
    """Read an MPS or LP file through HiGHS."""
    highspy = import_extra("highspy", "mip")
    highs = highspy.Highs()
    highs.silent()
    if highs.readModel(str(path)) == highspy.HighsStatus.kError:
        raise ValueError("what HiGHS reads neither as MPS nor as LP")
    if highs.getModel().hessian_.dim_:
        raise ValueError("a quadratic objective, which this checker does not compute")
    program = highs.getLp()
    names = {name: column for column, name in enumerate(program.col_names_)}
    if len(names) != program.num_col_:
        raise ValueError("variables that are not named, or named alike")
    kinds = highspy.HighsVarType
    types = list(program.integrality_) or [kinds.kContinuous] * program.num_col_
    matrix = program.a_matrix_
    starts = np.asarray(matrix.start_, dtype=np.int64)
    counts = starts[1:] - starts[:-1]
    outer = np.repeat(np.arange(len(counts)), counts)
    inner = np.asarray(matrix.index_, dtype=np.int64)
    by_column = matrix.format_ == highspy.MatrixFormat.kColwise
    return MipInstance(
        names=names,
        row_names=list(program.row_names_),
        cost=_floats(program.col_cost_),
        offset=float(program.offset_),
        lower=_floats(program.col_lower_),
        upper=_floats(program.col_upper_),
        whole=np.array([kind in (kinds.kInteger, kinds.kSemiInteger) for kind in types], dtype=bool),
        may_be_zero=np.array([kind in (kinds.kSemiContinuous, kinds.kSemiInteger) for kind in types], dtype=bool),
        row_lower=_floats(program.row_lower_),
        row_upper=_floats(program.row_upper_),
        entry_row=inner if by_column else outer,
        entry_column=outer if by_column else inner,
        entry=_floats(matrix.value_),
    )


def _floats(values: Any) -> Floats:
    # Copy: HiGHS returns views of memory that is freed with its model.
    return np.array(values, dtype=np.float64)
