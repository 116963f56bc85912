"""A package opened to be run again: what of it is run, in a folder of our own, as its sums say."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from gapline.capture.package import is_package, unpacked_package
from gapline.errors import IntegrityError, TraceError, found_at
from gapline.model.package import Identity, PackedInstance, read_package_document
from gapline.model.text import printable
from gapline.model.zip_read import is_zip


@dataclass(frozen=True, slots=True)
class OpenedPackage:
    """A package whose members lie in a folder."""

    folder: Path
    identity: Identity
    instances: dict[str, PackedInstance] = field(default_factory=dict)


@contextmanager
def opened_package(path: str | Path, *, only: Callable[[str], bool] = lambda _: True) -> Iterator[OpenedPackage]:
    """Unpack a package into a folder that is removed at the end; what does not fit its sums is refused.

    Parameters
    ----------
    only
        Says of a member's name whether it is kept in the folder; all of them are verified.
    """
    if not is_package(path) and not is_zip(path):
        raise TraceError(
            f"{path}: expected a replication package, which `gapline pack` writes, got {found_at(Path(path))}"
        )
    with unpacked_package(path, only=only) as package:
        document = read_package_document(package.folder)
        _refuse_elsewhere(document.instances.values(), package.path)
        yield OpenedPackage(package.folder, package.identity, document.instances)


def _refuse_elsewhere(instances: Iterable[PackedInstance], file: Path) -> None:
    """Refuse instances outside of the study: whoever runs it again looks for them in a directory of theirs."""
    for name in (name for one in instances for name in (one.path, *one.beside)):
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts:
            raise IntegrityError(f"{file}: expected instances inside of the study, got {printable(name)!r}")
