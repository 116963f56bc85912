"""Pages that are written once for all their tests."""

from pathlib import Path

import pytest

from gapline.report.page.build import write_page
from report.page_reader import PageReader
from report.page_study import make_study

# What can be set in a tab that is open already; other choices want a context of their own.
SHARED = {"width", "wait", "color_scheme"}


@pytest.fixture(scope="session")
def study():
    return make_study()


@pytest.fixture(scope="session")
def page_file(study, tmp_path_factory) -> Path:
    return write_page(study, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="session")
def exact_study():
    """A study whose page rounds nothing, so that its numbers can be compared to the last bit."""
    return make_study(decimals=3)


@pytest.fixture(scope="session")
def exact_file(exact_study, tmp_path_factory) -> Path:
    return write_page(exact_study, tmp_path_factory.mktemp("exact") / "report.html")


@pytest.fixture(scope="session")
def free_tabs(browser):  # noqa: ARG001 (the browser outlives its tabs)
    """Tabs that a test has left: what draws is loaded there, which takes longer than to open a page."""
    tabs = []
    yield tabs
    for tab in tabs:
        tab.context.close()


@pytest.fixture
def open_page(browser, free_tabs):
    """Open a page file in a tab with nothing in it; a console message, an error or a request fails the test."""
    readers = []

    def opened(path: Path, *, hash: str = "", **options: object) -> PageReader:
        shared = options.keys() <= SHARED
        tab = free_tabs.pop() if shared and free_tabs else None
        reader = PageReader(browser, path, hash=hash, tab=tab, **options)
        readers.append((reader, shared))
        return reader

    yield opened
    for reader, shared in readers:
        if shared:
            free_tabs.append(reader.leave())
        else:
            reader.context.close()
        assert reader.complaints == []


@pytest.fixture
def page(open_page, page_file) -> PageReader:
    return open_page(page_file)


@pytest.fixture
def make_other_study():
    return make_study
