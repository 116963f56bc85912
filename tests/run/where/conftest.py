"""Leases of a test's own: workers of two tests that run at once would wait for each other's cores."""

import pytest


@pytest.fixture(autouse=True)
def own_leases(tmp_path_factory, monkeypatch):
    """Workers keep their leases in the directory for temporary files; they are processes, and inherit this one."""
    monkeypatch.setenv("TMPDIR", str(tmp_path_factory.mktemp("leases")))
