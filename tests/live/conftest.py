"""What the tests of the live page and its server share."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from live_page import LivePage


@pytest.fixture(autouse=True)
def own_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """The browser of other tests keeps a loop running in this thread, beside which none can be begun."""
    if "browser" in request.fixturenames:
        yield
        return
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.fixture
def watch(browser: object) -> Iterator[Callable[..., LivePage]]:
    """Open a live page in a context of its own; a complaint or a request to elsewhere fails the test."""
    opened: list[LivePage] = []

    def watched(address: str, **options: object) -> LivePage:
        opened.append(LivePage(browser, address, **options))
        return opened[-1]

    yield watched
    for page in opened:
        page.context.close()
        assert page.complaints == []
