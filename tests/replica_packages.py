"""A replication package of a study directory, by its layout alone."""

import json
import zipfile
from pathlib import Path

from gapline.model.contract import load_contract
from gapline.model.layout import BUILT, INDEX, JOURNALS, OPTIONS_FILE, RESULTS
from gapline.model.package import DOCUMENT, README, SCHEMA, SUMS
from gapline.model.store import file_digest
from gapline.model.sums import sums_text

_LEFT_OUT = {INDEX, BUILT, OPTIONS_FILE, "campaign.lock"}


def make_package(study: Path, target: Path, *, without_instances: bool = False, where: str | None = None) -> Path:
    """Pack a study; `without_instances` leaves these out, to be got from `where`."""
    study, target = Path(study), Path(target)
    instances = {
        one.name: {"path": one.path, "digest": file_digest(study / one.path), "included": not without_instances}
        | {"where": where if without_instances else None}
        for one in load_contract(study).instances
    }
    left = {one["path"] for one in instances.values()} if without_instances else set()
    members: dict[str, bytes] = {}
    for file in sorted(study.rglob("*")):
        name = file.relative_to(study).as_posix()
        hidden = file.suffix in (".lock", ".claim") or (name.startswith(f"{JOURNALS}/") and file.name in _LEFT_OUT)
        if file.is_file() and not hidden and name not in left and not name.startswith(f"{RESULTS}/"):
            members[name] = file.read_bytes()
    members[README] = b"A package.\n"
    members[DOCUMENT] = json.dumps({"schema": SCHEMA, "name": study.name, "instances": instances}, indent=1).encode()
    return write_package(members, target, executable=[n for n in members if _is_program(study / n)])


def write_package(members: dict[str, bytes], target: Path, *, executable: list[str] = ()) -> Path:
    """Write members with their sums into a zip."""
    import hashlib

    digests = {name: f"sha256:{hashlib.sha256(data).hexdigest()}" for name, data in members.items() if name != SUMS}
    members = members | {SUMS: sums_text(digests).encode()}
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.external_attr = (0o100755 if name in executable else 0o100644) << 16
            archive.writestr(info, members[name])
    return target


def _is_program(file: Path) -> bool:
    return file.is_file() and bool(file.stat().st_mode & 0o100)
