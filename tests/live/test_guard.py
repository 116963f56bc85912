"""Names, tokens and requests, without a network; tests/live/test_server.py has the same with real clients."""

import asyncio

import pytest

from gapline.live.guard import Guard, is_loopback, new_token


def ask(guard, *, path="/", query=b"", method="GET", headers=()):
    sent = []

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "path": path, "query_string": query, "method": method, "headers": list(headers)}
    asyncio.run(guard(scope, None, send))
    return sent[0]["status"] if sent else None


async def through(_scope, _receive, send):
    await send({"type": "http.response.start", "status": 299, "headers": []})


HOST = (b"host", b"127.0.0.1:80")


def test_a_token_is_compared_in_constant_time(monkeypatch):
    asked = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: asked.append((a, b)) or a == b)
    guard = Guard(through, host="127.0.0.1", port=80, token="right")
    assert ask(guard, headers=[HOST, (b"authorization", b"Bearer wrong")]) == 401
    assert ask(guard, headers=[HOST, (b"authorization", b"Bearer right")]) == 299
    assert asked == [(b"wrong", b"right"), (b"right", b"right")]


@pytest.mark.parametrize(
    ("header", "expected"),
    [(b"gapline-80=right", 299), (b"a=b; gapline-80=right", 299), (b"gapline-81=right", 401), (b"gapline-80=", 401),
     (b"gapline-80=\xff", 401), (b";;;=", 401)],
)  # fmt: skip
def test_the_cookie_is_that_of_the_port(header, expected):
    guard = Guard(through, host="127.0.0.1", port=80, token="right")
    assert ask(guard, headers=[HOST, (b"cookie", header)]) == expected


def test_two_host_headers_or_none_are_turned_away():
    guard = Guard(through, host="127.0.0.1", port=80, token=None)
    assert ask(guard, headers=[HOST]) == 299
    assert ask(guard, headers=[]) == 421
    assert ask(guard, headers=[HOST, (b"host", b"127.0.0.1:80")]) == 421


def test_without_a_port_the_host_is_called_at_80():
    assert ask(Guard(through, host="127.0.0.1", port=80, token=None), headers=[(b"host", b"localhost")]) == 299
    assert ask(Guard(through, host="127.0.0.1", port=81, token=None), headers=[(b"host", b"localhost")]) == 421
    assert ask(Guard(through, host="::1", port=80, token=None), headers=[(b"host", b"[::1]")]) == 299


@pytest.mark.parametrize(("host", "expected"), [("127.0.0.1", 421), ("0.0.0.0", 299)])
def test_addresses_of_other_machines_are_ours_only_where_others_can_call(host, expected):
    guard = Guard(through, host=host, port=80, token=None)
    assert ask(guard, headers=[(b"host", b"10.0.0.1:80")]) == expected
    assert ask(guard, headers=[(b"host", b"127.0.0.2:80")]) == 299


def test_only_requests_are_answered():
    guard = Guard(through, host="127.0.0.1", port=80, token=None)

    async def work():
        await guard({"type": "websocket", "headers": []}, None, None)

    asyncio.run(work())


def test_tokens_are_long_and_never_the_same():
    assert len({new_token() for _ in range(100)}) == 100
    assert min(len(new_token()) for _ in range(100)) >= 40


def test_what_only_this_machine_can_call():
    assert [is_loopback(host) for host in ("127.0.0.2", "localhost", "::1")] == [True] * 3
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "example.org", "")] == [False] * 5
