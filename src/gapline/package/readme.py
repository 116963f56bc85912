"""`README.md` and `package.json` of a package."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import msgspec

from gapline.campaign.store import file_digest
from gapline.contract.contract import Contract
from gapline.contract.layout import CITATION, CONTRACT_FILE, CRATE, DOCUMENT, SCHEMA, SUMS, ZENODO
from gapline.contract.version import VERSION
from gapline.journal.register import last_digest
from gapline.package.contents import Contents
from gapline.text import counted

# What lies where, in the order in which a reader would look; told of what is there alone.
_PLACES = {
    "study.toml": "the contract: what was run, on what, for how long, and how it is scored, as its authors wrote it",
    "instances/": "the instances that were solved",
    "references/": "snapshots of reference values, each named by a digest of its content",
    "journal/register.jsonl": "what was declared, and when: a line per plan, each chained to the one before",
    "journal/": "per run a folder, in it per attempt: `run.json` (the order), `events.jsonl` (what the solver printed, "
    "stamped at receipt, each line chained to the one before by a checksum), `verdicts-*.jsonl` (what the checker said "
    "of each candidate), and logs",
    "campaign/": "the candidates of all runs as columns (`runs.parquet`, NumPy files), made from the journals",
    "results/": "scores, tables, figures, methods paragraph and one page, `report.html`, made from all of the above",
    DOCUMENT: "digests, versions and machines, what is not in this package and what was taken out of it",
    SUMS: "the sha256 of every other file",
    CRATE: "the same for machines, as an RO-Crate",
    CITATION: "how to cite it",
    ZENODO: "metadata for Zenodo",
}


def readme_text(document: dict[str, Any], members: Collection[str], *, coverage: str) -> str:
    """Return the README of a package; the same package has the same README."""
    name = document["title"] or document["name"]
    parts = [f"# {name}", _what(document, coverage), _check(), _places(members), _absent(document), _go_on(document)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _what(document: dict[str, Any], coverage: str) -> str:
    alarms = document["alarms"]
    rung = (
        f"\n\n**{counted(alarms, 'integrity alarm')}** rang when it was packed, and it was packed all the same: "
        "something in it is contradicted. `results/results.json` names what."
        if alarms
        else ""
    )
    return (
        f"This is the replication package of the study `{document['name']}`: everything that its numbers follow from, "
        f"and the numbers themselves.\nIt holds {coverage}, and was packed by gapline {document['gapline']}.{rung}"
    )


def _check() -> str:
    return f"""## Check it without gapline

Unpack it into an empty folder, and in that folder:

    sha256sum -c {SUMS}

Every file but `{SUMS}` itself is listed there. The identifier of the whole (`swh:1:dir:…`) that was published with
this package is the hash that git gives the folder:

    git init -q && git add -f . && git write-tree

Nothing here depends on the day, the time zone or the machine on which it was packed."""


def _places(members: Collection[str]) -> str:
    lines = [
        f"- `{place}`: {words}"
        for place, words in _PLACES.items()
        if any(name == place or (place.endswith("/") and name.startswith(place)) for name in members)
    ]
    return "## What lies where\n\n" + "\n".join(lines)


def _absent(document: dict[str, Any]) -> str:
    lines = []
    absent = {name: one for name, one in document["instances"].items() if not one["included"]}
    if absent:
        words = f"{len(absent):,} of {counted(len(document['instances']), 'instance')}"
        lines.append(f"- Not in it: {words}. `{DOCUMENT}` has the digest of each. Where to get them:")
        for where in sorted({one["where"] for one in absent.values()}):
            lines.append(f"  - {where}")
    if document["hosts_kept"]:
        lines.append("- Host names, user names and paths of the machines are in it, as it was asked for.")
    elif document["taken_out"]:
        lines.append(
            f"- Host names, user names and paths of the machines were taken out of journals and logs; `{DOCUMENT}` "
            "lists where and how often. The journals were sealed anew after it."
        )
    lines.append(f"- What else of the study directory is not in it is listed in `{DOCUMENT}` with the reason.")
    return "## What is not in it\n\n" + "\n".join(lines)


def _go_on(document: dict[str, Any]) -> str:
    return f"""## Verify and replicate it with gapline

With gapline {document["gapline"]} or newer (`pip install gapline`):

    gapline verify PACKAGE
    gapline replicate PACKAGE -o DIRECTORY

`verify` makes the campaign and every number, table, figure and sentence of `results/` anew from the journals and
compares them with what is here; `--recheck` asks the checker again about every candidate. `replicate` runs the study
again on your machine and says whether its conclusions hold. `gapline score PACKAGE` and the other commands read a
package as they read a study."""


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
