"""The same study gives the same bytes: twice, from two paths, by two users, in three zones, two locales, any cores."""

import json
import os
import tempfile
from pathlib import Path

import pytest

from gapline.cli.app import run
from other_user import can_change_user, gapline
from package.planted_machine import copied

pytestmark = pytest.mark.slow


def packed(study, place, name="a.zip", **how):
    """Pack a study in a process of its own, and return its sha256 and its SWHID."""
    place.mkdir(exist_ok=True)
    place.chmod(0o777)
    done = gapline("pack", study, "-o", place / name, "--json", folder=place, **how)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return answer["sha256"], answer["swhid"], (place / name).stat().st_uid


@pytest.fixture
def reachable(run_once):
    """A copy under another path that others may read: what pytest makes is for its owner alone."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o777)
        yield copied(run_once, Path(place) / "Übung 2")


def test_a_study_packs_to_the_same_bytes(made, reachable, tmp_path):
    """In this process, in one of another zone and locale, and in one of a third zone, another user and one core."""
    cores = sorted(os.sched_getaffinity(0))
    here = made.packed.identity
    again = packed(made.study, tmp_path / "2", "b.zip", TZ="Asia/Kathmandu", LC_ALL="C", PYTHONHASHSEED="2")
    third = packed(
        reachable,
        reachable.parent / "3",
        nobody=can_change_user(),
        cores=cores[:1],
        TZ="America/St_Johns",
        LC_ALL="C.UTF-8",
        POLARS_MAX_THREADS="1",
        PYTHONUTF8="0",
    )
    assert (here.sha256, here.swhid) == again[:2] == third[:2]
    if can_change_user():
        assert (again[2], third[2]) == (0, 65534)


@pytest.mark.parametrize("name", ["a.tar.zst", "a.zip"])
def test_a_tar_and_a_zip_have_the_same_identifier(made, tmp_path, name, capsys):
    more = ["--stored"] if name == "a.zip" else []
    assert run(["pack", str(made.study), "-o", str(tmp_path / name), *more, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["swhid"] == made.packed.identity.swhid
    assert answer["sha256"] != made.packed.identity.sha256
