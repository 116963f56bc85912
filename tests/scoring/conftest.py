"""All of this folder is tested twice: as compiled code, and as NumPy does it for small campaigns."""

import pytest

from both_paths import each_path  # noqa: F401 (a fixture)
from gapline.scoring import kernels


@pytest.fixture(autouse=True)
def own_kernels(monkeypatch):
    """A name that a test registers is free again for the second time."""
    monkeypatch.setattr(kernels, "_registered", dict(kernels._registered))
