"""A campaign directory with parts is the campaign that it stands for, whole or not at all."""

import json
import mmap
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gapline as gl
import strategies
from campaign.test_join import divided, plain, rejected
from campaign.test_store import memory_of
from gapline.campaign import partitions
from gapline.campaign.assembly import RunTrace, campaign_from_traces
from gapline.campaign.columns import PartedColumn
from gapline.campaign.partitions import Part, part_folders, save_parts
from gapline.campaign.store import _seal, read_manifest
from gapline.errors import IntegrityError, TraceError
from killed_writers import writers


def in_parts(folder: Path, campaigns: list[gl.Campaign]) -> Path:
    """Save each campaign beside the folder and make it a part of the folder."""
    sources = [one.save(folder.parent / f"{folder.name}-source-{k}") for k, one in enumerate(campaigns)]
    save_parts([Part(gl.open(source), source) for source in sources], folder)
    return folder


@pytest.fixture
def place(tmp_path) -> Path:
    return in_parts(tmp_path / "c", [rejected("a", "late", "odd"), plain("b", bound=3.0), rejected("c", "odd", "late")])


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(strategies.whole_traces(), st.lists(st.integers(0, 4), min_size=20, max_size=20), st.data())
def test_in_parts_and_shuffled_it_is_the_campaign_saved_whole(tmp_path_factory, drawn, labels, data):
    whole = campaign_from_traces(RunTrace(**one) for one in drawn[0])
    folder = in_parts(tmp_path_factory.mktemp("parts") / "c", data.draw(st.permutations(divided(whole, labels))))
    opened = gl.open(folder)
    assert opened.digest() == whole.digest() == read_manifest(folder)["digest"]
    assert opened.runs.drop("first").equals(whole.runs.drop("first"))
    opened.save(folder.parent / "again")
    whole.save(folder.parent / "whole")
    # Codes follow the order of the parts; every other column is the same to the last byte.
    for name in (f"{column}.npy" for column in whole.columns if column != "reason"):
        assert (folder.parent / "again" / name).read_bytes() == (folder.parent / "whole" / name).read_bytes()


def test_the_files_are_linked_and_their_columns_mapped(place):
    manifest = read_manifest(place)
    assert manifest["schema"] == "gapline.campaign/2"
    assert list(manifest["parts"]) == ["part-0000", "part-0001", "part-0002"]
    assert manifest["parts"]["part-0001"]["seal"] == read_manifest(place / "part-0001")["seal"]
    for number in range(3):
        for path in (place / f"part-000{number}").iterdir():
            assert path.samefile(place.parent / f"c-source-{number}" / path.name)
            assert not path.is_symlink()
    opened = gl.open(place)
    assert isinstance(opened.time, PartedColumn)
    assert all(isinstance(memory_of(part), mmap.mmap) for part in opened.time.parts)
    assert [files[0].path.parent.name for files in opened.files] == list(manifest["parts"])
    assert part_folders(place) == [place / name for name in manifest["parts"]]
    assert part_folders(place.parent / "c-source-0") == [place.parent / "c-source-0"]


def test_where_there_are_no_links_files_are_copied(tmp_path, monkeypatch):
    source = plain("a").save(tmp_path / "a")

    def refuse(*_, **__):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(partitions.os, "link", refuse)
    written = save_parts([Part(gl.open(source), source), Part(plain("b"))], tmp_path / "c")
    assert (written.linked, written.copied) == (0, 5)
    assert gl.open(tmp_path / "c").digest() == gl.merge([plain("a"), plain("b")]).digest() == written.digest


def test_a_symbolic_link_among_the_files_becomes_a_file(tmp_path):
    source = plain("a").save(tmp_path / "a")
    (source / "time.npy").rename(tmp_path / "elsewhere.npy")
    (source / "time.npy").symlink_to(tmp_path / "elsewhere.npy")
    save_parts([Part(gl.open(source), source), Part(plain("b"))], tmp_path / "c")
    assert not (tmp_path / "c" / "part-0000" / "time.npy").is_symlink()
    assert len(gl.open(tmp_path / "c")) == 2


def test_a_source_that_changes_after_it_was_opened_is_refused_and_nothing_is_left(tmp_path):
    source = plain("a").save(tmp_path / "a")
    opened = gl.open(source)
    plain("a", bound=1.0).save(source, overwrite=True)
    with pytest.raises(IntegrityError, match=r"a/\w+\.npy: expected the file that was opened"):
        save_parts([Part(opened, source), Part(plain("b"))], tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a"]


def _truncate(path: Path) -> None:
    # A copy: the file is that of the source too.
    data = path.read_bytes()[:-8]
    path.unlink()
    path.write_bytes(data)


def _swap(one: Path, other: Path) -> None:
    one.rename(one.with_name("aside"))
    other.rename(one)
    one.with_name("aside").rename(other)


def _link(path: Path) -> None:
    path.rename(path.parents[1] / "elsewhere")
    path.symlink_to(path.parents[1] / "elsewhere")


def _edit(path: Path) -> None:
    path.write_text(path.read_text().replace('"runs": 1', '"runs": 2'))


DAMAGES = {
    "a part is missing": (
        lambda c: shutil.rmtree(c / "part-0001"),
        r"part-0001: expected a part of the campaign, got none",
    ),
    "a part has no manifest": (
        lambda c: (c / "part-0001" / "manifest.json").unlink(),
        r"part-0001: expected a campaign directory with manifest\.json",
    ),
    "a part is another campaign": (
        lambda c: plain("b").save(c / "part-0001", overwrite=True),
        r"part-0001: expected sha256:\w+, got sha256:\w+",
    ),
    "two parts are swapped": (
        lambda c: _swap(c / "part-0000", c / "part-0001"),
        r"part-0000: expected sha256.*part-0001: expected sha256",
    ),
    "a column is cut": (
        lambda c: _truncate(c / "part-0001" / "time.npy"),
        r"part-0001: time\.npy: expected sha256:\w+, got sha256:\w+",
    ),
    "a column is missing": (
        lambda c: (c / "part-0001" / "bound.npy").unlink(),
        r"part-0001: bound\.npy: expected sha256:\w+, got no such file",
    ),
    "a part that is not listed": (
        lambda c: shutil.copytree(c / "part-0001", c / "part-0003"),
        r"part-0003: expected no such file, as manifest\.json lists none",
    ),
    "a file in a part": (
        lambda c: (c / "part-0001" / "notes.txt").write_text("x"),
        r"part-0001/notes\.txt: expected no such file",
    ),
    "a column in a part": (
        lambda c: np.save(c / "part-0001" / "primary.npy", np.zeros(1)),
        r"part-0001/primary\.npy: expected no such file",
    ),
    "a column beside the parts": (
        lambda c: np.save(c / "time.npy", np.zeros(1)),
        r"c: time\.npy: expected no such file",
    ),
    "a link in the place of a part": (
        lambda c: _link(c / "part-0001"),
        r"part-0001: expected a part of the campaign, got a link",
    ),
    "a changed manifest": (lambda c: _edit(c / "manifest.json"), r"manifest\.json: expected sha256"),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_whatever_is_wrong_with_a_part_is_one_error_that_names_it(kind, place):
    damage, message = DAMAGES[kind]
    damage(place)
    with pytest.raises((IntegrityError, TraceError), match=message):
        gl.open(place)


def reseal(folder: Path, **changes) -> None:
    manifest = json.loads((folder / "manifest.json").read_text()) | changes
    (folder / "manifest.json").write_text(json.dumps(manifest | {"seal": _seal(manifest)}))


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "expected parts named part-0000 and so on, got none"),
        (
            {"../c-source-0": {"seal": "x", "runs": 1, "candidates": 1}},
            r"expected parts named .*, got '\.\./c-source-0'",
        ),
        ({"part-0000": {"seal": 3}}, "expected a list of parts, got Expected"),
        (None, "expected a list of parts, got Expected"),
        ({"part-0000": {"seal": "x", "runs": 1, "candidates": 2}}, "part-0000: expected x, got sha256"),
    ],
)
def test_a_sealed_list_of_parts_that_cannot_be_is_one_error(parts, message, place):
    reseal(place, parts=parts)
    with pytest.raises((TraceError, IntegrityError), match=message):
        gl.open(place)


def test_a_part_in_parts_is_refused(place):
    shutil.rmtree(place / "part-0001")
    shutil.copytree(place, place / "part-0001")
    inner = read_manifest(place / "part-0001")
    stated = {name: inner[name] for name in ("seal", "runs", "candidates")}
    reseal(place, parts=read_manifest(place)["parts"] | {"part-0001": stated})
    with pytest.raises((TraceError, IntegrityError), match="part-0001"):
        gl.open(place)


def test_hidden_files_of_others_do_no_harm_and_are_not_removed(place):
    (place / "part-0001" / ".DS_Store").write_text("x")
    assert len(gl.open(place)) == 3
    with pytest.raises(TraceError, match=r"got part-0001/\.DS_Store, which manifest\.json does not list"):
        plain("z").save(place, overwrite=True)
    assert (place / "part-0001" / ".DS_Store").read_text() == "x"


def test_a_plain_campaign_takes_the_place_of_parts_and_parts_that_of_a_plain_one(place):
    (place / "references.json").write_text("{}")
    (place / "thesis").mkdir()
    (place / "thesis" / "chapter.tex").write_text("years of work")
    plain("z").save(place, overwrite=True)
    assert gl.open(place).digest() == plain("z").digest()
    assert not list(place.glob("part-*"))
    save_parts([Part(plain("x")), Part(plain("y"))], place, overwrite=True)
    assert gl.open(place).runs["arm"].to_list() == ["x", "y"]
    assert sorted(path.name for path in place.iterdir()) == [
        "manifest.json", "part-0000", "part-0001", "references.json", "thesis",
    ]  # fmt: skip
    assert (place / "thesis" / "chapter.tex").read_text() == "years of work"
    assert not [path for path in place.parent.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("kind", ["plain", "parts"])
def test_a_folder_named_like_a_part_that_is_not_the_campaigns_is_not_overwritten(kind, place, tmp_path):
    folder = place if kind == "parts" else plain("a").save(tmp_path / "p")
    (folder / "part-0007").mkdir()
    (folder / "part-0007" / "time.npy").write_text("years of work")
    with pytest.raises(TraceError, match=r"got part-0007, which manifest\.json does not list"):
        plain("z").save(folder, overwrite=True)
    assert (folder / "part-0007" / "time.npy").read_text() == "years of work"


PARTS = """
import numpy.ma
import gapline as gl
import gapline.campaign.assembly
from gapline.campaign.partitions import Part, save_parts

def prepare(place):
    source = place.parent / "source"
    run = {"instance": "i", "seed": 1, "horizon": 9, "trace": [(0.5, 12.0)]}
    parts = [Part(gl.open(source), source), Part(gl.Campaign.from_runs([run | {"arm": "new"}]))]
    parts[1].campaign.digest()
    return lambda: save_parts(parts, place, overwrite=True)
"""


@pytest.mark.slow
def test_killed_before_any_change_of_the_file_system_one_of_the_two_is_there_whole(tmp_path):
    place = tmp_path / "c"
    plain("a").save(tmp_path / "source")
    found = []
    with writers(PARTS, place) as killed_before:
        # Every third of a hundred changes.
        for change in range(0, 1000, 3):
            save_parts([Part(plain("old")), Part(plain("older"))], place, overwrite=True)
            (place / "references.json").write_text("{}")
            killed = killed_before(change)
            found.append(gl.open(place).runs["arm"].to_list())
            assert (place / "references.json").read_text() == "{}"
            assert gl.open(tmp_path / "source").digest() == plain("a").digest()
            if not killed:
                break
    first_new = found.index(["a", "new"])
    assert found == [["old", "older"]] * first_new + [["a", "new"]] * (len(found) - first_new)
    assert first_new > 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "source"]


def test_a_part_that_changes_while_it_is_read_is_named_before_its_piece(place):
    pieces = gl.open(place).pieces()
    assert next(pieces)[0].tolist() == [0]
    os.truncate(place / "part-0001" / "time.npy", 128)
    with pytest.raises(IntegrityError, match=r"part-0001/time\.npy: expected 136 bytes, as when .*, got 128"):
        next(pieces)
