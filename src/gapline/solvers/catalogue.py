"""The adapters that ship with gapline, and the command line that starts each."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gapline.errors import GaplineError, closest
from gapline.model.contract import PLACEHOLDERS, Arm
from gapline.solvers.jdk import jdk_lack

# Runs start in the study directory. Without -P a file `pyvrp.py` there would be imported in the place of the package.
PYTHON = (sys.executable, "-P")


@dataclass(frozen=True, slots=True)
class Option:
    """What one setting of an arm may be: one of some words or numbers, or a number from a least one upwards."""

    kind: tuple[type, ...] = (int,)
    among: tuple[str | int, ...] = ()
    least: float = 1

    def mistake(self, value: object) -> str:
        """Say what is wrong with a value, or nothing."""
        if isinstance(value, bool) or not isinstance(value, self.kind):
            return f"expected {' or '.join(kind.__name__ for kind in self.kind)}, got {value!r}"
        if self.among and value not in self.among:
            names = [str(one) for one in self.among]
            near = closest(value, names) if isinstance(value, str) else None
            return f"expected one of {', '.join(names)}, got {value!r}" + (f"; did you mean {near!r}?" if near else "")
        if not self.among and isinstance(value, int | float) and value < self.least:
            return f"expected at least {self.least:g}, got {value!r}"
        return ""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A child program of gapline that drives one solver.

    `package` is what it imports, `extra` what brings it, and `lacks` says in a few words what else is missing, given
    the options and the study directory.
    """

    module: str
    package: str
    options: Mapping[str, Option]
    extra: str = "routing"
    lacks: Callable[[Mapping[str, object], Path], str | None] = lambda _options, _study: None


def _timefold_lack(_options: Mapping[str, object], _study: Path) -> str | None:
    return jdk_lack()


def _hexaly_lack(_options: Mapping[str, object], _study: Path) -> str | None:
    from gapline.solvers.hexaly import licence_lack

    return licence_lack()


def _jsprit_lack(options: Mapping[str, object], study: Path) -> str | None:
    from gapline.solvers.jsprit import setup_lack

    return setup_lack(options, study)


_STATIC = {
    "problem": Option((str,), ("tdvrptw", "vrptw", "cvrp")),
    "slice": Option((str,), ("min", "mean", "mid", "max")),
    "iterations": Option(),
}
_STEPS = {"iterations": Option()}
ADAPTERS = {
    "kayros": Adapter(
        "gapline.solvers.kayros",
        "kayros",
        {
            "strategy": Option((str,), ("ils", "aco", "aco+ils")),
            "iterations": Option(),
            "num_neighbours": Option(least=0),
            "nb_ants": Option(),
            "max_no_improvement": Option(),
            "min_perturbations": Option(),
            "max_perturbations": Option(),
            "restart_no_improvement": Option(),
            "seed_k_factor": Option((float, int)),
        },
    ),
    "kayros.lera": Adapter("gapline.solvers.kayros_lera", "kayros", _STEPS),
    "pyvrp": Adapter("gapline.solvers.pyvrp", "pyvrp", _STATIC),
    "ortools": Adapter(
        "gapline.solvers.ortools_routing",
        "ortools",
        _STATIC
        | {
            "metaheuristic": Option(
                (str,), ("guided_local_search", "simulated_annealing", "tabu_search", "greedy_descent")
            )
        },
    ),
    "vrp-cli": Adapter(
        "gapline.solvers.vrp_cli",
        "vrp-cli",
        {"problem": _STATIC["problem"], "slices": Option(among=(1, 5, 24, 96)), "iterations": Option()},
        "solvers",
    ),
    "hygese": Adapter("gapline.solvers.hygese", "hygese", _STEPS, "solvers"),
    "pyvroom": Adapter(
        "gapline.solvers.pyvroom",
        "pyvroom",
        {"problem": Option((str,), ("vrptw", "cvrp")), "exploration": Option(among=(0, 1, 2, 3, 4, 5))},
        "solvers",
    ),
    "timefold": Adapter(
        "gapline.solvers.timefold",
        "solverforge-legacy",
        {"compile": Option((str,), ("full", "fast")), "iterations": Option()},
        "timefold",
        _timefold_lack,
    ),
    "hexaly": Adapter(
        "gapline.solvers.hexaly",
        "hexaly",
        {"slices": Option(among=(1, 5, 24, 96)), "iterations": Option()},
        "hexaly",
        _hexaly_lack,
    ),
    # Its jars are the user's; what the package brings is the reading of instances.
    "jsprit": Adapter("gapline.solvers.jsprit", "vrplib", {"jar": Option((list,)), **_STATIC}, "routing", _jsprit_lack),
    "highs": Adapter("gapline.solvers.highs", "highspy", _STEPS, "mip"),
    "scip": Adapter("gapline.solvers.scip", "pyscipopt", _STEPS, "mip"),
    "cpsat": Adapter("gapline.solvers.cpsat", "ortools", _STEPS, "mip"),
}


def command_line(arm: Arm, instance_path: str | Path, *, seed: int, horizon: float, threads: int) -> list[str]:
    """Return the program and arguments that run an arm once; never a shell line.

    >>> arm = Arm(name="mine", solver="command", command=["./mine", "{instance}", "--seed={seed}"])
    >>> command_line(arm, "i.vrp", seed=3, horizon=2.0, threads=1)
    ['./mine', 'i.vrp', '--seed=3']
    """
    values = {"instance": str(instance_path), "seed": str(seed), "horizon": repr(horizon), "threads": str(threads)}
    if arm.solver == "command":
        program = [_fill(argument, values) for argument in arm.command]
        if not arm.format:
            return program
        return [*PYTHON, "-m", "gapline.solvers.log", f"--format={arm.format}", "--", *program]
    arguments = [f"--{name}={values[name]}" for name in PLACEHOLDERS]
    return [*PYTHON, "-m", ADAPTERS[arm.solver].module, *arguments, f"--options={json.dumps(arm.options)}"]


def check_setup(arm: Arm, study: Path = Path()) -> str | None:
    """Return one line on what an arm of a study directory lacks to run here, or None when it is ready."""
    if arm.solver == "command":
        program = arm.command[0]
        if shutil.which(program) is None:
            return f"arm {arm.name}: expected a program, got {program!r}, which is not there or not executable"
        return _format_mistake(arm)
    adapter = ADAPTERS[arm.solver]
    lacking = _package_lack(adapter) or _option_mistake(adapter, arm) or adapter.lacks(arm.options, study)
    return f"arm {arm.name}: {lacking}" if lacking else None


def solver_identity(arm: Arm) -> str:
    """Name what an arm runs: the package that its adapter drives, with the version that is installed here.

    >>> solver_identity(Arm(name="mine", solver="command", command=["./mine", "{instance}"]))
    'command ./mine {instance}'
    """
    if arm.solver == "command":
        return " ".join(["command", *arm.command])
    adapter = ADAPTERS[arm.solver]
    return f"{adapter.package} {version(adapter.package)}"


def _format_mistake(arm: Arm) -> str | None:
    if not arm.format:
        return None
    from gapline.capture.formats import find_reader

    try:
        find_reader(arm.format)
    except GaplineError as error:
        return f"arm {arm.name}: {'; '.join(str(error).splitlines())}"
    return None


def _package_lack(adapter: Adapter) -> str:
    try:
        version(adapter.package)
    except PackageNotFoundError:
        return f"{adapter.package} is not installed; pip install 'gapline[{adapter.extra}]'"
    return ""


def _option_mistake(adapter: Adapter, arm: Arm) -> str:
    for name, value in arm.options.items():
        if name not in adapter.options:
            near = closest(name, adapter.options)
            hint = f"; did you mean {near!r}?" if near else ""
            return f"expected the options {', '.join(adapter.options)}, got {name!r}{hint}"
        mistake = adapter.options[name].mistake(value)
        if mistake:
            return f"options.{name}: {mistake}"
    return ""


def _fill(argument: str, values: Mapping[str, str]) -> str:
    # In one pass: a path that itself holds "{seed}" stays as it is.
    return re.sub(r"\{(" + "|".join(values) + r")\}", lambda found: values[found[1]], argument)
