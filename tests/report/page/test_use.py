"""The page as people use it: opening, arms, links, runs, keyboard, print, and names that want to be code."""

import re
from dataclasses import replace
from itertools import pairwise

import polars as pl
import pytest

import gapline as gl
from gapline.report.numbers import number as printed
from gapline.report.page.build import write_page
from report.page_reader import number
from report.page_study import ARMS, make_campaign, make_study
from report.report_studies import report_of


def test_it_opens_without_a_request_or_a_word_on_the_console(page):
    assert page.complaints == []
    assert page.page.locator("#mean-chart svg path").count() > 0
    assert page.page.locator("#run-chart svg path").count() > 0


def test_means_stand_in_the_page_before_any_script_runs(open_page, page_file, study):
    page = open_page(page_file, java_script_enabled=False)
    lines = [line.locator("td").all_text_contents() for line in page.page.locator("#ranking tbody tr").all()]
    rows = {line[1]: line for line in lines}
    for row in study.summary.frame.iter_rows(named=True):
        assert rows[row["arm"]][2] == printed(row["squeezed"])
    assert page.text("#headline").startswith("Contrast alpha against beta: ")
    text = page_file.read_text(encoding="utf-8")
    assert text.index('id="ranking"') < text.index('id="block-steps"') < text.index("vegaEmbed")


@pytest.mark.parametrize("kernel", ["squeezed", "berthold", "raw"])
def test_the_first_screen_is_the_same_with_and_without_script(open_page, tmp_path, kernel):
    path = write_page(make_study(kernels=(kernel, "maxform")), tmp_path / "page.html")
    before = open_page(path, java_script_enabled=False)
    after = open_page(path)
    assert before.text("#headline") == after.text("#headline")
    assert before.text("#subline") == after.text("#subline")
    ranks = before.page.locator("#ranking tbody td:first-child").all_text_contents()
    assert ranks == [row["rank"] for row in after.table("ranking")]
    assert before.page.locator(".card").all_text_contents() == after.page.locator(".card").all_text_contents()


@pytest.mark.parametrize("lacking", [False, True])
def test_intervals_of_the_declared_choice_are_pythons(open_page, tmp_path, lacking):
    study = make_study(lacking=lacking)
    page = open_page(write_page(study, tmp_path / "page.html"))
    spans = {row["arm"]: (row["low"], row["high"]) for row in study.intervals.frame.iter_rows(named=True)}
    # Lacking an instance, gamma has one in a panel: no interval.
    assert (spans["gamma"] == (None, None)) == lacking
    assert {row["arm"].split()[0]: row["95 % interval"] == "–" for row in page.table("ranking")} == {
        arm: span == (None, None) for arm, span in spans.items()
    }
    for row in page.saved("arms"):
        found = tuple(float(row[end]) if row[end] else None for end in ("low", "high"))
        assert found == spans[row["arm"]]


def test_a_click_hides_an_arm_and_a_double_click_shows_it_alone(page):
    chip = page.page.locator('.arm[data-arm="beta"]')
    page.change(chip.click)
    assert [row["arm"] for row in page.table("ranking")] == ["alpha", "gamma"]
    assert [row["rank"] for row in page.table("ranking")] == ["1", "2"]
    assert chip.get_attribute("aria-pressed") == "false"
    assert "beta" not in page.table("instance-table")[0]
    assert {row["arm"] for row in page.saved("mean-convergence")} == {"alpha", "gamma"}
    double_click(page, "gamma", leaves=["gamma"])
    double_click(page, "gamma", leaves=["alpha", "gamma", "beta"])


def double_click(page, arm, *, leaves):
    """Press twice, the page drawn anew in between, as by a slow hand or on a busy machine."""
    chip = page.page.locator(f'.arm[data-arm="{arm}"]')
    chip.scroll_into_view_if_needed()
    box = chip.bounding_box()
    mouse = page.page.mouse
    mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    for count in (1, 2):
        mouse.down(click_count=count)
        mouse.up(click_count=count)
        page.page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    page.page.wait_for_function(
        """arms => JSON.stringify([...document.querySelectorAll("#ranking tbody tr")].map(row => row.dataset.arm))
                   === JSON.stringify(arms)""",
        arg=leaves,
    )


@pytest.mark.slow
def test_a_link_restores_the_view(open_page, page, page_file):
    page.choose(kernel="dimacs:1.1", snapshot=1, horizon=12.5, goal=0.2, weighting="instance", scale="log")
    page.change(page.page.locator('.arm[data-arm="gamma"]').click)
    page.change(page.page.locator("#instance-table button.link", has_text="s2").click)
    page.change(page.page.locator("#run-table button.link").nth(2).click)
    again = open_page(page_file, hash="#" + page.page.url.split("#")[1])
    for name in ("ranking", "panel-table", "instance-table", "run-table", "candidate-table", "contrast-table"):
        assert again.table(name) == page.table(name)
    for name in ("kernel", "snapshot", "goal", "weighting", "scale", "horizon-seconds"):
        assert again.page.locator(f"#{name}").input_value() == page.page.locator(f"#{name}").input_value()
    assert again.text("#run-name") == page.text("#run-name")
    assert again.page.locator('.arm[data-arm="gamma"]').get_attribute("aria-pressed") == "false"


def test_a_link_that_says_nonsense_opens_the_declared_view(open_page, page_file):
    plain = open_page(page_file)
    odd = open_page(
        page_file, hash="#kernel=none&snapshot=x&horizon=-3&goal=7&weighting=all&hide=nobody&instance=x&seed=z"
    )
    assert odd.table("ranking") == plain.table("ranking")


def test_a_run_is_two_clicks_away_with_its_candidates_and_reasons(page, study):
    page.change(page.page.locator("#instance-table button.link", has_text="l1").click)
    page.change(page.page.locator("#run-table tr", has_text="beta").locator("button").first.click)
    assert page.text("#run-name").strip() == "beta · l1 · seed 1"
    campaign = study.campaign
    row = campaign.runs.filter(arm="beta", instance="l1", seed=1).row(0, named=True)
    here = slice(row["first"], row["first"] + row["count"])
    shown = page.table("candidate-table")
    assert len(shown) == row["count"]
    for line, time, objective, verdict, reason in zip(
        shown, campaign.time[here], campaign.objective[here], campaign.verdict[here], campaign.reason[here], strict=True
    ):
        assert number(line["time"].removesuffix(" s")) == pytest.approx(time, abs=1e-6)
        assert number(line["objective"]) == pytest.approx(objective, rel=1e-8)
        assert (line["verdict"] == "rejected") == (verdict == 0)
        if verdict == 0:
            assert line["reason"].removesuffix(" (and late)") == campaign.reasons[reason]
    counts = pl.DataFrame(shown)["verdict"].value_counts()
    accepted = study.envelopes.runs.filter(arm="beta", instance="l1", seed=1)["steps"][0]
    assert counts.filter(verdict="accepted")["count"][0] == accepted
    facts = page.page.locator("#run-facts").text_content()
    assert "time-limit" in facts
    assert "2026-08-01T10:00:00+00:00" in facts


def test_reasons_of_rejections_are_read_on_a_phone(open_page, page_file, study):
    page = open_page(page_file, width=400)
    page.change(page.page.locator("#instance-table button.link", has_text="l1").click)
    page.change(page.page.locator("#run-table tr", has_text="beta").locator("button").first.click)
    rejected = [row for row in page.table("candidate-table") if row["verdict"] == "rejected"]
    assert rejected
    assert {row["reason"].removesuffix(" (and late)") for row in rejected} <= set(study.campaign.reasons)
    ends = page.page.evaluate(
        """() => [...document.querySelectorAll('#candidate-table tbody tr')]
                   .filter(row => row.cells[1].textContent === 'rejected')
                   .map(row => row.cells[2].getBoundingClientRect().right)"""
    )
    assert len(ends) == len(rejected)
    assert max(ends) <= 400, "without scrolling"


def test_every_figure_and_table_names_its_reference(page, study):
    for chosen, entry in enumerate(study.references):
        page.choose(snapshot=chosen)
        badges = page.page.locator(".badge").all()
        assert len(badges) == len(page.page.locator(".tools").all())
        for badge in badges:
            assert entry.snapshot.digest in badge.get_attribute("title")
            assert entry.snapshot.name in badge.text_content()
            assert entry.policy in badge.text_content()


def test_it_can_be_used_with_the_keyboard_alone(page, study):
    page.page.locator("#kernel").focus()
    page.change(lambda: page.page.keyboard.press("ArrowDown"))
    assert page.page.locator("#kernel").input_value() == "maxform"
    page.page.locator('.arm[data-arm="beta"]').focus()
    page.change(lambda: page.page.keyboard.press("Shift+Enter"))
    assert [row["arm"] for row in page.table("ranking")] == ["beta"]
    page.change(lambda: page.page.keyboard.press("Shift+Enter"))
    assert len(page.table("ranking")) == 3
    page.page.locator("#mean-chart").focus()
    page.page.keyboard.press("End")
    end = gl.mean_curve(study.envelopes, study.references[0].snapshot, kernel="maxform").frame.group_by("arm").last()
    tip = page.text("#tip")
    for arm, _, value in end.select("arm", "time", "value").iter_rows():
        assert re.search(rf"{arm}{value:.6f}", tip)


def test_tooltips_say_exact_values(page, study):
    page.page.locator("#panel-chart").scroll_into_view_if_needed()
    page.page.locator("#panel-chart .mark-symbol path").first.hover()
    summary = gl.summarise(study.scores[0], by=["arm", "panel"]).frame
    shown = page.page.locator("#tip b").inner_text()
    assert shown in {f"{value:.6f}" for value in summary["squeezed"]}
    page.page.mouse.move(0, 0)
    page.page.locator("#run-chart").focus()
    page.page.keyboard.press("End")
    assert "gap" in page.text("#tip")
    page.page.keyboard.press("Escape")
    assert page.page.locator("#tip").is_hidden()
    page.page.locator("#instance-chart").focus()
    page.page.keyboard.press("End")
    last = study.scores[0].frame.filter(instance="l1", arm="alpha", seed=1)["final_squeezed"][0]
    assert re.search(rf"alpha · 1{last:.6f}", page.text("#tip"))


def test_controls_have_labels_and_headings_are_in_order(page):
    unnamed = page.page.evaluate(
        """() => [...document.querySelectorAll('select, input, button')].filter(node =>
             !(node.labels?.length || node.textContent.trim() || node.getAttribute('aria-label')))
             .map(node => node.outerHTML)"""
    )
    assert unnamed == []
    levels = page.page.evaluate(
        "() => [...document.querySelectorAll('h1,h2,h3,h4')].map(node => Number(node.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Tab")
    outline = page.page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    assert page.page.evaluate("() => document.documentElement.lang") == "en"


@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_screen(open_page, page_file, width, scheme):
    page = open_page(page_file, width=width, color_scheme=scheme)
    assert page.page.evaluate("() => document.documentElement.scrollWidth") <= width
    light = page.page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(251, 250, 247)"
    assert light == (scheme == "light")
    # Charts fit their boxes, and a chart's cursor tip stays on the screen.
    spill = page.page.evaluate(
        """() => [...document.querySelectorAll('.chart')].filter(
             box => box.querySelector('svg')?.getBoundingClientRect().width > box.clientWidth + 1).map(box => box.id)"""
    )
    assert spill == []


def test_print_drops_the_controls_and_keeps_the_legend(page):
    page.page.emulate_media(media="print")
    assert not page.page.locator("#kernel").is_visible()
    assert not page.page.locator('[data-csv="arms"]').is_visible()
    assert page.page.locator('.arm[data-arm="alpha"]').is_visible()
    assert page.page.locator("#ranking").is_visible()


HOSTILE = (
    "<img src=x onerror=window.pwned=1>",
    "</script><script>window.pwned=1</script>",
    "{{ 7 * 7 }}${window.pwned=1}",
    "=HYPERLINK(1)",
    "a\"b' onclick=window.pwned=1 x='",
)


@pytest.mark.slow
def test_hostile_names_run_nothing(open_page, tmp_path):
    campaign, references = make_campaign()
    arms = dict(zip(ARMS, HOSTILE[:3], strict=True))
    names = {"s1": HOSTILE[0], "s2": HOSTILE[1], "s3": HOSTILE[3], "l1": HOSTILE[4], "l2": "\u202eevil"}
    runs = campaign.runs.with_columns(
        pl.col("arm").replace_strict(arms), pl.col("instance").replace_strict(names),
        panel=pl.col("panel") + HOSTILE[1], machine=pl.lit(HOSTILE[1]),
    )  # fmt: skip
    hostile = gl.Campaign.from_arrays(
        runs=runs, time=campaign.time, objective=campaign.objective, verdict=campaign.verdict, reason=campaign.reason,
        reasons=("", *HOSTILE[:2]),
    )  # fmt: skip
    snapshot = gl.Snapshot.from_values({names[name]: value for name, value in references.items()}, name=HOSTILE[1])
    study = replace(report_of(hostile, snapshot, title=HOSTILE[1]), contract_text=HOSTILE[1])
    page = open_page(write_page(study, tmp_path / "page.html"))
    page.choose(kernel="maxform", scale="log")
    page.change(page.page.locator("#instance-table button.link").first.click)
    page.change(page.page.locator("#run-table button.link").first.click)
    page.page.locator("#mean-chart").hover()
    assert page.page.evaluate("() => window.pwned") is None
    assert page.page.evaluate("() => document.querySelectorAll('img, iframe, object, embed').length") == 0
    assert page.page.evaluate("() => document.scripts.length") == 3, "head, Vega and the page's own; blocks are removed"
    assert {row["arm"] for row in page.table("ranking")} == set(arms.values())
    assert page.text("h1") == HOSTILE[1]
    assert "\\u202eevil" in {row["instance"] for row in page.table("instance-table")}, "shown, not obeyed"
    saved = page.saved("instances")
    assert {row["instance"] for row in saved} == {*names.values()} - {HOSTILE[3]} | {"'" + HOSTILE[3]}


def test_runs_that_cannot_be_decoded_leave_pythons_numbers_standing(open_page, page_file, tmp_path):
    text = page_file.read_text(encoding="utf-8")
    start = text.index('id="block-steps">') + len('id="block-steps">')
    broken = tmp_path / "broken.html"
    broken.write_text(text[: start + 10] + "AAAA" + text[start + 14 :], encoding="utf-8")
    page = open_page(broken, wait=False)
    page.page.wait_for_function(
        "() => document.getElementById('mean-caption').textContent.includes('could not decode')"
    )
    assert len(page.page.locator("#ranking tbody tr").all()) == len(ARMS)
    assert page.complaints
    page.complaints.clear()


def test_the_policy_lets_nothing_else_run(page):
    """The page's own policy, not only its escaping, stops an element that somebody smuggled in."""
    broken = page.page.evaluate(
        """async () => {
             const broken = [];
             const both = new Promise(done => addEventListener('securitypolicyviolation', event => {
               broken.push(event.effectiveDirective);
               if (broken.length === 2) done();
             }));
             const node = document.createElement('div');
             node.innerHTML = '<img src="data:image/png;base64,AAAA" onerror="window.pwned = 1">';
             const script = document.createElement('script');
             script.textContent = 'window.pwned = 1';
             document.body.append(script, node);
             await both;
             return broken;
           }"""
    )
    assert set(broken) <= {"script-src-elem", "script-src-attr", "img-src"}
    assert page.page.evaluate("() => window.pwned") is None
    assert any("Content Security Policy" in line for line in page.complaints)
    page.complaints.clear()
