"""What is stated of files by their digests: `package.json`, the register of plans, the snapshots, the instances."""

import contextlib
import datetime
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import polars as pl

from gapline.campaign.store import file_digest, read_manifest
from gapline.contract.contract import Contract
from gapline.contract.layout import (
    CAMPAIGN,
    CONTRACT_FILE,
    DOCUMENT,
    JOURNALS,
    MANIFEST,
    REFERENCES,
    REGISTER,
    PackageDocument,
)
from gapline.contract.version import VERSION
from gapline.errors import GaplineError, listing
from gapline.files.open_file import read_regular
from gapline.journal.register import LATER, Declared, Entry, Register, declare, last_digest, read_register
from gapline.package.checks.results import version_mistakes
from gapline.package.checks.rows import Difference, Findings, Source
from gapline.package.checks.values import common_part, value_differences
from gapline.references.snapshot import Snapshot
from gapline.study.contract_choices import contract_changes, recorded_facts
from gapline.text import counted, printable

# What is compared with digests of files; the instances in `show_instances` too.
_OF_DIGESTS = ("schema", "contract", "register", "campaign", "snapshots", "instances")
_REGISTER = f"{JOURNALS}/{REGISTER}"
# Files may be changed after they were registered, and every output says so; these have rows of their own.
_OF_FILES = frozenset({"contract", "snapshots", "snapshot_files", "instances", "code", "checker", "solvers"})
# Clocks of two machines agree within that.
_SKEW = datetime.timedelta(minutes=1)
T = TypeVar("T")


def show_package(
    source: Source, package: PackageDocument, contract: Contract, results: Any, findings: Findings
) -> None:
    """Compare what `package.json` states with the files next to it; instances and environment have their own rows.

    `results` is what `results/results.json` states, a dictionary where it can be read.
    """
    stated: dict[str, tuple[object, object]] = {
        f"contract ({CONTRACT_FILE})": (_digest(source.folder / CONTRACT_FILE), package.contract),
        f"register (last line of {_REGISTER})": (_quietly(lambda: last_digest(source.folder)), package.register),
        f"campaign ({CAMPAIGN}/{MANIFEST})": (_campaign_digest(source.folder), package.campaign),
    }
    named = contract.reference.snapshot
    for path in sorted({*package.snapshots, *([] if named is None else [named])}):
        stated[f"snapshot {path}"] = (_snapshot_digest(source.folder, path), package.snapshots.get(path))
    document = _document(source)
    found: dict[str, object] = {"name": contract.study.name, "title": contract.study.title}
    if isinstance(results, dict):
        found |= {"versions": results["versions"], "gapline": results["versions"].get("gapline")}
        found |= {"alarms": len(results["alarms"])}
    stated |= {name: (value, document[name]) for name, value in found.items() if name in document}
    known = {instance.name: instance.path for instance in contract.instances}
    differing = [
        Difference(DOCUMENT, f"{what}: expected {_word(expected)}, got {_word(said)}")
        for what, (expected, said) in stated.items()
        if expected != said
    ]
    if "versions" in document:
        differing += version_mistakes(package.versions, DOCUMENT)
    for name in sorted({*known, *package.instances}):
        packed = package.instances[name].path if name in package.instances else None
        if known.get(name) != packed:
            said = f"instance {name}: expected {_word(known.get(name))}, got {_word(packed)}"
            differing.append(Difference(DOCUMENT, said))
    how = "digests of what lies beside it, and what contract and results state"
    findings.judge(DOCUMENT, len(stated) + len(known), "facts", differing, how=how)
    unknown = sorted(document.keys() - {*_OF_DIGESTS, *found, "environment"})
    if unknown:
        why = f"cannot be computed from the other files: {listing(map(printable, unknown), most=6)}"
        findings.leave(DOCUMENT, len(unknown), "facts", why)


def show_environment(source: Source, expected: dict[str, Any], findings: Findings) -> None:
    """Compare the environment that `package.json` states with the one that follows from the runs."""
    document = _document(source)
    if "environment" not in document:
        findings.leave("environment", 0, "facts", f"{DOCUMENT} does not state it")
        return
    got, alone = document["environment"], list[str]()
    if document.get("gapline", VERSION) != VERSION:
        expected, got, alone = common_part(expected, got)
    differing = [
        Difference(DOCUMENT, f"environment.{place}: expected {_word(one):.120}, got {_word(other):.120}")
        for place, one, other in value_differences(expected, got, {})
    ]
    findings.judge("environment", len(expected), "facts", differing, how="as journals and campaign state it")
    if alone:
        why = f"only one of the two versions of gapline has these keys: {listing(map(printable, alone), most=5)}"
        findings.leave("environment", len(alone), "facts", why)


def _document(source: Source) -> dict[str, Any]:
    """Return `package.json` with every key; that it can be read was found before."""
    document = json.loads(read_regular(source.folder / DOCUMENT))
    assert isinstance(document, dict)
    return document


def show_instances(source: Source, package: PackageDocument | None, contract: Contract, findings: Findings) -> None:
    """Compare the instances with the digests that package and register state."""
    entries = _quietly(lambda: read_register(source.folder).entries) or ()
    registered = entries[-1].instances if entries else {}
    absent = source.absent_instances(package)
    differing, looked, unstated, lost = [], 0, [], []
    for instance in contract.instances:
        packed = None if package is None else package.instances.get(instance.name)
        wanted = [(_REGISTER, registered.get(instance.name)), (DOCUMENT, packed and packed.digest)]
        digests = {digest for _, digest in wanted if digest is not None}
        if len(digests) > 1:
            said = f"instance {instance.name}: expected {wanted[0][1]}, as {_REGISTER} has it, got {wanted[1][1]}"
            differing.append(Difference(DOCUMENT, said))
        found = _digest(source.folder / instance.path)
        if instance.name in absent:
            if found is not None:
                said = f"expected no file, as {DOCUMENT} says that it is not included, got one"
                differing.append(Difference(instance.path, said))
            continue
        if found is None and package is None:
            lost.append(instance.name)
        elif not digests:
            unstated.append(instance.name)
        elif found not in digests:
            said = f"expected {wanted[0][1] or wanted[1][1]}, got {found or 'no such file'}"
            differing.append(Difference(instance.path, said))
        looked += found is not None and bool(digests)
    findings.judge("instances", looked, "files", differing, how="digests of register and package")
    if absent:
        where = sorted({one.where or "not stated" for one in absent.values()})
        findings.leave("instances", len(absent), "files", f"not included; where to get them: {listing(where, most=3)}")
    if lost:
        findings.leave("instances", len(lost), "files", f"not here: {listing(lost, most=3)}")
    if unstated:
        findings.leave("instances", len(unstated), "files", f"nobody states their digest: {listing(unstated, most=3)}")


def show_snapshots(source: Source, contract: Contract, findings: Findings) -> None:
    """Compare every snapshot with the digest that it states of itself."""
    names, differing = _snapshots(source, contract), []
    for name in names:
        try:
            Snapshot.load(source.folder / name)
        except (GaplineError, OSError, ValueError) as error:
            differing.append(Difference.of(source.words(error), member=name))
    if names:
        findings.judge("snapshots", len(names), "files", differing, how="the digest that each states of itself")


def show_contract(source: Source, contract: Contract, runs: pl.DataFrame, findings: Findings) -> None:
    """Compare what the contract states of the timing with what the journals recorded when the runs were made."""
    recorded = recorded_facts(runs)
    differing = [
        Difference(CONTRACT_FILE, f"[time] {name}: expected {then}, as the journals record, got {now}")
        for name, (then, now) in contract_changes(contract, runs).items()
    ]
    register = _quietly(lambda: read_register(source.folder))
    if "charged" not in recorded and register is not None and register.entries and register.edited:
        # Journals of earlier versions recorded less: all that is known is that the file is another one.
        unregistered = [change for change in _quietly(register.changes) or [] if "not registered yet" in change]
        if any(change.startswith((CONTRACT_FILE, "time ")) for change in unregistered):
            said = "changed after the first run, and the journals do not record what it stated of the timing"
            differing.append(Difference(CONTRACT_FILE, said))
    findings.judge("contract", len(recorded), "facts", differing, how="timing as the journals record it")


def show_register(source: Source, contract: Contract, begun: list[datetime.datetime], findings: Findings) -> None:
    """Verify the chain of the register, and its last line and its moments against contract and journals.

    `begun` holds when attempts were begun, as their journals say.
    """
    try:
        register = read_register(source.folder)
    except (GaplineError, OSError) as error:
        findings.judge("register", 0, "lines", [Difference.of(source.words(error))], how="")
        return
    if not register.entries:
        findings.leave("register", 0, "lines", "there is none: what was declared before the runs is not known")
        return
    differing = [*_out_of_order(register, begun), *_not_declared(source.folder, contract, register)]
    changes = _quietly(register.changes) or []
    why = f"{counted(len(changes), 'change')} after the first run, which every output names" if changes else ""
    how = "chain of digests; the last line made again from the contract"
    findings.judge("register", len(register.entries), "lines", differing, how=how, why=why)


def _out_of_order(register: Register, begun: list[datetime.datetime]) -> Iterator[Difference]:
    """Say where moments and counts of attempts go back, or a plan says to be older than runs that were there."""
    first, before = min(begun, default=None), None
    for number, entry in enumerate(register.entries, 1):
        with contextlib.suppress(ValueError, TypeError):
            if before is not None and (entry.moment < before.moment or entry.begun < before.begun):
                said = f"{before.begun:,} attempts at {before.moment}, or more and later"
                yield _at(number, said, f"{entry.begun:,} at {entry.moment}")
            elif (
                entry.begun == 0 and first is not None and datetime.datetime.fromisoformat(entry.moment) > first + _SKEW
            ):
                yield _at(number, f"attempts, as the first began at {first.isoformat()}", f"none at {entry.moment}")
        before = entry


def _not_declared(study: Path, contract: Contract, register: Register) -> Iterator[Difference]:
    """Say what the last line states otherwise than the contract of which it has the digest."""
    last = register.entries[-1]
    today = declare(study, contract, known=last.instances)
    if (last.contract, last.gapline) != (today.contract, VERSION):
        return
    for name in Declared.__struct_fields__:
        if name in LATER and getattr(last, name) is None:
            continue
        if name not in _OF_FILES and getattr(last, name) != getattr(today, name):
            yield _at(len(register.entries), f"{name} {_json(today, name)}", _json(last, name))


def _at(line: int, expected: str, got: str) -> Difference:
    return Difference(_REGISTER, f"expected {expected}, got {got}", line)


def _json(entry: Declared | Entry, name: str) -> str:
    return msgspec.json.encode(getattr(entry, name)).decode()[:200]


def _snapshots(source: Source, contract: Contract) -> list[str]:
    """Return the snapshots of a study: those in its folder of references, and the one that its contract names."""
    folder = source.folder / REFERENCES
    found = {file.relative_to(source.folder).as_posix() for file in folder.glob("*.json")} if folder.is_dir() else set()
    named = contract.reference.snapshot
    if named is not None and (source.folder / named).is_file():
        found.add(named)
    return sorted(found)


def _quietly(ask: Callable[[], T]) -> T | None:
    """Ask for what has a row of its own, in which it is said why it cannot be read."""
    try:
        return ask()
    except (GaplineError, OSError):
        return None


def _digest(path: Path) -> str | None:
    try:
        return file_digest(path)
    except OSError:
        return None


def _campaign_digest(study: Path) -> str | None:
    stated = _quietly(lambda: read_manifest(study / CAMPAIGN).get("digest"))
    return None if stated is None else str(stated)


def _snapshot_digest(study: Path, path: str) -> str | None:
    try:
        return Snapshot.load(study / path).digest
    except (GaplineError, OSError, ValueError):
        return None


def _word(value: object) -> str:
    return "none" if value is None else printable(value)
