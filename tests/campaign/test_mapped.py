"""Files that are cut or changed while their columns are read: one error before anything of them is touched."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

import gapline as gl
from gapline.campaign.columns import MappedFile, check_mapped
from gapline.errors import IntegrityError


@pytest.fixture
def campaign(tmp_path):
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 9, "trace": [(1, 5.0), (2, 4.0)]} for s in (1, 2)]
    gl.Campaign.from_runs(runs).save(tmp_path / "c")
    return gl.open(tmp_path / "c")


def test_every_mapped_column_is_remembered_and_stays_so(campaign, tmp_path):
    (files,) = campaign.files
    assert {file.path for file in files} == {tmp_path / "c" / f"{name}.npy" for name in campaign.columns}
    assert campaign.filter(arm="a").files == replace(campaign, facts={"x": "y"}).files == campaign.files
    campaign.check_files()
    # A link more is no change of the file.
    os.link(tmp_path / "c" / "time.npy", tmp_path / "other.npy")
    campaign.check_files()
    shuffled = replace(campaign, runs=campaign.runs.reverse())
    assert shuffled.compact().files == ()


def _replace(path: Path) -> None:
    other = path.with_suffix(".other")
    other.write_bytes(path.read_bytes())
    other.rename(path)


DAMAGES = {
    "gone": (lambda path: path.unlink(), "expected the file that was opened, got no such file"),
    "cut": (lambda path: os.truncate(path, 130), "expected 160 bytes, as when it was opened, got 130"),
    "longer": (lambda path: os.truncate(path, 4000), "expected 160 bytes, as when it was opened, got 4,000"),
    "touched": (lambda path: os.utime(path, ns=(1, 1)), "expected the file that was opened, got one that was written"),
    "replaced": (_replace, "expected the file that was opened, got one that was written since"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_file_that_is_not_as_it_was_is_named(kind, campaign, tmp_path):
    damage, message = DAMAGES[kind]
    damage(tmp_path / "c" / "time.npy")
    with pytest.raises(IntegrityError, match=rf"time\.npy: {message}"):
        campaign.check_files()
    with pytest.raises(IntegrityError, match=r"time\.npy"):
        next(campaign.pieces(1))
    with pytest.raises(IntegrityError, match=r"time\.npy"):
        campaign.save(tmp_path / "d")
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("most", [None, 1])
def test_pieces_look_before_each_and_after_the_last(most, campaign, tmp_path):
    pieces = campaign.pieces(most)
    for _ in range(1 if most is None else 2):
        _, piece = next(pieces)
        piece.check_files()
    os.truncate(tmp_path / "c" / "objective.npy", 150)
    with pytest.raises(IntegrityError, match=r"objective\.npy"):
        next(pieces)


def test_the_status_of_a_file_is_taken_from_its_handle(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(b"1234")
    file = MappedFile.of(path, path.stat())
    assert file.size == 4
    check_mapped([[file], []])
