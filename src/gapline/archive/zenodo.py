"""`.zenodo.json`: what Zenodo fills its form with, in the words of its deposit metadata."""

import html
import re
from typing import Any

from gapline.archive.described import description_of, title_of
from gapline.model.contract import Contract
from gapline.model.metadata import Author

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
