"""What `pip install gapline` brings: a wheel that stands alone, and one sentence for whatever an extra would add."""

import email
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from handbook.quoted import examples
from packaging.metadata import Metadata

from bare_environment import closure, make_bare_environment

ROOT = Path(__file__).parents[1]
BUILD = "import sys, hatchling.build as build; [getattr(build, 'build_' + what)(sys.argv[1]) for what in sys.argv[2:]]"
# Programs and libraries of the tests, and solvers that the demo does not run: none belongs to a user's installation.
DEVELOPERS = {"pytest", "mypy", "ruff", "playwright", "pyarrow", "duckdb", "gurobipy", "hexaly", "moto", "ioh"}


def build(source: Path, target: Path, *what: str) -> None:
    subprocess.run([sys.executable, "-c", BUILD, target, *what], cwd=source, check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the wheel and the source distribution, built as `pip` and `build` do, without the network."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "wheel", "sdist")
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """Runs a program of an environment that has the wheel and its base dependencies alone."""
    return program_runner(make_bare_environment(tmp_path_factory.mktemp("bare") / "environment", wheel))


@pytest.fixture(scope="module")
def documented(wheel, tmp_path_factory):
    """Runs a program of the environment that the documentation asks for: `pip install 'gapline[figures]'`."""
    folder = tmp_path_factory.mktemp("documented") / "environment"
    return program_runner(make_bare_environment(folder, wheel, "figures"))


def program_runner(python):
    assert python.parent.joinpath("gapline").is_file()
    # Nothing of this environment may help: neither its packages nor its programs nor its variables.
    environment = {"PATH": f"{python.parent}{os.pathsep}/usr/bin{os.pathsep}/bin", "COLUMNS": "120", "LANG": "C.UTF-8"}

    def run(*command, folder):
        return subprocess.run(
            command,
            cwd=folder,
            env=environment | {"HOME": str(folder)},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
            timeout=600,
        )

    return run


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """A folder with the README's trace file and references, the first packed too."""
    folder = tmp_path_factory.mktemp("traces")
    shell = readme_block("console").replace("$ ", "")
    subprocess.run(
        ["sh", "-ec", "\n".join(line for line in shell.splitlines() if "printf" in line)], cwd=folder, check=True
    )
    (folder / "traces.csv.zst").write_bytes(zstandard.compress((folder / "traces.csv").read_bytes()))
    return folder


def readme_block(language: str) -> str:
    """Return the README's first block of a language that scores something."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return next(block for block in blocks if "score" in block)


@pytest.mark.slow
def test_the_wheel_scores_a_csv_with_its_base_dependencies_alone(bare, tmp_path):
    """The README's three lines of shell and ten of Python, in an empty folder; pip finds nothing missing."""
    shell = "\n".join(line[2:] for line in readme_block("console").splitlines() if line.startswith("$ "))
    scored = bare("sh", "-ec", shell, folder=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert re.search(r"1  a +1 +0 +0 +0 +0\.07341 +0\.10000 +10\.00 % +0\.0 %", scored.stdout)
    code = readme_block("python") + "\nprint([round(score, 5) for score in scores.frame['squeezed']])"
    called = bare("python", "-c", code, folder=tmp_path)
    assert called.returncode == 0, called.stderr
    assert called.stdout.endswith("[0.07341, 0.3]\n")
    for absent in ("altair", "ortools", "pandas"):
        assert bare("python", "-c", f"import {absent}", folder=tmp_path).returncode == 1, absent


@pytest.mark.slow
@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "start").glob("*.md")), ids=lambda page: page.stem)
def test_the_documented_installation_runs_every_first_page(page, documented, tmp_path):
    """Each page of docs/start/ with `gapline[figures]` and nothing else; a frame of pandas comes from elsewhere."""
    lines = page.read_text(encoding="utf-8").splitlines()
    shell, code = (
        "\n".join(example.code for example in examples(lines, language)) for language in ("console", "python")
    )
    assert shell or code
    for command in (("bash", "-euo", "pipefail", "-c", shell), ("python", "-c", code)):
        done = documented(*command, folder=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    assert documented("python", "-c", "import pyarrow", folder=tmp_path).returncode == 1


LACKING = {
    "figures": [
        ("report", "traces.csv", "--references", "refs.csv", "--horizon", "30", "-o", "results"),
        ("curve", "traces.csv", "--references", "refs.csv", "--horizon", "30", "-o", "curve.svg"),
        ("paper", "-o", "paper"),
        ("snapshot", "page", "frozen.json", "-o", "page.html"),
    ],
    "serve": [("serve", ".")],
    "dask": [("score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--on", "dask:tcp://127.0.0.1:1")],
    "slurm": [("score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--on", "slurm")],
    "oar": [("score", "traces.csv", "--references", "refs.csv", "--horizon", "30", "--on", "oar")],
    "cloud": [("score", "s3://bucket/traces.csv", "--references", "refs.csv", "--horizon", "30")],
    "zst": [
        ("score", "traces.csv.zst", "--references", "refs.csv", "--horizon", "30"),
        ("pack", "mip", "-o", "package.tar.zst"),
    ],
    "mip": [
        ("run", "mip"),
        ("check", "mip"),
        ("import", "highs.log", "--format", "mip", "--horizon", "30", "-o", "campaign"),
    ],
    "routing": [("init", "tdvrptw", "--problem", "tdvrptw"), ("run", "cvrp")],
    "demo": [("demo",)],
}


@pytest.mark.slow
def test_what_an_extra_would_add_is_one_sentence_with_the_command_that_brings_it(bare, traces):
    """Exit code 3, nothing on standard output, no traceback, nothing left behind."""
    for made in (
        ("init", "mip", "--problem", "mip"),
        ("init", "cvrp", "--problem", "cvrp"),
        ("snapshot", "freeze", "refs.csv", "--name", "frozen", "-o", "frozen.json"),
    ):
        assert bare("gapline", *made, folder=traces).returncode == 0, made
    (traces / "highs.log").write_text("Running HiGHS 1.7.0 (git hash: 50670fd): Copyright (c) 2024 HiGHS\n")
    there = sorted(traces.iterdir())
    for extra, commands in LACKING.items():
        for command in commands:
            said = bare("gapline", *command, folder=traces)
            assert (said.returncode, said.stdout) == (3, ""), f"{command}: {said.returncode}\n{said.stderr}"
            assert f"pip install 'gapline[{extra}]'" in said.stderr, command
            assert said.stderr.startswith("error: ")
            assert "Traceback" not in said.stderr
            # One line for what is missing and one for the command; of a study, one for each arm.
            arms = said.stderr.count("arm ")
            assert len(said.stderr.splitlines()) <= 2 + max(arms - 1, 0), said.stderr
    assert sorted(traces.iterdir()) == there


def test_every_extra_has_a_command_that_names_it():
    """A new extra needs a row above; tests/solvers asks for those of solvers, and `docs` is for developers."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = re.search(r"\[project\.optional-dependencies\]\n(.*?)\n\[", text, re.DOTALL).group(1)
    named = set(re.findall(r"^(\w+) = \[", extras, re.MULTILINE))
    assert set(LACKING) == named - {"all", "dev", "docs", "test", "solvers", "timefold", "hexaly"}


@pytest.mark.slow
def test_the_wheel_carries_everything_that_is_read_at_run_time(wheel):
    """Every file of the source that git knows: scripts, styles, templates, schemas, the Java of a solver."""
    known = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=False)
    if known.returncode:
        pytest.skip("not in a git checkout")
    ours = {name.removeprefix("src/") for name in known.stdout.splitlines()}
    with zipfile.ZipFile(wheel) as archive:
        carried = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert {Path(name).suffix for name in carried} >= {".js", ".css", ".j2", ".json", ".java", ".typed"}
    assert carried == ours


def test_the_source_distribution_builds_the_same_wheel(built, wheel, tmp_path):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = archive.getnames()
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    build(unpacked, tmp_path, "wheel")
    (again,) = tmp_path.glob("*.whl")
    assert again.read_bytes() == wheel.read_bytes()
    inside = {Path(name).relative_to(unpacked.name).parts[0] for name in names}
    assert inside == {
        "src", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "pyproject.toml", "PKG-INFO", ".gitignore",
    }  # fmt: skip


def test_nothing_in_the_wheel_names_the_machine_that_built_it(wheel):
    forbidden = [str(ROOT).encode(), str(Path.home()).encode() + b"/", sys.prefix.encode()]
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            text = archive.read(name)
            assert [word for word in forbidden if word in text] == [], name
            assert "__pycache__" not in name


def test_the_metadata_are_valid(wheel):
    """By the rules of packaging, which the index of Python applies."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        text = archive.read(name)
    metadata = Metadata.from_email(text, validate=True)
    assert (metadata.name, str(metadata.license_expression), str(metadata.requires_python)) == (
        "gapline",
        "MIT",
        ">=3.11",
    )
    assert email.message_from_bytes(text)["Description-Content-Type"] == "text/markdown"
    assert metadata.description.startswith("# gapline")


def test_the_demo_installs_what_the_demo_needs(tmp_path):
    """`make demo` asks for the extra of the demo alone and says where gapline is; `make test` for that of the tests."""
    for name in ("Makefile", "pyproject.toml", "tools"):
        (tmp_path / name).symlink_to(ROOT / name)

    def plan(target: str) -> str:
        return subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert re.findall(r"-e '(.*?)'", plan("demo")) == [".[demo]"]
    assert "gapline is .venv/bin/gapline" in plan("demo")
    assert re.findall(r"-e '(.*?)'", plan("test")) == [".[demo]", ".[test]"]
    brought = set(closure("gapline", frozenset({"demo"})))
    assert brought >= {"kayros", "pyvrp", "ortools", "altair"}
    assert brought & DEVELOPERS == set()
