"""What an installation has."""

from importlib.metadata import requires, version

from gapline.model import environment
from gapline.model.environment import CORE, EXTRAS, describe_environment, package_version


def test_a_package_that_is_missing_names_the_extra_that_brings_it(monkeypatch):
    monkeypatch.setattr(environment, "package_version", lambda _name: None)
    found = describe_environment()
    assert found["numpy"] == "missing"
    assert found["pyvrp"] == "missing: pip install 'gapline[routing]'"


def test_versions_are_those_installed():
    found = describe_environment()
    assert found["polars"] == version("polars")
    assert int(found["cores"]) >= 1
    assert package_version("no-such-package") is None


def test_the_packages_are_those_that_the_installation_asks_for():
    asked = {line.split(";")[0].strip().lower() for line in requires("gapline") or ()}
    for name in (*CORE, *EXTRAS):
        assert any(one.startswith(name) for one in asked), name
