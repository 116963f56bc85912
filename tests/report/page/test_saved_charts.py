"""Every chart and picture of the page as a file: SVG with text in a family of every machine, PNG twice as large."""

import struct
import xml.etree.ElementTree as ET
import zlib
from pathlib import Path

import pytest

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
        # More than paper and ink: something is drawn.
        assert len(set(zlib.decompress(_pixels(image)))) > 20
    viewer.close()


def _pixels(image: bytes) -> bytes:
    """Return the compressed part of a PNG."""
    place, found = 8, b""
    while place < len(image):
        size = struct.unpack(">I", image[place : place + 4])[0]
        if image[place + 4 : place + 8] == b"IDAT":
            found += image[place + 8 : place + 8 + size]
        place += 12 + size
    return found


def test_points_have_a_legend_in_the_file_and_lines_have_their_names(open_page, twenty_page):
    files = save_all(open_page(twenty_page))
    arms = list(crowd(20).arms)
    for chart in ("mean", "attainment", "panel", "instance"):
        words = [node.text for node in ET.fromstring(files[f"known-before-{chart}.svg"]).iter(f"{SVG}text")]
        assert sorted(word for word in words if word in set(arms)) == arms, chart
