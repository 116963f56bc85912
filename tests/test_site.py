"""The site: built once, strictly, without a broken link, and read in a browser from files without a network."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from handbook.api import public_groups
from handbook.commands import all_commands
from handbook.contract_fields import contract_fields
from handbook.formulas import with_formulas

import gapline

pytestmark = pytest.mark.slow

pytest.importorskip("zensical")
ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    from handbook.site import build_site

    # Strict: a warning is an error.
    work = tmp_path_factory.mktemp("site")
    return build_site(work / "out", work)


class _Links(HTMLParser):
    """What a page links to and loads, and what can be linked to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if given.get("id"):
            self.anchors.add(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        source = given.get("src") or (given.get("href") if tag == "link" else None)
        if source:
            self.loads.append(source)


@pytest.fixture(scope="module")
def read(site) -> dict[Path, _Links]:
    pages = {}
    for page in sorted(site.rglob("*.html")):
        pages[page] = _Links()
        pages[page].feed(page.read_text(encoding="utf-8"))
    return pages


def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(site, read):
    broken = []
    for page, found in read.items():
        if page.name == "404.html":
            continue  # Made for a server's root: its links begin there.
        for link in [*found.links, *found.loads]:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in found.loads:
                    broken.append(f"{page.relative_to(site)} loads {link}")
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                broken.append(f"{page.relative_to(site)}: {link}")
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in read[target].anchors:
                broken.append(f"{page.relative_to(site)}: {link} (no such place)")
    assert broken == []


def test_every_page_of_the_docs_is_in_the_menu(site, read):
    links = [urlsplit(link) for link in read[site / "index.html"].links]
    linked = {(site / unquote(link.path)).resolve() for link in links if not link.netloc}
    wanted = [path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")]
    assert [str(page) for page in wanted if (site / page).resolve() not in linked] == []


def test_every_command_and_option_has_its_place(site):
    for name, command in all_commands():
        page = (site / f"reference/commands/{name.replace(' ', '-')}.html").read_text(encoding="utf-8")
        for option in command.params:
            for word in option.opts if option.param_type_name == "option" and not option.hidden else []:
                assert re.search(rf"<code>{word}( [^<]*)?</code>", page), (name, word)


def test_every_field_of_a_contract_has_its_place(site):
    page = (site / "reference/study-toml.html").read_text(encoding="utf-8")
    fields = contract_fields()
    assert {"[[arms]]", "[time]", "[aggregate.bootstrap]", ""} <= {field.section for field in fields}
    assert [field for field in fields if f"<code>{field.name}</code>" not in page] == []
    assert [field for field in fields if not field.meaning] == []


def test_every_public_name_has_its_place_once(read):
    names = [name for names in public_groups().values() for name in names]
    assert sorted(names) == sorted(name for name in gapline.__all__ if not name.startswith("__"))
    anchors = [anchor for page, found in read.items() if "python" in page.parts for anchor in found.anchors]
    assert [name for name in names if anchors.count(f"gl.{name}") != 1] == []


def test_formulas_are_drawn_and_code_is_left_alone(site):
    page = (site / "what-the-numbers-mean.html").read_text(encoding="utf-8")
    assert page.count('display="block"') >= 12
    assert "$$" not in page
    assert "\\frac" not in page
    assert with_formulas("`$x$`\n```console\n$ a $b\n```\n") == "`$x$`\n```console\n$ a $b\n```\n"
    assert with_formulas("costs $5 and $6") == "costs $5 and $6"


def test_generated_pages_show_no_markup_of_their_source(site):
    """Escapes and fences that went wrong would stand there as they are."""
    for page in (site / "reference").rglob("*.html"):
        text = re.sub(r"<pre.*?</pre>|<script.*?</script>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        shown = re.sub(r"<[^>]+>", " ", text)
        assert not re.search(r"```|\\\||\| ---", shown), page.name


def test_search_finds_pages_from_a_file_without_a_network(site, browser):
    """In Chromium, from `file://`: the theme's own way would need a script from elsewhere."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    asked, failed = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    try:
        page.goto((site / "reference" / "commands" / "score.html").as_uri())
        page.get_by_role("button", name="Search").first.click()
        page.locator("input[aria-label=Search]").fill("gurobi")
        page.get_by_text("hooks.gurobi").first.wait_for()
        assert failed == []
        assert [url for url in asked if not url.startswith(("file:", "blob:", "data:"))] == []
    finally:
        page.close()


@pytest.mark.parametrize("width", [1280, 400])
def test_no_page_is_wider_than_its_window(site, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    try:
        for name in ("index", "what-the-numbers-mean", "score", "contract", "reference/commands/score", "architecture"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    finally:
        page.close()
