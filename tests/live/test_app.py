"""The answers, beside those that tests/live/test_server.py asks a real server for."""

from starlette.requests import Request

from gapline.live.app import _last_event


def asked(query=b"", **headers):
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return _last_event(Request({"type": "http", "query_string": query, "headers": raw}))


def test_the_last_event_is_a_number_or_nothing():
    assert asked(last_event_id="58") == 58
    assert asked(query=b"last=7") == 7
    assert asked() is None
    for word in ("", "-1", "x", "1e9", "9" * 30, "٣".encode().decode("latin-1")):
        assert asked(last_event_id=word) is None
