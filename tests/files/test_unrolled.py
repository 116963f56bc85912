"""A packed file is read as if it were unpacked, wherever one goes in it."""

import gzip

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapline.files.compression import Unrolled

TEXT = bytes(range(256)) * 500


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(st.tuples(st.integers(0, len(TEXT) + 9), st.integers(0, 70_000)), max_size=8),
    pack=st.sampled_from([gzip.compress, zstandard.compress]),
)
def test_any_places_in_any_order_are_those_of_what_is_packed(tmp_path, steps, pack):
    path = tmp_path / "x"
    path.write_bytes(pack(TEXT))
    unrolled = Unrolled(path)
    for place, size in steps:
        unrolled.seek(place)
        assert unrolled.tell() == min(place, len(TEXT))
        assert unrolled.read(size) == TEXT[place : place + size]
    unrolled.close()


@pytest.mark.parametrize("cut", [0, 1])
def test_it_says_at_the_end_whether_it_was_whole(tmp_path, cut):
    data = gzip.compress(TEXT)
    (tmp_path / "x").write_bytes(data[: len(data) - cut])
    unrolled = Unrolled(tmp_path / "x")
    unrolled.seek(10 * len(TEXT))
    assert unrolled.whole == (not cut)
    unrolled.close()
