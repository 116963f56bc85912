"""Names of files and folders in a study directory and in a replication package, and safe file names for any text."""

import hashlib
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gapline.errors import IntegrityError, TraceError, listing
from gapline.files.open_file import read_document

if TYPE_CHECKING:
    from gapline.contract.tables import RunKey

CONTRACT_FILE = "study.toml"
INSTANCES = "instances"
REFERENCES = "references"
JOURNALS = "journal"
REGISTER = "register.jsonl"
# Caches: what was read of the journals, and which of them the campaign was built from. Both may be deleted.
INDEX = "index.jsonl"
BUILT = "campaign.json"
# The options of the last call of the runner.
OPTIONS_FILE = "options.json"
CAMPAIGN = "campaign"
MANIFEST = "manifest.json"
RESULTS = "results"
RESULTS_FILE = "results.json"
# What a replication found about the conclusions of the package.
REPLICATION = "replication.json"
# References that an import stores next to its campaign.
CARRIED_REFERENCES = "references.json"


def is_study(path: str | Path) -> bool:
    """Return whether a directory holds a contract."""
    return (Path(path) / CONTRACT_FILE).is_file()


def campaign_directory(path: Path) -> Path:
    """Return the campaign directory of a campaign or study directory."""
    for place in (path, path / CAMPAIGN):
        if (place / MANIFEST).is_file():
            return place
    if is_study(path):
        raise TraceError(f"{path}: the study has no campaign yet", hint=f"gapline run {path}")
    inside = listing(sorted(entry.name for entry in path.iterdir()), most=5) or "nothing"
    raise TraceError(
        f"{path}: expected a campaign directory ({MANIFEST}) or a study directory ({CONTRACT_FILE}), got {inside}",
        hint="`gapline import` reads folders of logs",
    )


SCHEMA = "gapline.package/1"
# Identity and digests of the package, and what was left out or removed.
DOCUMENT = "package.json"
README = "README.md"
# Digests of all other members, for `sha256sum -c`.
SUMS = "sha256sums.txt"
CRATE = "ro-crate-metadata.json"
CITATION = "CITATION.cff"
ZENODO = ".zenodo.json"
SUFFIXES = (".zip", ".tar.zst")


@dataclass(frozen=True, slots=True)
class Identity:
    """The identity of a package: the sha256 of its file ("sha256:…") and the SWHID of its content."""

    name: str
    sha256: str
    swhid: str

    def __str__(self) -> str:
        return f"{self.name} ({self.sha256[:19]}…)"

    def document(self) -> dict[str, str]:
        """Return the content for JSON."""
        return asdict(self)


class PackedInstance(msgspec.Struct, frozen=True):
    """An instance as a package describes it.

    `digest` is None if unknown, `where` says where to get the file; `beside` maps the paths of further files that it
    needs to their digests.
    """

    path: str
    digest: str | None = None
    included: bool = True
    where: str | None = None
    beside: dict[str, str] = {}


class PackageDocument(msgspec.Struct, frozen=True):
    """The content of `package.json`: digests of the other files, and what is not in the package."""

    schema: str = ""
    contract: str = ""
    register: str | None = None
    campaign: str | None = None
    snapshots: dict[str, str] = {}
    instances: dict[str, PackedInstance] = {}
    versions: dict[str, str] = {}
    title: str | None = None


def read_package_document(folder: Path) -> PackageDocument:
    """Read `package.json` of a package.

    Raises
    ------
    IntegrityError
        If the file does not exist or cannot be read.
    """
    try:
        document = msgspec.json.decode(read_document(folder / DOCUMENT), type=PackageDocument)
    except FileNotFoundError:
        raise IntegrityError(f"{DOCUMENT}: expected what the package states, got no such file") from None
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise IntegrityError(f"{DOCUMENT}: expected what the package states, got {error}") from error
    if document.schema != SCHEMA:
        hint = "upgrade gapline to read it"
        raise IntegrityError(f"{DOCUMENT}: expected schema {SCHEMA}, got {document.schema!r:.200}", hint=hint)
    return document


def absent_instances(folder: Path) -> list[str]:
    """Return the paths of instances that a package names but does not hold; none if the folder is no package.

    A contract may name its instances by a pattern, which matches no file in such a package.
    """
    try:
        document = read_package_document(folder)
    except IntegrityError:
        return []
    return [one.path for one in document.instances.values() if not one.included]


_UNSAFE = re.compile(r"[^a-z0-9.-]+")
_PART = 40


def slug(key: "RunKey") -> str:
    """Return a directory name: readable parts, and a hash that distinguishes names that look alike.

    >>> from gapline.contract.tables import RunKey
    >>> slug(RunKey("HGS", "X-n101-k25", 3))
    'hgs_x-n101-k25_3_e40f34790c'
    >>> slug(RunKey("../../etc", "a/b", 1)).startswith("etc_a-b_1_")
    True
    """
    parts = [_readable(str(part)) for part in key]
    # As JSON: "a/b" + "c" and "a" + "b/c" must not look alike.
    digest = hashlib.sha256(msgspec.json.encode(list(key))).hexdigest()[:10]
    return "_".join([*parts, digest])


def file_slug(name: str) -> str:
    """Return a safe part of a file name: the name itself if it is safe, else a readable part and a hash.

    >>> file_slug("0.11.0"), file_slug("python:mine:check")
    ('0.11.0', 'python-mine-check-300af54b')
    """
    readable = _readable(name)
    return readable if readable == name else f"{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _readable(name: str) -> str:
    return _UNSAFE.sub("-", name.lower()).strip("-.")[:_PART] or "x"
