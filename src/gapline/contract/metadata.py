"""Metadata of a study, for citing, archiving and finding it; it changes no number.

RO-Crate, CITATION.cff and Zenodo use it (`package/`). All of it is optional.
"""

import datetime
import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

# Licences under which data, code and text of studies are usually published; the nearest one is suggested.
USUAL_LICENCES = (
    "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-ND-4.0", "CC-BY-NC-SA-4.0", "CC-BY-NC-ND-4.0", "CC0-1.0",
    "ODbL-1.0", "ODC-By-1.0", "PDDL-1.0", "CDLA-Permissive-1.0", "CDLA-Sharing-1.0", "MIT", "Apache-2.0",
    "BSD-2-Clause", "BSD-3-Clause", "ISC", "MPL-2.0", "EPL-2.0", "EUPL-1.2", "GPL-2.0-only", "GPL-2.0-or-later",
    "GPL-3.0-only", "GPL-3.0-or-later", "LGPL-3.0-only", "LGPL-3.0-or-later", "AGPL-3.0-only", "AGPL-3.0-or-later",
    "Unlicense",
)  # fmt: skip
# The relation types of DataCite that Zenodo takes too, read as "the study … the other".
Relation = Literal[
    "isCitedBy", "cites", "isSupplementTo", "isSupplementedBy", "isContinuedBy", "continues", "isDescribedBy",
    "describes", "hasMetadata", "isMetadataFor", "isNewVersionOf", "isPreviousVersionOf", "isPartOf", "hasPart",
    "isReferencedBy", "references", "isDocumentedBy", "documents", "isCompiledBy", "compiles", "isVariantFormOf",
    "isOriginalFormOf", "isIdenticalTo", "isReviewedBy", "reviews", "isDerivedFrom", "isSourceOf", "isRequiredBy",
    "requires", "isObsoletedBy", "obsoletes",
]  # fmt: skip
Kind = Literal["doi", "arxiv", "swhid", "url"]
# Recognised by form alone; identifiers that differ only in their prefix are the same.
_FORMS: dict[Kind, re.Pattern[str]] = {
    "doi": re.compile(r"(?:doi:|https?://(?:dx\.)?doi\.org/)?(10\.[0-9]{4,9}/\S+)", re.IGNORECASE),
    "arxiv": re.compile(
        r"(?:arxiv:|https?://arxiv\.org/abs/)([0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?|[a-z-]+(?:\.[A-Z]{2})?/[0-9]{7}(?:v[0-9]+)?)",
        re.IGNORECASE,
    ),
    "swhid": re.compile(r"(swh:1:(?:cnt|dir|rev|rel|snp):[0-9a-f]{40}(?:;[a-z]+=[^;\s]+)*)"),
    "url": re.compile(r"(https?://[^\s/?#]+\.[^\s]+)", re.IGNORECASE),
}
_PLACES: dict[Kind, str] = {
    "doi": "https://doi.org/",
    "arxiv": "https://arxiv.org/abs/",
    "swhid": "https://archive.softwareheritage.org/",
    "url": "",
}
_ORCID = re.compile(r"(?:https?://orcid\.org/)?([0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X])")


def orcid_digit(digits: str) -> str:
    """Return the last character of an ORCID by the others (ISO 7064, mod 11-2).

    >>> orcid_digit("000000021825009"), orcid_digit("000000021694233")
    ('7', 'X')
    """
    total = 0
    for digit in digits:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11]


def _orcid(text: str) -> str:
    named = _ORCID.fullmatch(text)
    if named is None:
        raise PydanticCustomError("orcid", "an ORCID such as 0000-0002-1825-0097")
    digits = named.group(1).replace("-", "")
    if (last := orcid_digit(digits[:-1])) != digits[-1]:
        raise PydanticCustomError(
            "orcid", "an ORCID whose digits fit its last one, which would be {last}", {"last": last}
        )
    return named.group(1)


def _licence(text: str) -> str:
    # Imported here, because most contracts state no licence.
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        named = str(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        named = ""
    # One licence of the SPDX list: neither CITATION.cff nor Zenodo takes "A OR B" or a custom name.
    own = named.startswith("LicenseRef-")
    listed = named if re.fullmatch(r"[A-Za-z0-9.+-]+", named) and not own else None
    if listed != text:
        # No licence of the list is close to a custom name.
        near = [listed] if listed else () if own else USUAL_LICENCES
        raise PydanticCustomError(
            "licence",
            "the identifier of one licence as in https://spdx.org/licenses, such as CC-BY-4.0",
            {"expected": " ".join(f"'{one}'" for one in near)},
        )
    return text


def _email(text: str) -> str:
    if re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", text) is None:
        raise PydanticCustomError("email", "an address such as ada@example.org")
    return text


def _iso_date(given: object) -> object:
    if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime):
        return given.isoformat()
    try:
        # Only the full form: Python also reads weeks, and days without hyphens.
        if isinstance(given, str) and datetime.date.fromisoformat(given).isoformat() == given:
            return given
    except ValueError:
        pass
    raise PydanticCustomError("date", "a day such as 2026-08-01")


def identifier_kind(text: str) -> Kind | None:
    """Return the kind of an identifier by its form, None if the form is unknown.

    >>> identifier_kind("10.1000/182"), identifier_kind("arXiv:2301.00001v2"), identifier_kind("https://example.org")
    ('doi', 'arxiv', 'url')
    """
    return next((kind for kind, form in _FORMS.items() if form.fullmatch(text)), None)


def _identifier(text: str) -> str:
    if identifier_kind(text) is None:
        raise PydanticCustomError(
            "identifier", "a DOI (10.…/…), an arXiv number (arXiv:2301.00001), a SWHID (swh:1:…) or a URL"
        )
    return text


Text = Annotated[str, Field(min_length=1)]
Day = Annotated[str, BeforeValidator(_iso_date), Field(json_schema_extra={"format": "date"})]
Licence = Annotated[str, AfterValidator(_licence), Field(examples=list(USUAL_LICENCES))]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Author(_Table):
    """A person (`given` and `family`, or one of them), or a group or an organisation (`name`)."""

    given: Text | None = None
    """Given names of a person."""
    family: Text | None = None
    """Family name of a person."""
    name: Text | None = None
    """Instead of these: the name of a group or an organisation."""
    orcid: Annotated[str, AfterValidator(_orcid), Field(examples=["0000-0002-1825-0097"])] | None = None
    """ORCID of a person; its last digit is verified."""
    affiliation: Text | None = None
    """Where the person works."""
    email: Annotated[str, AfterValidator(_email)] | None = None
    """Published with the package."""

    @property
    def is_person(self) -> bool:
        """Whether this is a person, and not a group."""
        return self.name is None

    @property
    def full_name(self) -> str:
        """The name as it is read: Ada Lovelace."""
        return self.name or " ".join(part for part in (self.given, self.family) if part)

    @property
    def sorted_name(self) -> str:
        """The name as it is listed: Lovelace, Ada."""
        return self.name or ", ".join(part for part in (self.family, self.given) if part)


class Related(_Table):
    """Something else that the study belongs to, by its identifier."""

    identifier: Annotated[str, AfterValidator(_identifier), Field(examples=["10.1000/182", "arXiv:2301.00001"])]
    """A DOI, an arXiv number, a SWHID or a URL."""
    relation: Relation
    """What the study is to it, in the words of DataCite: isSupplementTo for the paper that it belongs to."""
    kind: Kind | None = None
    """What the identifier is; told by its form when left out."""

    @property
    def told_kind(self) -> Kind:
        """The kind of the identifier: as stated, else by its form."""
        return self.kind or identifier_kind(self.identifier) or "url"

    @property
    def bare(self) -> str:
        """The identifier without the prefix of its kind."""
        form = _FORMS[self.told_kind].fullmatch(self.identifier)
        return form.group(1) if form else self.identifier

    @property
    def url(self) -> str:
        """The web address."""
        return _PLACES[self.told_kind] + self.bare


class Metadata(_Table):
    """The fields of `[study]` that do not describe the experiment."""

    title: str = ""
    """The title printed on reports."""
    description: str = ""
    """What the study asks and how, in a paragraph."""
    authors: list[Author] = []
    """Who made the study: people with given and family, groups with name."""
    licence: Licence | None = None
    """Under which licence it is published: an SPDX identifier such as CC-BY-4.0."""
    keywords: list[Text] = []
    """Words by which it should be found."""
    version: Text | None = None
    """Version of the study, where it is published again."""
    date: Day | None = None
    """Day of publication; never taken from the clock."""
    related: list[Related] = []
    """The paper, the solvers, the instances, an earlier version: by DOI, arXiv number, SWHID or URL."""


METADATA_FIELDS = tuple(Metadata.model_fields)


def metadata_mistakes(study: dict[str, Any]) -> Iterator[str]:
    """Find mistakes that no single field of the metadata shows, in the file's own data."""
    for index, author in entries(study, "authors"):
        where, stated = f"study.authors[{index}]", {name for name in author if author[name] not in ("", None)}
        person = stated & {"given", "family"}
        if not person and "name" not in stated:
            yield f"{where}: expected given and family of a person, or the name of a group, got neither"
        elif person and "name" in stated:
            yield f"{where}.name: expected nothing beside given and family, got {author['name']!r}"
        elif "name" in stated:
            for field in sorted(stated & {"orcid", "affiliation"}):
                yield f"{where}.{field}: expected given and family beside it, since only people have one, got name"
    for index, other in entries(study, "related"):
        identifier, kind = other.get("identifier"), other.get("kind")
        told = identifier_kind(identifier) if isinstance(identifier, str) else None
        # An address may be that of a DOI: the general kind is then right too.
        fits = [name for name, form in _FORMS.items() if isinstance(identifier, str) and form.fullmatch(identifier)]
        if told is not None and kind in _FORMS and kind not in fits:
            yield f"study.related[{index}].kind: expected {told!r} for {identifier!r}, got {kind!r}"
    for field, shown in (("keywords", _plain), ("authors", _orcid_of), ("related", _target)):
        values = study.get(field, [])
        seen: set[str] = set()
        for index, value in enumerate(values if isinstance(values, list) else []):
            name = shown(value)
            if name is not None and name in seen:
                yield f"study.{field}[{index}]: expected each once, got {name} again"
            seen |= set() if name is None else {name}


def _plain(value: object) -> str | None:
    return repr(value) if isinstance(value, str) else None


def _orcid_of(value: object) -> str | None:
    orcid = value.get("orcid") if isinstance(value, dict) else None
    named = _ORCID.fullmatch(orcid) if isinstance(orcid, str) else None
    return named.group(1) if named else None


def _target(value: object) -> str | None:
    return f"relation {value.get('relation')} of {value.get('identifier')!r}" if isinstance(value, dict) else None


def entries(data: dict[str, Any], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the tables of a list with their positions; other elements are mistakes that are reported elsewhere."""
    found = data.get(name, [])
    for index, entry in enumerate(found if isinstance(found, list) else []):
        if isinstance(entry, dict):
            yield index, entry
