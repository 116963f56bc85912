"""The web application: page, state, stream of changes, curves, runs and the report of the moment."""

import asyncio
import math
import secrets
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gapline.errors import GaplineError
from gapline.live.channel import Client, encode
from gapline.live.event_log import now_stamp
from gapline.live.guard import HEADERS, POLICY, Connections, Receive, Scope, Send, answer
from gapline.live.hub import Hub, Watched
from gapline.live.live import LiveStudy
from gapline.live.table import curves_document
from gapline.report.page.build import LivePage, build_live_page, build_page, build_part
from gapline.report.tables.means import score_document
from gapline.study import Study, open_study

# Making reports may take this share of the time, and some seconds before anybody counts.
SHARE = 0.04
ALLOWANCE = 5.0


def page_of(*, summaries: bool = False) -> LivePage:
    """Return the page, which is the same for every study; with `summaries`, that of studies with too many steps."""
    return build_live_page(summaries=summaries)


def study_of(watched: Watched) -> Study:
    """Open what a report of this moment is made of, as `gapline report` would.

    Raises
    ------
    GaplineError
        When there is nothing to report, or scoring is refused.
    """
    return open_study(str(watched.path), allow_empty=True)


class Part(NamedTuple):
    """A report as the page takes it, or why there is none; `wait` are seconds until there may be a newer one."""

    mark: str
    text: str
    problem: str = ""
    wait: float = 0.0


class Parts:
    """The newest report of each study, and how much time they took so far."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, Part] = {}
        self._opened: dict[str, tuple[object, str]] = {}
        self._credit = ALLOWANCE
        self._counted = clock()
        self.made = 0

    def newest(self, watched: Watched, have: str | None) -> Part | None:
        """Return a report that is newer than the one of mark `have`, and make it where it is due; None is nothing new.

        Where it would take more than our share of the time, that is said by `wait`.
        """
        mark, known = self.mark(watched), self._kept.get(watched.name)
        if known is None or known.mark != mark:
            wait = self._wait()
            if wait > 0:
                old = known is not None and known.mark != have
                return known if old else Part(mark, "", wait=wait)
            known = self._kept[watched.name] = self._make(watched, mark)
        return None if known.mark == have else known

    def mark(self, watched: Watched) -> str:
        """Say of which whole runs a report made now would be: two of the same mark have the same numbers."""
        live = watched.live
        # Not how much was read alone: a study that is opened anew, or a server that comes back, begins to count again.
        if watched.name not in self._opened or self._opened[watched.name][0] is not live:
            self._opened[watched.name] = live, secrets.token_hex(4)
        read = (0, 0) if live is None else (live.table.fulls, live.table.joined)
        return f"{self._opened[watched.name][1]}-{read[0]}-{read[1]}"

    def _wait(self) -> float:
        now = self._clock()
        self._credit = min(ALLOWANCE, self._credit + SHARE * (now - self._counted))
        self._counted = now
        return max(0.0, -self._credit / SHARE)

    def _make(self, watched: Watched, mark: str) -> Part:
        began = self._clock()
        try:
            return Part(mark, build_part(study_of(watched), mark=mark, at=now_stamp()))
        except GaplineError as error:
            return Part(mark, "", problem=error.message)
        finally:
            if self.made:
                # The first one loads what all the others use.
                self._credit -= self._clock() - began
            self.made += 1


JSON = b"application/json"
EVENTS = b"text/event-stream; charset=utf-8"
MOST_STREAMS = 220
BLOCK = 32 << 10


class Answers:
    """The answers of a server, over the studies that it follows."""

    def __init__(self, hub: Hub, connections: Connections) -> None:
        self._hub = hub
        self._connections = connections
        self._heavy = asyncio.Lock()
        self._kept: dict[tuple[str, str], tuple[int, bytes]] = {}
        self._parts = Parts()

    def app(self) -> Starlette:
        """Return the application."""
        routes = [
            Route("/", Answer(self.page)),
            Route("/api/state", Answer(self.state)),
            Route("/api/studies", Answer(self.studies)),
            Route("/api/events", Answer(self.events)),
            Route("/api/curves", Answer(self.curves)),
            Route("/api/runs", Answer(self.runs)),
            Route("/api/report", Answer(self.part)),
            Route("/report.html", Answer(self.report)),
        ]
        return Starlette(routes=routes, exception_handlers={404: _not_found})

    async def page(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the page."""
        summaries = "summaries" in Request(scope).query_params
        # Not behind reports that are being made: the page shows what is known meanwhile.
        page = await asyncio.to_thread(page_of, summaries=summaries)
        policy = (b"content-security-policy", page.policy.encode())
        await answer(send, 200, page.text.encode("utf-8"), policy, kind=b"text/html; charset=utf-8")

    async def studies(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the studies that there are."""
        for watched in list(self._hub.studies.values()):
            if not watched.channel.state:
                await self._hub.fresh(watched)
        await answer(send, 200, encode(self._hub.documents()), kind=JSON)

    async def state(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the state of a study."""
        watched = await self._asked(scope, send)
        if watched is not None:
            await self._hub.fresh(watched)
            await answer(send, 200, watched.channel.document(), kind=JSON)

    async def curves(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the curves so far."""
        await self._made(scope, send, "curves", lambda live: curves_document(live.table))

    async def runs(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with every whole run."""
        await self._made(scope, send, "runs", _runs_document)

    async def part(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the report as the page takes it, where there is a newer one than it has."""
        watched = await self._asked(scope, send)
        if watched is None:
            return
        have = Request(scope).query_params.get("have")
        async with self._heavy:
            part = await asyncio.to_thread(self._parts.newest, watched, have)
        if part is None:
            await answer(send, 204, b"")
        elif part.wait:
            await answer(send, 202, b"made soon\n", (b"retry-after", b"%d" % math.ceil(part.wait)))
        elif part.problem:
            await answer(send, 409, part.problem.encode("utf-8", "replace") + b"\n")
        else:
            await answer(send, 200, part.text.encode("utf-8"), kind=b"text/html; charset=utf-8")

    async def report(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer with the offline page of this moment, to be kept as a file."""
        watched = await self._asked(scope, send)
        if watched is None:
            return
        async with self._heavy:
            body, problem = await asyncio.to_thread(_report, watched)
        if problem:
            await answer(send, 409, problem.encode("utf-8", "replace") + b"\n")
            return
        name = (b"content-disposition", b'attachment; filename="report.html"')
        await answer(send, 200, body, name, kind=b"text/html; charset=utf-8")

    async def _made(self, scope: Scope, send: Send, what: str, make: Any) -> None:
        """Answer with something that is made of the runs, once for each state of the study."""
        watched = await self._asked(scope, send)
        if watched is None:
            return
        await self._hub.fresh(watched)
        async with self._heavy, watched.lock:
            known = self._kept.get((what, watched.name))
            if known is None or known[0] != watched.channel.number:
                live = watched.live
                found = {} if live is None else await asyncio.to_thread(make, live)
                known = watched.channel.number, encode({"id": watched.channel.number} | found)
                self._kept[what, watched.name] = known
        await answer(send, 200, known[1], kind=JSON)

    async def events(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the stream of changes until either side ends."""
        watched = await self._asked(scope, send)
        if watched is None:
            return
        if sum(len(one.channel.clients) for one in self._hub.studies.values()) >= MOST_STREAMS:
            await answer(send, 503, b"too many clients\n", (b"retry-after", b"5"), close=True)
            return
        await self._hub.fresh(watched)
        headers = [(b"content-type", EVENTS), *HEADERS, (b"content-security-policy", POLICY)]
        if scope["method"] == "HEAD":
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        client = watched.channel.join(_last_event(Request(scope)))
        try:
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._stream(client, receive, send, scope)
        finally:
            watched.channel.leave(client)

    async def _stream(self, client: Client, receive: Receive, send: Send, scope: Scope) -> None:
        async def write() -> None:
            while (data := await client.take()) is not None:
                # In blocks: what waits for the network is copied for each client, what waits in its queue is shared.
                for low in range(0, len(data), BLOCK):
                    await send({"type": "http.response.body", "body": data[low : low + BLOCK], "more_body": True})

        async def listen() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        tasks = [
            asyncio.create_task(work) for work in (write(), listen(), client.dropped.wait(), self._hub.ended.wait())
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if tasks[3] in done:
                # What waits is sent, the last word among it, but nobody is waited for.
                await asyncio.wait([tasks[0]], timeout=0.2)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if client.dropped.is_set():
            # It does not read: what is sent to it would wait for ever.
            self._connections.drop(scope.get("client"))
        else:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _asked(self, scope: Scope, send: Send) -> Watched | None:
        """Return the study that is asked for; one that is not listed is not there."""
        watched = self._hub.of(Request(scope).query_params.get("study"))
        if watched is None:
            await answer(send, 404, b"expected a study that /api/studies lists\n")
        return watched


class Answer:
    """An endpoint that sends by itself."""

    def __init__(self, function: Any) -> None:
        self._function = function

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._function(scope, receive, send)


def _runs_document(live: LiveStudy) -> dict[str, Any]:
    scores, summary = live.table.scores, live.table.summary
    if scores is None or summary is None:
        return {"runs": []}
    return {"runs": score_document(scores, summary, per_run=True)["runs"]}


def _report(watched: Watched) -> tuple[bytes, str]:
    try:
        return build_page(study_of(watched)).encode("utf-8"), ""
    except GaplineError as error:
        return b"", str(error)


def _last_event(request: Request) -> int | None:
    """Return the number of the last event that a client has; a browser that comes back says it by itself."""
    given = request.headers.get("last-event-id") or request.query_params.get("last")
    return int(given) if given is not None and given.isascii() and given.isdigit() and len(given) <= 18 else None


async def _not_found(_request: Request, _error: Exception) -> Response:
    headers = {name.decode(): value.decode() for name, value in (*HEADERS, (b"content-security-policy", POLICY))}
    return Response("nothing here\n", status_code=404, media_type="text/plain", headers=headers)
