"""Studies that are run once for all tests of this folder, and their packages; who changes one changes a copy."""

import shutil
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

import gapline as gl
from gapline.package.pack import Packed
from gapline.run.campaign import run_study
from package import planted_machine
from package import real_study as small_study
from package.toy_package import install, make_toy
from staged_packages import seal_package, stage


@dataclass(frozen=True)
class Made:
    """A study, its package, and the folder into which that was unpacked."""

    study: Path
    packed: Packed
    folder: Path


@pytest.fixture(scope="session")
def run_once(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPLINE_LEASES", str(tmp_path_factory.mktemp("leases")))
        return planted_machine.make_study(tmp_path_factory.mktemp("ran"))


@pytest.fixture(scope="session")
def made(run_once, tmp_path_factory):
    place = tmp_path_factory.mktemp("packed")
    packed = gl.pack(run_once, place / "planted.zip")
    with zipfile.ZipFile(packed.path) as archive:
        archive.extractall(place / "unpacked")
    return Made(run_once, packed, place / "unpacked")


@pytest.fixture
def study(run_once, tmp_path):
    """A copy of the study, to be changed."""
    return planted_machine.copied(run_once, tmp_path / "study")


@pytest.fixture(scope="session")
def real_study(tmp_path_factory) -> Path:
    return small_study.make_study(tmp_path_factory.mktemp("real") / "study")


@pytest.fixture(scope="session")
def staged(real_study, tmp_path_factory) -> Path:
    """The members of its package in a folder, sums included."""
    place = tmp_path_factory.mktemp("staged")
    folder = stage(real_study, place / "members")
    seal_package(folder, place / "small.zip")
    return folder


@pytest.fixture(scope="session")
def package(staged) -> Path:
    return staged.parent / "small.zip"


@pytest.fixture
def copied(staged, tmp_path) -> Path:
    """A copy of the members, to be changed."""
    return shutil.copytree(staged, tmp_path / "members")


@pytest.fixture(scope="session")
def toy_package(tmp_path_factory):
    """A package of 36 runs, in a folder that nobody writes into."""
    folder = tmp_path_factory.mktemp("toy")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPLINE_LEASES", str(tmp_path_factory.getbasetemp() / "leases"))
        patch.setenv("PATH", install(folder / "bin"))
        return make_toy(folder)


@pytest.fixture
def toy_path(tmp_path, monkeypatch):
    """Return a function that puts the program on the PATH, as it was or slowed down."""

    def put(**changes):
        monkeypatch.setenv("PATH", install(tmp_path / "bin", **changes))

    return put


METADATA = """[study]
title = "Scripted solvers: \\"any time\\""
description = "Which script is ahead.\\n\\nA second paragraph with <tags> & signs: ✓"
licence = "CC-BY-4.0"
keywords = ["anytime", "yes", "1.0"]
version = "1.2"
date = 2026-08-01
authors = [
  { given = "Ada", family = "Lovelace", orcid = "0000-0002-1825-0097", affiliation = "Engines", email = "a@b.org" },
  { family = "Ōe", affiliation = "Engines" },
  { name = "The Analytical Society" },
]
related = [
  { identifier = "https://doi.org/10.1000/182", relation = "isSupplementTo" },
  { identifier = "arXiv:2301.00001v2", relation = "isDerivedFrom" },
  { identifier = "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904", relation = "isIdenticalTo" },
]
"""
CHECKER = """
__version__ = "3"
def check(instance, solution):
    return 1000.0 / (solution[1] + solution[0] + 1)
"""


@pytest.fixture
def bare_study(make_study) -> Path:
    """One that was run and checked and says nothing of itself."""
    arms = {"steady": ["scripted", "{seed}", "4", "0"], "dying": ["dies", "3"]}
    study = make_study(arms, seeds=(1,), checker="python:judge:check").path
    (study / "judge.py").write_text(CHECKER, encoding="utf-8")
    # A name that no identifier takes as it is.
    (study / "instances" / "two.txt").rename(study / "instances" / "zwölf 50%.vrp")
    contract = study / "study.toml"
    text = contract.read_text(encoding="utf-8").replace("two.txt", "zwölf 50%.vrp")
    contract.write_text(text, encoding="utf-8")
    run_study(study)
    return study


@pytest.fixture
def described_study(bare_study) -> Path:
    """The same with everything stated, after its runs, as people do it."""
    contract = bare_study / "study.toml"
    text = contract.read_text(encoding="utf-8").replace("[study]\n", METADATA)
    contract.write_text(text, encoding="utf-8")
    return bare_study
