"""The citation: valid by its own schema, and the same words after a round through YAML."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from campaign.contracts import SMALL, write
from gapline.contract.metadata import USUAL_LICENCES
from gapline.contract.study_file import load_contract
from gapline.package.documents import citation_text
from validators import citation_is_valid


@pytest.mark.slow
def test_everything_stated_is_in_it_and_valid(described_study, tmp_path):
    text = citation_text(load_contract(described_study))
    (tmp_path / "CITATION.cff").write_text(text, encoding="utf-8")
    assert citation_is_valid(tmp_path / "CITATION.cff")
    assert yaml.safe_load(text) == {
        "cff-version": "1.2.0",
        "message": "If you use this study or its data, please cite it as below.",
        "type": "dataset",
        "title": 'Scripted solvers: "any time"',
        "abstract": "Which script is ahead.\n\nA second paragraph with <tags> & signs: ✓",
        "authors": [
            {
                "given-names": "Ada",
                "family-names": "Lovelace",
                "affiliation": "Engines",
                "email": "a@b.org",
                "orcid": "https://orcid.org/0000-0002-1825-0097",
            },
            {"family-names": "Ōe", "affiliation": "Engines"},
            {"name": "The Analytical Society"},
        ],
        "keywords": ["anytime", "yes", "1.0"],
        "license": "CC-BY-4.0",
        "version": "1.2",
        "date-released": "2026-08-01",
        "identifiers": [{"type": "swh", "value": "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904"}],
    }


@pytest.mark.slow
def test_what_is_not_stated_is_left_out_or_said_to_be(tmp_path):
    text = citation_text(load_contract(write(tmp_path, SMALL)))
    (tmp_path / "CITATION.cff").write_text(text, encoding="utf-8")
    assert citation_is_valid(tmp_path / "CITATION.cff")
    found = yaml.safe_load(text)
    assert found["authors"] == [{"name": "not stated"}]
    assert found["title"] == "small"
    assert not {"license", "version", "date-released", "keywords", "identifiers"} & set(found)


@pytest.mark.slow
@pytest.mark.parametrize("related", ["10.1000/182", "arXiv:2301.00001", "https://example.org/a"])
@pytest.mark.parametrize("licence", ["CC0-1.0", "HPND-UC"])
def test_every_kind_of_licence_and_identifier_is_valid(tmp_path, related, licence):
    lines = f'licence = "{licence}"\nrelated = [{{ identifier = "{related}", relation = "isIdenticalTo" }}]'
    contract = load_contract(write(tmp_path, SMALL.replace("[study]\n", f"[study]\n{lines}\n")))
    (tmp_path / "CITATION.cff").write_text(citation_text(contract), encoding="utf-8")
    assert citation_is_valid(tmp_path / "CITATION.cff")


@pytest.mark.slow
def test_the_schema_knows_every_licence_that_is_named_without_an_address(tmp_path):
    """One list for all in one call: each a citation of another reference would take minutes."""
    contract = load_contract(write(tmp_path, SMALL))
    every = "".join(f"  - {name}\n" for name in USUAL_LICENCES)
    (tmp_path / "CITATION.cff").write_text(f"{citation_text(contract)}license:\n{every}", encoding="utf-8")
    assert citation_is_valid(tmp_path / "CITATION.cff")
    (tmp_path / "CITATION.cff").write_text(f"{citation_text(contract)}license:\n  - HPND-UC\n", encoding="utf-8")
    assert not citation_is_valid(tmp_path / "CITATION.cff")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_text_comes_back_from_yaml_as_it_was(tmp_path, text):
    contract = load_contract(write(tmp_path, SMALL))
    study = contract.study.model_copy(update={"title": text, "keywords": [text]})
    found = yaml.safe_load(citation_text(contract.model_copy(update={"study": study})))
    assert (found["title"], found["keywords"]) == (text, [text])
