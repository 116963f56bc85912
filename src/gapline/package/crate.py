"""`ro-crate-metadata.json`: a package as an RO-Crate 1.1 with the profile Process Run Crate 0.5."""

import codecs
import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from gapline.contract.layout import (
    CAMPAIGN,
    CITATION,
    CONTRACT_FILE,
    CRATE,
    DOCUMENT,
    INSTANCES,
    JOURNALS,
    README,
    REFERENCES,
    RESULTS,
    SUMS,
    ZENODO,
)
from gapline.contract.metadata import Author
from gapline.contract.study_file import load_contract
from gapline.files.archives import folder_files
from gapline.files.atomic_write import write_atomically
from gapline.journal.register import read_register
from gapline.package.documents import description_of, title_of
from gapline.package.run_actions import Actions, Entity, path_id, refer, study_actions

_BY_SUFFIX = {
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".toml": "application/toml",
    ".csv": "text/csv",
    ".md": "text/markdown",
    ".html": "text/html",
    ".tex": "application/x-tex",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".parquet": "application/vnd.apache.parquet",
    ".npy": "application/x-npy",
    ".py": "text/x-python",
    ".cff": "application/yaml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".xml": "application/xml",
    ".gz": "application/gzip",
    ".zip": "application/zip",
    ".zst": "application/zstd",
    ".txt": "text/plain",
    ".log": "text/plain",
}
_LOOK = 8192


def media_type(name: str, path: Path) -> str:
    """Return the media type of a file by its name; an unknown type is text if its first bytes are."""
    known = _BY_SUFFIX.get(PurePosixPath(name).suffix.lower())
    if known is not None:
        return known
    with path.open("rb") as stream:
        head = stream.read(_LOOK)
    try:
        # The last character may be cut off.
        codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < _LOOK)
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "application/octet-stream" if b"\0" in head else "text/plain"


# Beyond this number, files are described only by their folder, except those that an action names.
MOST_FILES = 1_000
CONTEXT = "https://w3id.org/ro/crate/1.1/context"
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
_FILES = {
    README: "What this package is and how to check it without gapline",
    SUMS: "The sha256 of every other file, for sha256sum -c",
    DOCUMENT: "What the package is, of which digests, what was left out and taken out of it",
    CITATION: "How to cite the study",
    ZENODO: "Metadata of the study for Zenodo",
    CONTRACT_FILE: "The contract of the study: everything a reader needs to interpret a score",
}
_FOLDERS = {
    INSTANCES: "The problems that were solved",
    REFERENCES: "The values that scores are measured against, by digest",
    JOURNALS: "The register of plans and, for each attempt at a run, its order (run.json), its events as they came "
    "(events.jsonl), verdicts on its candidates, and its other output",
    CAMPAIGN: "What the solvers said, as columns that are rebuilt from the journals",
    RESULTS: "Scores, tables, figures, the methods paragraph and the page, regenerated from the campaign",
}
# DataCite relations for which schema.org has a closer term than `citation`.
_RELATIONS = {
    "isDerivedFrom": "isBasedOn",
    "isNewVersionOf": "isBasedOn",
    "isPartOf": "isPartOf",
    "isIdenticalTo": "sameAs",
}


def crate_document(folder: Path) -> dict[str, Any]:
    """Describe a folder with the layout of a package."""
    contract = load_contract(folder)
    study = contract.study
    people = [_person(author, place) for place, author in enumerate(study.authors, 1)]
    authors = refer(*(person["@id"] for person in people))
    # The format asks who made the runs: the authors are the only people that a study names.
    actions = study_actions(folder, contract, authors)
    parts = list(_parts(folder, actions))
    inside = {reference["@id"] for part in parts for reference in part.get("hasPart", ())}
    licence = f"https://spdx.org/licenses/{study.licence}" if study.licence else ""
    organisations = sorted({author.affiliation for author in study.authors if author.affiliation})
    root: Entity = {
        "@id": "./",
        "@type": "Dataset",
        "name": title_of(contract),
        "description": description_of(contract),
        "license": {"@id": licence} if licence else "not stated",
        "conformsTo": refer(PROFILE),
        "hasPart": refer(*sorted(part["@id"] for part in parts if part["@id"] not in inside)),
        "mentions": refer(*sorted(actions.actions)),
    }
    optional = {
        "datePublished": study.date or _last_moment(folder, actions),
        "author": authors,
        "keywords": ", ".join(study.keywords),
        "version": study.version,
    }
    root |= {name: value for name, value in optional.items() if value}
    for one in study.related:
        root.setdefault(_RELATIONS.get(one.relation, "citation"), []).extend(refer(one.url))
    others: list[Entity] = [
        *people,
        *({"@id": _organisation_id(name), "@type": "Organization", "name": name} for name in organisations),
        *([{"@id": licence, **_work(str(study.licence)), "identifier": study.licence}] if licence else []),
        *(
            {"@id": one.url, **_work(one.bare), "description": f"This study {one.relation} it (DataCite)"}
            for one in study.related
        ),
        {"@id": PROFILE, **_work("Process Run Crate"), "version": "0.5"},
        *actions.programs.values(),
        *actions.absent.values(),
        *actions.actions.values(),
    ]
    about: Entity = {
        "@id": CRATE,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": SPECIFICATION},
    }
    entities = {one["@id"]: one for one in (*parts, *others)}
    graph = [about, root, *(entities[name] for name in sorted(entities))]
    return {"@context": CONTEXT, "@graph": [_compact(entity) for entity in graph]}


def write_crate(folder: Path) -> Path:
    """Write the description into the folder."""
    document = crate_document(folder)
    lines = ",\n".join(json.dumps(entity, ensure_ascii=False, separators=(",", ":")) for entity in document["@graph"])
    text = f'{{"@context":{json.dumps(document["@context"])},"@graph":[\n{lines}\n]}}\n'
    write_atomically(folder / CRATE, lambda stream: stream.write(text.encode("utf-8")))
    return folder / CRATE


def _compact(entity: Entity) -> Entity:
    """Replace a list of one element by that element, as the specification requires."""
    return {name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in entity.items()}


def _work(name: str) -> Entity:
    return {"@type": "CreativeWork", "name": name}


def _last_moment(folder: Path, actions: Actions) -> str | None:
    """Return when the last run ended; for imported runs, which do not record it, when their plan was registered."""
    if actions.last is not None:
        return actions.last
    entries = read_register(folder).entries
    return entries[-1].moment if entries else None


def _parts(folder: Path, actions: Actions) -> Iterator[Entity]:
    """Yield the files, and the folders with their contents."""
    named = actions.named
    within: dict[str, dict[str, Path]] = {}
    for name in folder_files(folder):
        top, slash, _ = name.partition("/")
        if slash:
            within.setdefault(top, {})[name] = folder / name
        elif name not in (CRATE, SUMS):
            yield _file(name, folder / name)
    # The checksums cover this description, so they are written later and their size is not known yet.
    yield {"@id": SUMS, "@type": "File", "name": SUMS, "description": _FILES[SUMS], "encodingFormat": "text/plain"}
    for top, files in sorted(within.items()):
        shown = [name for name in files if len(files) <= MOST_FILES or path_id(name) in named]
        yield {
            "@id": path_id(f"{top}/"),
            "@type": "Dataset",
            "name": top,
            "description": f"{_FOLDERS.get(top, 'Files that the contract names')} ({len(files):,} files)",
            **({"hasPart": refer(*map(path_id, shown))} if shown else {}),
        }
        for name in shown:
            yield _file(name, files[name])


def _file(name: str, path: Path) -> Entity:
    return {
        "@id": path_id(name),
        "@type": "File",
        "name": name,
        **({"description": _FILES[name]} if name in _FILES else {}),
        "encodingFormat": media_type(name, path),
        "contentSize": str(path.stat().st_size),
    }


def _person(author: Author, place: int) -> Entity:
    facts = {
        "@id": f"https://orcid.org/{author.orcid}" if author.orcid else f"#author/{place}",
        "@type": "Person" if author.is_person else "Organization",
        "name": author.full_name,
        "givenName": author.given,
        "familyName": author.family,
        "email": author.email,
        "affiliation": author.affiliation and {"@id": _organisation_id(author.affiliation)},
    }
    return {name: value for name, value in facts.items() if value}


def _organisation_id(name: str) -> str:
    return "#organisation/" + path_id(name).replace("/", "%2F")
