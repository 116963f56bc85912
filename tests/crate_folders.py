"""A folder as a replication package has it, made by the layout from a study directory."""

import shutil
from pathlib import Path

import msgspec

from gapline.archive.citation import citation_text
from gapline.archive.crate import write_crate
from gapline.archive.zenodo import zenodo_document
from gapline.model.contract import load_contract
from gapline.model.layout import BUILT, INDEX, OPTIONS_FILE
from gapline.model.package import CITATION, SUMS, ZENODO
from gapline.model.store import file_digest
from gapline.model.sums import sums_text
from gapline.model.zip_write import folder_files


def stage(study: Path, folder: Path) -> Path:
    """Copy what a package has of a study, and write what it says of itself."""
    left_out = shutil.ignore_patterns(INDEX, BUILT, OPTIONS_FILE, "*.lock", "claim", "runner-*.json")
    shutil.copytree(study, folder, ignore=left_out)
    contract = load_contract(folder)
    (folder / CITATION).write_text(citation_text(contract), encoding="utf-8")
    (folder / ZENODO).write_bytes(msgspec.json.encode(zenodo_document(contract)))
    write_crate(folder)
    (folder / SUMS).write_text(
        sums_text({name: file_digest(path) for name, path in folder_files(folder).items()}), encoding="utf-8"
    )
    return folder
