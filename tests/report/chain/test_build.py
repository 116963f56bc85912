"""The page of a chain in a real browser: what it shows, and what hostile names do, which is nothing."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

import gapline as gl
from accessibility import violations
from gapline.references.history import snapshot_log
from gapline.report.chain.page import MOST_ROWS, build_chain, write_chain
from report.chain_store import make_chain

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{ 7*7 }}"


@pytest.fixture(scope="module")
def chain_file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chain")
    return write_chain(snapshot_log(make_chain(folder), "*"), folder / "chain.html")


@pytest.mark.slow
def test_it_shows_the_chain_and_who_improved_what(open_page, chain_file):
    page = open_page(chain_file)
    rows = {row["snapshot"]: row for row in page.table("snapshot-table")}
    assert list(rows) == ["march", "february", "january"]
    assert (rows["march"]["as of"], rows["march"]["instances"], rows["march"]["added"]) == ("2026-03-31", "3", "1")
    assert (rows["february"]["improved"], rows["february"]["newly certified"]) == ("1", "1")
    assert rows["january"]["improved"] == "–"
    assert [(row["who"], row["improvements"]) for row in page.table("people-table")] == [
        ("a letter", "2"),
        ("deep", "1"),
    ]
    assert page.page.locator(".card-value").all_text_contents()[:2] == ["1 of 3", "1 of 3"]
    for chart in ("#event-chart", "#value-chart"):
        assert page.page.locator(f"{chart} svg path").count() > 0


def test_the_numbers_behind_the_charts_are_those_of_the_chain(open_page, chain_file):
    page = open_page(chain_file)
    events = page.saved("improvements")
    assert [(row["event"], row["improved"], row["added"], row["certified"]) for row in events] == [
        ("january", "0", "0", "0"), ("february", "1", "0", "1"), ("march", "1", "1", "0"),
    ]  # fmt: skip
    values = page.saved("values")
    # 10 is a quarter above 8, and 9 an eighth.
    assert [(row["instance"], float(row["value"]), float(row["relative"])) for row in values] == [
        ("a", 10.0, 0.25), ("a", 9.0, 0.125), ("a", 8.0, 0.0),
    ]  # fmt: skip
    assert len(page.saved("best-known")) == 3


@pytest.mark.slow
def test_an_instance_is_found_chosen_and_linked_to(open_page, chain_file):
    page = open_page(chain_file)
    assert [row["instance"] for row in page.table("instance-table")] == ["a", "b", "c"]
    assert page.table("instance-table")[0]["moved by"] == "25.000 %"
    page.page.locator("#instance-filter").fill("B")
    assert [row["instance"] for row in page.table("instance-table")] == ["b"]
    assert page.text("#instance-caption").startswith("1 of 3 instances")
    page.page.locator("#instance-filter").fill("")
    page.change(page.page.locator("#instance-table button.link", has_text="a").first.click)
    shown = page.table("step-table")
    assert [(row["best known"], row["change"], row["in"], row["who"]) for row in shown] == [
        ("8", "improved", "march", "a letter"), ("9", "improved", "february", "deep"),
        ("10", "frozen", "january", "a paper"),
    ]  # fmt: skip
    assert page.page.url.endswith("#instance=a")
    again = open_page(chain_file, hash="#instance=a")
    assert again.table("step-table") == shown


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_needs_no_sideways_scrolling(open_page, chain_file, scheme):
    page = open_page(chain_file, width=400, color_scheme=scheme)
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= 400


def test_the_tables_stand_there_without_script(open_page, chain_file):
    page = open_page(chain_file, java_script_enabled=False)
    assert page.page.locator("#snapshot-table tbody tr").count() == 3
    assert page.page.locator("noscript").count() == 1


def test_hostile_names_do_nothing(open_page, tmp_path):
    entries = {HOSTILE: {"value": 10.0, "source": HOSTILE, "certified": True}, "__proto__": {"value": 1.0}}
    first = gl.Snapshot.from_entries(entries, name=HOSTILE, store={"name": HOSTILE}, as_of="2026-01-01")
    first.save(tmp_path / "first.json")
    better = {HOSTILE: {"value": 9.0, "source": HOSTILE, "certified": False}, "__proto__": {"value": 0.5}}
    second = first.child(better, name=HOSTILE + "2", as_of="2026-02-01", fold={})
    log = snapshot_log(second.save(tmp_path / "second.json"), "*")
    page = open_page(write_chain(log, tmp_path / "chain.html"))
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert page.text("h1") == shown + "2"
    assert {row["instance"] for row in page.table("instance-table")} == {shown, "__proto__"}
    page.change(page.page.locator("#instance-table button.link", has_text="alert").first.click)
    assert page.text("#step-name") == shown
    assert page.page.locator("img").count() == 0
    assert page.page.locator("script:not([type])").count() == 2
    # The certificate that the second snapshot contradicts.
    assert page.page.locator(".alarm li").count() == 1


def test_a_lone_snapshot_and_a_missing_parent_are_said(open_page, tmp_path):
    make_chain(tmp_path)
    alone = open_page(write_chain(snapshot_log(tmp_path / "january.json", "*"), tmp_path / "alone.html"))
    assert alone.text("#event-chart").strip() == "Nothing was improved in this chain."
    (tmp_path / "january.json").unlink()
    log = snapshot_log(tmp_path / "march.json", "*")
    page = open_page(write_chain(log, tmp_path / "chain.html"))
    assert f"parent {log.missing} is not at hand" in page.text("#chain .block .caption")


@pytest.mark.slow
def test_long_lists_are_cut_and_say_so(tmp_path):
    names = [f"i{k}" for k in range(MOST_ROWS + 7)]
    first = gl.Snapshot.from_values(dict.fromkeys(names, 10.0), name="first", certified=names)
    first.save(tmp_path / "first.json")
    entries = {name: {"value": 9.0, "certified": False, "source": f"author of {name}"} for name in names}
    second = first.child(entries, name="second", as_of=None, fold={}).save(tmp_path / "second.json")
    text = build_chain(snapshot_log(second, "*"))
    assert text.count("<li>") == MOST_ROWS
    assert text.count("and 7 more") + text.count("And 7 more") == 2


def test_the_policy_names_the_hash_of_every_script_and_style(chain_file):
    text = Path(chain_file).read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1).replace("&#39;", "'")
    sealed = re.findall(r"<script>(.*?)</script>", text, re.DOTALL) + re.findall(
        r"<style>(.*?)</style>", text, re.DOTALL
    )
    hashes = [base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in sealed]
    assert sorted(hashes) == sorted(re.findall(r"'sha256-([^']+)'", policy))
    assert "unsafe" not in policy
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search(r"""(src|href)\s*=\s*["']?(?!#)\w+:""", outside)
    assert " style=" not in outside


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 400)])
def test_axe_finds_nothing(open_page, chain_file, scheme, width):
    page = open_page(chain_file, width=width, color_scheme=scheme)
    assert violations(page.page) == []
    page.page.locator("#instance-table button").first.click()
    assert violations(page.page) == []
