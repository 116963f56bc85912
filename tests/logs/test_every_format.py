"""One folder with a sample of every format: `gapline import` tells them apart and reads each."""

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from gapline.cli.app import run
from gapline.logs.formats import format_names
from gapline.testing.readers import ReaderConformance

pytestmark = pytest.mark.slow


def conformance_suites() -> list[type[ReaderConformance]]:
    """Find the samples where they are tested, so that a new format is in this folder by itself."""
    found = {}
    for path in sorted((Path(__file__).parent / "readers").glob("test_*.py")):
        spec = spec_from_file_location(f"samples_{path.stem}", path)
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        suites = [one for one in vars(module).values() if isinstance(one, type) and issubclass(one, ReaderConformance)]
        found |= {(suite.__module__, suite.__name__): suite for suite in suites if suite is not ReaderConformance}
    return list(found.values())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("every")
    expected = {}
    for number, suite in enumerate(conformance_suites()):
        place = root / f"sample{number}" / Path(suite.path).name
        place.parent.mkdir()
        suite().write(place.parent, place.name, suite.sample)
        expected[str(place)] = (suite.reader.name, suite.runs)
    return root, expected


def test_every_format_has_a_sample(folder):
    assert {name for name, _ in folder[1].values()} | {"solu"} == set(format_names())


def test_a_dry_run_recognises_and_reads_each(folder, capsys):
    root, expected = folder
    run(["import", str(root), "--dry-run", "--json"])
    files = json.loads(capsys.readouterr().out)["files"]
    assert {file["path"]: (file["format"], len(file["runs"])) for file in files} == expected
    assert all(file["problem_count"] == 0 for file in files)
    run(["import", str(root), "--dry-run"])
    # A row per run; of the second run of a file on, its name stands above.
    rows = [row.split() for row in capsys.readouterr().out.splitlines() if row.startswith(str(root))]
    assert list(dict.fromkeys(row[0] for row in rows if not row[0].endswith(":"))) == sorted(expected)


def test_each_becomes_a_campaign(folder, tmp_path, capsys):
    for number, (path, (name, runs)) in enumerate(folder[1].items()):
        target = str(tmp_path / str(number))
        options = ["--arm", "a", "--horizon", "1e6", "--number-runs", "--no-references", "--json"]
        code = run(["import", path, "-o", target, *options])
        if code:
            assert "instance" in capsys.readouterr().err
            code = run(["import", path, "-o", target, "--instance", "i", *options])
        assert code == 0, f"{name}: {capsys.readouterr().err}"
        facts = json.loads(capsys.readouterr().out)
        assert facts["diagnostics"]["runs"] == runs
        assert facts["facts"]["source format"] == name
