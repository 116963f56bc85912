"""Citation metadata of a package: `CITATION.cff`, `.zenodo.json`, and what is missing for them."""

import html
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gapline.contract.contract import Contract
from gapline.contract.metadata import USUAL_LICENCES, Author
from gapline.text import counted


def title_of(contract: Contract) -> str:
    """Return the title of a study; its name where it has none."""
    return contract.study.title or contract.study.name


def description_of(contract: Contract) -> str:
    """Return what a study says of itself; without a word of its authors, what its contract compares."""
    if contract.study.description:
        return contract.study.description
    arms, instances = counted(len(contract.arms), "arm"), counted(len(contract.instances), "instance")
    return (
        f"Replication package of the study {contract.study.name}: {arms} on {instances}, judged by the gap over time "
        f"({contract.objective.name}) with gapline."
    )


def missing_metadata(contract: Contract) -> list[str]:
    """Say what the formats of a package would need and the contract does not state, a line for each."""
    study = contract.study
    hints = {
        "authors": "who made the study: CITATION.cff says 'not stated', and Zenodo asks for it",
        "licence": "what others may do with it: without one nothing is allowed, and the crate says 'not stated'",
        "description": "what the study asks: its arms and instances are counted instead",
        "date": "the day of publication: the end of the last run stands in for it",
    }
    return [f"study.{field} is not stated: {why}" for field, why in hints.items() if not getattr(study, field)]


# YAML takes the strings of JSON, but these only as numbers.
_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
_IDENTIFIERS = {"doi": "doi", "swhid": "swh", "url": "url", "arxiv": "other"}


def citation_text(contract: Contract) -> str:
    """Return the citation of a study; the format needs an author, so without one it says that none is stated."""
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
        # Other relations have no word in this format: it wants title and authors of what it refers to.
        "identifiers": [
            {"type": _IDENTIFIERS[one.told_kind], "value": one.identifier if one.told_kind == "arxiv" else one.bare}
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
    # The format takes the licences that were listed when it was written; a later one by its address.
    return {"license": name} if name in USUAL_LICENCES else {"license-url": f"https://spdx.org/licenses/{name}.html"}


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """Write what is stated as YAML: texts, lists of texts and lists of tables of texts."""
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


_SCHEMES = {"doi": "doi", "arxiv": "arxiv", "swhid": "swh", "url": "url"}


def zenodo_document(contract: Contract) -> dict[str, Any]:
    """Return the metadata of a deposit. What is not stated is left out: Zenodo asks for it before it publishes."""
    study = contract.study
    facts: dict[str, Any] = {
        "title": title_of(contract),
        "upload_type": "dataset",
        "description": _paragraphs(description_of(contract)),
        "creators": [_creator(author) for author in study.authors],
        "keywords": list(study.keywords),
        # Its vocabulary has the identifiers of SPDX in small letters.
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
    # Zenodo takes HTML: what is meant as text must not be read as tags.
    return "".join(f"<p>{html.escape(part.strip())}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())
