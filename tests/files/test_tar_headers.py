"""Headers of a tar, one behind the other, whether their contents are read or passed over."""

import io

import pytest

from gapline.errors import TraceError
from gapline.files.tar_headers import EndsEarlyError, tar_headers
from hostile_packages import tar_bytes, tar_info

# Of sizes around that of a block: `tarfile` itself would go back by a byte behind the second.
FILES = {"a": b"", "b": b"x" * 512, "c": b"y" * 513, "d": b"z" * 511, "e": b"w" * 1024}


class Forward(io.BytesIO):
    """A stream that never goes back."""

    def seek(self, place, whence=0):
        assert place >= self.tell()
        return super().seek(place, whence)


@pytest.mark.parametrize("read", [lambda _: True, lambda _: False, lambda name: name in "bd"])
def test_contents_are_read_or_passed_over_and_nothing_goes_back(read):
    stream, found = Forward(tar_bytes(files=FILES)), {}
    for info in tar_headers("t.tar", stream):
        found[info.name] = stream.read(info.size) if read(info.name) else None
    assert list(found) == list(FILES)
    assert all(data in (None, FILES[name]) for name, data in found.items())


def test_a_content_that_is_cut_is_an_error():
    data = tar_bytes(files=FILES)
    for cut in (700, 1300):
        with pytest.raises(TraceError, match="whole tar archive"):
            list(tar_headers("t.tar", Forward(data[:cut])))


def test_an_archive_without_its_end_is_told_from_a_damaged_one():
    data = tar_bytes(files={"a": b"x" * 512})[:1024]
    with pytest.raises(EndsEarlyError, match="at a or behind it"):
        list(tar_headers("t.tar", Forward(data)))
    damaged = bytearray(tar_bytes(files=FILES))
    damaged[512 + 3] ^= 1
    with pytest.raises(TraceError, match="whole tar archive"):
        list(tar_headers("t.tar", Forward(bytes(damaged))))


def test_headers_are_bounded_one_by_one_and_together():
    long = tar_info("x", pax_headers={"path": "y" * (2 << 20)})
    with pytest.raises(OSError, match="bytes of names"):
        list(tar_headers("t.tar", Forward(tar_bytes((long, b"")))))
    with pytest.raises(OSError, match="more than 1,000 bytes of names"):
        list(tar_headers("t.tar", Forward(tar_bytes(files=FILES)), in_all=1000))
