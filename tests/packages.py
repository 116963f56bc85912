"""Packages of studies by their layout, for tests of those who read them: `make_package` is the only one who writes."""

import io
import json
import stat
import tarfile
import zipfile
from pathlib import Path

from gapline.campaign.store import file_digest
from gapline.contract.layout import DOCUMENT, SCHEMA, SUMS
from gapline.contract.study_file import load_contract
from gapline.files.digests import sums_text

_LEFT_OUT = ("index.jsonl", "campaign.json", "options.json")


def package_files(study: Path, *, without_instances: bool = False, where: str | None = None) -> dict[str, bytes]:
    """Return the members of the package of a study by their names, package.json and the sums among them.

    `without_instances` leaves these out, to be got from `where`.
    """
    study = Path(study)
    instances = {
        one.name: {"path": one.path, "digest": file_digest(study / one.path), "included": not without_instances}
        | {"where": where if without_instances else None}
        for one in load_contract(study).instances
        if (study / one.path).is_file()
    }
    left_out = {one["path"] for one in instances.values()} if without_instances else set()
    names = {file.relative_to(study).as_posix(): file for file in sorted(study.rglob("*")) if file.is_file()}
    files = {
        name: file.read_bytes()
        for name, file in names.items()
        if not (file.name in _LEFT_OUT and file.parent.name == "journal")
        and file.suffix not in (".lock", ".claim")
        and name not in left_out
    }
    document = {"schema": SCHEMA, "name": study.name, "instances": instances}
    files[DOCUMENT] = (json.dumps(document, indent=1) + "\n").encode()
    return files | {SUMS: sums_of(files)}


def sums_of(files: dict[str, bytes]) -> bytes:
    import hashlib

    digests = {name: f"sha256:{hashlib.sha256(data).hexdigest()}" for name, data in files.items() if name != SUMS}
    return sums_text(digests).encode()


def make_package(study: Path, target: Path, **changes: object) -> Path:
    """Pack a study: a .zip, or a .tar.zst by the name of the target."""
    executable = {
        file.relative_to(study).as_posix() for file in Path(study).rglob("*") if file.stat().st_mode & stat.S_IXUSR
    }
    return write_package(target, package_files(study, **changes), executable=executable)


def write_package(target: Path, files: dict[str, bytes], *, executable: set[str] = frozenset()) -> Path:
    """Write members, whatever they are."""
    target = Path(target)
    modes = {name: 0o755 if name in executable else 0o644 for name in files}
    if target.name.endswith(".zip"):
        with zipfile.ZipFile(target, "w") as archive:
            for name in sorted(files):
                info = zipfile.ZipInfo(name)
                info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
                info.external_attr = (stat.S_IFREG | modes[name]) << 16
                archive.writestr(info, files[name])
        return target
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(files[name]), modes[name]
            archive.addfile(info, io.BytesIO(files[name]))
    return write_zst(target, stream.getvalue())


def write_zst(target: Path, data: bytes) -> Path:
    import zstandard

    target.write_bytes(zstandard.ZstdCompressor(level=3).compress(data))
    return target
