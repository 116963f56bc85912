"""The two records at the ends of a journal, as they stand in files of any age."""

import msgspec
import pytest

from gapline.journal.line import ORDER_FILE
from gapline.journal.records import WHOLE_CAUSES, Caps, Ending, Order, order_text, read_order
from journal.sample_journal import END, ORDER


def test_an_order_says_everything_again_after_it_was_written():
    told = msgspec.structs.replace(ORDER, cpus=[2, 3], caps=Caps(line=10), carried={"tier": 2, "size": None})
    assert msgspec.json.decode(msgspec.json.encode(told), type=Order) == told


def test_a_journal_of_an_older_version_lacks_fields_and_is_read_all_the_same():
    """What was added later has a default; what no run can be without has none."""
    old = b'{"arm":"a","instance":"i","seed":1,"panel":"p","horizon":2.0,"attempt":1,"argv":["solver"]}'
    assert msgspec.json.decode(old, type=Order) == ORDER
    assert msgspec.json.decode(b'{"cause":"exit","started":"s","elapsed":1.5}', type=Ending).leftover == 0
    with pytest.raises(msgspec.ValidationError, match="horizon"):
        msgspec.json.decode(old.replace(b'"horizon":2.0,', b""), type=Order)


def test_only_an_end_by_the_solver_or_by_a_limit_makes_a_run():
    assert END.cause in WHOLE_CAUSES
    assert not {"start", "interrupted", "runner lost", "infrastructure"} & set(WHOLE_CAUSES)


def test_what_a_supervisor_is_told_is_sealed_and_a_changed_byte_is_seen(tmp_path):
    path = tmp_path / ORDER_FILE
    path.write_bytes(order_text(ORDER))
    whole = path.read_bytes()
    assert read_order(tmp_path) == ORDER
    assert len(whole.splitlines()) > 5
    end = whole.rindex(b',"crc"')
    for place in range(end):
        changed = bytearray(whole)
        changed[place] ^= 1
        path.write_bytes(bytes(changed))
        with pytest.raises(ValueError, match="expected checksum"):
            read_order(tmp_path)
    # In the checksum itself: the content is what it was.
    path.write_bytes(whole[:end] + b',"cre"' + whole[end + 6 :])
    assert read_order(tmp_path) == ORDER
    path.write_bytes(msgspec.json.encode(ORDER))
    assert read_order(tmp_path) == ORDER
