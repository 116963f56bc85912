"""The web application: page, state, stream of changes, curves, runs and current report."""

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gapline.errors import GaplineError
from gapline.live.channel import Channel, Client, encode, now_stamp
from gapline.live.guard import POLICY, Connections
from gapline.live.hub import Hub, Watched
from gapline.live.state import LiveStudy
from gapline.live.table import Latest, curves_document
from gapline.live.time_share import TimeShare
from gapline.report.page.build import build_live_page, build_page, build_part
from gapline.report.tables.means import score_document
from gapline.study import Study, open_study

# Share of the time that making reports may take, after an initial allowance in seconds.
SHARE = 0.04
ALLOWANCE = 5.0


def study_of(watched: Watched) -> Study:
    """Open the study for a report of its current state, like `gapline report`.

    Raises
    ------
    GaplineError
        If there is nothing to report, or the runs cannot be scored.
    """
    return open_study(str(watched.path), allow_empty=True)


class ReportPart(NamedTuple):
    """A report as a part of the page, or why there is none; `wait` is in how many seconds a newer one is possible."""

    mark: str
    text: str
    problem: str = ""
    wait: float = 0.0


class Parts:
    """The newest report of each study, made in a small share of the time."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._kept: dict[str, ReportPart] = {}
        self.time = TimeShare(SHARE, ALLOWANCE, clock=clock)

    def newest(self, watched: Watched, have: str | None) -> ReportPart | None:
        """Return a report newer than the one with mark `have`, making it if it is due; None if there is no newer one.

        If making it would exceed our share of the time, the result has a `wait`.
        """
        mark, known = watched.mark, self._kept.get(watched.name)
        if known is None or known.mark != mark:
            if wait := self.time.wait():
                old = known is not None and known.mark != have
                return known if old else ReportPart(mark, "", wait=wait)
            known = self._kept[watched.name] = self._make(watched, mark)
        return None if known.mark == have else known

    def _make(self, watched: Watched, mark: str) -> ReportPart:
        with self.time.spent():
            try:
                return ReportPart(mark, build_part(study_of(watched), mark=mark, at=now_stamp()))
            except GaplineError as error:
                return ReportPart(mark, "", problem=error.message)


JSON = "application/json"
MOST_STREAMS = 220
BLOCK = 32 << 10


class EventStream(StreamingResponse):
    """The events of a channel to one client, until either side ends."""

    media_type = "text/event-stream"

    def __init__(self, channel: Channel, client: Client) -> None:
        super().__init__(self._blocks(client))
        self._channel, self._client = channel, client

    async def _blocks(self, client: Client) -> AsyncIterator[bytes]:
        while (data := await client.take()) is not None:
            # In blocks: data that waits for the network is copied for each client, data in its queue is shared.
            for low in range(0, len(data), BLOCK):
                yield data[low : low + BLOCK]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._channel.leave(self._client)


class Answers:
    """The request handlers of a server, for the studies that it follows."""

    def __init__(self, hub: Hub, connections: Connections) -> None:
        self._hub = hub
        self._connections = connections
        self._heavy = asyncio.Lock()
        self._kept: defaultdict[tuple[str, str], Latest[bytes]] = defaultdict(Latest)
        self._parts = Parts()

    def app(self) -> Starlette:
        """Return the application."""
        answers = {
            "/": self.page,
            "/api/state": self.state,
            "/api/studies": self.studies,
            "/api/events": self.events,
            "/api/curves": self.curves,
            "/api/runs": self.runs,
            "/api/report": self.part,
            "/report.html": self.report,
        }
        return Starlette(routes=[Route(path, answer) for path, answer in answers.items()])

    async def page(self, request: Request) -> Response:
        """Answer with the page, which is the same for every study; `summaries` selects the one for too many steps."""
        # Does not wait for reports under way: the page shows the known state in the meantime.
        page = await asyncio.to_thread(build_live_page, summaries="summaries" in request.query_params)
        return HTMLResponse(page.text, headers={POLICY: page.policy})

    async def studies(self, _request: Request) -> Response:
        """Answer with the list of studies."""
        for watched in list(self._hub.studies.values()):
            if not watched.channel.state:
                await self._hub.fresh(watched)
        return Response(encode(self._hub.documents()), media_type=JSON)

    async def state(self, request: Request) -> Response:
        """Answer with the state of a study."""
        watched = self._asked(request)
        await self._hub.fresh(watched)
        return Response(watched.channel.document(), media_type=JSON)

    async def curves(self, request: Request) -> Response:
        """Answer with the curves so far."""
        return await self._made(request, "curves", lambda live: curves_document(live.table))

    async def runs(self, request: Request) -> Response:
        """Answer with every whole run."""
        return await self._made(request, "runs", _runs_document)

    async def part(self, request: Request) -> Response:
        """Answer with the report as a part of the page, if there is a newer one than the page has."""
        watched = self._asked(request)
        async with self._heavy:
            part = await asyncio.to_thread(self._parts.newest, watched, request.query_params.get("have"))
        if part is None:
            return Response(status_code=204)
        if part.wait:
            return PlainTextResponse("made soon\n", 202, {"retry-after": str(math.ceil(part.wait))})
        if part.problem:
            return _problem(part.problem)
        return HTMLResponse(part.text)

    async def report(self, request: Request) -> Response:
        """Answer with the offline page of the current state, as a file to keep."""
        watched = self._asked(request)
        async with self._heavy:
            try:
                page = await asyncio.to_thread(lambda: build_page(study_of(watched)))
            except GaplineError as error:
                return _problem(str(error))
        return HTMLResponse(page, headers={"content-disposition": 'attachment; filename="report.html"'})

    async def _made(self, request: Request, what: str, make: Callable[[LiveStudy], dict[str, Any]]) -> Response:
        """Answer with a document made of the runs, computed once for each state of the study."""
        watched = self._asked(request)
        await self._hub.fresh(watched)
        async with self._heavy, watched.lock:
            live, number = watched.live, watched.channel.number

            def work() -> bytes:
                return encode({"id": number} | ({} if live is None else make(live)))

            body = await asyncio.to_thread(self._kept[what, watched.name].of, number, work)
        return Response(body, media_type=JSON)

    async def events(self, request: Request) -> Response:
        """Answer with the stream of changes until either side ends."""
        watched = self._asked(request)
        if sum(len(one.channel.clients) for one in self._hub.studies.values()) >= MOST_STREAMS:
            return PlainTextResponse("too many clients\n", 503, {"retry-after": "5", "connection": "close"})
        await self._hub.fresh(watched)
        if request.method == "HEAD":
            return Response(media_type=EventStream.media_type)
        # Data sent to a client that does not read would wait for ever: dropping the client ends its connection.
        peer = request.scope.get("client")
        client = watched.channel.join(_last_event(request), lambda: self._connections.drop(peer))
        return EventStream(watched.channel, client)

    def _asked(self, request: Request) -> Watched:
        """Return the requested study; only listed studies can be requested."""
        watched = self._hub.of(request.query_params.get("study"))
        if watched is None:
            raise HTTPException(404, "expected a study that /api/studies lists\n")
        return watched


def _problem(text: str) -> Response:
    return Response(f"{text}\n".encode("utf-8", "replace"), 409, media_type="text/plain")


def _runs_document(live: LiveStudy) -> dict[str, Any]:
    scores, summary = live.table.scores, live.table.summary
    if scores is None or summary is None:
        return {"runs": []}
    return {"runs": score_document(scores, summary, per_run=True)["runs"]}


def _last_event(request: Request) -> int | None:
    """Return the number of the last event that a client has; browsers send it when they reconnect."""
    given = request.headers.get("last-event-id") or request.query_params.get("last")
    return int(given) if given is not None and given.isascii() and given.isdigit() and len(given) <= 18 else None
