"""`package.json`: what a package is, of which digests, what is not in it and what was taken out of it."""

import json
from pathlib import Path
from typing import Any

import msgspec

from gapline.archive.contents import Contents
from gapline.journal.register import last_digest
from gapline.model.contract import Contract
from gapline.model.layout import CONTRACT_FILE
from gapline.model.package import DOCUMENT, SCHEMA
from gapline.model.store import file_digest
from gapline.model.version import VERSION


def instances_document(contents: Contents) -> dict[str, Any]:
    """Return what a folder needs to be opened while it is staged: which instances the contract means."""
    return {"schema": SCHEMA, "instances": msgspec.to_builtins(contents.instances)}


def package_document(folder: Path, contract: Contract, contents: Contents, **facts: Any) -> dict[str, Any]:
    """Return what `package.json` says of a staged folder; `facts` are those that only whoever packs knows."""
    return {
        **instances_document(contents),
        "name": contract.study.name,
        "title": contract.study.title,
        "gapline": VERSION,
        "contract": file_digest(folder / CONTRACT_FILE),
        "register": last_digest(folder),
        "snapshots": dict(contents.snapshots),
        "left_out": [one._asdict() for one in contents.left_out],
        **facts,
    }


def write_document(folder: Path, document: dict[str, Any]) -> None:
    """Write `package.json`, laid out in the one way that it has."""
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (folder / DOCUMENT).write_text(f"{text}\n", encoding="utf-8")
