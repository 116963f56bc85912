"""Limits of the server: host names, token, size of requests, number and speed of connections."""

import asyncio
import hmac
import ipaddress
import platform
import secrets
import socket
import struct
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from uvicorn.protocols.http.h11_impl import H11Protocol

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

LOOPBACK = ("127.0.0.1", "localhost", "::1")
METHODS = ("GET", "HEAD")
MOST_QUERY = 2000
MOST_HEADERS, MOST_HEADER_BYTES = 100, 16 << 10
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
POLICY = b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
# Not a redirect: a browser that follows one from a link of another site leaves a strict cookie out.
WELCOME = b'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><a href="/">gapline</a>'


def is_loopback(host: str) -> bool:
    """Say whether only this machine can call a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("0.0.0.0"), is_loopback("node7")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """Return a token that nobody guesses."""
    return secrets.token_urlsafe(32)


class Guard:
    """Lets through what may be asked, and answers the rest."""

    def __init__(self, app: App, *, host: str, port: int, token: str | None) -> None:
        self._app = app
        self._port = port
        self._token = None if token is None else token.encode()
        self._cookie = f"gapline-{port}"
        self._open = not is_loopback(host)
        own = {host, platform.node()} if self._open else set()
        self._names = {name.lower() for name in (*LOOPBACK, *own)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            # There is nothing but requests: no sockets, and the start needs no help.
            return
        headers = _headers(scope)
        if not self._is_called_by_name(headers.get(b"host", [])):
            await answer(send, 421, b"expected one of the server's own names in the Host header\n", close=True)
        elif scope["method"] not in METHODS:
            await answer(send, 405, b"read only: GET and HEAD\n", (b"allow", b"GET, HEAD"), close=True)
        elif len(scope["headers"]) > MOST_HEADERS or sum(map(_size, scope["headers"])) > MOST_HEADER_BYTES:
            await answer(send, 431, b"too many headers\n", close=True)
        elif _has_body(headers) or len(scope["query_string"]) > MOST_QUERY:
            await answer(send, 413, b"expected a request without a body\n", close=True)
        elif self._token is None:
            await self._app(scope, receive, send)
        else:
            await self._ask_token(scope, receive, send, headers)

    async def _ask_token(self, scope: Scope, receive: Receive, send: Send, headers: dict[bytes, list[bytes]]) -> None:
        assert self._token is not None
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
        if scope["path"] == "/" and asked:
            if not self._is_token(asked[0].encode()):
                await answer(send, 403, b"expected the token of this server\n", close=True)
                return
            cookie = b"%b=%b; Path=/; HttpOnly; SameSite=Strict" % (self._cookie.encode(), self._token)
            more = ((b"set-cookie", cookie), (b"content-security-policy", POLICY))
            await answer(send, 200, WELCOME, *more, kind=b"text/html; charset=utf-8")
        elif any(map(self._is_token, _given(headers, self._cookie))):
            await self._app(scope, receive, send)
        else:
            message = b"expected the token of this server: open the link that it printed\n"
            await answer(send, 401, message, (b"www-authenticate", b"Bearer"), close=True)

    def _is_token(self, given: bytes) -> bool:
        # In constant time: how long it takes tells nothing of how much of it is right.
        return self._token is not None and hmac.compare_digest(given, self._token)

    def _is_called_by_name(self, hosts: list[bytes]) -> bool:
        """Say whether the Host header is one of our names; an address is no name that somebody could point here."""
        if len(hosts) != 1:
            return False
        name, port = _split_host(hosts[0].decode("latin-1").lower())
        if port != self._port:
            return False
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._open or address.is_loopback


def _split_host(host: str) -> tuple[str, int | None]:
    """Split a Host header into name and port; 80 where it has none."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "80"
    name = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return name, int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else None


def _headers(scope: Scope) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value)
    return found


def _size(header: tuple[bytes, bytes]) -> int:
    return len(header[0]) + len(header[1])


def _has_body(headers: dict[bytes, list[bytes]]) -> bool:
    return b"transfer-encoding" in headers or any(value != b"0" for value in headers.get(b"content-length", []))


def _given(headers: dict[bytes, list[bytes]], cookie: str) -> list[bytes]:
    """Return the tokens that a request brings: in its cookie, or as scripts do it."""
    found = [value[7:] for value in headers.get(b"authorization", []) if value[:7].lower() == b"bearer "]
    for value in headers.get(b"cookie", []):
        try:
            jar = SimpleCookie(value.decode("latin-1"))
        except CookieError:
            continue
        if cookie in jar:
            found.append(jar[cookie].value.encode("latin-1"))
    return found


async def answer(
    send: Send,
    status: int,
    body: bytes,
    *headers: tuple[bytes, bytes],
    kind: bytes = b"text/plain; charset=utf-8",
    close: bool = False,
) -> None:
    """Send a whole answer with the headers that all of them have."""
    own = [(b"content-type", kind), (b"content-length", b"%d" % len(body)), *HEADERS, *headers]
    if not any(name == b"content-security-policy" for name, _ in headers):
        own.append((b"content-security-policy", POLICY))
    if close:
        own.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": own})
    await send({"type": "http.response.body", "body": body})


# 200 clients, and some that come and go.
MOST = 256
# Seconds for a request to be there, from its first byte or from the connection on.
ASK_WITHIN = 10.0
# Bytes that wait in this process for the network, per client, before its stream has to wait; and in the kernel, which
# would else take megabytes for each client that does not read.
HIGH_WATER, KERNEL = 64 << 10, 128 << 10

Peer = tuple[str, int]


class Connections:
    """The open connections of a server, by the address of their other end."""

    def __init__(self) -> None:
        self.open: dict[Peer, BoundedProtocol] = {}

    def drop(self, peer: Any) -> None:
        """End a connection now, whatever still waits to be sent."""
        protocol = self.open.get(tuple(peer)) if peer else None
        if protocol is not None and protocol.transport is not None:
            end_now(protocol.transport)

    def protocol(self) -> type["BoundedProtocol"]:
        """Return the protocol that uvicorn is to use, which keeps the connections here."""
        return type("OwnProtocol", (BoundedProtocol,), {"room": self})


def end_now(transport: asyncio.Transport) -> None:
    """End a connection, and let the kernel forget what it has for it.

    Without that it would wait for somebody who does not read, and hold its memory, long after we closed it.
    """
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with bounds that uvicorn has not."""

    room: Connections
    _peer: Peer | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or turn it away."""
        super().connection_made(transport)
        if len(self.room.open) >= MOST:
            transport.abort()
            return
        transport.set_write_buffer_limits(high=HIGH_WATER)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, KERNEL)
        peer = transport.get_extra_info("peername")
        self._peer = (peer[0], peer[1])
        self.room.open[self._peer] = self
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        if self._peer is not None:
            self.room.open.pop(self._peer, None)
        self._stop_waiting()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Look whether a request is there."""
        before = self.cycle
        super().handle_events()
        if self.cycle is not before:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request on the same connection."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._wait_for_request()

    def _wait_for_request(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(ASK_WITHIN, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
