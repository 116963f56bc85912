"""The commented contract of a new study: what its problem asks for, in the words of `study.toml`."""

import json
from collections.abc import Sequence
from typing import NamedTuple


class ProblemFacts(NamedTuple):
    """What a study of a problem needs: a title, the name of its objective, arms that fit, and one declared contrast.

    `generated_arms` fit the instances that gapline generates, and not every instance of the problem.
    """

    title: str
    objective: str
    arms: str
    contrast: tuple[str, str] = ("pyvrp", "ortools")
    generated_arms: str = ""
    checker: str = ""


_Arm = tuple[str, str, dict[str, str]]
_KAYROS = (("kayros-ils", "kayros", {"strategy": "ils"}), ("kayros-aco", "kayros", {"strategy": "aco"}))
_SLICES = (("pyvrp-mean", "pyvrp", {"slice": "mean"}), ("ortools-mean", "ortools", {"slice": "mean"}))
_NATIVE: tuple[_Arm, ...] = (("pyvrp", "pyvrp", {}), ("ortools", "ortools", {"metaheuristic": "guided_local_search"}))
_MIP: tuple[_Arm, ...] = (("highs", "highs", {}), ("scip", "scip", {}))
_SLICED = """
# These two plan with the mean travel time of the day. Their plans may miss the true time windows, which the checker
# finds out: tier 2 is described, not compared."""
_WHOLE = "\n# CP-SAT computes in whole numbers: it takes programs of bounded integers, as these are."


def _arms(*arms: _Arm, tier: int = 1) -> str:
    text = ""
    for name, solver, options in arms:
        text += f'\n[[arms]]\nname = "{name}"\nsolver = "{solver}"\n'
        if options:
            text += "options = { " + ", ".join(f'{key} = "{value}"' for key, value in options.items()) + " }\n"
        text += f"tier = {tier}\n" if tier > 1 else ""
    return text


PROBLEMS = {
    "tdvrptw": ProblemFacts(
        "Time-dependent vehicle routing with time windows",
        "duration",
        _arms(*_KAYROS) + _SLICED + _arms(*_SLICES, tier=2),
        ("kayros-ils", "kayros-aco"),
    ),
    "vrptw": ProblemFacts("Vehicle routing with time windows", "distance", _arms(*_NATIVE)),
    "cvrp": ProblemFacts("Capacitated vehicle routing", "distance", _arms(*_NATIVE)),
    "mip": ProblemFacts(
        "Mixed-integer programs", "cost", _arms(*_MIP), ("highs", "scip"), _WHOLE + _arms(("cpsat", "cpsat", {}))
    ),
}

NO_REFERENCE = """\
# The best of the campaign itself. Freeze a snapshot before the first run for scores that stay comparable:
# policy = "frozen" and snapshot = "references/NAME.json".
policy = "analysis\""""


def frozen_reference(snapshot: str, *, known: str = "Known before the first run.") -> str:
    """Return the section of a reference that is frozen in a file of the study."""
    return f'# {known}\npolicy = "frozen"\nsnapshot = {quoted(snapshot)}'


def quoted(text: str) -> str:
    """Return a text as TOML holds it.

    >>> quoted('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def contract_text(
    problem: str,
    facts: ProblemFacts,
    *,
    name: str,
    title: str,
    horizon: float,
    seeds: int | Sequence[int],
    reference: str,
    instances: str,
    generated: bool = False,
) -> str:
    """Return the contract of a study; `reference` and `instances` are its sections of these."""
    return f"""# The contract of a study: what a reader needs to interpret its scores. See docs/contract.md.
# gapline run DIR runs it, gapline status DIR shows how far it is, gapline score DIR scores it.

# Each arm runs once on each instance with each seed{": a number means 1 to that number" * isinstance(seeds, int)}.
seeds = {seeds if isinstance(seeds, int) else list(seeds)}

[study]
name = {quoted(name)}
title = {quoted(title)}

[objective]
name = {quoted(facts.objective)}
# Every candidate is checked against the original problem, and its objective recomputed.
validation = "checker"
checker = {quoted(facts.checker or problem)}

[time]
# Seconds, announced to the solver. A second (grace) later it is told to stop.
horizon = {float(horizon)!r}
grace = 1.0
threads = 1

[reference]
{reference}

[score]
kernel = "squeezed"
weight = "uniform"
goals = [0.0, 0.01, 0.05]

[aggregate]
# Panels count alike, whatever their number of instances.
weighting = "panel"
contrasts = [["{facts.contrast[0]}", "{facts.contrast[1]}"]]

{instances.strip()}
{facts.arms}{facts.generated_arms if generated else ""}"""
