"""The adapters of gapline, those of other packages, and the command line that starts each."""

import contextlib
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

from gapline.contract.contract import PLACEHOLDERS, SOLVER_ENTRY_POINTS, Arm, Contract
from gapline.contract.expansion import chosen
from gapline.contract.tables import EXACT_MODEL
from gapline.errors import EnvironmentLacksError, GaplineError, closest
from gapline.solvers.jdk import jdk_lack
from gapline.solvers.simplified_models import exact_model, optional_slices_name, sliced_model_name, static_model_name

# Runs start in the study directory: without -P, a file `pyvrp.py` there would be imported instead of the package.
PYTHON = (sys.executable, "-P")


@dataclass(frozen=True, slots=True)
class Option:
    """The valid values of one setting of an arm: one of some words or numbers, or a number with a lower limit."""

    kind: tuple[type, ...] = (int,)
    among: tuple[str | int, ...] = ()
    least: float = 1

    def mistake(self, value: object) -> str:
        """Return what is wrong with a value, or an empty text."""
        # A bool is an int in Python, but `iterations = true` is a mistake.
        if isinstance(value, bool) or not isinstance(value, self.kind):
            return f"expected {' or '.join(kind.__name__ for kind in self.kind)}, got {value!r}"
        if self.among and value not in self.among:
            names = [str(one) for one in self.among]
            near = closest(value, names) if isinstance(value, str) else None
            return f"expected one of {', '.join(names)}, got {value!r}" + (f"; did you mean {near!r}?" if near else "")
        if not self.among and isinstance(value, int | float) and value < self.least:
            return f"expected at least {self.least:g}, got {value!r}"
        return ""


# Takes options and instance file; returns the name of the simplified model, or an empty text.
Model = Callable[[Mapping[str, object], Path], str]
# Takes options and study directory; returns what is missing.
Lacks = Callable[[Mapping[str, object], Path], str | None]


def _nothing(_options: Mapping[str, object], _study: Path) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Adapter:
    """A child program that drives one solver: `python -m MODULE`, which reads its task as `solvers.protocol` does.

    `package` is the package that it imports, `extra` the extra of gapline that installs it (none for an adapter of
    another package), and `lacks` returns what else is missing, given the options and the study directory. `model`
    returns the name of the simplified problem that it solves instead of an instance, such as "mean travel times", or an
    empty text. A package registers an adapter under its name in contracts through the entry point group
    `gapline.solvers`.
    """

    module: str
    package: str
    options: Mapping[str, Option] = field(default_factory=dict)
    extra: str = ""
    lacks: Lacks = _nothing
    model: Model = exact_model


def _word(*among: str) -> Option:
    return Option((str,), among)


_STEPS = {"iterations": Option()}
_SLICES = {"slices": Option(among=(1, 5, 24, 96))}
_PROBLEM = {"problem": _word("tdvrptw", "vrptw", "cvrp")}
_STATIC = _PROBLEM | {"slice": _word("min", "mean", "mid", "max")} | _STEPS
_SEARCHES = _word("guided_local_search", "simulated_annealing", "tabu_search", "greedy_descent")
_KAYROS = {"strategy": _word("ils", "aco", "aco+ils"), "num_neighbours": Option(least=0)} | _STEPS
_KAYROS |= dict.fromkeys(("nb_ants", "max_no_improvement", "restart_no_improvement"), Option())
_KAYROS |= dict.fromkeys(("min_perturbations", "max_perturbations"), Option()) | {"seed_k_factor": Option((float, int))}
_TIMEFOLD = {"compile": _word("full", "fast")} | _STEPS
_VROOM = {"problem": _word("vrptw", "cvrp"), "exploration": Option(among=tuple(range(6)))}


_OURS: dict[str, tuple[Any, ...]] = {
    "kayros": ("kayros", "kayros", _KAYROS, "routing"),
    "kayros.lera": ("kayros_lera", "kayros", _STEPS, "routing"),
    "pyvrp": ("pyvrp", "pyvrp", _STATIC, "routing", _nothing, static_model_name),
    "ortools": (
        "ortools_routing", "ortools", _STATIC | {"metaheuristic": _SEARCHES}, "routing", _nothing, static_model_name,
    ),
    "vrp-cli": ("vrp_cli", "vrp-cli", _PROBLEM | _SLICES | _STEPS, "solvers", _nothing, sliced_model_name),
    "hygese": ("hygese", "hygese", _STEPS, "solvers"),
    "pyvroom": ("pyvroom", "pyvroom", _VROOM, "solvers"),
    "timefold": ("timefold", "solverforge-legacy", _TIMEFOLD, "timefold", lambda _options, _study: jdk_lack()),
    "hexaly": (
        "hexaly", "hexaly", _SLICES | _STEPS, "hexaly",
        lambda _options, _study: import_module("gapline.solvers.hexaly").licence_lack(), optional_slices_name,
    ),
    # The user provides the jars; this package only reads the instances.
    "jsprit": (
        "jsprit", "vrplib", {"jar": Option((list,))} | _STATIC, "routing",
        lambda options, study: import_module("gapline.solvers.jsprit").setup_lack(options, study), static_model_name,
    ),
    "highs": ("highs", "highspy", _STEPS, "mip"),
    "scip": ("scip", "pyscipopt", _STEPS, "mip"),
    "cpsat": ("cpsat", "ortools", _STEPS, "mip"),
}  # fmt: skip
ADAPTERS = {name: Adapter(f"gapline.solvers.{module}", *facts) for name, (module, *facts) in _OURS.items()}


def find_adapter(name: str) -> Adapter:
    """Return the adapter of a solver: ours, or one that an installed package registers under that name."""
    # Ours first: an installed package must not silently replace a solver that contracts name.
    if name in ADAPTERS:
        return ADAPTERS[name]
    for point in entry_points(group=SOLVER_ENTRY_POINTS, name=name):
        try:
            adapter = point.load()
        except Exception as error:
            raise EnvironmentLacksError(
                f"solver {name}: {point.value} cannot be loaded: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(adapter, Adapter):
            raise EnvironmentLacksError(
                f"solver {name}: expected {point.value} to be an Adapter, got {type(adapter).__name__}"
            )
        return adapter
    raise EnvironmentLacksError(f"solver {name}: no package that is installed here brings it")


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
    return [*PYTHON, "-m", find_adapter(arm.solver).module, *arguments, f"--options={json.dumps(arm.options)}"]


def check_setup(arm: Arm, study: Path = Path()) -> str | None:
    """Return one line on what an arm of a study directory lacks to run here; None if nothing is missing."""
    try:
        lacking = _program_lack(arm) if arm.solver == "command" else _adapter_lack(arm, study)
    except GaplineError as error:
        lacking = "; ".join(str(error).splitlines())
    return f"arm {arm.name}: {lacking}" if lacking else None


def _program_lack(arm: Arm) -> str | None:
    program = arm.command[0]
    if shutil.which(program) is None:
        return f"expected a program, got {program!r}, which is not there or not executable"
    if arm.format:
        from gapline.logs.formats import find_reader

        find_reader(arm.format)
    return None


def _adapter_lack(arm: Arm, study: Path) -> str | None:
    adapter = find_adapter(arm.solver)
    return _package_lack(adapter) or _option_mistake(adapter, arm) or adapter.lacks(arm.options, study)


def arms_lack(arms: Iterable[Arm], study: Path = Path()) -> list[str]:
    """Return one line for each arm of a study directory that cannot run here."""
    return [line for arm in arms if (line := check_setup(arm, study)) is not None]


def solver_identity(arm: Arm) -> str:
    """Return what an arm runs: the package of its adapter, with the version that is installed here.

    >>> solver_identity(Arm(name="mine", solver="command", command=["./mine", "{instance}"]))
    'command ./mine {instance}'
    """
    if arm.solver == "command":
        return " ".join(["command", *arm.command])
    adapter = find_adapter(arm.solver)
    return f"{adapter.package} {version(adapter.package)}"


def model_of(arm: Arm, path: str | Path) -> str:
    """Return the model that an arm solves instead of an instance: as its contract or else its adapter states.

    >>> model_of(Arm(name="a", solver="pyvrp"), "a.vrp.json"), model_of(Arm(name="a", solver="pyvrp"), "a.vrp")
    ('mean travel times', '')
    >>> model_of(Arm(name="a", solver="pyvrp", model="exact"), "a.vrp.json")
    'exact'
    """
    if arm.model or arm.solver == "command":
        return arm.model
    return find_adapter(arm.solver).model(arm.options, Path(path))


def simplified_arms(contract: Contract) -> dict[str, str]:
    """Return the arms of a contract that solve a simplified model of some instance, with the models, before any run."""
    found: dict[str, dict[str, None]] = {}
    for arm in contract.arms:
        # For an adapter that is not installed here, the model is only known from its runs.
        with contextlib.suppress(EnvironmentLacksError):
            for instance in contract.instances:
                if chosen(arm, instance) and (model := model_of(arm, instance.path)) not in ("", EXACT_MODEL):
                    found.setdefault(arm.name, {})[model] = None
    return {name: " and ".join(models) for name, models in found.items()}


def program_files(arm: Arm, study: Path) -> list[Path]:
    """Return the files that a contract names for an arm: its program, scripts, jars and other files of the study."""
    named = [
        *arm.command,
        *(one for value in arm.options.values() for one in (value if isinstance(value, list) else [value])),
    ]
    found = [study / word for word in named if isinstance(word, str) and "{" not in word and word]
    if arm.command and (program := shutil.which(arm.command[0])) is not None:
        found.append(Path(program))
    return sorted({path for path in found if path.is_file()})


def _package_lack(adapter: Adapter) -> str:
    try:
        version(adapter.package)
    except PackageNotFoundError:
        wanted = f"'gapline[{adapter.extra}]'" if adapter.extra else adapter.package
        return f"{adapter.package} is not installed; pip install {wanted}"
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
    # In one pass, so that a path that contains "{seed}" stays unchanged.
    return re.sub(r"\{(" + "|".join(values) + r")\}", lambda found: values[found[1]], argument)
