import re

import pytest

from gapline.report.page import seal
from gapline.report.page.seal import bundle_file, join_scripts, script_json, seal_page, vega_bundle

TEMPLATE = "<p>{{ policy }}</p><style>{{ style | safe }}</style><b>{{ name }}</b><script>{{ script | safe }}</script>"


def test_words_are_escaped_and_a_missing_one_is_an_error():
    jinja2 = pytest.importorskip("jinja2")
    text = seal_page(TEMPLATE, style="p {}", script="1", name="<img src=x>")
    assert "<b>&lt;img src=x&gt;</b>" in text
    with pytest.raises(jinja2.UndefinedError):
        seal_page(TEMPLATE, style="p {}", script="1")


def test_the_policy_allows_what_is_hashed_and_nothing_else():
    text = seal_page(TEMPLATE, style="p {}", script="1", name="x")
    policy = re.search(r"<p>(.*?)</p>", text).group(1).replace("&#39;", "'")
    # sha256 of "1" and of "p {}" in base64.
    assert "'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='" in policy
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert policy.count("'sha256-") == 3
    assert "unsafe" not in policy


def test_no_text_ends_a_script_element():
    assert "<" not in script_json({"</script>": "<!--"})
    assert join_scripts(["const a = 1;\n", "const b = a;\n"]) == '"use strict";\n{\nconst a = 1;\n\nconst b = a;\n}\n'


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The place of the bundle, in a folder of its own."""
    place = tmp_path / "kept" / "vega.js"
    monkeypatch.setattr(seal, "bundle_file", lambda _: place)
    return place


def test_the_bundle_is_made_once_and_is_the_same_when_it_is_read_again(kept, monkeypatch):
    vl_convert = pytest.importorskip("vl_convert")
    made = vega_bundle.__wrapped__()
    assert made == vl_convert.javascript_bundle() == vega_bundle()
    assert [path.name for path in kept.parent.iterdir()] == ["vega.js"]
    monkeypatch.setattr(vl_convert, "javascript_bundle", None)
    assert vega_bundle.__wrapped__() == made


def test_a_bundle_that_cannot_be_kept_or_read_is_made(kept):
    pytest.importorskip("vl_convert")
    kept.parent.write_text("no directory")
    assert vega_bundle.__wrapped__() == vega_bundle()
    kept.parent.unlink()
    kept.parent.mkdir()
    kept.write_bytes(b"\xff")
    assert vega_bundle.__wrapped__() == vega_bundle()
    assert kept.read_text(encoding="utf-8") == vega_bundle()


def test_another_version_has_another_bundle_beside_the_compiled_modules():
    assert bundle_file("1.8.0") != bundle_file("1.9.0")
    assert bundle_file("1.8.0").parent.name == "__pycache__"
