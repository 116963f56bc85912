"""A line of a journal opens only as it was sealed, after the line before it."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.journal.line import seal, unseal


@given(st.lists(st.binary(max_size=40).filter(lambda b: b"\n" not in b), max_size=8))
def test_sealed_lines_open_again_and_only_in_their_order(texts):
    checksum = 0
    lines = []
    for text in texts:
        body = b'{"x":' + msgspec.json.encode(text)
        line, after = seal(body, checksum)
        assert unseal(line[:-1], checksum) == (body + b"}", after)
        lines.append((line[:-1], checksum))
        checksum = after
    for line, before in lines:
        with pytest.raises(ValueError, match="expected"):
            unseal(line, before ^ 1)
