"""`gapline init`: a new study, of generated instances, of a store or folder, or of a problem of one's own."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.terminal import console, say_words

if TYPE_CHECKING:
    from gapline.cli.init_collected import Collected
    from gapline.generate.found import Progress
    from gapline.model.contract import Contract

PROBLEMS = ("tdvrptw", "vrptw", "cvrp", "mip", "command")
# Options of studies whose instances are found and not generated.
_OF_FOUND = ("family", "clones", "include", "exclude", "most", "references")


@click.command("init")
@click.argument("directory", type=click.Path(file_okay=False))
@click.option(
    "--from",
    "store",
    metavar="STORE:PLACE",
    help="Instances and best-known values of mamut:PATH@COMMIT or cvrplib:DIR; the values are frozen.",
)
@click.option(
    "--instances", "folder", type=click.Path(), help="Instances of a folder (.vrp.json, .vrp, Solomon .txt, .mps, .lp)."
)
@click.option(
    "--references",
    metavar="FILE|STORE:PLACE",
    help="With --instances: best-known values to freeze, a CSV instance,value, a .solu file or a store.",
)
@click.option(
    "--problem",
    type=click.Choice(PROBLEMS),
    help="What to generate (default: tdvrptw), or which of the instances to take; `command` writes a solver and a "
    "checker of your own to start from.",
)
@click.option("--name", default="", help="Name of the study; instances that are generated follow from it.")
@click.option("--horizon", type=click.FloatRange(0, min_open=True), help="Seconds of each run.")
@click.option("--seeds", type=click.IntRange(min=1), metavar="N", help="How many seeds: 1 to N.")
@click.option(
    "--iterations",
    type=click.IntRange(min=1),
    metavar="N",
    help="Let each solver stop after N steps, whatever the clock says: the same candidates on any machine.",
)
@click.option("--family", metavar="FOLDER", help="Take one family of the store (default: all).")
@click.option("--clones", type=click.Path(file_okay=False), help="Folder of clones of a git store's submodules.")
@click.option(
    "--include", multiple=True, metavar="PATTERN", help="Take instances of this name, as n=20/* (repeatable)."
)
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out instances of this name (repeatable).")
@click.option("--most", type=click.IntRange(min=1), metavar="N", help="Take at most N of each panel, evenly spread.")
@options.as_json
def command(directory: str, store: str | None, folder: str | None, as_json: bool, **choices: Any) -> None:
    """Write a new study: a commented study.toml, instances, and frozen references where there are some.

    Without --from and --instances, instances of two panels are generated. What a store or folder holds decides the
    problem, the panels (by size and family) and the arms. Nothing is written unless all of it can be.

    Example: gapline init my-study --problem cvrp

    Example: gapline init my-study --from mamut:store@v1.2 --include 'n=20/*' --most 5 --horizon 60 --seeds 3

    Example: gapline init my-study --from cvrplib:X --horizon 600

    Example: gapline init my-study --instances miplib/ --references miplib.solu

    Example: gapline init my-study --problem command
    """
    from gapline.cli.next_steps import print_next, running_commands
    from gapline.model.contract import load_contract
    from gapline.model.layout import CONTRACT_FILE
    from gapline.model.plan import Plan
    from gapline.model.text import counted
    from gapline.solvers import arms_lack

    collected = None
    if store is None and folder is None:
        _write_new(directory, choices)
    else:
        from gapline.cli.init_collected import collect_study

        if choices["problem"] == "command":
            raise click.UsageError("--problem command brings its own instances: leave out --from and --instances.")
        with _progress() as progress:
            collected = collect_study(directory, store, folder, progress=progress, **choices)
    contract = load_contract(directory, files=True)
    plan = Plan.of(contract)
    lacking = arms_lack(contract.arms)
    following = running_commands(directory)
    if as_json:
        options.print_json(_document(directory, contract, plan, collected) | {"lacking": lacking, "next": following})
        return
    panels = counted(len({one.panel for one in contract.instances}), "panel")
    instances = f"{counted(len(contract.instances), 'instance')} in {panels}"
    say_words(
        f"{directory}/{CONTRACT_FILE}: {counted(len(contract.arms), 'arm')}, {instances}, "
        f"{counted(len(contract.seeds), 'seed')}"
    )
    if collected is not None:
        options.print_lines("", collected.lines(directory))
    seconds = sum(cell.horizon for cell in plan.cells)
    total = f"{seconds / 3600:,.1f} hours" if seconds >= 3600 else f"{seconds:g} s"
    runs = counted(len(plan.cells), "run")
    say_words(f"{runs} of {contract.time.horizon:g} s each: {total} of solving, one at a time")
    options.print_lines("missing: ", lacking)
    print_next(following)


def _write_new(directory: str, choices: dict[str, Any]) -> None:
    strange = [name for name in _OF_FOUND if choices[name]]
    if strange:
        raise click.UsageError(
            f"--{strange[0]} needs instances to choose from: --from STORE:PLACE or --instances FOLDER."
        )
    given = {name: choices[name] for name in ("name", "horizon", "seeds", "iterations") if choices[name]}
    if choices["problem"] == "command":
        if choices["iterations"]:
            raise click.UsageError("--iterations is for solvers that gapline knows: solver.py is yours to stop.")
        from gapline.generate.own import write_own_study

        write_own_study(directory, **given)
        return
    from gapline.generate.study import write_study

    write_study(directory, choices["problem"] or "tdvrptw", **given)


@contextmanager
def _progress() -> "Iterator[Progress]":
    """Show how far reading and writing are, on a terminal only."""
    from rich.progress import Progress

    with Progress(console=console(err=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("instances", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _document(directory: str, contract: "Contract", plan: Any, collected: "Collected | None") -> dict[str, Any]:
    from collections import Counter
    from pathlib import Path

    from gapline.model.layout import CONTRACT_FILE

    return {
        "contract": str(Path(directory) / CONTRACT_FILE),
        "problem": contract.objective.checker,
        "arms": [arm.name for arm in contract.arms],
        "instances": len(contract.instances),
        "panels": dict(Counter(one.panel for one in contract.instances)),
        "runs": len(plan.cells),
        **({} if collected is None else collected.document()),
    }
