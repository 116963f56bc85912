"""What stands in where a contract leaves words out, and what is said to be missing."""

from campaign.contracts import SMALL, write
from gapline.contract.study_file import load_contract
from gapline.package.documents import description_of, missing_metadata, title_of


def test_without_words_of_its_own_a_study_is_what_its_contract_compares(tmp_path):
    contract = load_contract(write(tmp_path, SMALL))
    assert title_of(contract) == "small"
    assert description_of(contract) == (
        "Replication package of the study small: 2 arms on 2 instances, judged by the gap over time (objective) "
        "with gapline."
    )


def test_what_is_missing_is_named_with_what_it_costs(tmp_path, described_study):
    found = missing_metadata(load_contract(write(tmp_path, SMALL)))
    assert [one.partition(" ")[0] for one in found] == [
        "study.authors",
        "study.licence",
        "study.description",
        "study.date",
    ]
    assert found[0] == (
        "study.authors is not stated: who made the study: CITATION.cff says 'not stated', and Zenodo asks for it"
    )
    assert missing_metadata(load_contract(described_study)) == []
