"""Hostile packages: refused with a sentence, nothing written outside of the scratch folder, memory and disk bounded."""

import json
import os
import stat
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from gapline.errors import GaplineError, TraceError
from gapline.traces.package_files import open_package
from gapline.traces.package_source import is_package, opened_package, unpacked_package
from hostile_packages import (
    base,
    tar_and_zeros,
    tar_bytes,
    tar_info,
    tar_of_headers,
    tar_with,
    zeros_frame,
    zip_claiming,
    zip_info,
    zip_list,
    zip_with,
)
from packages import write_package, write_zst
from patience import PATIENCE

KINDS = ("p.zip", "p.tar.zst")
pytestmark = pytest.mark.usefixtures("scratch")


def refused(path: Path, kind: type[GaplineError] = GaplineError) -> str:
    """Return why a package is refused; nothing of it is anywhere."""
    before = sorted(Path().rglob("*"))
    with pytest.raises(kind) as caught, unpacked_package(path):
        pass
    assert sorted(Path().rglob("*")) == before
    message = caught.value.message
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    assert "scratch" not in str(caught.value)
    assert is_package(path)
    with pytest.raises(kind):
        opened_package(path)
    return str(caught.value)


NAMES = [
    ("../up.txt", "outside of the archive"),
    ("campaign/../../up.txt", "outside of the archive"),
    ("/tmp/up.txt", "outside of the archive"),
    ("./a.txt", "outside of the archive"),
    ("C:up.txt", "outside of the archive"),
    ("in\\..\\up.txt", "no name of a file"),
    ("a\x1b[2J.txt", "no name of a file"),
    ("a\u202egpj.py", "no name of a file"),
    ("campaign", "a file and a folder"),
    ("study.toml", "there twice"),
    ("STUDY.toml", "there twice"),
    ("Campaign/Manifest.json", "there twice"),
    ("x" * 300, "too long"),
]


@pytest.mark.parametrize(("name", "why"), NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_leads_elsewhere_or_is_there_twice_is_refused(kind, name, why):
    path = Path(kind)
    zip_with(path, (zip_info(name), b"x")) if kind == "p.zip" else tar_with(path, (tar_info(name), b""))
    said = refused(path, TraceError)
    assert f"({why})" in said or why in said
    assert "nothing of it was unpacked" in said


@pytest.mark.parametrize(
    ("kind", "why"),
    [(stat.S_IFLNK, "a link"), (stat.S_IFIFO, "no plain file"), (stat.S_IFCHR, "no plain file")],
)
def test_what_is_no_plain_file_of_a_zip_is_refused(kind, why):
    assert f"'campaign/x' ({why})" in refused(zip_with(Path("p.zip"), (zip_info("campaign/x", kind), b"/etc/passwd")))


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (tarfile.SYMTYPE, "a link"),
        (tarfile.LNKTYPE, "a link"),
        (tarfile.CHRTYPE, "no plain file"),
        (tarfile.BLKTYPE, "no plain file"),
        (tarfile.FIFOTYPE, "no plain file"),
        (tarfile.GNUTYPE_SPARSE, "no plain file"),
    ],
)
def test_what_is_no_plain_file_of_a_tar_is_refused(kind, why):
    path = tar_with(Path("p.tar.zst"), (tar_info("campaign/x", kind, linkname="/etc/passwd"), b""))
    assert f"'campaign/x' ({why})" in refused(path)


def patched(path: Path, change) -> Path:
    """Change the entry of the list in which `study.toml` stands."""
    data = bytearray(path.read_bytes())
    place = data.rindex(b"study.toml") - 46
    assert data[place : place + 4] == b"PK\1\2"
    change(data, place)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("offset", "form", "value", "why"),
    [
        (8, "<H", 1, "encrypted"),
        (34, "<H", 3, "on another disk of an archive that spans several"),
        (10, "<H", 12, "packed by method 12"),
        (24, "<I", 5, "study.toml: expected a whole file"),
        (42, "<I", 1, "expected a whole"),
    ],
)
def test_a_zip_that_says_what_is_not_so_is_refused(offset, form, value, why):
    path = zip_with(Path("p.zip"), files=base() | {"study.toml": b"seeds = [1]\n" * 9})
    said = refused(patched(path, lambda data, place: struct.pack_into(form, data, place + offset, value)))
    assert why in said


def test_a_tar_that_is_cut_is_refused():
    whole = tar_bytes()
    for cut in (512, 1500, len(whole) - 10_000):
        assert "whole" in refused(write_zst(Path("p.tar.zst"), whole[:cut]))
    packed = write_zst(Path("p.tar.zst"), whole).read_bytes()
    Path("p.tar.zst").write_bytes(packed[:-20])
    assert "whole" in refused(Path("p.tar.zst"))


def test_a_tar_with_something_behind_its_end_is_refused():
    """What a reader that stops at the end does not see could be anything."""
    path = write_zst(Path("p.tar.zst"), tar_bytes() + tar_bytes())
    assert "got more" in refused(path)


def test_a_size_that_pax_claims_is_bounded():
    info = tar_info("campaign/x")
    info.pax_headers = {"size": str(10**10)}
    assert "GAPLINE_MOST_PACKAGE_BYTES raises the limit" in refused(tar_with(Path("p.tar.zst"), (info, b"")))


@pytest.mark.parametrize("kind", KINDS)
def test_limits_are_those_of_packages_and_name_what_raises_them(kind, monkeypatch):
    write = zip_with if kind == "p.zip" else tar_with
    path = write(Path(kind))
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "10")
    with open_package(path) as package:
        assert len(package.files) == 4
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_MEMBERS", "3")
    assert "expected at most 3 members, got 4 or more\nHint: GAPLINE_MOST_PACKAGE_MEMBERS raises" in refused(path)
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_MEMBERS", "4")
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_BYTES", "20")
    assert "expected at most 20 bytes once unpacked" in refused(path)
    monkeypatch.setenv("GAPLINE_MOST_PACKAGE_BYTES", "many")
    with pytest.raises(GaplineError, match="GAPLINE_MOST_PACKAGE_BYTES: expected a number of bytes, got 'many'"):
        opened_package(path)


@pytest.mark.parametrize("kind", KINDS)
def test_what_lies_in_a_package_is_read_in_its_order_with_its_bits(kind):
    files = base(**{"a/b.txt": b"x" * 2_000_000, "a/run.sh": b"echo\n", "a/empty": b""})
    path = write_package(Path(kind), files, executable={"a/run.sh"})
    with open_package(path) as package:
        assert [file.name for file in package.files] == sorted(files)
        assert [file.name for file in package.files if file.executable] == ["a/run.sh"]
        assert {file.name: b"".join(pieces) for file, pieces in package.read()} == files
        # Some alone: the rest is passed over.
        for file, pieces in package.read():
            if file.name == "a/b.txt":
                assert sum(map(len, pieces)) == 2_000_000


def test_folders_and_archives_inside_are_only_members():
    inner = zip_with(Path("inner.zip")).read_bytes()
    files = base(**{"programs/inner.zip": inner, "programs/inner.tar.zst": b"\x28\xb5\x2f\xfd"})
    with unpacked_package(write_package(Path("p.zip"), files)) as package:
        assert (package.folder / "programs/inner.zip").read_bytes() == inner
        assert [path.name for path in (package.folder / "programs").iterdir() if path.is_dir()] == []
    path = zip_with(Path("q.zip"), ("empty/", b""), ("campaign/", b""))
    tar = tar_with(Path("q.tar.zst"), (tar_info("empty", tarfile.DIRTYPE), b""))
    for one in (path, tar):
        with unpacked_package(one) as package:
            assert not (package.folder / "empty").exists()


MEASURED = """
import json, os, sys
from pathlib import Path
from gapline.cli.app import run
code = run(["score", sys.argv[1]])
peak = [int(l.split()[1]) << 10 for l in Path("/proc/self/status").read_text().splitlines() if l.startswith("VmHWM")]
wrote = [int(l.split()[1]) for l in Path("/proc/self/io").read_text().splitlines() if l.startswith("wchar")]
print(json.dumps({"code": code, "peak": peak[0], "wrote": wrote[0], "left": os.listdir(os.environ["TMPDIR"])}))
"""


def measured(path: Path, **environment: str) -> tuple[dict, str]:
    """Score a source in a process of its own: how it ended, its highest memory, the bytes that it wrote."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(path)],
        capture_output=True, text=True, check=True, timeout=PATIENCE, env=os.environ | environment,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1]), done.stderr


BOMBS = {
    "ten gigabytes claimed.zip": lambda path: zip_claiming(path, 10**10),
    "document of a gigabyte.zip": lambda path: zip_claiming(path, 1 << 30, "package.json"),
    "a million members.zip": lambda path: zip_list(path, 1_000_000),
    "many members.tar.zst": lambda path: tar_of_headers(path, 60_000),
    "ten gigabytes claimed.tar.zst": lambda path: tar_claiming(path, 10**10),
    "ten gigabytes behind.tar.zst": lambda path: tar_and_zeros(path, 10**10),
    "window of two gigabytes.tar.zst": lambda path: tar_and_zeros(path, 1 << 20, window_log=31),
    "window of 128 megabytes.tar.zst": lambda path: tar_and_zeros(path, 1 << 30, window_log=27),
    "names without end.tar.zst": lambda path: tar_with(
        path, (tar_info("x", pax_headers={"path": "y" * (8 << 20)}), b"")
    ),
}


def tar_claiming(path: Path, size: int) -> Path:
    header = tar_info("campaign/zeros.npy", size=size).tobuf(tarfile.GNU_FORMAT)
    plain = tar_bytes()
    end = plain.rindex(b"\0" * 1024)
    write_zst(path, plain[: len(plain[:end].rstrip(b"\0")) // 512 * 512 + 512] + header)
    with path.open("ab") as stream:
        for piece in zeros_frame(size):
            stream.write(piece)
    return path


@pytest.fixture(scope="module")
def fine(tmp_path_factory) -> dict:
    """What it takes to refuse a package that is no bomb, for its empty contract."""
    place = tmp_path_factory.mktemp("fine")
    return measured(zip_with(place / "fine.zip"), TMPDIR=str(place))[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_in_bounded_memory_and_disk(name, fine, tmp_path):
    path = BOMBS[name](tmp_path / name)
    assert path.stat().st_size < 70 << 20
    found, said = measured(path, GAPLINE_MOST_PACKAGE_MEMBERS="50000" if "many" in name else "")
    assert found["code"] == 1
    assert "internal error" not in said
    assert said.startswith(f"error: {path}: ")
    assert found["left"] == []
    assert found["peak"] - fine["peak"] < 100 << 20
    assert found["wrote"] < 1 << 20
