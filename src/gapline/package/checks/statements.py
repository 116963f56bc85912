"""What the package states about files by their digests: `package.json`, plan register, snapshots, instances."""

import contextlib
import datetime
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

import msgspec

from gapline.campaign.store import file_digest, open_campaign, read_manifest
from gapline.contract.layout import CAMPAIGN, CONTRACT_FILE, DOCUMENT, JOURNALS, MANIFEST, REFERENCES, REGISTER
from gapline.contract.version import VERSION
from gapline.errors import ContractError, GaplineError, IntegrityError, listing
from gapline.journal.register import LATER, Declared, Entry, Register, declare, last_digest, read_register
from gapline.package.campaign import Environment
from gapline.package.checks.rows import CheckRow, Mismatch, compared, not_compared
from gapline.package.checks.subject import Subject
from gapline.package.checks.values import value_differences, version_mistakes
from gapline.references.snapshot import Snapshot
from gapline.study.contract_choices import contract_changes, recorded_facts
from gapline.text import counted, printable

# Entries that are compared with digests of files; `check_instances` compares the instances too.
_OF_DIGESTS = ("schema", "contract", "register", "campaign", "snapshots", "instances")
_REGISTER = f"{JOURNALS}/{REGISTER}"
# Files may change after they were registered, and every output reports it; these have rows of their own.
_OF_FILES = frozenset({"contract", "snapshots", "snapshot_files", "instances", "code", "checker", "solvers"})
# The largest difference between the clocks of two machines that is tolerated.
_SKEW = datetime.timedelta(minutes=1)
P = ParamSpec("P")
T = TypeVar("T")


def check_document(subject: Subject) -> Iterator[CheckRow]:
    """Report a `package.json` that cannot be read."""
    try:
        if subject.package is None:
            return
    except IntegrityError as error:
        yield compared(DOCUMENT, 0, "facts", [Mismatch.of(error.message, member=DOCUMENT)])


def check_contract(subject: Subject) -> Iterator[CheckRow]:
    """Report a contract that cannot be read."""
    try:
        if subject.contract:
            return
    except (ContractError, OSError) as error:
        yield compared("contract", 1, "files", [Mismatch.of(subject.words(error), member=CONTRACT_FILE)])


def check_package(subject: Subject) -> Iterator[CheckRow]:
    """Compare `package.json` with the files next to it; instances and environment have their own rows."""
    package, contract, results = subject.package, subject.contract, subject.results
    if package is None:
        return
    document = subject.document
    stated: dict[str, tuple[object, object]] = {
        f"contract ({CONTRACT_FILE})": (_readable(file_digest, subject.folder / CONTRACT_FILE), package.contract),
        f"register (last line of {_REGISTER})": (_readable(last_digest, subject.folder), package.register),
        f"campaign ({CAMPAIGN}/{MANIFEST})": (_campaign_digest(subject), package.campaign),
    }
    named = contract.reference.snapshot
    for path in sorted({*package.snapshots, *([] if named is None else [named])}):
        snapshot = _readable(Snapshot.load, subject.folder / path)
        stated[f"snapshot {path}"] = (snapshot and snapshot.digest, package.snapshots.get(path))
    found: dict[str, object] = {"name": contract.study.name, "title": contract.study.title}
    if isinstance(results, dict):
        found |= {"versions": results["versions"], "gapline": results["versions"].get("gapline")}
        found |= {"alarms": len(results["alarms"])}
    stated |= {name: (value, document[name]) for name, value in found.items() if name in document}
    known = {instance.name: instance.path for instance in contract.instances}
    for name in sorted({*known, *package.instances}):
        packed = package.instances.get(name)
        stated[f"instance {name}"] = (known.get(name), packed and packed.path)
    differing = [
        Mismatch(DOCUMENT, f"{what}: expected {_word(expected)}, got {_word(said)}")
        for what, (expected, said) in stated.items()
        if expected != said
    ]
    if "versions" in document:
        differing += version_mistakes(package.versions, DOCUMENT)
    how = "digests of what lies beside it, and what contract and results state"
    yield compared(DOCUMENT, len(stated), "facts", differing, how=how)
    if unknown := sorted(document.keys() - {*_OF_DIGESTS, *found, "environment"}):
        why = f"cannot be computed from the other files: {listing(map(printable, unknown), most=6)}"
        yield not_compared(DOCUMENT, len(unknown), "facts", why)


def check_environment(subject: Subject) -> Iterator[CheckRow]:
    """Compare the environment in `package.json` with the one that follows from the runs."""
    if not subject.is_package:
        return
    document = subject.document
    if "environment" not in document:
        yield not_compared("environment", 0, "facts", f"{DOCUMENT} does not state it")
        return
    if subject.rebuilt is not None:
        expected = subject.index.environment.document(subject.rebuilt)
    else:
        expected = Environment().document(open_campaign(subject.folder / CAMPAIGN, verify=False))
    alone: dict[str, int] | None = {} if document.get("gapline", VERSION) != VERSION else None
    differing = [
        Mismatch(DOCUMENT, f"environment.{place}: expected {_word(one):.120}, got {_word(other):.120}")
        for place, one, other in value_differences(expected, document["environment"], alone=alone)
    ]
    number = len(expected) - sum(name in expected for name in alone or ())
    yield compared("environment", number, "facts", differing, how="as journals and campaign state it")
    if alone:
        why = f"only one of the two versions of gapline has these keys: {listing(map(printable, alone), most=5)}"
        yield not_compared("environment", len(alone), "facts", why)


def check_instances(subject: Subject) -> Iterator[CheckRow]:
    """Compare the instances with their digests in package and register."""
    register = _readable(read_register, subject.folder)
    registered = register.entries[-1].instances if register and register.entries else {}
    package, absent = subject.package, subject.absent_instances
    differing, looked, unstated, lost = [], 0, [], []
    for instance in subject.contract.instances:
        packed = None if package is None else package.instances.get(instance.name)
        stated = [registered.get(instance.name), packed and packed.digest]
        digests = [digest for digest in stated if digest is not None]
        if len(set(digests)) > 1:
            said = f"instance {instance.name}: expected {digests[0]}, as {_REGISTER} has it, got {digests[1]}"
            differing.append(Mismatch(DOCUMENT, said))
        found = _readable(file_digest, subject.folder / instance.path)
        if instance.name in absent:
            if found is not None:
                said = f"expected no file, as {DOCUMENT} says that it is not included, got one"
                differing.append(Mismatch(instance.path, said))
            continue
        if found is None and package is None:
            lost.append(instance.name)
        elif not digests:
            unstated.append(instance.name)
        elif found not in digests:
            said = f"expected {next(filter(None, digests), None)}, got {found or 'no such file'}"
            differing.append(Mismatch(instance.path, said))
        looked += found is not None and bool(digests)
    yield compared("instances", looked, "files", differing, how="digests of register and package")
    if absent:
        where = sorted({one.where or "not stated" for one in absent.values()})
        why = f"not included; where to get them: {listing(where, most=3)}"
        yield not_compared("instances", len(absent), "files", why)
    for names, why in ((lost, "not here"), (unstated, "nobody states their digest")):
        if names:
            yield not_compared("instances", len(names), "files", f"{why}: {listing(names, most=3)}")


def check_snapshots(subject: Subject) -> Iterator[CheckRow]:
    """Compare every snapshot, in the references folder or named by the contract, with the digest that it states."""
    names = {file.relative_to(subject.folder).as_posix() for file in (subject.folder / REFERENCES).glob("*.json")}
    named = subject.contract.reference.snapshot
    if named is not None and (subject.folder / named).is_file():
        names.add(named)
    differing = []
    for name in sorted(names):
        try:
            Snapshot.load(subject.folder / name)
        except (GaplineError, OSError, ValueError) as error:
            differing.append(Mismatch.of(subject.words(error), member=name))
    if names:
        yield compared("snapshots", len(names), "files", differing, how="the digest that each states of itself")


def check_timing(subject: Subject) -> Iterator[CheckRow]:
    """Compare the timing that the contract states with what the journals recorded during the runs."""
    runs = subject.index.campaign.runs
    recorded = recorded_facts(runs)
    differing = [
        Mismatch(CONTRACT_FILE, f"[time] {name}: expected {then}, as the journals record, got {now}")
        for name, (then, now) in contract_changes(subject.contract, runs).items()
    ]
    register = _readable(read_register, subject.folder)
    if "charged" not in recorded and register is not None and register.entries and register.edited:
        # Journals of earlier versions recorded less: then all that is known is that the file has changed.
        unregistered = [change for change in _readable(register.changes) or [] if "not registered yet" in change]
        if any(change.startswith((CONTRACT_FILE, "time ")) for change in unregistered):
            said = "changed after the first run, and the journals do not record what it stated of the timing"
            differing.append(Mismatch(CONTRACT_FILE, said))
    yield compared("contract", len(recorded), "facts", differing, how="timing as the journals record it")


def check_register(subject: Subject) -> Iterator[CheckRow]:
    """Verify the chain of the register, and compare its last line and its times with contract and journals."""
    try:
        register = read_register(subject.folder)
    except (GaplineError, OSError) as error:
        yield compared("register", 0, "lines", [Mismatch.of(subject.words(error))])
        return
    if not register.entries:
        yield not_compared("register", 0, "lines", "there is none: what was declared before the runs is not known")
        return
    begun = subject.index.begun if subject.has_journals else []
    differing = [*_out_of_order(register, begun), *_not_declared(subject, register)]
    changes = _readable(register.changes) or []
    why = f"{counted(len(changes), 'change')} after the first run, which every output names" if changes else ""
    how = "chain of digests; the last line made again from the contract"
    yield compared("register", len(register.entries), "lines", differing, how=how, why=why)


def _out_of_order(register: Register, begun: list[datetime.datetime]) -> Iterator[Mismatch]:
    """Report times and attempt counts that decrease, and plans that claim to be older than existing runs.

    `begun` holds the start times of the attempts from their journals.
    """
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


def _not_declared(subject: Subject, register: Register) -> Iterator[Mismatch]:
    """Report where the last line differs from the contract whose digest it holds."""
    last = register.entries[-1]
    today = declare(subject.folder, subject.contract, known=last.instances)
    if (last.contract, last.gapline) != (today.contract, VERSION):
        return
    for name in Declared.__struct_fields__:
        unstated = name in LATER and getattr(last, name) is None
        if not unstated and name not in _OF_FILES and getattr(last, name) != getattr(today, name):
            yield _at(len(register.entries), f"{name} {_json(today, name)}", _json(last, name))


def _at(line: int, expected: str, got: str) -> Mismatch:
    return Mismatch(_REGISTER, f"expected {expected}, got {got}", line)


def _json(entry: Declared | Entry, name: str) -> str:
    return msgspec.json.encode(getattr(entry, name)).decode()[:200]


def _readable(read: Callable[P, T], *args: P.args, **choices: P.kwargs) -> T | None:
    """Read a file; return None if it cannot be read, since another row reports why."""
    try:
        return read(*args, **choices)
    except (GaplineError, OSError, ValueError):
        return None


def _campaign_digest(subject: Subject) -> str | None:
    manifest = _readable(read_manifest, subject.folder / CAMPAIGN)
    digest = manifest and manifest.get("digest")
    return None if digest is None else str(digest)


def _word(value: object) -> str:
    return "none" if value is None else printable(value)
