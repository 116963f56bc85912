"""A study of instances that were found: laid out with their sidecars, in panels, under a short contract."""

from collections.abc import Callable, Sequence
from operator import methodcaller
from pathlib import Path

from gapline.errors import GaplineError, TraceError, UsageError
from gapline.generate.contract_text import NO_REFERENCE, PROBLEMS, contract_text, frozen_reference, problem_arms
from gapline.generate.files import Files
from gapline.generate.found import Found, Progress
from gapline.generate.instance_blocks import LIST_FILE, instance_blocks
from gapline.generate.panels import panels_of, spread
from gapline.generate.staging import new_study
from gapline.model.contract import Contract, load_contract
from gapline.model.layout import CONTRACT_FILE, INSTANCES
from gapline.model.writing import write_atomically

# Writes the references into a study and returns the path there, and in words since when they are known.
WriteReferences = Callable[[Path], tuple[str, str]]


def write_collected_study(
    folder: str | Path,
    files: Files,
    found: Found,
    *,
    origin: str,
    name: str = "",
    horizon: float = 60.0,
    seeds: int | Sequence[int] = 3,
    iterations: int | None = None,
    most: int | None = None,
    references: WriteReferences | None = None,
    in_place: str | None = None,
    progress: Progress = lambda _done, _total: None,
) -> Contract:
    """Write a study of the instances that were found, as a whole or not at all, and return its contract.

    `most` limits the instances of each panel; `references` writes a frozen snapshot into the study; `in_place` is the
    folder inside the study in which the instances lie already, so that nothing is copied.
    """
    directory = Path(folder)
    panels = panels_of(found.instances)
    if most is not None:
        kept = spread(panels, most)
        found.passed_over += len(panels) - len(kept)
        found.instances = [one for one in found.instances if one.name in kept]
    by_name = {one.name: one for one in found.instances}
    instances = [by_name[name] for name in panels if name in by_name]
    with new_study(directory) as study:
        if in_place is None:
            _copy(files, found, study / INSTANCES, progress)
        base = INSTANCES if in_place is None else in_place
        listed = in_place is not None and _has_others(files, found)
        blocks, rows = instance_blocks(instances, panels, base=base, listed=listed)
        if rows is not None:
            _write(study / LIST_FILE, rows.encode())
        reference = NO_REFERENCE
        if references is not None:
            snapshot, known = references(study)
            reference = frozen_reference(snapshot, known=known)
        facts = PROBLEMS[found.problem]
        text = contract_text(
            name=name or directory.resolve().name or found.problem,
            title=f"{facts.title}, {origin}",
            objective=facts.objective,
            checker=found.problem,
            horizon=horizon,
            seeds=seeds,
            reference=reference,
            contrast=facts.contrast,
            instances=blocks,
            arms=problem_arms(found.problem, iterations=iterations),
        )
        _write(study / CONTRACT_FILE, text.encode())
        contract = load_contract(study) if in_place is None else None
        if contract is not None and sorted(one.name for one in contract.instances) != sorted(by_name):
            raise GaplineError(f"{directory}: expected a contract of {len(by_name)} instances, got other names")
    return contract or load_contract(directory)


def _has_others(files: Files, found: Found) -> bool:
    """Say whether a pattern would also find, where they lie, files that are no instances of the study."""
    ours = {one.path for one in found.instances}
    suffixes = tuple({one.suffix for one in found.instances})
    return any(path.endswith(suffixes) and path not in ours for path in files.paths)


def _copy(files: Files, found: Found, folder: Path, progress: Progress) -> None:
    """Write instances and sidecars under the folder, each under its name."""
    wanted = {f"{one.name}{one.suffix}": one.path for one in found.instances}
    wanted |= {place: path for one in found.instances for place, path in one.sidecars.items()}
    top = folder.resolve()
    for done, (place, data) in enumerate(zip(wanted, files.read(list(wanted.values())), strict=True), start=1):
        if data is None:
            raise TraceError(f"{wanted[place]}: expected the file, got none: it was there a moment ago")
        # A tree that somebody made by hand can name files outside of itself.
        if not (top / place).resolve().is_relative_to(top):
            raise UsageError(f"{wanted[place]}: expected a path inside the collection, got one that leads out of it")
        _write(folder / place, data)
        progress(done, len(wanted))


def _write(path: Path, data: bytes) -> None:
    write_atomically(path, methodcaller("write", data))
