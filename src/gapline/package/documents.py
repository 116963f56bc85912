"""The documents of a package: `README.md`, `package.json`, `CITATION.cff`, `.zenodo.json`, and missing metadata."""

import html
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from gapline.campaign.store import file_digest
from gapline.contract.contract import Contract
from gapline.contract.layout import CITATION, CONTRACT_FILE, CRATE, DOCUMENT, README, SCHEMA, SUMS, ZENODO
from gapline.contract.metadata import USUAL_LICENCES, Author
from gapline.contract.version import VERSION
from gapline.journal.register import last_digest
from gapline.package.container import list_members
from gapline.package.contents import Contents
from gapline.text import counted


def title_of(contract: Contract) -> str:
    """Return the title of a study, or its name if it has none."""
    return contract.study.title or contract.study.name


def description_of(contract: Contract) -> str:
    """Return the description of a study; if its authors gave none, a sentence on what its contract compares."""
    if contract.study.description:
        return contract.study.description
    arms, instances = counted(len(contract.arms), "arm"), counted(len(contract.instances), "instance")
    return (
        f"Replication package of the study {contract.study.name}: {arms} on {instances}, judged by the gap over time "
        f"({contract.objective.name}) with gapline."
    )


def missing_metadata(contract: Contract) -> list[str]:
    """List the metadata that the formats of a package need and the contract does not state, one line each."""
    study = contract.study
    hints = {
        "authors": "who made the study: CITATION.cff says 'not stated', and Zenodo asks for it",
        "licence": "what others may do with it: without one nothing is allowed, and the crate says 'not stated'",
        "description": "what the study asks: its arms and instances are counted instead",
        "date": "the day of publication: the end of the last run stands in for it",
    }
    return [f"study.{field} is not stated: {why}" for field, why in hints.items() if not getattr(study, field)]


# The contents of a package in reading order; only those that exist are listed.
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
    """Return the README of a package; it depends on the package alone."""
    alarms, version = document["alarms"], document["gapline"]
    rung = (
        f"\n\n**{counted(alarms, 'integrity alarm')}** rang when it was packed, and it was packed all the same: "
        "something in it is contradicted. `results/results.json` names what."
    )
    places = [
        f"- `{place}`: {words}"
        for place, words in _PLACES.items()
        if any(name == place or (place.endswith("/") and name.startswith(place)) for name in members)
    ]
    return f"""# {document["title"] or document["name"]}

This is the replication package of the study `{document["name"]}`: everything that its numbers follow from, \
and the numbers themselves.
It holds {coverage}, and was packed by gapline {version}.{rung if alarms else ""}

## Check it without gapline

Unpack it into an empty folder, and in that folder:

    sha256sum -c {SUMS}

Every file but `{SUMS}` itself is listed there. The identifier of the whole (`swh:1:dir:…`) that was published with
this package is the hash that git gives the folder:

    git init -q && git add -f . && git write-tree

Nothing here depends on the day, the time zone or the machine on which it was packed.

## What lies where

{chr(10).join(places)}

## What is not in it

{chr(10).join(_absent(document))}

## Verify and replicate it with gapline

With gapline {version} or newer (`pip install gapline`):

    gapline verify PACKAGE
    gapline replicate PACKAGE -o DIRECTORY

`verify` makes the campaign and every number, table, figure and sentence of `results/` anew from the journals and
compares them with what is here; `--recheck` asks the checker again about every candidate. `replicate` runs the study
again on your machine and says whether its conclusions hold. `gapline score PACKAGE` and the other commands read a
package as they read a study.
"""


def _absent(document: dict[str, Any]) -> Iterator[str]:
    if absent := [one for one in document["instances"].values() if not one["included"]]:
        words = f"{len(absent):,} of {counted(len(document['instances']), 'instance')}"
        yield f"- Not in it: {words}. `{DOCUMENT}` has the digest of each. Where to get them:"
        yield from (f"  - {where}" for where in sorted({one["where"] for one in absent}))
    if document["hosts_kept"]:
        yield "- Host names, user names and paths of the machines are in it, as it was asked for."
    elif document["taken_out"]:
        yield (
            f"- Host names, user names and paths of the machines were taken out of journals and logs; `{DOCUMENT}` "
            "lists where and how often. The journals were sealed anew after it."
        )
    yield f"- What else of the study directory is not in it is listed in `{DOCUMENT}` with the reason."


def instances_document(contents: Contents) -> dict[str, Any]:
    """Return the minimal `package.json` with which a folder can be opened while it is staged: its instances."""
    return {"schema": SCHEMA, "instances": msgspec.to_builtins(contents.instances)}


def write_documents(folder: Path, contents: Contents, *, coverage: str, **facts: Any) -> None:
    """Write the documents of a staged folder; `facts` are the entries of `package.json` that only `pack` knows."""
    contract = contents.contract
    document = {
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
    write_document(folder, document)
    metadata = json.dumps(zenodo_document(contract), indent=1, ensure_ascii=False)
    members = [*list_members(folder), CITATION, ZENODO, CRATE, SUMS]
    (folder / README).write_text(readme_text(document, members, coverage=coverage), encoding="utf-8")
    (folder / CITATION).write_text(citation_text(contract), encoding="utf-8")
    (folder / ZENODO).write_text(f"{metadata}\n", encoding="utf-8")


def write_document(folder: Path, document: dict[str, Any]) -> None:
    """Write `package.json` in its fixed layout."""
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    (folder / DOCUMENT).write_text(f"{text}\n", encoding="utf-8")


# YAML reads JSON strings, but these characters only as escapes.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_SCHEMES = {"doi": "doi", "arxiv": "arxiv", "swhid": "swh", "url": "url"}


def citation_text(contract: Contract) -> str:
    """Return the citation of a study; the format requires an author, so without one it says that none is stated."""
    study = contract.study
    facts: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this study or its data, please cite it as below.",
        "type": "dataset",
        "title": title_of(contract),
        "abstract": description_of(contract),
        "authors": [_author(author) for author in study.authors] or [{"name": "not stated"}],
        "keywords": list(study.keywords),
        **_licence(study.licence),
        "version": study.version,
        "date-released": study.date,
        # The format has no field for other relations: it would require title and authors of the related work.
        "identifiers": [
            # The format has no identifier type for arXiv.
            {"type": "other", "value": one.identifier}
            if one.told_kind == "arxiv"
            else {"type": _SCHEMES[one.told_kind], "value": one.bare}
            for one in study.related
            if one.relation == "isIdenticalTo"
        ],
    }
    return "".join(f"{line}\n" for line in _lines(facts))


def _author(author: Author) -> dict[str, str | None]:
    names = {"given-names": author.given, "family-names": author.family} if author.is_person else {"name": author.name}
    orcid = None if author.orcid is None else f"https://orcid.org/{author.orcid}"
    return {**names, "affiliation": author.affiliation, "email": author.email, "orcid": orcid}


def _licence(name: str | None) -> dict[str, str]:
    if name is None:
        return {}
    # The format lists the licences that were known when it was written; later ones are given by their address.
    return {"license": name} if name in USUAL_LICENCES else {"license-url": f"https://spdx.org/licenses/{name}.html"}


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Write facts as YAML: texts, lists of texts and lists of tables of texts."""
    for name, value in facts.items():
        if isinstance(value, str):
            yield f"{name}: {_quoted(value)}"
        elif value:
            yield f"{name}:"
            for entry in value:
                stated = [entry] if isinstance(entry, str) else [f"{k}: {_quoted(v)}" for k, v in entry.items() if v]
                for place, line in enumerate(stated):
                    shown = _quoted(line) if isinstance(entry, str) else line
                    yield f"  {'- ' if place == 0 else '  '}{shown}"


def _quoted(text: str) -> str:
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def zenodo_document(contract: Contract) -> dict[str, Any]:
    """Return the metadata of a deposit; facts that are not stated are left out, and Zenodo asks for them."""
    study = contract.study
    facts: dict[str, Any] = {
        "title": title_of(contract),
        "upload_type": "dataset",
        "description": _paragraphs(description_of(contract)),
        "creators": [_creator(author) for author in study.authors],
        "keywords": list(study.keywords),
        # Zenodo writes SPDX identifiers in lower case.
        "license": None if study.licence is None else study.licence.lower(),
        "version": study.version,
        "publication_date": study.date,
        "related_identifiers": [
            {"identifier": one.bare, "relation": one.relation, "scheme": _SCHEMES[one.told_kind]}
            for one in study.related
        ],
    }
    return {name: value for name, value in facts.items() if value}


def _creator(author: Author) -> dict[str, str]:
    facts = {"name": author.sorted_name, "affiliation": author.affiliation, "orcid": author.orcid}
    return {name: value for name, value in facts.items() if value}


def _paragraphs(text: str) -> str:
    # Zenodo reads HTML: escape the text so that none of it is read as a tag.
    return "".join(f"<p>{html.escape(part.strip())}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())
