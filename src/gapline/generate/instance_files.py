"""Find instances among existing files: their problem, size and sidecars; unusable files are named."""

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

import msgspec

from gapline.contract.contract import default_name
from gapline.contract.expansion import fits
from gapline.contract.instance_digest import COLLECTION_MARKER, pointed_digest, sidecar_names
from gapline.errors import UsageError, found_at, import_extra, listing
from gapline.files.open_file import most_bytes, read_regular

Progress = Callable[[int, int], object]

# Pointers to large files (Git LFS) are shorter than this.
_POINTER_BYTES = 1024


class Files(Protocol):
    """A tree of files, named by paths from its top; instances are searched under `root`, sidecars anywhere."""

    @property
    def root(self) -> str:
        """The folder with the instances; empty for the whole tree."""

    @property
    def paths(self) -> Collection[str]:
        """The path of every file."""

    def read(self, paths: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each file; None for one that cannot be read."""

    def sizes(self, paths: Sequence[str]) -> Iterator[int | None]:
        """Yield the size of each file in bytes; None for one that cannot be read."""


class FolderFiles:
    """The files in a folder and its subfolders, without hidden ones."""

    root = ""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"{folder}: expected a folder of instances, got {found_at(folder)}")
        self.folder = folder
        self.paths: Collection[str] = dict.fromkeys(self._walk())

    def _walk(self) -> Iterator[str]:
        for place, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if not name.startswith("."):
                    yield (Path(place) / name).relative_to(self.folder).as_posix()

    def read(self, paths: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each file."""
        for path in paths:
            file = self.folder / path
            yield read_regular(file, most=most_bytes()) if file.is_file() else None

    def sizes(self, paths: Sequence[str]) -> Iterator[int | None]:
        """Yield the size of each file in bytes."""
        for path in paths:
            file = self.folder / path
            yield file.stat().st_size if file.is_file() else None


def lacking(files: Files, paths: Sequence[str]) -> set[str]:
    """Return the files without content: absent from the tree or the clone, or pointers to large files."""
    there = [path for path in paths if path in files.paths]
    sizes = dict(zip(there, files.sizes(there), strict=True))
    small = [path for path, size in sizes.items() if size is not None and size <= _POINTER_BYTES]
    pointers = {
        path for path, data in zip(small, files.read(small), strict=True) if data is not None and pointed_digest(data)
    }
    return {path for path in paths if sizes.get(path) is None or path in pointers}


_DIMENSION = re.compile(r"^DIMENSION\s*:\s*(\d+)\s*$", re.MULTILINE)
_TYPE = re.compile(r"^TYPE\s*:\s*(\S+)", re.MULTILINE)
_ROUTE_LENGTH = re.compile(r"^DISTANCE\s*:", re.MULTILINE)
_FRACTION = re.compile(r"\.\d*[1-9]")
# Number, place, demand, ready time, due date, service time.
_SOLOMON_ROW = re.compile(r"^\s*\d+(?:\s+\S+){6}\s*$", re.MULTILINE)
_MODEL = re.compile(r"\.(?:mps|lp)(?:\.(?:gz|bz2|xz|zst))?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundInstance:
    """An instance: its name in the study, its path among the files, and its sidecars by their target paths."""

    name: str
    path: str
    problem: str
    size: int
    sense: str = "min"
    sidecars: Mapping[str, str] = field(default_factory=dict)

    @property
    def suffix(self) -> str:
        """The rest of the path after the name."""
        file = self.path.rpartition("/")[2]
        return file[len(self.name.rpartition("/")[2]) :]


@dataclass(slots=True)
class InstanceSelection:
    """Instances of one problem, those left out by reason, and how many files the patterns skipped."""

    problem: str
    instances: list[FoundInstance]
    left_out: dict[str, list[str]] = field(default_factory=dict)
    passed_over: int = 0

    def keep(self, wanted: Callable[[FoundInstance], bool], reason: str) -> None:
        """Keep the instances that are `wanted`, and leave the others out for a reason."""
        out = [one.name for one in self.instances if not wanted(one)]
        if out:
            self.left_out.setdefault(reason, []).extend(out)
            self.instances = [one for one in self.instances if wanted(one)]


class _Unusable(Exception):
    """A file that looks like an instance and cannot be used, with the reason."""


def find_instances(
    files: Files,
    *,
    where: str,
    problem: str | None = None,
    suffix: str = "",
    include: Sequence[str] = (),
    exclude: Iterable[str] = (),
    progress: Progress = lambda _done, _total: None,
) -> InstanceSelection:
    """Find the instances of one problem.

    `include` and `exclude` are patterns of their names, `suffix` is the ending of their files. Names are paths under
    the root without the suffix, as in stores of best-known values.
    """
    prefix = f"{files.root}/" if files.root else ""
    looked = sorted(
        path for path in files.paths if path.startswith(prefix) and path.endswith(suffix) and _facts_of(path)
    )
    named = {path: _name(path[len(prefix) :]) for path in looked}
    chosen = [
        path
        for path, name in named.items()
        if fits(name, include) and not any(fnmatchcase(name, pattern) for pattern in exclude)
    ]
    if looked and not chosen:
        raise UsageError(
            f"{where}: expected instances that fit --include and --exclude, got none of {len(looked)}",
            hint=f"there are: {listing(list(named.values()), most=3)}",
        )
    found, left_out = _read(files, chosen, named, progress)
    kinds = Counter(one.problem for one in found)
    shown = ", ".join(f"{kind} ({count})" for kind, count in kinds.items())
    if not found or (problem is not None and problem not in kinds):
        raise UsageError(
            f"{where}: expected instances{f' of {problem}' if problem else ''}, got "
            + (shown or _in_words(left_out) or f"none among {len(files.paths)} files"),
            hint=None if found else "instances are .vrp.json (MAMUT), .vrp (VRPLIB), .txt (Solomon), .mps or .lp files",
        )
    if problem is None and len(kinds) > 1:
        raise UsageError(
            f"{where}: expected instances of one problem, got {shown}",
            hint="name one with --problem, or --exclude some",
        )
    wanted = problem or found[0].problem
    result = InstanceSelection(wanted, found, left_out, passed_over=len(looked) - len(chosen))
    result.keep(lambda one: one.problem == wanted, "of another problem")
    _refuse_twins(result.instances, where)
    without = lacking(files, list(dict.fromkeys(path for one in result.instances for path in one.sidecars.values())))
    result.keep(lambda one: not without & set(one.sidecars.values()), "without a sidecar that they name")
    if not result.instances:
        raise UsageError(f"{where}: expected instances that can be used, got {_in_words(result.left_out)}")
    return result


def _in_words(left_out: Mapping[str, Sequence[str]]) -> str:
    return "; ".join(f"{len(names)} {reason} ({listing(names, most=3)})" for reason, names in left_out.items())


def _name(path: str) -> str:
    folder, slash, file = path.rpartition("/")
    # A name may end in a suffix of its own, such as A.lp.vrp.json, and keeps it, as in stores.
    return folder + slash + (file.removesuffix(".vrp.json") if file.endswith(".vrp.json") else default_name(file))


def _read(
    files: Files, paths: list[str], named: Mapping[str, str], progress: Progress
) -> tuple[list[FoundInstance], dict[str, list[str]]]:
    found, left_out = [], dict[str, list[str]]()
    for done, (path, data) in enumerate(zip(paths, files.read(paths), strict=True), start=1):
        progress(done, len(paths))
        try:
            if data is None or pointed_digest(data):
                raise _Unusable("not in the clone: a large file that was not fetched")
            facts = _facts_of(path)
            stated = None if facts is None else facts(data, path)
        except _Unusable as error:
            left_out.setdefault(str(error), []).append(named[path])
            continue
        # A text file without an instance is ignored, and does not count as left out.
        if stated is not None:
            sidecars = _sidecars(files, path, data)
            found.append(FoundInstance(name=named[path], path=path, sidecars=sidecars, **stated))
    return found, left_out


Facts = Callable[[bytes, str], dict[str, Any] | None]


class _Mamut(msgspec.Struct):
    num_customers: int
    td: dict[str, Any] | None = None


def _mamut_facts(data: bytes, _path: str) -> dict[str, Any]:
    try:
        stated = msgspec.json.decode(data, type=_Mamut)
    except msgspec.MsgspecError:
        raise _Unusable("not MAMUT instances") from None
    if stated.td is None:
        raise _Unusable("without time-dependent travel times, which no checker here prices in .vrp.json") from None
    return {"problem": "tdvrptw", "size": stated.num_customers}


def _vrplib_facts(data: bytes, _path: str) -> dict[str, Any]:
    text = data.decode("utf-8", "replace")
    dimension, kind = _DIMENSION.search(text), _TYPE.search(text)
    if dimension is None or int(dimension[1]) < 2:
        raise _Unusable("not VRPLIB instances: no DIMENSION")
    if kind is not None and kind[1].upper() not in ("CVRP", "VRPTW"):
        raise _Unusable(f"of TYPE {kind[1][:20]}, which no checker here prices")
    if _ROUTE_LENGTH.search(text):
        raise _Unusable("with a limit on the length of a route (DISTANCE), which no checker here has")
    if _FRACTION.search(text.partition("EDGE_WEIGHT_SECTION")[2].partition("SECTION")[0]):
        raise _Unusable("with weights that are not whole numbers, which no checker here prices")
    problem = "vrptw" if "TIME_WINDOW_SECTION" in text else "cvrp"
    return {"problem": problem, "size": int(dimension[1]) - 1}


def _text_facts(data: bytes, path: str) -> dict[str, Any] | None:
    text = data.decode("utf-8", "replace")
    if _DIMENSION.search(text):
        return _vrplib_facts(data, path)
    head, mark, below = text.partition("CUSTOMER")
    rows = _SOLOMON_ROW.findall(below)
    if not mark or "VEHICLE" not in head or len(rows) < 2:
        return None
    if any("." in row for row in rows):
        raise _Unusable("with coordinates or times that are not whole numbers, which no checker here prices")
    return {"problem": "vrptw", "size": len(rows) - 1}


def _model_facts(data: bytes, path: str) -> dict[str, Any]:
    """Return the number of variables of a model, read by HiGHS, which checker and solvers use too."""
    highspy = import_extra("highspy", "mip")
    highs = highspy.Highs()
    highs.silent()
    with tempfile.TemporaryDirectory(prefix="gapline-") as scratch:
        file = Path(scratch) / path.rpartition("/")[2]
        file.write_bytes(data)
        if highs.readModel(str(file)) == highspy.HighsStatus.kError or not highs.getNumCol():
            raise _Unusable("neither MPS nor LP to HiGHS, which reads them plain or .gz")
    maximised = highs.getObjectiveSense()[1] == highspy.ObjSense.kMaximize
    return {"problem": "mip", "size": highs.getNumCol(), "sense": "max" if maximised else "min"}


_FACTS: dict[str, Facts] = {".vrp.json": _mamut_facts, ".vrp": _vrplib_facts, ".txt": _text_facts}


def _facts_of(path: str) -> Facts | None:
    """Return the function that reads problem and size of a file, chosen by its name; None if it is no instance."""
    name = path.rpartition("/")[2].lower()
    found = next((facts for suffix, facts in _FACTS.items() if name.endswith(suffix)), None)
    return found or (_model_facts if _MODEL.search(name) else None)


def _sidecars(files: Files, path: str, data: bytes) -> dict[str, str]:
    """Map the target path of each sidecar, under the instances, to its path among the files.

    A sidecar that does not exist keeps its expected path, where it is then reported as missing.
    """
    if not path.endswith(".vrp.json"):
        return {}
    folder, root = PurePosixPath(path).parent, PurePosixPath(files.root)
    found = {}
    for name in sidecar_names(data) or _usual_sidecar(files, path):
        beside = str(folder / name)
        marked = next((p for p in (folder, *folder.parents) if str(p / COLLECTION_MARKER) in files.paths), None)
        if beside in files.paths or marked is None:
            found[str(PurePosixPath(beside).relative_to(root))] = beside
            continue
        # A collection names sidecars from its own root; if that lies above the family, the folder of instances counts.
        top = marked.relative_to(root) if marked.is_relative_to(root) else PurePosixPath()
        found[str(top / name)] = str(marked / name)
        found[str(top / COLLECTION_MARKER)] = str(marked / COLLECTION_MARKER)
    return found


def _usual_sidecar(files: Files, path: str) -> list[str]:
    stem = path.removesuffix(".vrp.json")
    usual = [f"{stem}.atf.json", f"{stem}.atf.json.gz"]
    return [next((name for name in usual if name in files.paths), usual[-1]).rpartition("/")[2]]


def _refuse_twins(instances: Iterable[FoundInstance], where: str) -> None:
    paths: dict[str, list[str]] = {}
    for one in instances:
        paths.setdefault(one.name, []).append(one.path)
    twins = [" and ".join(same) for same in paths.values() if len(same) > 1]
    if twins:
        raise UsageError(
            f"{where}: expected one file of each name, got {listing(twins, most=3)}", hint="move some away"
        )
