"""Limits of the server: host names, token, size of requests, number and speed of connections."""

import asyncio
import hmac
import ipaddress
import platform
import secrets
import socket
import struct
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOPBACK = ("127.0.0.1", "localhost", "::1")
METHODS = ("GET", "HEAD")
MOST_QUERY = 2000
MOST_HEADERS, MOST_HEADER_BYTES = 100, 16 << 10
POLICY = "content-security-policy"
# For every answer; the page has a policy of its own.
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
    POLICY: "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}
# Not a redirect: when a browser follows one from a link on another site, it omits a strict cookie.
WELCOME = '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/"><a href="/">gapline</a>'


def is_loopback(host: str) -> bool:
    """Whether a host can only be reached from this machine.

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
    """Return a random token that cannot be guessed."""
    return secrets.token_urlsafe(32)


class Guard:
    """Passes permitted requests on to the application, and answers all others itself."""

    def __init__(self, app: ASGIApp, *, host: str, port: int, token: str | None) -> None:
        self._app = app
        self._port = port
        self._token = None if token is None else token.encode()
        self._cookie = f"gapline-{port}"
        self._open = not is_loopback(host)
        own = {host, platform.node()} if self._open else set()
        self._names = {name.lower() for name in (*LOOPBACK, *own)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request or pass it on; every answer gets the security headers."""
        if scope["type"] != "http":
            # Only HTTP requests are served: websockets are not, and startup needs no handling.
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                stated = {name for name, _ in headers}
                ours = ((name.encode(), value.encode()) for name, value in HEADERS.items())
                message["headers"] = [*headers, *(one for one in ours if one[0] not in stated)]
            await send(message)

        await (self._refusal(Request(scope)) or self._app)(scope, receive, send_guarded)

    def _refusal(self, request: Request) -> Response | None:
        """Return the answer to a request that is not permitted; None if it is."""
        headers = request.headers
        size = sum(len(name) + len(value) for name, value in headers.raw)
        lengths = headers.getlist("content-length")
        if not self._is_called_by_name(headers.getlist("host")):
            return _refuse(421, "expected one of the server's own names in the Host header")
        if request.method not in METHODS:
            return _refuse(405, "read only: GET and HEAD", allow="GET, HEAD")
        if len(headers.raw) > MOST_HEADERS or size > MOST_HEADER_BYTES:
            return _refuse(431, "too many headers")
        has_body = "transfer-encoding" in headers or any(length != "0" for length in lengths)
        if has_body or len(request.scope["query_string"]) > MOST_QUERY:
            return _refuse(413, "expected a request without a body")
        return None if self._token is None else self._ask_token(request, self._token)

    def _ask_token(self, request: Request, token: bytes) -> Response | None:
        # In constant time, so that the duration does not reveal how much of the token is right.
        asked = request.query_params.getlist("token")
        if request.scope["path"] == "/" and asked:
            if not hmac.compare_digest(asked[0].encode(), token):
                return _refuse(403, "expected the token of this server")
            cookie = f"{self._cookie}={token.decode()}; Path=/; HttpOnly; SameSite=Strict"
            return HTMLResponse(WELCOME, headers={"set-cookie": cookie})
        given = [one[7:] for one in request.headers.getlist("authorization") if one[:7].lower() == "bearer "]
        given += [request.cookies[self._cookie]] if self._cookie in request.cookies else []
        if any(hmac.compare_digest(one.encode(), token) for one in given):
            return None
        why = "expected the token of this server: open the link that it printed"
        return _refuse(401, why, **{"www-authenticate": "Bearer"})

    def _is_called_by_name(self, hosts: list[str]) -> bool:
        """Whether the Host header is one of our names or a permitted address, which DNS rebinding cannot fake."""
        if len(hosts) != 1:
            return False
        name, port = _split_host(hosts[0].lower())
        if port != self._port:
            return False
        if name in self._names:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return False
        return self._open or address.is_loopback


def _refuse(status: int, why: str, **headers: str) -> Response:
    return PlainTextResponse(f"{why}\n", status, headers | {"connection": "close"})


def _split_host(host: str) -> tuple[str, int | None]:
    """Split a Host header into name and port; the default port is 80."""
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, "80"
    name = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return name, int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else None


# 200 clients, and some more for short requests.
MOST = 256
# Seconds within which a request must be complete, from its first byte or from the connection on.
ASK_WITHIN = 10.0
# Bytes that may wait for the network per client: in this process, before its stream has to wait; and in the kernel,
# which would otherwise take megabytes for each client that does not read.
HIGH_WATER, KERNEL = 64 << 10, 128 << 10

Peer = tuple[str, int]


class Connections:
    """The open connections of a server, by the address of the peer."""

    def __init__(self) -> None:
        self.open: dict[Peer, BoundedProtocol] = {}

    def drop(self, peer: Any) -> None:
        """End a connection now, discarding data that still waits."""
        protocol = self.open.get(tuple(peer)) if peer else None
        if protocol is not None and protocol.transport is not None:
            end_now(protocol.transport)

    def protocol(self) -> type["BoundedProtocol"]:
        """Return the protocol class for uvicorn, which registers its connections here."""
        return type("OwnProtocol", (BoundedProtocol,), {"room": self})


def end_now(transport: asyncio.Transport) -> None:
    """End a connection, and let the kernel discard its data.

    Otherwise the kernel would wait for a client that does not read, and keep the memory, long after we closed it.
    """
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 with limits that uvicorn does not have."""

    room: Connections
    _peer: Peer | None = None
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, or reject it."""
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
        """Check whether a request has arrived."""
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
