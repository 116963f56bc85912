"""The adapters that ship with gapline, and the command line that starts each."""

import json
import re
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from gapline.errors import closest
from gapline.model.contract import PLACEHOLDERS, Arm

ROUTING_EXTRA = "routing"


@dataclass(frozen=True, slots=True)
class Adapter:
    """A child program of gapline that drives one solver."""

    module: str
    package: str
    options: Mapping[str, tuple[type, ...]]


_SLICED: dict[str, tuple[type, ...]] = {"problem": (str,), "slice": (str,), "iterations": (int,)}
ADAPTERS = {
    "kayros": Adapter(
        "gapline.run.adapters.kayros",
        "kayros",
        {
            "strategy": (str,),
            "iterations": (int,),
            "num_neighbours": (int,),
            "nb_ants": (int,),
            "max_no_improvement": (int,),
            "min_perturbations": (int,),
            "max_perturbations": (int,),
            "restart_no_improvement": (int,),
            "seed_k_factor": (float, int),
        },
    ),
    "pyvrp": Adapter("gapline.run.adapters.pyvrp", "pyvrp", _SLICED),
    "ortools": Adapter("gapline.run.adapters.ortools_routing", "ortools", {**_SLICED, "metaheuristic": (str,)}),
}


def command_line(arm: Arm, instance_path: str | Path, *, seed: int, horizon: float, threads: int) -> list[str]:
    """Return the program and arguments that run an arm once; never a shell line.

    >>> arm = Arm(name="mine", solver="command", command=["./mine", "{instance}", "--seed={seed}"])
    >>> command_line(arm, "i.vrp", seed=3, horizon=2.0, threads=1)
    ['./mine', 'i.vrp', '--seed=3']
    """
    values = {"instance": str(instance_path), "seed": str(seed), "horizon": repr(horizon), "threads": str(threads)}
    if arm.solver == "command":
        return [_fill(argument, values) for argument in arm.command]
    arguments = [f"--{name}={values[name]}" for name in PLACEHOLDERS]
    return [sys.executable, "-m", ADAPTERS[arm.solver].module, *arguments, f"--options={json.dumps(arm.options)}"]


def check_setup(arm: Arm) -> str | None:
    """Return one line on what an arm lacks to run here, or None when it is ready."""
    if arm.solver == "command":
        program = arm.command[0]
        if shutil.which(program) is None:
            return f"arm {arm.name}: expected a program, got {program!r}, which is not there or not executable"
        return None
    adapter = ADAPTERS[arm.solver]
    try:
        version(adapter.package)
    except PackageNotFoundError:
        return f"arm {arm.name}: {adapter.package} is not installed; pip install 'gapline[{ROUTING_EXTRA}]'"
    for name, value in arm.options.items():
        if name not in adapter.options:
            near = closest(name, adapter.options)
            hint = f"; did you mean {near!r}?" if near else ""
            return f"arm {arm.name}: expected the options {', '.join(adapter.options)}, got {name!r}{hint}"
        if isinstance(value, bool) or not isinstance(value, adapter.options[name]):
            wanted = " or ".join(kind.__name__ for kind in adapter.options[name])
            return f"arm {arm.name}: options.{name}: expected {wanted}, got {value!r}"
    return None


def _fill(argument: str, values: Mapping[str, str]) -> str:
    # In one pass: a path that itself holds "{seed}" stays as it is.
    return re.sub(r"\{(" + "|".join(values) + r")\}", lambda found: values[found[1]], argument)
