"""What an installation has."""

from importlib.metadata import metadata, requires, version

from packaging.requirements import Requirement

from gapline.process import machine
from gapline.process.machine import CORE, EXTRAS, describe_environment, package_version


def test_a_package_that_is_missing_names_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setattr(machine, "package_version", lambda _name: None)
    found = describe_environment()
    assert found["numpy"] == "missing"
    assert found["pyvrp"] == "missing: pip install 'gapline[routing]'"


def test_versions_are_those_installed():
    found = describe_environment()
    assert found["polars"] == version("polars")
    assert int(found["cores"]) >= 1
    assert package_version("no-such-package") is None


def test_the_packages_are_those_that_the_installation_asks_for():
    """None that only developers need, and none is left out."""
    asked = {(need.name, str(need.marker or "")) for need in map(Requirement, requires("gapline") or ())}
    assert set(CORE) == {name for name, marker in asked if not marker}
    extras = {
        extra
        for extra in metadata("gapline").get_all("Provides-Extra") or ()
        if extra not in ("all", "dev", "docs", "test")
    }
    assert {(name, f'extra == "{extra}"') for name, extra in EXTRAS.items()} <= asked
    assert set(EXTRAS) == {name for name, marker in asked if any(f'"{extra}"' in marker for extra in extras)}
