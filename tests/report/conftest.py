"""Pages that are written once for all their tests."""

from pathlib import Path

import pytest

from gapline.report.page.build import write_page
from report.page_reader import PageReader
from report.page_study import make_study


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


@pytest.fixture
def open_page(browser):
    """Open a page file in a context of its own; a console message, an error or a request fails the test."""
    readers = []

    def opened(path: Path, *, hash: str = "", **options: object) -> PageReader:
        reader = PageReader(browser, path, hash=hash, **options)
        readers.append(reader)
        return reader

    yield opened
    for reader in readers:
        reader.context.close()
        assert reader.complaints == []


@pytest.fixture
def page(open_page, page_file) -> PageReader:
    return open_page(page_file)


@pytest.fixture
def make_other_study():
    return make_study
