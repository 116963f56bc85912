"""Connections as uvicorn makes them, bounded: how many, how long one may take to ask, and dropped when told to."""

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

# 200 clients, and some that come and go.
MOST = 256
# Seconds for a request to be there, from its first byte or from the connection on.
ASK_WITHIN = 10.0
# Bytes of a line or of the headers.
# Bytes that wait in this process for the network, per client, before its stream has to wait; and in the kernel, which
# would else take megabytes for each client that does not read.
HIGH_WATER, KERNEL = 64 << 10, 128 << 10

Peer = tuple[str, int]


class Connections:
    """The open connections of a server, by the address of their other end."""

    def __init__(self) -> None:
        self.open: dict[Peer, BoundedProtocol] = {}
        self.turned_away = 0

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
            self.room.turned_away += 1
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
