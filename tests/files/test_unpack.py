"""Packed files: whole ones are unpacked, and for a trace a part is not enough."""

import gzip
import mmap

import pytest
import zstandard

import gapline as gl
from gapline.errors import TraceError
from gapline.files.compression import IN_MEMORY, Unpacked, open_content, read_bytes, read_content
from gapline.files.open_file import open_input
from gapline.logs.log_files import load_file
from traces.neutral_traces import as_arrow, as_gzip, as_parquet, as_zstd


def unpack_file(path):
    with open_input(path) as stream:
        content = Unpacked(stream, path)
        return b"".join(content), content.whole


@pytest.mark.parametrize("carrier", [as_gzip, as_zstd, as_parquet, as_arrow])
def test_a_file_cut_anywhere_is_refused_not_read_in_part(carrier, tmp_path):
    path = carrier(tmp_path)
    whole = path.read_bytes()
    for cut in sorted({5, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1}):
        path.write_bytes(whole[:cut])
        with pytest.raises(TraceError) as caught:
            gl.read(path)
        assert str(path) in str(caught.value)


def test_a_damaged_archive_is_refused(tmp_path):
    for carrier in (as_gzip, as_zstd):
        path = carrier(tmp_path)
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2 - 4 : len(damaged) // 2 + 4] = b"\xff" * 8
        path.write_bytes(bytes(damaged))
        with pytest.raises(TraceError, match=path.name):
            gl.read(path)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_file_cut_anywhere_gives_its_prefix(tmp_path, pack):
    text = b"".join(b"%d line\n" % (number * 7919 % 10007) for number in range(3000))
    packed = pack(text)
    for cut in (len(packed) // 2, len(packed) - 1):
        (tmp_path / "log").write_bytes(packed[:cut])
        log = load_file(tmp_path / "log")
        assert log.cut
        assert text.startswith(log.data)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_packed_file_of_noise_is_refused(tmp_path, pack):
    (tmp_path / "log").write_bytes(pack(b"o 1\n" * 5000)[:4] + b"\xff" * 40)
    with pytest.raises(TraceError, match=r"expected a (gzip|zstd) file, got "):
        load_file(tmp_path / "log")


@pytest.mark.slow
@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_that_swells_is_refused_before_memory_is_gone(tmp_path, monkeypatch, pack):
    (tmp_path / "bomb.csv").write_bytes(pack(bytes(200 << 20)))
    monkeypatch.setenv("GAPLINE_MOST_BYTES", str(1 << 20))
    for read in (load_file, gl.read):
        with pytest.raises(TraceError, match="expected at most 1,048,576 bytes once unpacked") as caught:
            read(tmp_path / "bomb.csv")
        assert "GAPLINE_MOST_BYTES raises the limit" in str(caught.value)


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_members_are_joined_padding_is_ignored_and_anything_else_behind_them_is_not_whole(tmp_path, pack):
    twice = pack(b"one ") + pack(b"two")

    def unpacked(data):
        (tmp_path / "t").write_bytes(data)
        return unpack_file(tmp_path / "t")

    assert unpacked(twice) == (b"one two", True)
    assert unpacked(twice + bytes(512)) == (b"one two", True)
    assert unpacked(twice + b"rest") == (b"one two", False)
    assert unpacked(b"plain") == (b"plain", True)
    (tmp_path / "t").write_bytes(twice[:-1])
    with pytest.raises(TraceError, match=r"t: expected a whole (gzip|zstd) file, got one that is cut or damaged"):
        read_bytes(tmp_path / "t")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, bytes])
def test_what_is_large_is_mapped_from_disk_and_what_is_small_is_read(tmp_path, pack):
    small, large = b"x" * 1000, b"y" * (IN_MEMORY + 1)
    for data, kind in ((small, bytes), (large, mmap.mmap)):
        (tmp_path / "t").write_bytes(pack(data))
        content = read_content(tmp_path / "t")
        assert isinstance(content, kind)
        assert len(content) == len(data)
        assert content[-9:] == data[-9:]


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_of_many_members_is_read_once_from_front_to_back(tmp_path, pack):
    """Each member once made a copy of all that follow it: 20,000 of them took a minute."""
    one = pack(b"o 1\n")
    (tmp_path / "t").write_bytes(one * 20_000)
    assert unpack_file(tmp_path / "t") == (b"o 1\n" * 20_000, True)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_an_opened_file_is_on_disk_and_unpacked(pack, tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    path.write_bytes(pack(b"PAR1" * 1000))
    with open_content(path) as file:
        assert file.fileno() >= 0
        file.seek(0)
        assert file.read() == b"PAR1" * 1000
    monkeypatch.setenv("GAPLINE_MOST_BYTES", "3999")
    with pytest.raises((OSError, TraceError), match="more"):
        open_content(path)
