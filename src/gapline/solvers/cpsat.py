"""CP-SAT on its own models (`.pb`, `.pbtxt`), and on mixed-integer programs whose variables are all bounded integers.

Options: iterations (conflicts).

CP-SAT computes in integers: decimal rows and objectives are multiplied by a power of ten. If no power up to 10^9 makes
them integers, or a variable is continuous or unbounded, the adapter reports it and does not solve a different problem
instead. A solution contains variables by name, unnamed ones by index, like "#3".
"""

import gzip
import math
from collections.abc import Sequence
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from gapline.errors import UsageError
from gapline.solvers.protocol import BestBound, Task, announce, emit, emit_claim, run_adapter

OWN = (".pb", ".pbtxt")
MOST_DIGITS = 9


class Stated(NamedTuple):
    """A model of CP-SAT, its variables, and how to convert its objective to the file's: (value + offset) / scale."""

    model: Any
    variables: dict[str, Any]
    scale: float = 1.0
    offset: float = 0.0


def solve(task: Task) -> None:
    """Print each solution of CP-SAT, and each better bound."""
    from ortools.sat.python import cp_model

    announce("cpsat", version("ortools"))
    stated = read_own(task.instance) if task.instance.suffix in OWN else read_program(task.instance)
    best = BestBound()

    def in_file_units(value: float) -> float:
        return (value + stated.offset) / stated.scale

    class CpSatStream(cp_model.CpSolverSolutionCallback):
        """Prints each solution."""

        def on_solution_callback(self) -> None:
            """Called for each improvement."""
            values = {name: self.value(variable) for name, variable in stated.variables.items()}
            emit(
                in_file_units(self.objective_value),
                {name: value for name, value in values.items() if value},
                time=self.wall_time,
                bound=best.news(in_file_units(self.best_objective_bound)),
            )

    solver = cp_model.CpSolver()
    solver.best_bound_callback = lambda bound: best.print(in_file_units(bound))
    solver.parameters.random_seed = task.seed % 2**31
    # With one worker the seed would otherwise have almost no effect.
    solver.parameters.permute_variable_randomly = True
    solver.parameters.permute_presolve_constraint_order = True
    solver.parameters.num_workers = task.threads
    iterations = task.iterations()
    if iterations is None:
        solver.parameters.max_time_in_seconds = task.time_left()
    else:
        solver.parameters.max_number_of_conflicts = iterations
    status = solver.solve(stated.model, CpSatStream())
    if status == cp_model.MODEL_INVALID:
        raise UsageError(f"{task.instance}: CP-SAT calls the model invalid: {stated.model.validate()}")
    if stated.model.has_objective() and status != cp_model.INFEASIBLE:
        best.print(in_file_units(solver.best_objective_bound))
    proven = {cp_model.OPTIMAL: "optimal", cp_model.INFEASIBLE: "infeasible"}
    if status in proven and (stated.model.has_objective() or status == cp_model.INFEASIBLE):
        emit_claim(proven[status])


def read_own(path: Path) -> Stated:
    """Read a model that CP-SAT's `export_to_file` wrote."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    text = path.read_text(encoding="utf-8", errors="replace") if path.suffix == ".pbtxt" else _text_of(path)
    if text is None or not model.proto.parse_text_format(text) or not model.proto.variables:
        raise UsageError(f"{path}: expected a model of CP-SAT, got what it cannot read")
    names = [variable.name or f"#{index}" for index, variable in enumerate(model.proto.variables)]
    return Stated(model, {name: model.get_int_var_from_proto_index(index) for index, name in enumerate(names)})


def read_program(path: Path) -> Stated:
    """Build the model of a program of bounded integers from an MPS or LP file, compressed or not."""
    from ortools.linear_solver.python import model_builder
    from ortools.sat.python import cp_model

    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8", "replace")
    builder: Any = model_builder
    program = builder.Model()
    is_lp = path.name.removesuffix(".gz").endswith(".lp")
    if not (program.import_from_lp_string(text) if is_lp else program.import_from_mps_string(text)):
        raise UsageError(f"{path}: expected an MPS or LP file, got what OR-Tools cannot read")
    model = cp_model.CpModel()
    variables = []
    for variable in program.get_variables():
        bounds = variable.lower_bound, variable.upper_bound
        if not variable.is_integral or not all(map(math.isfinite, bounds)):
            kind = "an unbounded" if variable.is_integral else "a continuous"
            raise UsageError(f"{path}: CP-SAT needs bounded integers, got {kind} variable {variable.name}")
        variables.append(model.new_int_var(math.ceil(bounds[0]), math.floor(bounds[1]), variable.name))
    helper = program.helper
    for row in program.get_linear_constraints():
        indices = helper.constraint_var_indices(row.index)
        coefficients = list(helper.constraint_coefficients(row.index))
        scale = whole_scale(coefficients, f"{path}: row {row.name}")
        # Sums are integers: a side between two of them can be tightened.
        low, high = scale_side(row.lower_bound, scale, up=True), scale_side(row.upper_bound, scale, up=False)
        total = cp_model.LinearExpr.weighted_sum(
            [variables[index] for index in indices], [int(Decimal(repr(one)) * scale) for one in coefficients]
        )
        model.add_linear_constraint(total, low, high)
    costs = [variable.objective_coefficient for variable in program.get_variables()]
    scale = whole_scale(costs, f"{path}: the objective")
    total = cp_model.LinearExpr.weighted_sum(variables, [int(Decimal(repr(cost)) * scale) for cost in costs])
    if helper.maximize():
        model.maximize(total)
    else:
        model.minimize(total)
    names = [variable.name for variable in program.get_variables()]
    return Stated(model, dict(zip(names, variables, strict=True)), float(scale), program.objective_offset * scale)


def whole_scale(numbers: Sequence[float], where: str) -> int:
    """Return the power of ten that makes all numbers integers.

    >>> whole_scale([1.0, 0.25, 3.5], "here")
    100
    """
    # Count the decimals as written: 0.1 has one digit, although its binary value has dozens.
    digits = max((-exponent(number) for number in numbers), default=0)
    if digits > MOST_DIGITS:
        raise UsageError(f"{where}: CP-SAT needs decimals of up to {MOST_DIGITS} digits, got {digits}")
    return int(10 ** max(0, digits))


def exponent(number: float) -> int:
    """Return the power of ten of the last nonzero digit of a number.

    >>> exponent(0.25), exponent(1200.0), exponent(0.0)
    (-2, 2, 0)
    """
    found = Decimal(repr(number)).normalize().as_tuple().exponent
    return found if isinstance(found, int) and number else 0


def scale_side(side: float, scale: int, *, up: bool) -> int:
    """Return a side of a row in integer units, rounded inwards; an infinite one as the largest number of CP-SAT."""
    # CP-SAT cannot represent larger sums: such a side does not bind.
    if abs(side) >= 2**62 / scale:
        return -(2**62) if side < 0 else 2**62
    exact = Decimal(repr(side)) * scale
    return math.ceil(exact) if up else math.floor(exact)


def _text_of(path: Path) -> str | None:
    """Return a binary model as text, the only format that the model's own class can parse."""
    from google.protobuf import message, text_format  # type: ignore[import-untyped]
    from ortools.sat import cp_model_pb2

    content = cp_model_pb2.CpModelProto()
    try:
        content.ParseFromString(path.read_bytes())
    except message.DecodeError:
        return None
    return str(text_format.MessageToString(content))


if __name__ == "__main__":
    run_adapter(solve)
