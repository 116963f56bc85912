"""The server process: a socket, uvicorn on it, and the hub next to it."""

import asyncio
import contextlib
import logging
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import uvicorn

from gapline.errors import EnvironmentLacksError
from gapline.live.app import Answers
from gapline.live.cpu_affinity import Distance, go_quietly
from gapline.live.guard import MOST_HEADER_BYTES, Connections, Guard, is_loopback, new_token
from gapline.live.hub import Hub

BACKLOG = 64


class Serving(uvicorn.Server):
    """A server that tells its clients when it ends."""

    def __init__(self, config: uvicorn.Config, hub: Hub) -> None:
        super().__init__(config)
        self._hub = hub

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002  (as uvicorn calls it)
        """End on Ctrl-C and SIGTERM without letting uvicorn raise the signal again: this is the normal end."""
        self._hub.close("the server ends")
        self.force_exit |= self.should_exit and sig == signal.SIGINT
        self.should_exit = True


def open_socket(host: str, port: int) -> socket.socket:
    """Bind a socket; port 0 picks a free port.

    Raises
    ------
    EnvironmentLacksError
        If the port is taken, or the host is not an address of this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        found = socket.socket(family, socket.SOCK_STREAM)
        # A restarted server must not wait for the connections of the previous one.
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind(address)
            found.listen(BACKLOG)
        except OSError:
            found.close()
            raise
    except OSError as error:
        raise EnvironmentLacksError(
            f"{host}:{port}: expected a free port of this machine, got {error.strerror or error}",
            hint="--port 0 picks one",
        ) from error
    found.setblocking(False)
    return found


def address_of(host: str, port: int, token: str | None) -> str:
    """Return the URL of the server.

    >>> address_of("::1", 80, "abc")
    'http://[::1]:80/?token=abc'
    """
    name = f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/" + (f"?token={token}" if token else "")


def serve(
    source: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    tell: Callable[[str], None] = lambda _address: None,
) -> None:
    """Serve studies until the server is stopped; `tell` gets the address once the server listens."""
    go_quietly()
    if token is None and not is_loopback(host):
        token = new_token()
    found = open_socket(host, port)
    with contextlib.closing(found):
        asyncio.run(_serve(source, found, host, token, tell))


async def _serve(
    source: str | Path,
    found: socket.socket,
    host: str,
    token: str | None,
    tell: Callable[[str], None],
) -> None:
    port = found.getsockname()[1]
    hub, connections = Hub(source), Connections()
    guard = Guard(Answers(hub, connections).app(), host=host, port=port, token=token)
    # No log lines on the terminal: the address is the only output.
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    config = uvicorn.Config(
        guard,
        http=connections.protocol(),
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        backlog=BACKLOG,
    )
    server = Serving(config, hub)
    tell(address_of("127.0.0.1" if host in ("0.0.0.0", "::") else host, port, token))
    distance = Distance()
    # Immediately after each look: a run takes only seconds, and its first ones count too.
    hub.on_look = lambda: distance.keep(core for one in hub.studies.values() for core in one.pinned)
    work = asyncio.create_task(hub.run())
    try:
        await server.serve(sockets=[found])
    finally:
        hub.close("the server ends")
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
