"""The study that runs a package again: contract, instances, references and code in a directory, and no result.

Its contract is that of the package word for word, with a table `[replicates]` at the end that says where it comes from
and which part of it is run.
"""

import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from gapline.archive.source import OpenedPackage
from gapline.errors import EnvironmentLacksError, IntegrityError, UsageError, listing
from gapline.generate.contract_text import quoted
from gapline.generate.staging import new_study
from gapline.model.contract import Contract, ReplicatesTable, load_contract
from gapline.model.expand import fits
from gapline.model.layout import CAMPAIGN, CONTRACT_FILE, JOURNALS, REPLICATION, RESULTS
from gapline.model.limits import read_document
from gapline.model.package import CITATION, CRATE, DOCUMENT, README, SUMS, ZENODO, PackedInstance
from gapline.model.part import planned_seeds
from gapline.model.replication import Origin, Part
from gapline.model.store import file_digest
from gapline.model.text import meant, printable
from gapline.model.writing import write_atomically

# What a package says of itself, and what was found when it was run: none of it is for the one who runs it again.
_NOT_UNPACKED = frozenset(
    {README, SUMS, DOCUMENT, CRATE, CITATION, ZENODO, REPLICATION, CONTRACT_FILE, RESULTS, JOURNALS, CAMPAIGN}
)
_RANGE = re.compile(r"(\d+)\s*\.\.\s*(\d+)")


def choose_part(
    contract: Contract,
    *,
    arms: Sequence[str] = (),
    panels: Sequence[str] = (),
    seeds: Sequence[str | int] = (),
    horizon_scale: float = 1.0,
) -> Part:
    """Settle which part of a package's contract is run: names or patterns, `1,3` or `1..5` for seeds.

    A package that is itself a replication has a part of its own, of which this is one.
    """
    if not 0 < horizon_scale < float("inf"):
        raise UsageError(f"--horizon-scale: expected a positive number, got {horizon_scale}")
    before = contract.replicates
    known = list(dict.fromkeys(one.panel for one in contract.instances))
    return Part(
        arms=_names("--arms", arms, [arm.name for arm in contract.arms], before.arms if before else ()),
        panels=_names("--panels", panels, known, before.panels if before else ()),
        seeds=_seeds(seeds, sorted(planned_seeds(contract)), before.seeds if before else ()),
        horizon_scale=horizon_scale * (before.horizon_scale if before else 1.0),
    )


def _names(option: str, given: Sequence[str], known: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    # A name may hold a comma itself; otherwise it stands between names.
    patterns = [
        part for text in given for part in ([text] if text in known else [one.strip() for one in text.split(",")])
    ]
    for pattern in patterns:
        if not any(fits(name, pattern) for name in known):
            raise UsageError(
                f"{option}: expected names of the package, got {pattern!r}", hint=meant(pattern, known, show=True)
            )
    if not patterns and not before:
        return ()
    return tuple(name for name in known if fits(name, patterns))


def _seeds(given: Sequence[str | int], known: Sequence[int], before: Sequence[int]) -> tuple[int, ...]:
    wanted: set[int] = set()
    for text in (one.strip() for part in given for one in str(part).split(",")):
        span = _RANGE.fullmatch(text)
        found = [s for s in known if (int(span[1]) <= s <= int(span[2]) if span else fits(str(s), text))]
        if not found:
            shown = listing(map(str, known), most=10)
            raise UsageError(f"--seeds: expected seeds of the package ({shown}), got {text!r}", hint="as 1,3 or 1..5")
        wanted.update(found)
    if not given:
        return tuple(known) if before else ()
    return tuple(seed for seed in known if seed in wanted)


def origin_of(package: OpenedPackage, part: Part) -> Origin:
    """Return where a replication comes from."""
    return Origin(name=package.identity.name, sha256=package.identity.sha256, swhid=package.identity.swhid, part=part)


def replica_text(text: str, origin: Origin) -> str:
    """Return the contract of a replication: the package's own words, and the table that says which part is run."""
    part = origin.part
    table = ["[replicates]", *(f"{name} = {quoted(getattr(origin, name))}" for name in ("name", "sha256", "swhid"))]
    table += [
        f"{name} = [{', '.join(map(quoted, named))}]" for name in ("arms", "panels") if (named := getattr(part, name))
    ]
    table += [f"seeds = {list(part.seeds)}"] if part.seeds else []
    table += [f"horizon_scale = {part.horizon_scale!r}"] if part.horizon_scale != 1 else []
    return (
        "# A replication: `gapline replicate` runs the package again that [replicates], at the end, names.\n"
        "# All between these lines and that table is the contract of the package, as it was packed.\n"
        f"{_without_table(text).rstrip()}\n\n"
        "# Which package this is, and which part of it is run here: arms, panels and seeds, all where none is named.\n"
        "# Every horizon above is multiplied by horizon_scale.\n" + "\n".join(table) + "\n"
    )


def is_edited(package: OpenedPackage, directory: Path, origin: Origin) -> bool:
    """Say whether the contract of a replication is another one than was made of the package."""
    text = read_document(package.folder / CONTRACT_FILE).decode("utf-8")
    return read_document(directory / CONTRACT_FILE) != replica_text(text, origin).encode()


def _without_table(text: str) -> str:
    """Leave out the table of a package that is itself a replication."""
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if line.startswith("["):
            inside = line.rstrip() == "[replicates]"
        if not inside:
            kept.append(line)
    return "".join(kept)


def read_origin(directory: Path) -> Origin | None:
    """Return what a directory replicates, None where it holds no study."""
    if not (directory / CONTRACT_FILE).exists():
        return None
    table = _replicates(directory)
    if table is None:
        raise UsageError(
            f"{directory}: expected a new directory or a replication begun there, got another study",
            hint="name another directory with -o",
        )
    part = Part(
        arms=tuple(table.arms), panels=tuple(table.panels), seeds=tuple(table.seeds), horizon_scale=table.horizon_scale
    )
    return Origin(name=table.name, sha256=table.sha256, swhid=table.swhid, part=part)


def _replicates(directory: Path) -> ReplicatesTable | None:
    """Read the table alone: patterns of the contract may wait for instances that are not there yet."""
    import tomllib

    try:
        found = tomllib.loads(read_document(directory / CONTRACT_FILE).decode("utf-8")).get("replicates")
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        # The same mistake in the words of the contract.
        return load_contract(directory).replicates
    return None if found is None else ReplicatesTable.model_validate(found)


def prepare(package: OpenedPackage, directory: Path, origin: Origin) -> None:
    """Write the study into a new directory, or go on with the one that was begun there from the same package."""
    begun = read_origin(directory)
    if begun is None:
        text = read_document(package.folder / CONTRACT_FILE).decode("utf-8")
        with new_study(directory) as study:
            for entry in sorted(package.folder.iterdir()):
                if entry.name not in _NOT_UNPACKED:
                    copy = shutil.copytree if entry.is_dir() else shutil.copy
                    copy(entry, study / entry.name)
            for one in package.instances.values():
                if not one.included:
                    # What stands in for it would be taken for the instance itself.
                    (study / one.path).unlink(missing_ok=True)
            write_atomically(study / CONTRACT_FILE, lambda stream: stream.write(replica_text(text, origin).encode()))
    elif begun.sha256 != origin.sha256:
        raise UsageError(
            f"{directory}: expected the package that was begun there, {begun.name} ({begun.sha256}), got {origin.name} "
            f"({origin.sha256})",
            hint="name another directory with -o",
        )
    elif begun.part != origin.part:
        raise UsageError(
            f"{directory}: expected the part of the package that was begun there ({_part_words(begun.part)}), got "
            f"another one ({_part_words(origin.part)})",
            hint="leave the options out to go on with it, or name another directory with -o",
        )
    _demand_instances(package.instances.values(), directory)


def _part_words(part: Part) -> str:
    words = [
        f"{name} {listing(map(str, getattr(part, name)))}"
        for name in ("arms", "panels", "seeds")
        if getattr(part, name)
    ]
    words += [f"horizons × {part.horizon_scale:g}"] if part.horizon_scale != 1 else []
    return "; ".join(words) or "all of it"


def _demand_instances(instances: Iterable[PackedInstance], directory: Path) -> None:
    """Refuse instance files that are not those of the package, and say which are to be put where."""
    lacking: dict[str, str] = {}
    for one in instances:
        for path, digest in {one.path: one.digest, **one.beside}.items():
            place = directory / path
            if not place.is_file():
                lacking[path] = (
                    f"{printable(path)} ({digest}; {printable(one.where or 'where to get it is not stated')})"
                )
            elif (found := file_digest(place)) != digest:
                raise IntegrityError(
                    f"{place}: expected the instance of the package ({digest}), got another file ({found})"
                )
    if lacking:
        shown = "\n".join(lacking.values())
        raise EnvironmentLacksError(
            f"{directory}: the package comes without {len(lacking)} files of its instances; put them there:\n{shown}",
            hint="then call it again: they are verified, and it goes on",
        )
