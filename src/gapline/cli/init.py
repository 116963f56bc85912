"""`gapline init`: a new study of generated instances, of a store or folder, or of a problem of your own."""

import re
import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.contract.layout import CONTRACT_FILE, REFERENCES
from gapline.errors import UsageError, closest, listing
from gapline.generate.instance_files import Files, FolderFiles, InstanceSelection, Progress, find_instances
from gapline.generate.instance_study import write_collected_study
from gapline.generate.study import refuse_study
from gapline.references.freeze import Frozen, freeze, freeze_references, store_names
from gapline.references.snapshot import Snapshot
from gapline.references.stores.mamut_layout import INSTANCE, open_mamut
from gapline.run.progress import task_progress
from gapline.terminal import say_words
from gapline.text import counted, meant

if TYPE_CHECKING:
    from gapline.contract.contract import Contract
    from gapline.generate.instance_files import Progress

PROBLEMS = ("tdvrptw", "vrptw", "cvrp", "mip", "command")
# Options of studies whose instances are found and not generated.
_OF_FOUND = ("family", "clones", "include", "exclude", "most", "references")


@click.command("init", cls=Command)
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
    from gapline.cli.output import print_next, running_commands
    from gapline.contract.layout import CONTRACT_FILE
    from gapline.contract.plan import Plan
    from gapline.contract.study_file import load_contract
    from gapline.solvers import arms_lack
    from gapline.text import counted

    collected = None
    if store is None and folder is None:
        _write_new(directory, choices)
    else:
        if choices["problem"] == "command":
            raise click.UsageError("--problem command brings its own instances: leave out --from and --instances.")
        with task_progress("instances") if sys.stderr.isatty() else nullcontext(lambda _done, _all: None) as progress:
            collected = collect_study(Path(directory), store, folder, choices, progress)
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
        from gapline.generate.custom_problem import write_own_study

        write_own_study(directory, **given)
        return
    from gapline.generate.study import write_study

    write_study(directory, choices["problem"] or "tdvrptw", **given)


def _document(directory: str, contract: "Contract", plan: Any, collected: "Collected | None") -> dict[str, Any]:
    from collections import Counter
    from pathlib import Path

    from gapline.contract.layout import CONTRACT_FILE

    return {
        "contract": str(Path(directory) / CONTRACT_FILE),
        "problem": contract.objective.checker,
        "arms": [arm.name for arm in contract.arms],
        "instances": len(contract.instances),
        "panels": dict(Counter(one.panel for one in contract.instances)),
        "runs": len(plan.cells),
        **({} if collected is None else collected.document()),
    }


STORES = ("mamut", "cvrplib")
# The objective of a store that the checker of the problem computes.
_STORED_OBJECTIVE = {"tdvrptw": "Duration"}


@dataclass(frozen=True, slots=True)
class Collected:
    """What was found, what became its reference, and what was noticed."""

    found: InstanceSelection
    snapshot: Snapshot | None
    file: str | None
    notes: tuple[str, ...]

    def lines(self, directory: str) -> list[str]:
        """Say what a reader of the new contract has to know."""
        out = [
            f"left out: {counted(len(names), 'instance')} {reason} ({listing(names, most=5)})"
            for reason, names in self.found.left_out.items()
        ]
        if self.found.passed_over:
            out.append(f"not chosen by --include, --exclude and --most: {self.found.passed_over:,}")
        out += [f"note: {note}" for note in self.notes]
        if self.snapshot is not None:
            known = f" known since {self.snapshot.as_of}" if self.snapshot.as_of else ""
            values = counted(len(self.snapshot), "value")
            return [*out, f"references frozen: {directory}/{self.file}, {values}{known}, {self.snapshot.digest}"]
        freeze_it = f"gapline snapshot freeze csv:FILE --name known -o {directory}/{REFERENCES}/known.json"
        return [
            *out,
            "no references: scores are against the best of the campaign itself (policy analysis)",
            f"known values, before the first run: {freeze_it}",
            f'then in {directory}/{CONTRACT_FILE}: policy = "frozen" and snapshot = "{REFERENCES}/known.json"',
        ]

    def document(self) -> dict[str, Any]:
        """Return the same as data."""
        snapshot = self.snapshot
        frozen: dict[str, Any] | None = None
        if snapshot is not None:
            frozen = {"file": self.file, "name": snapshot.name, "digest": snapshot.digest, "as_of": snapshot.as_of}
            frozen["values"] = len(snapshot)
        return {
            "snapshot": frozen,
            "left_out": [{"reason": reason, "instances": names} for reason, names in self.found.left_out.items()],
            "passed_over": self.found.passed_over,
            "notes": self.notes,
        }


def collect_study(
    directory: Path, store: str | None, folder: str | None, choices: Mapping[str, Any], progress: Progress
) -> Collected:
    """Find instances, freeze what is known of them, and write the study."""
    # Refused before a long reading, and not after it.
    refuse_study(directory)
    references = choices["references"]
    if store is not None and (folder is not None or references is not None):
        other = "--instances" if folder is not None else "--references"
        raise UsageError(f"expected --from or {other}, got both", hint="--from brings instances and best-known values")
    files, where, take = _open(store, folder, references, choices["family"], choices["clones"])
    # Such a store also holds files for other programs beside its own.
    suffix = INSTANCE if store is not None and store.startswith("mamut:") else ""
    chosen = {name: choices[name] for name in ("problem", "include", "exclude")}
    found = find_instances(files, where=where, progress=progress, suffix=suffix, **chosen)
    frozen = None if take is None else take(found.problem)
    if frozen is not None:
        _keep_known(found, frozen.snapshot, where)
    file = None if frozen is None else f"{REFERENCES}/{_slug(frozen.snapshot.name)}.json"

    def write_references(study: Path) -> tuple[str, str]:
        assert frozen is not None
        assert file is not None
        frozen.snapshot.save(study / file)
        since = f", as of {frozen.snapshot.as_of}" if frozen.snapshot.as_of else ""
        return file, f"Best-known values of {frozen.snapshot.store.name}{since}, frozen before the first run."

    write_collected_study(
        directory,
        files,
        found,
        origin=where,
        references=None if frozen is None else write_references,
        in_place=_inside(files, directory),
        progress=progress,
        **{name: choices[name] for name in ("name", "iterations", "most")},
        **{name: choices[name] for name in ("horizon", "seeds") if choices[name] is not None},
    )
    notes = () if frozen is None else frozen.notes
    return Collected(found, None if frozen is None else frozen.snapshot, file, notes)


Take = Callable[[str], Frozen]


def _open(
    store: str | None, folder: str | None, references: str | None, family: str | None, clones: str | None
) -> tuple[Files, str, Take | None]:
    """Return the files, where they come from in words, and what freezes best-known values of a problem."""
    if folder is not None:
        place = Path(folder, family or "")
        take = None if references is None else lambda _problem: _freeze_given(references)
        return FolderFiles(place), place.name or str(place), take
    scheme, _, location = str(store).partition(":")
    if scheme not in STORES or not location:
        hint = meant(scheme, STORES)
        if scheme in store_names() and scheme not in STORES:
            hint = f"{scheme} holds values and no instances: --instances FOLDER --references {store}"
        raise UsageError(f"--from: expected mamut:PATH@COMMIT or cvrplib:DIR, got {store!r}", hint=hint)
    if scheme == "cvrplib":
        place = Path(location, family or "")
        return FolderFiles(place), f"cvrplib:{place.name}", lambda _problem: freeze(f"cvrplib:{place}", name="cvrplib")
    files = open_mamut(location, family=family, clones=clones)
    top = files.root.rpartition("/")[2]

    def freeze_commit(problem: str) -> Frozen:
        frozen = freeze(
            files.source,
            name=f"mamut-{files.commit[:12]}",
            family=files.root or ".",
            objective=_STORED_OBJECTIVE.get(problem),
            clones=clones,
        )
        # Those are left out, and counted there.
        return replace(frozen, notes=tuple(note for note in frozen.notes if not note.startswith("instances without")))

    return files, f"{'mamut' if not top else f'mamut:{top}'}@{files.commit[:12]}", freeze_commit


def _freeze_given(references: str) -> Frozen:
    frozen = freeze_references(references)
    # What it says of values that are read where they lie does not hold of these, which are frozen into the study.
    return replace(frozen, notes=tuple(note for note in frozen.notes if "`gapline snapshot freeze`" not in note))


def _keep_known(found: InstanceSelection, snapshot: Snapshot, where: str) -> None:
    """Leave out the instances of which nothing is known: against a frozen reference they cannot be scored."""
    known = {name for name, entry in snapshot.values.items() if entry.value is not None}
    names = [one.name for one in found.instances]
    if not known & set(names):
        near = next((f"{near!r} for {name!r}" for name in names if (near := closest(name, known))), None)
        raise UsageError(
            f"{where}: expected best-known values of the {len(names)} instances, got none among {len(known)} values",
            hint=f"names differ: {snapshot.name} has {near}" if near else None,
        )
    found.keep(lambda one: one.name in known, "without a best-known value")


def _inside(files: Files, directory: Path) -> str | None:
    """Return the folder of the instances where it lies in the study already."""
    if not isinstance(files, FolderFiles):
        return None
    place, study = files.folder.resolve(), directory.resolve()
    return place.relative_to(study).as_posix() if place.is_relative_to(study) else None


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "references"
