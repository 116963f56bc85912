"""The sums of a package: every member is listed, nothing else is, and each has the digest that the list states."""

from collections.abc import Callable, Iterator
from pathlib import Path

from gapline.archive.shown.rows import Difference, Findings
from gapline.archive.shown.source import Source
from gapline.errors import IntegrityError
from gapline.model.limits import read_regular
from gapline.model.package import SUMS
from gapline.model.regular import reason_of
from gapline.model.store import file_digest
from gapline.model.sums import parse_sums

Progress = Callable[[str, int, int], None]


def show_sums(source: Source, findings: Findings, progress: Progress) -> bool:
    """Compare every member of a package with its sum; return whether all fit."""
    try:
        stated = parse_sums(read_regular(source.folder / SUMS).decode(), SUMS)
    except FileNotFoundError:
        return findings.judge("sums", 0, "members", [Difference(SUMS, "expected the list of sums, got none")], how="")
    except (OSError, UnicodeDecodeError, IntegrityError) as error:
        said = reason_of(error) if isinstance(error, OSError) else str(error)
        return findings.judge("sums", 0, "members", [Difference.of(said, member=SUMS)], how="")
    there = list_members(source.folder)
    differing = list(_differing(source.folder, stated, there, progress))
    return findings.judge("sums", len(there), "members", differing, how=f"sha256, {SUMS}")


def list_members(folder: Path) -> list[str]:
    """Return the names of all files in a folder, sorted."""
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir())


def _differing(folder: Path, stated: dict[str, str], there: list[str], progress: Progress) -> Iterator[Difference]:
    found = [name for name in there if name != SUMS]
    for done, name in enumerate(found):
        progress("members", done, len(found))
        if name not in stated:
            yield Difference(name, f"expected no such member, got one that {SUMS} does not list")
            continue
        digest = file_digest(folder / name)
        if digest != stated[name]:
            yield Difference(name, f"expected {stated[name]}, got {digest}")
    progress("members", len(found), len(found))
    for name in sorted(stated.keys() - set(found)):
        yield Difference(name, f"expected the member that {SUMS} lists, got none")
