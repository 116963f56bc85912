"""This moment, as every document writes it."""

import datetime

from gapline.live.channel import now_stamp


def test_a_stamp_is_of_this_moment_and_in_utc():
    before = datetime.datetime.now(datetime.UTC) - datetime.timedelta(milliseconds=1)
    found = datetime.datetime.fromisoformat(now_stamp())
    assert before <= found <= datetime.datetime.now(datetime.UTC)
    assert found.utcoffset() == datetime.timedelta(0)
