import re
import struct
import xml.etree.ElementTree as ET
import zlib

import pytest

from gapline.report.canvas import Canvas
from gapline.report.drawing import alt, style, titled, write_drawing

PROVENANCE = ("gapline; campaign sha256:12", "reference <mine> & (frozen): sha256:34")


@pytest.fixture
def chart():
    points = alt.Chart(alt.Data(values=[{"x": 1, "arm": "wide"}])).mark_point().encode(x="x:Q", y="arm:N")
    return style(titled(points.properties(width=300), "Title of <a>", "said in small print"))


def written(chart, folder, **choices):
    paths = [folder / f"chart.{form}" for form in ("svg", "png", "pdf")]
    about = write_drawing(chart, *paths, canvas=Canvas(**choices), provenance=PROVENANCE)
    return about, *(path.read_bytes() for path in paths)


def chunks(data):
    found, place = [], 8
    while place < len(data):
        (size,) = struct.unpack(">I", data[place : place + 4])
        kind, body = data[place + 4 : place + 8], data[place + 8 : place + 8 + size]
        assert struct.unpack(">I", data[place + 8 + size : place + 12 + size])[0] == zlib.crc32(kind + body)
        found.append((kind, body))
        place += 12 + size
    return found


def test_words_and_provenance_are_in_every_file_and_not_in_the_picture(chart, tmp_path):
    about, svg, png, pdf = written(chart, tmp_path)
    text = about.text()
    assert text.startswith("Title of <a>\n\nsaid in small print")
    assert all(line in text for line in PROVENANCE)
    root = ET.fromstring(svg)
    assert root.findtext("{*}title") == "Title of <a>"
    assert root.findtext("{*}desc") == text
    assert [line.text for line in root.iter("{urn:gapline:provenance}line")] == list(PROVENANCE)
    drawn = "".join(node.text or "" for node in root.iter("{http://www.w3.org/2000/svg}text"))
    assert "Title" in drawn
    assert "small print" not in drawn
    parts = chunks(png)
    assert [kind for kind, _ in parts].count(b"IHDR") == [kind for kind, _ in parts].count(b"pHYs") == 1
    assert (b"iTXt", b"Description\0\0\0\0\0" + text.encode()) in parts
    info = pdf[pdf.rfind(b" 0 obj") :]
    title = re.search(rb"/Title <FEFF([0-9a-f]+)>", info)
    assert bytes.fromhex(title[1].decode()).decode("utf-16-be") == "Title of <a>"
    start = int(re.findall(rb"startxref\s+(\d+)", pdf)[-1])
    assert pdf[start : start + 4] == b"xref"
    number, place = re.match(rb"xref\n(\d+) 1\n(\d{10})", pdf[start:]).groups()
    assert pdf[int(place) :].startswith(number + b" 0 obj")


def test_a_picture_has_what_is_asked_for(chart, tmp_path):
    _, svg, _, _ = written(chart, tmp_path, title=False, caption=True)
    words = [node.text for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
    assert not any("Title" in (word or "") for word in words)
    assert any("small print" in (word or "") for word in words)
    _, svg, _, _ = written(chart, tmp_path, title=False)
    assert not any("small print" in (node.text or "") for node in ET.fromstring(svg).iter("{*}text"))


def test_the_width_is_that_of_the_paper_in_svg_and_png_alike(chart, tmp_path):
    _, svg, png, pdf = written(chart, tmp_path, width=8.5)
    assert ET.fromstring(svg).get("width") == "8.5cm"
    pixels = struct.unpack(">I", dict(chunks(png))[b"IHDR"][:4])[0]
    assert abs(pixels - 8.5 / 2.54 * 300) <= 3
    assert abs(float(re.search(rb"MediaBox \[0 0 ([\d.]+)", pdf)[1]) - 8.5 / 2.54 * 72) < 0.1
    assert struct.unpack(">I", dict(chunks(png))[b"pHYs"][:4])[0] == round(300 / 0.0254)


def test_every_text_has_the_width_of_its_layout_whatever_font_a_reader_has(chart, tmp_path):
    _, svg, _, _ = written(chart, tmp_path)
    texts = [node for node in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text") if len(node.text or "") > 1]
    assert texts
    assert all(float(node.get("textLength")) > 0 for node in texts)


def test_the_same_chart_has_the_same_bytes(chart, tmp_path):
    assert written(chart, tmp_path, width=8.5)[1:3] == written(chart, tmp_path, width=8.5)[1:3]
