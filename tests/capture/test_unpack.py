"""Packed files: whole ones are unpacked, and for a trace a part is not enough."""

import gzip

import pytest
import zstandard

import gapline as gl
from capture.neutral_traces import as_arrow, as_gzip, as_parquet, as_zstd
from gapline.capture import unpack as unpacking
from gapline.capture.logfiles import load_file
from gapline.capture.unpack import read_bytes, unpack
from gapline.errors import TraceError


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


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_file_that_swells_is_refused_before_memory_is_gone(tmp_path, monkeypatch, pack):
    (tmp_path / "bomb").write_bytes(pack(bytes(200 << 20)))
    monkeypatch.setattr(unpacking, "MOST_UNPACKED", 1 << 20)
    with pytest.raises(TraceError, match="expected at most 1,048,576 bytes once unpacked"):
        load_file(tmp_path / "bomb")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_members_are_joined_padding_is_ignored_and_anything_else_behind_them_is_not_whole(tmp_path, pack):
    twice = pack(b"one ") + pack(b"two")
    assert unpack(twice, tmp_path) == (b"one two", True)
    assert unpack(twice + bytes(512), tmp_path) == (b"one two", True)
    assert unpack(twice + b"rest", tmp_path) == (b"one two", False)
    assert unpack(b"plain", tmp_path) == (b"plain", True)
    (tmp_path / "t").write_bytes(twice[:-1])
    with pytest.raises(TraceError, match=r"t: expected a whole (gzip|zstd) file, got one that is cut or damaged"):
        read_bytes(tmp_path / "t")
