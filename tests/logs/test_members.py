"""What an archive says of itself is looked at before a byte of a member is read."""

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapline.files.open_file import VARIABLE
from gapline.logs import archive_members, log_files
from gapline.logs.archive_members import is_archive, list_members
from gapline.logs.log_files import find_files
from profiles import examples
from traces.archives import KINDS, tar, zipped

FILES = [("b/2.log", b"22"), ("b/1.log", b"1"), ("c.log", b""), ("b/a/x.log", b"x"), (".h", b"h"), ("d/.e/f", b"f")]


def write(path, data):
    path.write_bytes(data)
    return path


def listed(path):
    """The members by their names inside, with what is wrong with them."""
    return {one.path.removeprefix(f"{path}").removeprefix("/"): one.inside.wrong for one in list_members(path).sources}


def member(**more):
    info = tarfile.TarInfo()
    for name, value in more.items():
        setattr(info, name, value)
    return info


def test_archives_are_known_by_their_names():
    assert all(map(is_archive, ["a.zip", "a.TAR", "a.tar.gz", "a.tgz", "a.tar.zst", "a.tzst"]))
    assert not any(map(is_archive, ["a.gz", "a.zst", "tar", "zip", "a.zip.log"]))


@pytest.mark.parametrize("name", KINDS)
def test_members_are_listed_as_a_folder_of_them_is_walked(tmp_path, name):
    path = write(tmp_path / name, KINDS[name](FILES))
    folder = tmp_path / "folder"
    for inside, data in FILES:
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        (folder / inside).write_bytes(data)
    walked = [str(Path(file).relative_to(folder)) for file in find_files([folder])]
    assert [one.path for one in list_members(path).sources] == [f"{path}/{inside}" for inside in walked]
    assert [one.size for one in list_members(path).sources] == [0, 1, 2, 1]


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("make", [tar, zipped])
def test_names_that_lead_out_and_names_that_are_there_twice_are_told(tmp_path, make):
    names = ["ok.log", "../up.log", "/etc/x", "a/../../b", "a//b", "c:/x", "a\\b", "\x1b[31m", "two", "two"]
    path = write(tmp_path / ("x.zip" if make is zipped else "x.tar"), make([(name, b"1") for name in names]))
    outside, none, twice = "one outside of the archive", "no name of a file", "one that is there twice"
    assert listed(path) == {
        "ok.log": "",
        "../up.log": outside,
        "/etc/x": outside,
        "a/../../b": outside,
        "a//b": outside,
        "c:/x": outside,
        "a\\b": none,
        "\x1b[31m": none,
        "two": twice,
    }


def test_a_tar_of_the_folder_it_stands_in_is_read(tmp_path):
    path = write(tmp_path / "x.tar", tar([("./a/1.log", b"1"), ("./2.log", b"2")]))
    assert listed(path) == {"2.log": "", "a/1.log": ""}


def test_links_devices_and_holes_in_a_tar_are_told(tmp_path):
    made = [
        ("link", member(type=tarfile.SYMTYPE, linkname="/etc/passwd")),
        ("hard", member(type=tarfile.LNKTYPE, linkname="ok.log")),
        ("device", member(type=tarfile.CHRTYPE)),
        ("pipe", member(type=tarfile.FIFOTYPE)),
        ("folder", member(type=tarfile.DIRTYPE)),
        (".link", member(type=tarfile.SYMTYPE, linkname="x")),
        ("ok.log", b"1"),
    ]
    assert listed(write(tmp_path / "x.tar", tar(made))) == {
        "link": "a link",
        "hard": "a link",
        "device": "no plain file",
        "pipe": "no plain file",
        "ok.log": "",
    }


def test_links_and_what_cannot_be_unpacked_in_a_zip_are_told(tmp_path):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("lzma", b"1", zipfile.ZIP_LZMA)
        archive.writestr("secret", b"1")
        archive.mkdir("folder")
    data = bytearray(target.getvalue())
    # The flag of encryption, in the list at the end.
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"secret"))
    data[at + 8] |= 1
    assert listed(write(tmp_path / "x.zip", bytes(data))) == {
        "link": "a link",
        "lzma": "one packed by method 14, not stored or deflated",
        "secret": "an encrypted one",
    }


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.floats(0, 1, exclude_max=True), pack=st.sampled_from([bytes, gzip.compress, zstandard.compress]))
def test_wherever_a_tar_is_cut_it_is_told_and_what_came_before_is_listed(tmp_path, cut, pack):
    """Padding behind the end is no part of it: a tar is whole from its first block of zeros on."""
    whole = tar([(f"{number}.log", bytes([number]) * 700) for number in range(5)])
    data = pack(whole)
    end = 5 * (512 + 1024) + 512 if pack is bytes else len(data)
    found = listed(write(tmp_path / "x.tar", data[: int(cut * end)]))
    assert "ends early" in found.get("", "") or "got" in found.get("", "")
    inside = [name for name in found if name]
    assert inside == [f"{number}.log" for number in range(len(inside))]
    if pack is bytes:
        assert len(inside) >= int(cut * end) // 1536 - 1


@pytest.mark.parametrize("name", KINDS)
def test_a_damaged_or_empty_archive_is_one_source_that_says_so(tmp_path, name):
    for data in (b"", b"nothing", KINDS[name]([])):
        assert list(listed(write(tmp_path / name, data))) == [""]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_bytes_are_changed_a_listing_is_all_that_comes(tmp_path, data):
    name = data.draw(st.sampled_from(sorted(KINDS)))
    archive = bytearray(KINDS[name](FILES))
    for place in data.draw(st.lists(st.integers(0, len(archive) - 1), max_size=4)):
        archive[place] = data.draw(st.integers(0, 255))
    assert list_members(write(tmp_path / name, bytes(archive))).sources


def test_a_tar_of_endless_names_is_refused_by_the_limit(tmp_path, monkeypatch):
    path = write(tmp_path / "x.tar.gz", gzip.compress(tar([(f"{number}.log", b"") for number in range(200)])))
    monkeypatch.setenv(VARIABLE, "20000")
    found = listed(path)
    assert "20,000 bytes of names" in found[""]
    assert len(found) < 60


def test_a_header_that_claims_to_be_huge_is_not_read(tmp_path):
    long_name = member(type=tarfile.GNUTYPE_LONGNAME, size=1 << 40)
    long_name.name = "x"
    path = write(tmp_path / "x.tar", long_name.tobuf(tarfile.GNU_FORMAT) + b"x" * 2000)
    assert "bytes of names" in listed(path)[""]


def test_a_packed_tar_in_a_wild_order_is_taken_as_it_is(tmp_path, monkeypatch):
    """Fifty chunks, each from all over the archive, would be fifty passes."""
    monkeypatch.setattr(log_files, "MOST_FILES", 2)
    names = [f"{(number * 37) % 101:03}.log" for number in range(101)]
    path = write(tmp_path / "x.tar.gz", gzip.compress(tar([(name, b"1" * 99) for name in names])))
    found = list_members(path)
    assert [one.path for one in found.sources] == [f"{path}/{name}" for name in names]
    assert found.note == f"{path}: its files are taken in its own order, not in that of their names"
    monkeypatch.setattr(archive_members, "_MOST_PASSES", 100)
    assert [one.path for one in list_members(path).sources] == [f"{path}/{name}" for name in sorted(names)]
