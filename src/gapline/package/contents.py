"""The files of a package: which parts of a study go in, including modules that its code imports."""

import ast
import os
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from gapline.campaign.store import file_digest
from gapline.contract.contract import Contract, ContractFile
from gapline.contract.instance_digest import files_beside, problem_digest_of
from gapline.contract.layout import (
    CAMPAIGN,
    CARRIED_REFERENCES,
    CITATION,
    CONTRACT_FILE,
    CRATE,
    DOCUMENT,
    JOURNALS,
    README,
    REFERENCES,
    REGISTER,
    RESULTS,
    SUMS,
    ZENODO,
    PackedInstance,
)
from gapline.contract.user_code import code_file
from gapline.errors import IntegrityError, UsageError, listing
from gapline.files.archives import clashing_names, wrong_name
from gapline.files.open_file import read_document
from gapline.journal.register import read_register
from gapline.package.excluded_files import LINK, ExcludedFile, is_hidden, list_excluded, odd_file, walk_files
from gapline.references.snapshot import Snapshot, index_snapshots
from gapline.solvers import program_files


def imported_files(files: Iterable[Path], folder: Path) -> set[Path]:
    """Return Python files of a folder and those of its files that they import, directly or indirectly.

    A module is looked up in the folder of the importing file and in the given folder, as Python does for a program and
    for code that is loaded from a study; for a Python package, all of its modules are included.
    """
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        if file.name == "__init__.py":
            waiting += (path for path in file.parent.rglob("*.py") if not is_hidden(path.relative_to(folder)))
        if file.suffix == ".py":
            waiting += [there for name in _imported(file) for there in _places(name, file, folder)]
    return found


def _imported(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(read_document(file))
    except (OSError, SyntaxError, ValueError, RecursionError):
        # Not valid Python: there are no imports to follow.
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ([node.module] if node.module else [alias.name for alias in node.names])


def _places(name: str, file: Path, folder: Path) -> Iterator[Path]:
    first, *rest = name.split(".")
    for parent in dict.fromkeys((file.parent, folder)):
        for place in (
            parent / first / "__init__.py",
            parent.joinpath(first, *rest).with_suffix(".py"),
            parent / f"{first}.py",
        ):
            if place.is_file() and place.is_relative_to(folder):
                yield place


OWN = (README, SUMS, DOCUMENT, CRATE, CITATION, ZENODO)
NOT_STATED = "not stated"


@dataclass(slots=True)
class Contents:
    """The files of a study by their names in the package, its instances, snapshot digests, and what is excluded.

    `programs` are the files that commands, options, checkers and kernels of the contract name, and their imports.
    """

    study: Path
    contract: Contract
    files: dict[str, Path] = field(default_factory=dict)
    instances: dict[str, PackedInstance] = field(default_factory=dict)
    snapshots: dict[str, str] = field(default_factory=dict)
    left_out: list[ExcludedFile] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)

    def executable(self, name: str) -> bool:
        """Return whether a file is executable in the package: files of the user may be, those of gapline never are."""
        return name in self.files and bool(self.files[name].stat().st_mode & 0o100)

    def add(self, *names: str) -> None:
        """Add files of the study."""
        for name in names:
            normal = os.path.normpath(name)
            if Path(name).is_absolute() or normal.startswith(".."):
                raise UsageError(
                    f"{self.study / CONTRACT_FILE}: expected files in the study directory, got {name!r}, which lies "
                    "elsewhere",
                    hint="copy it into the study and name it there; --without-instances leaves instances out",
                )
            self.files[normal] = self.study / name

    def add_instances(self, *, include: bool) -> None:
        """Add the instances, or note why they are left out."""
        study, contract = self.study, self.contract
        register = read_register(study)
        registered = register.entries[-1].instances if register.entries else {}
        elsewhere = contract.study.instances_source or self._store() or NOT_STATED
        for one in contract.instances:
            file = study / one.path
            there = file.is_file()
            digest = file_digest(file) if there else registered.get(one.name)
            included = there and include
            further = [os.path.relpath(path, study) for path in files_beside(file, study)] if there else []
            beside = {name: file_digest(study / name) for name in further}
            where = None if included else one.source or elsewhere
            self.instances[one.name] = PackedInstance(one.path, digest, included, where, beside)
            if included:
                self.add(one.path, *further)
                continue
            why = "instances are left out as asked; package.json has its digest"
            if not there:
                gone = "it is a symbolic link that leads nowhere" if file.is_symlink() else "there is no such file"
                why = f"the contract names it, and {gone}"
            self.left_out += [ExcludedFile(name, why) for name in (one.path, *further)]

    def _store(self) -> str | None:
        """Return the origin of the contract's snapshot (address, version, SWHID), where its instances can be found."""
        path = self.contract.reference.snapshot
        if path is None or not (self.study / path).is_file():
            return None
        store = Snapshot.load(self.study / path).store
        return ", ".join(filter(None, (store.url, store.version, store.swhid))) if store.url else None

    def add_programs(self) -> None:
        """Add the instance lists, programs, checkers and code of the study that its contract names."""
        study, contract = self.study, self.contract
        data = tomllib.loads(read_document(study / CONTRACT_FILE).decode("utf-8"))
        self.add(*(entry.csv for entry in ContractFile.model_validate(data).instances if entry.csv))
        programs = {path for arm in contract.arms for path in program_files(arm, study)}
        names = [*contract.score.kernels, *contract.score.statistics, contract.score.weight]
        if checker := contract.objective.checker:
            names.append(checker)
            kind, _, command = checker.partition(":")
            programs |= {study / word for word in (shlex.split(command) if kind == "command" else ())}
        code = {file for name in names if (file := code_file(name, study)) is not None}
        for path in programs:
            name = _inside(path, study)
            # A program of the system is not a file of the study.
            if name is None or not path.is_file():
                continue
            # An argument such as .env or .venv/bin/python is no request to publish that file.
            why = LINK if odd_file(study, path) else "a hidden file" if is_hidden(Path(name)) else None
            if why is None:
                code.add(path)
            else:
                excluded = ExcludedFile(name, f"{why}; a command or an option of the contract names it")
                self.left_out += [] if excluded in self.left_out else [excluded]
        found = (_inside(path, study) for path in imported_files(code, study))
        self.programs = sorted(name for name in found if name is not None)
        self.add(*self.programs)

    def add_snapshots(self) -> None:
        """Add the contract's snapshot, all of `references/`, and parents next to the contract's snapshot."""
        study, named = self.study, self.contract.reference.snapshot
        names = [named] if named is not None and (study / named).is_file() else []
        parent = Snapshot.load(study / names[0]).parent if names else None
        # Snapshots that the contract does not name are included if they are plain files, not links or hidden files.
        lying = [path for paths in index_snapshots([study / REFERENCES]).values() for path in paths]
        lying = [path for path in lying if not is_hidden(path.relative_to(study)) and odd_file(study, path) is None]
        names += [path.relative_to(study).as_posix() for path in lying]
        beside = {} if parent is None else index_snapshots([(study / str(named)).parent])
        while parent is not None and parent in beside:
            names.append(Path(os.path.relpath(beside[parent][0], study)).as_posix())
            parent = Snapshot.load(beside[parent][0]).parent
        if (study / CAMPAIGN / CARRIED_REFERENCES).is_file():
            names.append(f"{CAMPAIGN}/{CARRIED_REFERENCES}")
        for name in dict.fromkeys(map(os.path.normpath, names)):
            # Loading verifies the stated digest.
            self.snapshots[name] = Snapshot.load(study / name).digest
            self.add(name)


def find_contents(
    study: Path,
    contract: Contract,
    *,
    without_instances: bool = False,
    also: Sequence[str] = (),
    copies: Iterable[str] = (),
    beside: Iterable[Path] = (),
) -> Contents:
    """Find the files of a study that its contract names; those in `beside` are not listed as excluded.

    Refuses snapshots and registers that do not verify, files outside the study, and names that no member can have.
    """
    found = Contents(study, contract)
    found.add(CONTRACT_FILE)
    if (study / JOURNALS / REGISTER).is_file():
        found.add(f"{JOURNALS}/{REGISTER}")
    found.add_instances(include=not without_instances)
    found.add_programs()
    found.add_snapshots()
    found.add(*_fitting(study, also))
    _refuse_names(study, found.files)
    known = [name for one in found.instances.values() for name in (one.path, *one.beside)]
    others = list_excluded(study, [*found.files, *map(os.path.normpath, known)], copies=copies, beside=beside)
    listed = {one.path for one in found.left_out}
    found.left_out = sorted([*found.left_out, *(one for one in others if one.path not in listed)])
    return found


def refuse_odd_files(study: Path, files: Iterable[Path]) -> None:
    """Refuse files of the study that are symbolic links, lie behind a link, or are pipes or devices."""
    if odd := sorted({found for file in files if (found := odd_file(study, file)) is not None}):
        raise UsageError(
            f"{study}: only regular files of the study directory can be packed, not {listing(odd)}",
            hint="replace each link by a copy of what it points to; --without-instances leaves instances out",
        )


def _inside(path: Path, study: Path) -> str | None:
    """Return the name of a file in the study; None if it lies elsewhere."""
    file, folder = (Path(os.path.normpath(one.absolute())) for one in (path, study))
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else None


def _fitting(study: Path, patterns: Sequence[str]) -> Iterator[str]:
    """Yield the files of the study that match the given patterns."""
    names = [name for name, _ in walk_files(study)] if patterns else []
    for pattern in patterns:
        fitting = [name for name in names if fnmatchcase(name, pattern) or name.startswith(f"{pattern.rstrip('/')}/")]
        if not fitting:
            raise UsageError(f"--also: expected files of {study} that fit {pattern!r}, got none")
        yield from fitting


def _refuse_names(study: Path, files: Iterable[str]) -> None:
    """Refuse names with which the package could not be opened."""
    names = sorted(files)
    wrong = [(name, why) for name in names if (why := wrong_name(name)) is not None]
    wrong += [(name, "a name of the package's own") for name in names if name in OWN or name.startswith(f"{RESULTS}/")]
    wrong += [(name, f"{why}, but for upper and lower case") for name, why in clashing_names(names)]
    if wrong:
        each = listing(f"{name!r} ({why})" for name, why in wrong)
        raise UsageError(f"{study}: expected names that any system can unpack, got {each}", hint="rename them")


def refuse_changed(contents: Contents, problems: dict[str, set[str]], solved: dict[str, set[str]]) -> None:
    """Refuse instances that differ from those that were solved, by their bytes or by the problem in them."""
    study, changed = contents.study, []
    for name, one in contents.instances.items():
        known = solved.get(name)
        if not known or one.digest is None or one.digest in known:
            continue
        if (study / one.path).is_file() and problem_digest_of(study / one.path) in problems.get(name, set()):
            continue
        changed.append(f"{one.path}: expected {sorted(known)[0]}, got {one.digest}")
    if changed:
        raise IntegrityError(
            f"{study}: expected the instances that were solved, got other ones: {listing(changed)}",
            hint="put back the files that were there when the runs were made",
        )
