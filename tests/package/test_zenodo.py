"""What Zenodo fills its form with."""

import json

from campaign.contracts import SMALL, write
from gapline.contract.study_file import load_contract
from gapline.package.documents import zenodo_document


def test_everything_stated_is_in_its_words(described_study):
    document = zenodo_document(load_contract(described_study))
    assert document == {
        "title": 'Scripted solvers: "any time"',
        "upload_type": "dataset",
        # Its description is HTML.
        "description": "<p>Which script is ahead.</p><p>A second paragraph with &lt;tags&gt; &amp; signs: ✓</p>",
        "creators": [
            {"name": "Lovelace, Ada", "affiliation": "Engines", "orcid": "0000-0002-1825-0097"},
            {"name": "Ōe", "affiliation": "Engines"},
            {"name": "The Analytical Society"},
        ],
        "keywords": ["anytime", "yes", "1.0"],
        "license": "cc-by-4.0",
        "version": "1.2",
        "publication_date": "2026-08-01",
        "related_identifiers": [
            {"identifier": "10.1000/182", "relation": "isSupplementTo", "scheme": "doi"},
            {"identifier": "2301.00001v2", "relation": "isDerivedFrom", "scheme": "arxiv"},
            {
                "identifier": "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904",
                "relation": "isIdenticalTo",
                "scheme": "swh",
            },
        ],
    }
    assert "a@b.org" not in json.dumps(document)


def test_what_is_not_stated_is_left_out(tmp_path):
    document = zenodo_document(load_contract(write(tmp_path, SMALL)))
    assert sorted(document) == ["description", "title", "upload_type"]
