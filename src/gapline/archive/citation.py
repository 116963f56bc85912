"""`CITATION.cff`, version 1.2.0: how a study wants to be cited, as GitHub, Zenodo and Zotero read it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gapline.archive.described import description_of, title_of
from gapline.model.contract import Contract
from gapline.model.metadata import USUAL_LICENCES, Author

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
