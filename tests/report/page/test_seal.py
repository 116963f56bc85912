import re

import pytest

from gapline.report.page.seal import joined_script, script_json, seal_page

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
    assert joined_script(["const a = 1;\n", "const b = a;\n"]) == '"use strict";\n{\nconst a = 1;\n\nconst b = a;\n}\n'
