"""A private folder for what packages unpack."""

import tempfile

import pytest

from gapline.traces.package_source import forget_packages


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """Scratch in a folder of its own, beside which nothing may appear, and in which nothing may stay."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.chdir(tmp_path)
    yield place
    forget_packages()
    assert list(place.iterdir()) == []
