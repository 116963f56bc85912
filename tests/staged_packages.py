"""A package of a study, by its layout alone: what tests need of one, in the place of `gapline pack`."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from gapline.campaign.store import file_digest, read_manifest, save_campaign
from gapline.contract.layout import CAMPAIGN, DOCUMENT, JOURNALS, README, RESULTS, SCHEMA, SUMS
from gapline.contract.study_file import load_contract
from gapline.files.archives import folder_files, write_zip
from gapline.files.digests import sums_text
from gapline.journal.campaign import read_study
from gapline.journal.register import last_digest
from gapline.references.snapshot import Snapshot
from gapline.report.write import library_versions, write_report
from gapline.study import open_study

LEFT_OUT = ("index.jsonl", "campaign.json", "options.json", "claim", "*.lock", "runner-*.json")
FORMATS = ("svg", "png")


def stage(study: Path, folder: Path) -> Path:
    """Lay out the members of a package in a folder, sums apart."""
    ignore = shutil.ignore_patterns(*LEFT_OUT, RESULTS, "__pycache__")
    shutil.copytree(study, folder, ignore=ignore)
    if (folder / JOURNALS).is_dir():
        shutil.rmtree(folder / CAMPAIGN, ignore_errors=True)
        save_campaign(read_study(folder), folder / CAMPAIGN)
    write_report(open_study(str(folder), allow_code=True), folder / RESULTS, formats=FORMATS)
    (folder / README).write_text("A replication package.\n")
    return folder


def write_document(folder: Path, **changes: object) -> None:
    """Write `package.json` as the other files of a folder are now."""
    contract = load_contract(folder)
    snapshot = contract.reference.snapshot
    document = {
        "schema": SCHEMA,
        "name": contract.study.name,
        "contract": file_digest(folder / "study.toml"),
        "register": last_digest(folder),
        "campaign": read_manifest(folder / CAMPAIGN)["digest"],
        "snapshots": {} if snapshot is None else {snapshot: Snapshot.load(folder / snapshot).digest},
        "instances": {
            one.name: {"path": one.path, "digest": file_digest(folder / one.path), "included": True, "where": None}
            for one in contract.instances
        },
        "versions": library_versions(),
    } | changes
    (folder / DOCUMENT).write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")


def write_sums(folder: Path) -> None:
    """Write the sums of a folder as its files are now."""
    (folder / SUMS).unlink(missing_ok=True)
    (folder / SUMS).write_text(sums_text({name: file_digest(path) for name, path in members(folder).items()}))


def members(folder: Path) -> Mapping[str, Path]:
    """Return the files of a folder by name."""
    return {name: path for name, path in folder_files(folder).items() if isinstance(path, Path)}


def seal_package(folder: Path, target: Path, **changes: object) -> Path:
    """Make document, sums and zip of a folder again, as whoever changes a package and hides it would."""
    write_document(folder, **changes)
    write_sums(folder)
    write_zip(target, folder_files(folder))
    return target
