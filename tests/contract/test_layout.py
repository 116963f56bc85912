"""Where things lie in a study directory."""

import pytest

from gapline.contract.layout import campaign_directory, is_study
from gapline.errors import TraceError


def test_a_campaign_is_found_from_its_own_directory_and_from_its_study(tmp_path):
    place = tmp_path / "campaign"
    place.mkdir()
    (place / "manifest.json").write_text("{}")
    assert campaign_directory(place) == campaign_directory(tmp_path) == place
    assert not is_study(tmp_path)


def test_a_study_without_a_campaign_says_how_to_get_one_and_a_folder_what_it_holds(tmp_path):
    with pytest.raises(TraceError, match="got nothing"):
        campaign_directory(tmp_path)
    (tmp_path / "b.log").touch()
    with pytest.raises(TraceError, match=r"got b\.log\nHint: `gapline import`"):
        campaign_directory(tmp_path)
    (tmp_path / "study.toml").touch()
    assert is_study(tmp_path)
    with pytest.raises(TraceError, match="no campaign yet\nHint: gapline run"):
        campaign_directory(tmp_path)
