"""The register of plans, `journal/register.jsonl`: what a study declared before its data.

    {"previous":null,"moment":"2026-08-01T12:00:00+00:00","begun":0,"contract":"sha256:…",…,"digest":"sha256:…"}
    {"previous":"sha256:…","moment":"2026-08-09T08:30:00+00:00","begun":48,"contract":"sha256:…",…,"digest":"sha256:…"}

One line per plan, oldest first. `digest` closes a line and covers all before it; `previous` repeats the digest of the
line before, so that a line that was changed, dropped, swapped or inserted later does not verify. Lines are only ever
appended: what a study declares after its runs gets a new line, with the number of attempts in the journal at the time.
"""

import contextlib
import datetime
import hashlib
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from gapline.campaign.store import file_digest
from gapline.contract.contract import Contract
from gapline.contract.fact_origins import CHANGED, LATE_PLAN
from gapline.contract.layout import CONTRACT_FILE, JOURNALS, REGISTER
from gapline.contract.metadata import METADATA_FIELDS
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.contract.user_code import code_file
from gapline.contract.version import VERSION
from gapline.errors import IntegrityError
from gapline.files.atomic_write import naming
from gapline.files.locks import append_whole, locked
from gapline.files.open_file import read_document, read_regular
from gapline.journal.attempts import attempts_of

_TAIL = re.compile(rb',"digest":"(sha256:[0-9a-f]{64})"\}\n\Z')


class Declared(msgspec.Struct, frozen=True, kw_only=True):
    """What a study declares: its plan, its files, and the choices under which its numbers will be read.

    `contract` and `plan` are digests, `experiment` is the digest of the contract without metadata (authors, licence and
    the like), comments and order; `snapshots` maps paths to the digest that each snapshot states of itself and
    `snapshot_files` to that of its bytes. `checker` and `solvers` (by arm) are names with versions; None if they were
    not looked up. A file that does not exist yet is in none of these.
    """

    contract: str
    plan: str
    planned: int
    snapshots: dict[str, str] = {}
    snapshot_files: dict[str, str] = {}
    instances: dict[str, str] = {}
    checker: str | None = None
    solvers: dict[str, str] | None = None
    seeds: list[int] = []
    where: list[dict[str, Any]] | None = None
    allotted: dict[str, dict[str, Any]] | None = None
    tiers: dict[str, int] = {}
    models: dict[str, str] | None = None
    horizon: float
    transform: str
    validation: str
    policy: str
    tolerance: float
    kernel: list[str]
    weight: str
    weighting: str
    goals: list[float]
    bootstrap: dict[str, str | float] = {}
    contrasts: list[list[str]]
    statistics: list[str] = []
    time_scale: dict[str, float] | str = {}  # a text in lines of earlier versions
    code: dict[str, str] = {}
    time: dict[str, str | int] | None = None
    experiment: str | None = None


class Entry(Declared, frozen=True, kw_only=True):
    """One line of the register; `begun` is the number of attempts in the journal at that moment."""

    previous: str | None
    moment: str
    gapline: str
    begun: int


# Changes of these digests are reported by the fields that they cover.
_TOLD_BY_OTHERS = ("contract", "plan", "snapshot_files", "experiment")
# Fields that lines of earlier versions do not have.
LATER = ("where", "allotted", "time", "models")


@dataclass(frozen=True, slots=True)
class Register:
    """The plans of a study, oldest first; empty for a study that was run before the register existed.

    `start` is the start of the first run according to the journals; None if it is unknown or was not looked up.
    """

    study: Path
    entries: tuple[Entry, ...] = ()
    start: datetime.datetime | None = None

    @property
    def first(self) -> Entry | None:
        """The plan in force when the first run was started; None if none was registered before it."""
        # Attempts are counted on disk and can be moved away for a moment, so the start times of the runs decide too.
        before = [entry for entry in self.entries if entry.begun == 0 and self._precedes(entry)]
        return before[-1] if before else None

    def _precedes(self, entry: Entry) -> bool:
        moment = _moment(entry)
        return self.start is None or (moment is not None and moment < self.start)

    def snapshot_digests(self) -> frozenset[str]:
        """Return the digests of the snapshots that were registered before the first run."""
        return frozenset(self.first.snapshots.values()) if self.first is not None else frozenset()

    def declared_contrasts(self) -> list[tuple[str, str]]:
        """Return the contrasts that were declared before the first run."""
        return [(left, right) for left, right in self.first.contrasts] if self.first is not None else []

    def late_digests(self) -> frozenset[str]:
        """Return the digests of the snapshots that were registered after the runs began."""
        every = frozenset(digest for entry in self.entries for digest in entry.snapshots.values())
        return every - self.snapshot_digests()

    def has_contrasts(self, pairs: Iterable[tuple[str, str]]) -> bool:
        """Whether all of the contrasts were registered, before the first run or later."""
        known = {frozenset(pair) for entry in self.entries for pair in entry.contrasts}
        return known.issuperset(map(frozenset, pairs))

    def notes(self) -> list[str]:
        """Report a plan that was not registered before the first run, and changes after it."""
        late = []
        if self.entries and self.first is None:
            run = "" if self.start is None else f", the first run started at {self.start.isoformat()}"
            late = [f"{LATE_PLAN}: at {self.entries[0].moment}{run}"]
        return late + [f"{CHANGED}: {change}" for change in self.changes()]

    @property
    def edited(self) -> bool:
        """Whether the contract describes another experiment today than when the first run was started."""
        first = self._baseline
        if first is None or not (self.study / CONTRACT_FILE).is_file():
            return False
        if first.experiment is None:
            return first.contract != file_digest(self.study / CONTRACT_FILE)
        return first.experiment != _experiment(self.study)

    @property
    def _baseline(self) -> Entry | None:
        """The plan from which changes are counted: `first`, otherwise the last without attempts or the oldest."""
        if not self.entries:
            return None
        return self.first or next((one for one in reversed(self.entries) if one.begun == 0), self.entries[0])

    def changes(self) -> list[str]:
        """Return what was changed after the first run, by later plans and by today's contract."""
        first = self._baseline
        if first is None:
            return []
        later = self.entries[self.entries.index(first) + 1 :]
        last = self.entries[-1]
        steps: list[tuple[str, Declared]] = [(f"at {entry.moment}", entry) for entry in later]
        if (self.study / CONTRACT_FILE).is_file():
            today = declare(self.study, load_contract(self.study), known=last.instances)
            steps.append(("not registered yet", msgspec.structs.replace(today, solvers=last.solvers)))
        found: list[str] = []
        before: Declared = first
        for when, after in steps:
            found += [f"{change} ({when})" for change in _differences(before, after)]
            before = after
        return found


def declare(
    study: Path,
    contract: Contract,
    *,
    checker: str | None = None,
    solvers: dict[str, str] | None = None,
    known: dict[str, str] | None = None,
) -> Declared:
    """Collect what a study declares, from its current files; known digests of instances are not computed again."""
    plan = Plan.of(contract)
    stated, files = {}, {}
    if (path := contract.reference.snapshot) is not None:
        # A snapshot with a wrong digest is rejected whenever it is read: here it is enough to keep the stated one.
        with contextlib.suppress(OSError):
            files[path] = file_digest(study / path)
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                stated[path] = msgspec.json.decode(read_document(study / path), type=_DeclaredDigest).digest
    instances = {}
    for instance in contract.instances:
        # An instance that is not in `known` was found by a pattern later.
        with contextlib.suppress(OSError):
            seen = (known or {}).get(instance.name)
            instances[instance.name] = file_digest(study / instance.path) if seen is None else seen
    return Declared(
        contract=file_digest(study / CONTRACT_FILE),
        plan=plan.digest,
        planned=len(plan.cells),
        snapshots=stated,
        snapshot_files=files,
        instances=instances,
        checker=checker,
        solvers=solvers,
        seeds=list(contract.seeds),
        where=[rule.model_dump(exclude_unset=True) for rule in contract.where],
        allotted=_allotted(contract),
        tiers={arm.name: arm.tier for arm in contract.arms},
        models={arm.name: arm.model for arm in contract.arms if arm.model},
        horizon=contract.time.horizon,
        transform=", ".join(contract.transforms) or "none",
        validation=contract.objective.validation,
        policy=contract.reference.policy,
        tolerance=contract.reference.tolerance,
        kernel=contract.score.kernels,
        weight=contract.score.weight,
        weighting=contract.aggregate.weighting,
        goals=list(contract.score.goals),
        bootstrap=contract.aggregate.bootstrap.model_dump(),
        contrasts=[list(pair) for pair in contract.aggregate.contrasts],
        statistics=list(contract.score.statistics),
        time_scale=contract.time.scale,
        time={name: getattr(contract.time, name) for name in ("clock", "charged", "granularity", "threads", "machine")},
        code={
            name: file_digest(file)
            for name in (*contract.score.kernels, *contract.score.statistics, contract.score.weight)
            if (file := code_file(name, study)) is not None
        },
        experiment=_experiment(study),
    )


def _experiment(study: Path) -> str:
    """Return the digest of a contract without its metadata: authors and licence do not affect any run."""
    data = tomllib.loads(read_document(study / CONTRACT_FILE).decode("utf-8"))
    data["study"] = {name: value for name, value in data["study"].items() if name not in METADATA_FIELDS}
    return f"sha256:{hashlib.sha256(msgspec.json.encode(data, order='sorted')).hexdigest()}"


def _allotted(contract: Contract) -> dict[str, dict[str, Any]]:
    """Return the seeds, horizon, cores and memory that single arms and instances set, and the instances of an arm."""
    facts = ("seeds", "horizon", "threads", "memory", "instances")
    found = {
        f"{kind} {one.name}": {name: value for name in facts if (value := getattr(one, name, None))}
        for kind, every in (("arm", contract.arms), ("instance", contract.instances))
        for one in every
    }
    return {name: stated for name, stated in found.items() if stated}


class _DeclaredDigest(msgspec.Struct):
    digest: str


def read_register(study: str | Path) -> Register:
    """Read the register of a study, verifying every line.

    Raises
    ------
    IntegrityError
        If a line was changed, dropped or torn; the message names the line.
    """
    path = Path(study) / JOURNALS / REGISTER
    try:
        data = read_regular(path)
    except FileNotFoundError:
        data = b""
    return Register(Path(study), _read(path, data)[0])


def last_digest(study: str | Path) -> str | None:
    """Return the digest of the last line of a register after verifying every line; None if there is no file."""
    path = Path(study) / JOURNALS / REGISTER
    return _read(path, read_regular(path))[1] if path.is_file() else None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path) as file:
        yield file


def register_plan(study: Path, declared: Declared) -> Register:
    """Append a line with the declaration of a study unless the last line equals it; return the register.

    The checker and the solvers are taken from the last line if they were not looked up this time. If two runners
    register at once, the second waits and finds the line of the first.
    """
    path = study / JOURNALS / REGISTER
    with naming(path), _opened(path) as file:
        data = read_regular(path)
        entries, previous = _read(path, data)
        last = entries[-1] if entries else None
        if last is not None:
            declared = msgspec.structs.replace(
                declared,
                checker=last.checker if declared.checker is None else declared.checker,
                solvers=last.solvers if declared.solvers is None else declared.solvers,
            )
        facts = msgspec.structs.asdict(declared)
        if last is not None and all(getattr(last, name) == value for name, value in facts.items()):
            return Register(study, entries)
        entry = Entry(
            previous=previous,
            moment=datetime.datetime.now(datetime.UTC).isoformat(),
            gapline=VERSION,
            # Counted on disk and not from the plan: attempts of arms that were removed since count too.
            begun=sum(len(attempts_of(cell)) for cell in path.parent.iterdir()),
            **facts,
        )
        append_whole(file, _seal(entry))
    return Register(study, (*entries, entry))


def _seal(entry: Entry) -> bytes:
    # The chain comes first, then the declaration, so that the moment is near the start of the line.
    names = ("previous", "moment", "gapline", "begun")
    facts = msgspec.structs.asdict(entry)
    body = msgspec.json.encode({name: facts[name] for name in names} | facts)[:-1]
    return b'%b,"digest":"sha256:%b"}\n' % (body, hashlib.sha256(body).hexdigest().encode())


def _read(path: Path, data: bytes) -> tuple[tuple[Entry, ...], str | None]:
    """Return the entries and the digest of the last; each line must match its digest and follow the one before it."""
    entries: list[Entry] = []
    previous: str | None = None
    for number, line in enumerate(data.splitlines(keepends=True), start=1):
        where = f"{path}:{number}"
        tail = _TAIL.search(line)
        if tail is None:
            raise IntegrityError(
                f"{where}: expected a whole line that ends in its digest, got {line[-40:]!r}",
                hint="the writer was stopped in this line, or it was changed; put back a copy of the register",
            )
        body, stated = line[: tail.start()], tail.group(1).decode()
        found = f"sha256:{hashlib.sha256(body).hexdigest()}"
        if found != stated:
            raise IntegrityError(f"{where}: the line was changed: expected digest {stated}, got {found}")
        try:
            entry = msgspec.json.decode(body + b"}", type=Entry)
        except msgspec.MsgspecError as error:
            raise IntegrityError(f"{where}: expected a plan, got {error}", hint="a newer gapline may read it") from None
        if entry.previous != previous:
            raise IntegrityError(
                f"{where}: a line before it is missing or not in its place: expected it to follow "
                f"{previous or 'nothing'}, got {entry.previous or 'nothing'}"
            )
        entries.append(entry)
        previous = stated
    return tuple(entries), previous


def _differences(before: Declared, after: Declared) -> list[str]:
    """Return the differences, one line for each field or key."""
    found = []
    for name in Declared.__struct_fields__:
        old, new = getattr(before, name), getattr(after, name)
        # None means that a field was not looked up, or is missing in older lines: not a change.
        if old == new or new is None or (old is None and name in LATER) or name in _TOLD_BY_OTHERS:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            if name == "bootstrap" and old:
                # Lines written before the method could be chosen used percentiles.
                old = {"method": "percentile"} | old
            keys = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
            found += [f"{name} {key}: {_word(old.get(key))} became {_word(new.get(key))}" for key in keys]
        else:
            found.append(f"{name}: {_word(old)} became {_word(new)}")
    # Authors, licence and comments do not affect any run, so a change of them is not a change of plan.
    same = before.experiment is not None and before.experiment == after.experiment
    if not found and not same and before.contract != after.contract:
        # A field that is not registered; or, if an older line has no such digest, perhaps a comment.
        found.append(f"{CONTRACT_FILE} was edited, and nothing that is registered changed by it")
    return found


def _moment(entry: Entry) -> datetime.datetime | None:
    """Return when a line was written; None if its moment is missing or has no time zone."""
    try:
        moment = datetime.datetime.fromisoformat(entry.moment)
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment


def _word(value: object) -> str:
    if value is None:
        return "none"
    if value == "":
        return "nothing"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
