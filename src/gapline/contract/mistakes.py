"""Mistakes of a contract as messages: the place, the expected and the given value, the closest valid name."""

import re
import types
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from glob import has_magic
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from gapline.contract.contract import (
    CHECKER_PREFIXES,
    CHECKERS,
    PLACEHOLDERS,
    SOLVER_ENTRY_POINTS,
    SOLVERS,
    Contract,
    default_name,
)
from gapline.contract.metadata import entries, metadata_mistakes
from gapline.contract.names import (
    check_statistic_name,
    parse_kernel_name,
    parse_weight,
    removed_interval,
    split_python_name,
)
from gapline.contract.tables import EXACT_MODEL
from gapline.contract.transforms import Transform, parse_transforms
from gapline.errors import UsageError, closest

OPTION = "a text, number, truth value or list of these"
# Pydantic prefixes its own wording with these; ours is `expected X, got Y`.
_OPENING = re.compile(
    r"^(Input should be|Value should have|List should have|String should have|Dictionary should have) "
)


def field_mistakes(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Translate pydantic's errors into our messages, one line for each place."""
    mistakes: dict[str, str] = {}
    for entry in error.errors(include_url=False):
        where = place(_walk(entry["loc"], model)[0])
        match entry["type"]:
            case "extra_forbidden":
                name = str(entry["loc"][-1])
                fields = _walk(entry["loc"][:-1], model)[1].model_fields
                text = f"unknown field{suggestion(name, list(fields))}"
            case "missing":
                text = "missing"
            case _:
                expected = _OPENING.sub("", entry["msg"]).replace("a valid dictionary", "a table")
                if where.partition("options.")[2]:
                    expected = OPTION
                text = f"expected {expected}, got {entry['input']!r}"
                choices = re.findall(r"'([^']*)'", str(entry.get("ctx", {}).get("expected", "")))
                if where == "aggregate.bootstrap.method" and (gone := removed_interval(entry["input"])):
                    text += f"; {gone}"
                elif isinstance(entry["input"], str) and choices:
                    text += suggestion(entry["input"], choices)
        # A value that fits none of several types is one mistake, not one for each type.
        mistakes.setdefault(where, text)
    return [f"{where}: {text}" for where, text in mistakes.items()]


def value_mistakes(value: Any, steps: tuple[int | str, ...] = ()) -> list[str]:
    """Find texts with a NUL character, which no path may have, and integers that TOML does not allow.

    >>> value_mistakes({"arms": [{"tier": 2**63}]})
    ['arms[0].tier: expected an integer of 64 bits, got 9223372036854775808']
    """
    if isinstance(value, dict):
        names = [
            f"{place(steps) or 'study.toml'}: expected names without NUL characters, got {name!r}"
            for name in value
            if "\0" in name
        ]
        return names + [found for name, one in value.items() for found in value_mistakes(one, (*steps, name))]
    if isinstance(value, list):
        return [found for number, one in enumerate(value) for found in value_mistakes(one, (*steps, number))]
    if isinstance(value, str) and "\0" in value:
        return [f"{place(steps)}: expected a text without NUL characters, got {value!r}"]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return [f"{place(steps)}: expected an integer of 64 bits, got {value!s:.60}"]
    return []


def place(steps: Sequence[int | str]) -> str:
    """Return a place in the file as readers write it.

    >>> place(("arms", 1, "solver"))
    'arms[1].solver'
    """
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def cross_mistakes(data: dict[str, Any], contract: Contract | None = None) -> list[str]:
    """Find mistakes that no single field shows, in the file's own data, so that mistakes elsewhere do not hide them."""
    arms = [arm for _, arm in entries(data, "arms")] if contract is None else [a.model_dump() for a in contract.arms]
    return [
        *metadata_mistakes(_table(data, "study")),
        *_name_mistakes(data),
        *_arm_mistakes(data),
        *_objective_mistakes(data),
        *_score_mistakes(data),
        *_contrast_mistakes(data, arms),
    ]


def missing_files(data: dict[str, Any], folder: Path) -> Iterator[str]:
    """Report each instance whose file does not exist, with the closest name in its folder."""
    for index, entry in entries(data, "instances"):
        path = entry.get("path")
        # Files that a wildcard finds exist.
        if isinstance(path, str) and not (folder / path).is_file() and not has_magic(path):
            beside = (folder / path).parent
            near = [other.name for other in beside.iterdir()] if beside.is_dir() else []
            yield f"instances[{index}].path: expected a file, got {path!r}{suggestion(Path(path).name, near)}"


def unknown_solvers(data: dict[str, Any]) -> Iterator[str]:
    """Report each arm whose solver is neither one of ours nor one of an installed package."""
    # Only here: looking up entry points takes time, and a reader of results needs no solver.
    plugins = sorted({point.name for point in entry_points(group=SOLVER_ENTRY_POINTS)} - set(SOLVERS))
    for index, arm in entries(data, "arms"):
        name = arm.get("solver")
        if isinstance(name, str) and name and name not in (*SOLVERS, *plugins, "command"):
            yield _bad_name(f"arms[{index}].solver", name, (*SOLVERS, *plugins, "command"))


def _name_mistakes(data: dict[str, Any]) -> Iterator[str]:
    # `expand_contract` reports repeated names from patterns, lists and ladders.
    arms = [(index, entry.get("name")) for index, entry in entries(data, "arms") if "ladder" not in entry]
    instances = []
    for index, entry in entries(data, "instances"):
        path = entry.get("path")
        if "csv" in entry or (isinstance(path, str) and has_magic(path)):
            continue
        instances.append((index, entry.get("name") or (default_name(path) if isinstance(path, str) else None)))
    for kind, named in (("arms", arms), ("instances", instances)):
        hint = "; give one of them a name" if kind == "instances" else ""
        seen = set()
        for index, name in named:
            if isinstance(name, str) and name in seen:
                yield f"{kind}[{index}].name: expected a unique name, got {name!r} again{hint}"
            seen |= {name} if isinstance(name, str) else set()
    seeds = data.get("seeds")
    counts = Counter(seed for seed in seeds if isinstance(seed, int)) if isinstance(seeds, list) else Counter[int]()
    if repeated := [str(seed) for seed, count in counts.items() if count > 1]:
        yield f"seeds: expected each seed once, got {', '.join(repeated)} again"


def _arm_mistakes(data: dict[str, Any]) -> Iterator[str]:
    for index, arm in entries(data, "arms"):
        command = arm.get("command", [])
        if arm.get("solver") == "command" and command == []:
            yield f'arms[{index}].command: missing; solver = "command" needs the program and its arguments'
        elif arm.get("solver") != "command" and command != []:
            yield f"arms[{index}].command: expected nothing beside solver = {arm.get('solver')!r}, got {command!r}"
        if arm.get("solver") != "command" and arm.get("format", "") != "":
            yield f"arms[{index}].format: expected nothing beside solver = {arm.get('solver')!r}, got {arm['format']!r}"
        for argument in command if isinstance(command, list) else []:
            for name in re.findall(r"\{(\w+)\}", str(argument)):
                if name not in PLACEHOLDERS and name not in _table(arm, "ladder"):
                    expected = ", ".join(f"{{{known}}}" for known in PLACEHOLDERS)
                    yield (
                        f"arms[{index}].command: expected the placeholders {expected}, got {{{name}}}"
                        f"{suggestion(name, PLACEHOLDERS)}"
                    )


def _objective_mistakes(data: dict[str, Any]) -> Iterator[str]:
    objective = data.get("objective")
    if not isinstance(objective, dict):
        return
    yield from _transform_mistakes("objective", objective, objective)
    for index, entry in entries(data, "instances"):
        if "sense" in entry or "transform" in entry:
            yield from _transform_mistakes(f"instances[{index}]", entry, objective | entry)
    checker = objective.get("checker")
    if isinstance(checker, str):
        known = checker in CHECKERS or any(checker.startswith(p) and len(checker) > len(p) for p in CHECKER_PREFIXES)
        if not known:
            yield _bad_name("objective.checker", checker, (*CHECKERS, "command:PROGRAM", "python:MODULE:FUNCTION"))
    if objective.get("validation", "checker") == "checker" and checker is None:
        yield 'objective.checker: missing; validation = "checker" needs one, validation = "solver" does not'


def _transform_mistakes(where: str, entry: dict[str, Any], whole: dict[str, Any]) -> Iterator[str]:
    """Check a transform together with the sense, of the study or of an instance that states one of the two."""
    transform, sense = whole.get("transform", "none"), whole.get("sense", "min")
    rules = transform if isinstance(transform, list) else [transform]
    if not all(isinstance(rule, str) for rule in rules):
        return
    # Rules for some instances say nothing about the sense of the others.
    try:
        parsed = parse_transforms(rules)[0] if where == "objective" else Transform.parse(transform)
    except UsageError as error:
        yield _as_mistake(where, error)
        return
    if not parsed.maximises and sense == "max" and parsed != Transform():
        yield f'{where}.transform: expected reciprocal or negate-shift:C for sense = "max", got {transform!r}'
    elif parsed.maximises and sense == "min":
        yield f'{where}.sense: expected "max" beside transform = {transform!r}, got "min"'
    if parsed.hierarchical and where != "objective" and "transform" in entry:
        yield f"{where}.transform: expected one without two components, got {transform!r}"


def _score_mistakes(data: dict[str, Any]) -> Iterator[str]:
    score = _table(data, "score")
    kernels, statistics = score.get("kernel", []), score.get("statistics", [])
    kernels = [kernels] if isinstance(kernels, str) else kernels
    for names, check in ((kernels, parse_kernel_name), (statistics, check_statistic_name)):
        for name in names if isinstance(names, list) else []:
            if isinstance(name, str):
                yield from _refusal("score", check, name)
    weight = score.get("weight", "uniform")
    # A function is not imported because a contract names it; its weights are checked where it may run.
    if isinstance(weight, str) and split_python_name(weight) is None:
        yield from _refusal("score", lambda: parse_weight(weight).check_horizons(_horizons(data)))


def _horizons(data: dict[str, Any]) -> list[float]:
    """Return the horizons that runs will have, as far as they are numbers."""
    common = _table(data, "time").get("horizon")
    stated = [entry.get("horizon", common) for _, entry in entries(data, "instances")]
    stated += [entry["horizon"] for kind in ("arms", "where") for _, entry in entries(data, kind) if "horizon" in entry]
    return [horizon for horizon in stated if isinstance(horizon, int | float) and horizon > 0]


def _refusal(where: str, check: Callable[..., object], *given: Any) -> Iterator[str]:
    """Report the error that a function of another module raises."""
    try:
        check(*given)
    except UsageError as error:
        yield _as_mistake(where, error)


def _as_mistake(where: str, error: UsageError) -> str:
    """Turn the error of another module into a mistake of the contract, so that both refuse the same values."""
    return f"{where}.{error.message}" + (f"; {error.hint}" if error.hint else "")


def _contrast_mistakes(data: dict[str, Any], arms: Sequence[dict[str, Any]]) -> Iterator[str]:
    tiers = {
        arm["name"]: arm.get("tier", 1) if arm.get("model", "") in ("", EXACT_MODEL) else 2
        for arm in arms
        if isinstance(arm.get("name"), str)
    }
    contrasts = _table(data, "aggregate").get("contrasts", [])
    for index, pair in enumerate(contrasts if isinstance(contrasts, list) else []):
        for name in pair if isinstance(pair, list) else []:
            where = f"aggregate.contrasts[{index}]"
            if isinstance(name, str) and name not in tiers:
                yield _bad_name(where, name, tuple(tiers), expected="the name of an arm")
            elif isinstance(name, str) and tiers[name] == 2:
                yield f"{where}: expected arms of tier 1, got {name!r} of tier 2, which is descriptive"


def _bad_name(where: str, name: str, valid: Sequence[str], *, expected: str = "") -> str:
    return f"{where}: expected {expected or 'one of ' + ', '.join(valid)}, got {name!r}{suggestion(name, valid)}"


def suggestion(name: str, valid: Sequence[str]) -> str:
    """Return the closest valid name as the end of a sentence, empty if none is close."""
    near = closest(name, valid)
    return f"; did you mean {near!r}?" if near else ""


def _table(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name, {})
    return found if isinstance(found, dict) else {}


def _walk(steps: Sequence[int | str], model: type[BaseModel]) -> tuple[list[int | str], Any]:
    """Return a place without the names of union branches, which no file contains, and the model at that place."""
    kept: list[int | str] = []
    here: Any = model
    for step in steps:
        if isinstance(step, int):
            kept.append(step)
            here = _element(here)
        elif isinstance(here, type) and issubclass(here, BaseModel):
            kept.append(step)
            here = _section(here.model_fields[step].annotation) if step in here.model_fields else None
        elif get_origin(here) is dict:
            kept.append(step)
            here = None
    return kept, here


def _section(annotation: Any) -> Any:
    """Return the section of an optional annotation, and any other annotation unchanged."""
    branches = get_args(annotation) if get_origin(annotation) is types.UnionType else ()
    return next((one for one in branches if isinstance(one, type) and issubclass(one, BaseModel)), annotation)


def _element(annotation: Any) -> Any:
    if get_origin(annotation) in (Union, types.UnionType):
        return next((_element(branch) for branch in get_args(annotation) if get_origin(branch) is list), None)
    return (get_args(annotation) or (None,))[0]
