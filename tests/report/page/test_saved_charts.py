"""Every chart and picture of the page as a file: SVG with text in a family of every machine, PNG twice as large."""

import struct
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pytest

from gapline.contract.version import VERSION
from gapline.report.drawing import About, annotate_png
from gapline.report.fit_chart import Words
from gapline.report.page.build import write_page
from report.report_studies import crowd

SVG = "{http://www.w3.org/2000/svg}"
# Texts that leave the picture, in pixels of its own.
CUT = """() => { const frame = document.documentElement.getBoundingClientRect();
                 return [...document.querySelectorAll('text')].filter(node => {
                   const box = node.getBoundingClientRect();
                   return box.left < frame.left - 0.5 || box.right > frame.right + 0.5
                       || box.top < frame.top - 0.5 || box.bottom > frame.bottom + 0.5
                   }).map(node => node.textContent) }"""


def save_all(page) -> dict[str, bytes]:
    """Press every button that saves a picture."""
    found = {}
    for button in page.page.locator(".saves [data-save]").all():
        with page.page.expect_download() as download:
            button.click()
        found[download.value.suggested_filename] = Path(download.value.path()).read_bytes()
    return found


@pytest.fixture(scope="module")
def twenty_page(tmp_path_factory):
    return write_page(crowd(20), tmp_path_factory.mktemp("saved") / "page.html")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["small", "twenty"])
def test_every_chart_is_saved_on_white_whatever_the_screen(open_page, page_file, twenty_page, browser, tmp_path, name):
    path = page_file if name == "small" else twenty_page
    dark, narrow = (
        open_page(path, width=width, color_scheme=scheme) for width, scheme in ((1280, "dark"), (400, "light"))
    )
    files = save_all(dark)
    assert files == save_all(narrow)
    title = dark.text("h1").lower().replace(" ", "-")
    assert {
        f"{title}-{chart}.{form}"
        for chart in ("mean", "attainment", "panel", "instance", "run")
        for form in ("svg", "png")
    } <= set(files)
    assert len(files) == dark.page.locator(".saves [data-save]").count()
    digest = dark.page.locator(".badge").first.get_attribute("title").rpartition(", ")[2]
    viewer = browser.new_page()
    for file, data in files.items():
        if file.endswith(".png"):
            continue
        root = ET.fromstring(data)
        assert root.find(f"{SVG}title").text
        assert digest in root.find(f"{SVG}desc").text
        texts = list(root.iter(f"{SVG}text"))
        assert texts
        assert {node.get("font-family") for node in texts} == {"sans-serif"}
        (tmp_path / "chart.svg").write_bytes(data)
        viewer.goto((tmp_path / "chart.svg").as_uri())
        assert viewer.evaluate(CUT) == [], file
        wide, high = float(root.get("width")), float(root.get("height"))
        image = files[file.removesuffix("svg") + "png"]
        assert image.startswith(b"\x89PNG")
        assert struct.unpack(">II", image[16:24]) == pytest.approx((2 * wide, 2 * high), abs=2)
        # What the SVG says of itself, under the names that Python's own PNGs have.
        said = texts_of(image)
        assert said["Title"] == root.find(f"{SVG}title").text
        assert said["Description"] == root.find(f"{SVG}desc").text
        assert said["Software"] == f"gapline {VERSION}"
        # More than paper and ink: something is drawn.
        assert len(set(zlib.decompress(_pixels(image)))) > 20
    viewer.close()


def chunks(image: bytes) -> list[tuple[bytes, bytes]]:
    """Return the kinds and contents of a PNG's chunks, each of which has its right sum."""
    place, found = 8, []
    while place < len(image):
        size = struct.unpack(">I", image[place : place + 4])[0]
        kind, content = image[place + 4 : place + 8], image[place + 8 : place + 8 + size]
        assert struct.unpack(">I", image[place + 8 + size : place + 12 + size])[0] == zlib.crc32(kind + content)
        found.append((kind, content))
        place += 12 + size
    return found


def texts_of(image: bytes) -> dict[str, str]:
    """Return what a PNG says of itself; text stands between its header and its pixels."""
    kinds = [kind for kind, _ in chunks(image)]
    assert kinds[0] == b"IHDR"
    assert max(k for k, kind in enumerate(kinds) if kind == b"iTXt") < kinds.index(b"IDAT")
    parts = (content.split(b"\0\0\0\0\0", 1) for kind, content in chunks(image) if kind == b"iTXt")
    return {name.decode("latin-1"): text.decode("utf-8") for name, text in parts}


def _pixels(image: bytes) -> bytes:
    """Return the compressed part of a PNG."""
    return b"".join(content for kind, content in chunks(image) if kind == b"IDAT")


def test_a_png_of_the_page_names_its_words_and_its_size_as_one_of_python_does(open_page, page_file):
    page = open_page(page_file)
    with page.page.expect_download() as download:
        page.page.locator('[data-chart="mean-chart"] [data-save="png"]').click()
    image = Path(download.value.path()).read_bytes()
    about = About([Words(texts_of(image)["Title"], "a caption")])
    mine = annotate_png(image[:33] + image[image.index(b"IDAT") - 4 :], about, 192)
    assert list(texts_of(image)) == list(texts_of(mine))
    sizes = [[content for kind, content in chunks(one) if kind == b"pHYs"] for one in (image, mine)]
    assert sizes[0] == sizes[1] != []


@pytest.mark.slow
def test_points_have_a_legend_in_the_file_and_lines_have_their_names(open_page, twenty_page):
    files = save_all(open_page(twenty_page))
    arms = list(crowd(20).arms)
    for chart in ("mean", "attainment", "panel", "instance"):
        words = [node.text for node in ET.fromstring(files[f"known-before-{chart}.svg"]).iter(f"{SVG}text")]
        assert sorted(word for word in words if word in set(arms)) == arms, chart
