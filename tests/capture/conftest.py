"""A folder that a test fills with logs, and one for what packages unpack."""

import tempfile

import pytest

from gapline.capture.opened import forget_packages


@pytest.fixture
def folder(tmp_path):
    """Write files into a folder and give it back."""

    def write(**files):
        for name, text in files.items():
            place = tmp_path / "logs" / name.replace("__", "/").replace("_dot_", ".")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "logs"

    return write


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
