"""A folder as a replication package has it, made by the layout from a study directory."""

import shutil
from pathlib import Path

import msgspec

from gapline.campaign.store import file_digest
from gapline.contract.layout import BUILT, CITATION, INDEX, OPTIONS_FILE, SUMS, ZENODO
from gapline.contract.study_file import load_contract
from gapline.files.archives import folder_files
from gapline.files.digests import sums_text
from gapline.package.crate import write_crate
from gapline.package.documents import citation_text, zenodo_document


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
