"""A folder that a test fills with logs."""

import pytest


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
