"""What is verified: a study directory, or a package, which is unpacked into a folder that is removed at the end."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from gapline.capture.package import is_package, unpacked_package
from gapline.errors import GaplineError, UsageError, found_at
from gapline.model.layout import CONTRACT_FILE, is_study
from gapline.model.limits import read_regular
from gapline.model.package import DOCUMENT, SCHEMA, SUMS, Identity, PackageDocument, PackedInstance
from gapline.model.zip_read import is_zip


@dataclass(frozen=True, slots=True)
class Source:
    """A folder with the files of a study, and how what it was opened from is called."""

    folder: Path
    name: str
    is_package: bool = False
    identity: Identity | None = None

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return "package" if self.is_package else "study"

    def words(self, text: object) -> str:
        """Return a message with paths as they are named in the package or the study, wherever it lies now."""
        said = text.message if isinstance(text, GaplineError) else str(text)
        # Of several mistakes each has a line, and a row has one.
        one_line = "; ".join(line.strip() for line in said.splitlines())
        return one_line.replace(f"{self.folder}/", "").replace(str(self.folder), self.name)

    def absent_instances(self, package: PackageDocument | None) -> dict[str, PackedInstance]:
        """Return the instances that a package does not include, by name."""
        known = {} if package is None else package.instances
        return {name: one for name, one in known.items() if not one.included}


@contextmanager
def opened(path: str | Path) -> Iterator[Source]:
    """Open what is to be verified; nothing of it is run, and nothing is written beside it.

    Raises
    ------
    UsageError
        Where it is neither a package nor a study directory.
    TraceError
        Where the archive is damaged, or has a member that may not be unpacked.
    """
    given = Path(path)
    if given.is_dir():
        packed = _was_unpacked(given)
        if not packed and not is_study(given):
            raise UsageError(
                f"{given}: expected a package or a study directory, got one without {CONTRACT_FILE}",
                hint="a campaign directory is verified whenever it is opened: gapline score",
            )
        yield Source(given, given.name or str(given), packed)
    elif is_package(given) or is_zip(given):
        # Whether its members are what its sums say is the first row of what is shown.
        with unpacked_package(given, as_is=True) as package:
            yield Source(package.folder, given.name, is_package=True, identity=package.identity)
    else:
        raise UsageError(f"{given}: expected a package or a study directory, got {found_at(given)}")


def _was_unpacked(folder: Path) -> bool:
    """Say whether a folder holds the members of a package: either of its lists tells, should the other be gone."""
    try:
        if msgspec.json.decode(read_regular(folder / DOCUMENT), type=_Schema).schema.startswith(
            SCHEMA.partition("/")[0]
        ):
            return True
    except (OSError, ValueError, msgspec.MsgspecError):
        pass
    try:
        return f"  {DOCUMENT}\n".encode() in read_regular(folder / SUMS)
    except OSError:
        return False


class _Schema(msgspec.Struct):
    schema: str
