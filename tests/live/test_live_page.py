"""A real browser watches: campaigns to their end, random moments, deaths of runner and server, hostile names."""

import datetime
import json
import os
import random
import re
import shutil
import signal
from pathlib import Path

import pytest
from torture.crowd import apply

import gapline as gl
from accessibility import violations
from gapline.cli.app import run as gapline
from gapline.report.numbers import interval, number, percent
from live.test_campaigns import with_references
from live_server import Listener, serving
from live_studies import live_study
from report.page_reader import PageReader

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="alert(1)">'


def scored(path, capsys):
    """What `gapline score --json` says, None where it refuses."""
    capsys.readouterr()
    code = gapline(["score", str(path), "--json"])
    out = capsys.readouterr().out
    return json.loads(out) if code in (0, 1) and out else None


def printed(path, capsys):
    """The table of arms that `gapline score` prints: its words, line by line."""
    capsys.readouterr()
    gapline(["score", str(path)])
    return capsys.readouterr().out


def bits(text):
    return None if text == "" else float(text).hex()


def assert_table(page, state):
    """The table of the page has the digits that are printed of the numbers of a state."""
    kernel = state["kernels"][0]
    ends = {row["arm"]: row for row in state["bounds"][kernel]["arms"]}
    shown = {row["arm"]: row for row in page["arms"]}
    for row in state["arms"]:
        mine = shown[row["arm"]]
        assert mine[f"mean {kernel}"] == number(row["scores"][kernel])
        assert mine["final gap"] == percent(row["final_gap"])
        assert [mine[name] for name in ("empty", "rejected", "late")] == [
            f"{row[name]:,}" for name in ("empty", "rejected", "late")
        ]
        if "in the end between" in mine:
            low, high = ends[row["arm"]]["low"], ends[row["arm"]]["high"]
            assert mine["in the end between"] == interval(low, high).strip("[]").replace(", ", " to ")


@pytest.fixture
def real_study(tmp_path):
    """Real solvers on real instances, checked by a real checker, against references that stood before."""
    pytest.importorskip("pyvrp")
    pytest.importorskip("ortools")
    path = tmp_path / "cvrp"
    assert gapline(["init", str(path), "--problem", "cvrp", "--horizon", "5", "--seeds", "1"]) == 0
    contract = (path / "study.toml").read_text(encoding="utf-8")
    known = 'policy = "frozen"\nsnapshot = "references/known.json"'
    (path / "study.toml").write_text(contract.replace('policy = "analysis"', known), encoding="utf-8")
    (path / "references").mkdir()
    values = {file.stem: 400.0 for file in (path / "instances").iterdir()}
    gl.Snapshot.from_values(values, name="known", as_of="2020-01-01").save(path / "references" / "known.json")
    return path


def test_a_campaign_of_real_solvers_is_watched_to_its_end(real_study, watch, capsys, tmp_path):
    """At the end the numbers are those of `gapline score`: every digit shown, and every bit behind them."""
    from scripted_studies import ScriptedStudy

    with serving(real_study) as served:
        page = watch(served.address)
        assert page.until("page.phase.startsWith('Not begun')")["counts"]["planned"] == "12"
        process = ScriptedStudy(real_study).start("-j", "1")
        seen = page.until("Object.values(page.running).some((run) => Number(run['score so far']) > 0)")
        assert seen["phase"].startswith("Running")
        page.until("page.ranking.length > 1")
        page.until("page.phase.startsWith('Finished')")
        process.communicate()
        expected = scored(real_study, capsys)
        page.until("page.report.startsWith('As of') && !page.report.includes('renewed')")
        page.settle()
        shown = page.read()
        assert_table(shown, served.state())
        table = printed(real_study, capsys)
        for row in expected["arms"]:
            (mine,) = [mine for mine in shown["arms"] if mine["arm"] == row["arm"]]
            (ranked,) = [mine for mine in shown["ranking"] if mine["arm"] == row["arm"]]
            assert mine["mean squeezed"] == ranked["mean squeezed"] == number(row["scores"]["squeezed"])
            assert mine["mean squeezed"] in table
        _, rows = page.numbers()
        for row in expected["arms"]:
            (mine,) = [mine for mine in rows if mine["arm"] == row["arm"]]
            assert bits(mine["mean"]) == row["scores"]["squeezed"].hex() == bits(mine["low"]) == bits(mine["high"])
            # A busy machine may leave an arm without any solution: then it has none on the page either.
            assert bits(mine["final_gap"]) == (None if row["final_gap"] is None else row["final_gap"].hex())
        # And the page that is kept says the same without any server.
        with page.page.expect_download() as download:
            page.page.get_by_role("button", name="Save as report").click()
        kept = tmp_path / "kept.html"
        download.value.save_as(kept)
    reader = PageReader(page.context.browser, kept)
    ranking = {row["arm"]: row["mean squeezed"] for row in reader.table("ranking")}
    assert ranking == {row["arm"]: number(row["scores"]["squeezed"]) for row in expected["arms"]}
    assert "12 of 12 planned runs" in reader.text(".facts")
    reader.context.close()
    assert reader.complaints == []


def test_at_forty_random_moments_its_numbers_are_those_of_the_journals(tmp_path, watch, capsys):
    """The journals grow by hand, so that what they say at a moment is known; the page follows each of them."""
    chance = random.Random(17)
    values = {"i1": 10.0, "i2": 30.0, "j1": 20.0, "j2": 25.0}
    options = {"arms": ("a", "b", "c"), "instances": values, "seeds": (1, 2), "kernels": ("squeezed", "dimacs:1.2")}
    with live_study(tmp_path / "study", **options) as writer, serving(writer.path) as served:
        page = watch(served.address)
        page.until("page.phase !== ''")
        documents = {}
        listener = Listener(served)
        fresh = [str(cell.key) for cell in writer.cells]
        chance.shuffle(fresh)
        running: dict[str, tuple[float, float]] = {}
        done = compared = 0
        for _ in range(40):
            for _ in range(chance.randint(1, 6)):
                act = chance.random()
                if fresh and (not running or (act < 0.25 and len(running) < 5)):
                    name = fresh.pop()
                    writer.begin(name)
                    running[name] = (0.1, 3 * values[name.split("/")[1]])
                elif running and act < 0.85:
                    name = chance.choice(sorted(running))
                    time, value = running[name]
                    time, value = time + chance.random() / 8, value * (0.75 + 0.25 * chance.random())
                    writer.say(name, time, value)
                    running[name] = (time, value)
                elif running:
                    name = chance.choice(sorted(running))
                    writer.end(name)
                    del running[name]
                    done += 1
            wanted = {
                "done": str(done),
                "running": {name: value for name, (time, value) in running.items() if time > 0.1},
            }
            shown = page.until(
                """page.counts.done === value.done && Object.entries(value.running).every(([name, incumbent]) =>
                     page.running[name]?.incumbent === String(Number(incumbent.toPrecision(9))))""",
                wanted,
            )
            expected = scored(writer.path, capsys) if done else None
            if expected is None:
                assert [row["mean squeezed"] for row in shown["arms"]] in ([], ["–"] * 3)
                continue
            for row in expected["arms"]:
                (mine,) = [mine for mine in shown["arms"] if mine["arm"] == row["arm"]]
                assert mine["mean squeezed"] == number(row["scores"]["squeezed"])
                assert mine["whole runs"].split(" ")[0] == str(row["runs"])
            event, rows = page.numbers()
            for row in expected["arms"]:
                (mine,) = [mine for mine in rows if mine["arm"] == row["arm"]]
                assert bits(mine["mean"]) == row["scores"]["squeezed"].hex()
            # The rest, open runs and their bounds among it, is that of the state of the same event.
            listener.until(lambda one, event=event: one.number >= event)
            replay(listener, documents)
            assert_table(shown, documents[shown["id"]])
            assert_running(shown, documents[shown["id"]])
            ends = {row["arm"]: row for row in documents[event]["bounds"]["squeezed"]["arms"]}
            assert {row["arm"]: (bits(row["low"]), bits(row["high"])) for row in rows} == {
                arm: (row["low"].hex(), row["high"].hex()) for arm, row in ends.items()
            }
            compared += 1
        listener.close()
        assert compared >= 30


def test_what_is_written_is_on_the_page_after_the_next_look(tmp_path, watch):
    """By the server's own stamps, however busy the machine is: no look that began later misses what was written before.

    So nothing is later than the distance of two looks and the time that one takes; `python -m bench live` says how many
    seconds these are.
    """
    note = """(run) => { window.drawn = []; const shown = () => document.querySelector(
        `[data-run="${run}"] [data-fact=incumbent]`)?.textContent;
        new MutationObserver(() => window.drawn.push([Number(document.documentElement.dataset.live), shown()]))
          .observe(document.documentElement, { attributes: true, attributeFilter: ["data-live"] }) }"""
    chance = random.Random(2)
    with live_study(tmp_path / "study", horizon=1000.0) as writer, serving(writer.path) as served:
        writer.begin("a/i1/1")
        writer.say("a/i1/1", 0.1, 100.0)
        page, listener = watch(served.address), Listener(served)
        page.until("page.running['a/i1/1']?.incumbent === '100'")
        page.page.evaluate(note, "a/i1/1")
        written = []
        for number in range(1, 9):
            page.page.wait_for_timeout(chance.uniform(0, 400))
            writer.say("a/i1/1", 0.1 + number, 100.0 - number)
            written.append((datetime.datetime.now(datetime.UTC), 100.0 - number))
            page.until("page.running['a/i1/1'].incumbent === String(value)", 100 - number)
        drawn = page.page.evaluate("() => window.drawn")
        listener.until(lambda one: one.number >= drawn[-1][0])
        looks = [(datetime.datetime.fromisoformat(one["looked"]), one) for one in listener.changes]
        listener.close()
    for moment, value in written:
        path = ["running", "a/i1/1", "incumbent"]
        (event,) = [one["id"] for _, one in looks if [path, value] in one["set"]]
        # Stamps are in milliseconds.
        later = [one["id"] for looked, one in looks if looked > moment + datetime.timedelta(milliseconds=1)]
        assert all(event <= number for number in later)
        # The page draws it with the event that brings it, or with one that comes before the next frame.
        assert all(float(shown) <= value for number, shown in drawn if number >= event)
        assert all(float(shown) > value for number, shown in drawn if number < event)
    assert len({event for event, _ in drawn}) >= len(written)


def replay(listener, documents):
    """Add every state that there was since the last time, by its number."""
    if not documents:
        document = json.loads(listener.first)
        documents[document["id"]] = document
    last = max(documents)
    for change in [one for one in list(listener.changes) if one["id"] > last]:
        # What a later change adds to must not be that of the state before it.
        document = json.loads(json.dumps(documents[last]))
        documents[change["id"]] = apply(document, change) | {"id": change["id"]}
        last = change["id"]


def assert_running(page, state):
    assert set(page["running"]) == set(state["running"])
    for name, run in state["running"].items():
        mine, bounds = page["running"][name], run["bounds"]["squeezed"]
        assert mine["score so far"] == number(run["scores"]["squeezed"])
        assert mine["gap"] == number((run["gap"] or {}).get("squeezed"))
        assert mine["to the reference"] == number(bounds["to_reference"])
        assert mine["final score between"] == f"{number(bounds['low'])} to {number(bounds['high'])}"


def test_a_runner_that_dies_is_said_loudly_and_its_resume_is_followed(make_study, watch):
    study = with_references(make_study({"a": ["scripted", "1", "20", "0.1"]}, seeds=(1, 2), horizon=600.0))
    with serving(study.path) as served:
        page = watch(served.address)
        process = study.start("-j", "1")
        page.until("Object.values(page.running).some((run) => run.incumbent !== 'none yet')")
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        shown = page.until("page.phase.startsWith('Stopped')")
        assert f"gapline run {study.path}" in shown["stopped"]
        assert "runner" in shown["stopped"].lower()
        assert shown["title"].startswith("Stopped")
        page.until("page.counts.interrupted === '1'")
        again = study.start("-j", "1")
        shown = page.until("page.phase.startsWith('Running') && page.stopped === ''")
        page.until("page.phase.startsWith('Finished')")
        again.communicate()
        assert page.read()["counts"]["done"] == "4"


def test_a_server_that_dies_is_said_and_the_page_catches_up_when_it_is_back(tmp_path, watch):
    with live_study(tmp_path / "study") as writer:
        writer.run("a/i1/1", [(1.0, 15.0)])
        writer.run("b/i1/1", [(1.0, 16.0)])
        with serving(writer.path) as served:
            page = watch(served.address)
            page.settle()
            assert page.read()["link"] == "connected"
            page.excused = True
            served.kill()
            shown = page.until("page.link.startsWith('No server since')")
            assert re.match(r"No server since \d\d:\d\d:\d\d", shown["link"])
            # It stays usable: the report in it follows its switches.
            before = shown["ranking"]
            page.page.select_option("#weighting", "run")
            page.settle()
            assert page.page.locator("#save-report").is_disabled()
            assert [row["arm"] for row in page.read()["ranking"]] == [row["arm"] for row in before]
        writer.run("a/j1/1", [(2.0, 22.0)])
        with serving(writer.path, "--port", str(served.port)):
            shown = page.until("page.link === 'connected' && page.counts.done === '3'")
            page.until("page.report.startsWith('As of') && !page.report.includes('renew')")
            # Its reader's choice is still there.
            assert page.page.locator("#weighting").input_value() == "run"
            (row,) = [row for row in page.read()["ranking"] if row["arm"] == "a"]
            assert row["runs"] == "2"


def test_the_report_is_renewed_under_the_readers_hands(tmp_path, watch):
    """Choices, what is unfolded, typed and scrolled to, and the focus stay; nothing is loaded anew."""
    with live_study(tmp_path / "study", seeds=(1, 2), kernels=("squeezed", "maxform")) as writer:
        writer.run("a/i1/1", [(1.0, 15.0), (2.0, 12.0)])
        writer.run("b/i1/1", [(1.0, 16.0)])
        with serving(writer.path) as served:
            page = watch(served.address)
            page.settle()
            page.page.evaluate("() => { window.sameDocument = true }")
            page.page.select_option("#kernel", "maxform")
            page.page.locator('.arm[data-arm="b"]').click()
            page.page.fill("#find-instance-table", "i1")
            page.page.locator("#method summary", has_text="Methods").click()
            page.page.locator("#run-table button.link").first.focus()
            page.settle()
            # What is above may grow or shrink: what the reader looks at stays where it is.
            place = "() => document.activeElement.getBoundingClientRect().top"
            top = page.page.evaluate(place)
            writer.run("a/j1/1", [(2.0, 22.0)])
            page.until("page.ranking.length === 2 && page.ranking[1].at(-5) === '2'")
            page.settle()
            assert page.page.evaluate("() => window.sameDocument")
            assert page.page.locator("#kernel").input_value() == "maxform"
            assert [row["arm"] for row in page.read()["ranking"]] == ["a"]
            assert [row["arm"] for row in page.read()["arms"]] == ["a"]
            assert "mean maxform" in page.read()["arms"][0]
            assert page.page.locator("#find-instance-table").input_value() == "i1"
            assert page.page.locator("#method details").first.get_attribute("open") is not None
            assert page.page.evaluate("() => document.activeElement.closest('table')?.id") == "run-table"
            assert abs(page.page.evaluate(place) - top) < 200
            assert "3 of 8 planned runs" in page.page.locator("#report-facts").text_content()


def test_axe_finds_nothing_while_runs_come_in(tmp_path, watch):
    with live_study(tmp_path / "study", seeds=(1, 2), kernels=("squeezed", "maxform")) as writer:
        writer.run("a/i1/1", [(1.0, 15.0), (2.0, 12.0)])
        writer.run("b/i1/1", [(1.0, 16.0)])
        with serving(writer.path) as served:
            for options in (
                {"color_scheme": "light"},
                {"color_scheme": "dark", "viewport": {"width": 400, "height": 800}},
            ):
                page = watch(served.address, **options)
                page.settle()
                assert violations(page.page) == []
                page.page.select_option("#kernel", "maxform")
                page.settle()
                assert violations(page.page) == []


def test_alarms_ring_the_moment_they_do_and_what_failed_is_shown(tmp_path, watch):
    with live_study(tmp_path / "study", certified=("i1",)) as writer, serving(writer.path) as served:
        writer.run("a/j1/1", [(1.0, 25.0)])
        page = watch(served.address)
        page.until("page.counts.done === '1'")
        assert page.read()["alarms"] == []
        attempt = writer.begin("a/i1/1")
        writer.say("a/i1/1", 0.5, 9.0)
        shown = page.until("page.alarms.length > 0")
        assert "Integrity alarm" in shown["alarms"][0]
        assert "i1: a candidate is better than a certified optimum: certified 10" in shown["alarms"][0]
        assert shown["title"].startswith("⚠ 1 alarm")
        assert any("reference was beaten" in text for text in page.until("page.alarms.length > 1")["alarms"])
        assert page.page.locator("#live-alarms").get_attribute("aria-live") == "polite"
        (attempt / "stderr.log").write_text("reading\nout of luck\n")
        writer.end("a/i1/1", exit_code=3)
        (failure,) = page.until("page.failures.length > 0")["failures"]
        assert "a · i1 · seed 1: exit code 3" in failure
        assert failure.endswith("out of luck")
        assert any("failed" in line and "out of luck" in line for line in page.read()["events"])


def test_arms_whose_candidates_are_all_rejected_are_named_at_the_first_sign(tmp_path, watch):
    with live_study(tmp_path / "study") as writer, serving(writer.path) as served:
        page = watch(served.address)
        writer.begin("b/i1/1")
        writer.say("b/i1/1", 0.5, "not a number")
        (text,) = page.until("page.alarms.length > 0")["alarms"]
        assert "All candidates of an arm are rejected" in text
        assert "b: 1 candidate, none valid" in text


def test_a_study_that_is_refused_says_why(tmp_path, watch):
    with live_study(tmp_path / "study") as writer:
        writer.run("a/i1/1", [(1.0, 15.0)])
        (writer.path / "references" / "known.json").unlink()
        late = gl.Snapshot.from_values({"i1": 10.0, "j1": 20.0}, name="known", as_of="2031-01-01")
        late.save(writer.path / "references" / "known.json")
        with serving(writer.path) as served:
            page = watch(served.address)
            shown = page.until("page.refused !== ''")
            assert "known before the first run" in shown["refused"]
            assert shown["arms"] == []
            assert "undefined" not in page.page.locator("body").inner_text()


def test_a_pair_is_decided_when_no_open_run_can_change_it(tmp_path, watch):
    with live_study(tmp_path / "study", instances={"i1": 10.0}, seeds=(1, 2)) as writer, serving(writer.path) as served:
        page = watch(served.address)
        for seed in (1, 2):
            writer.run(f"a/i1/{seed}", [(0.0, 10.0)])
        writer.run("b/i1/1", [])
        assert page.until("page.counts.done === '3'")["pairs"] == []
        writer.begin("b/i1/2")
        writer.say("b/i1/2", 9.9, 1000.0)
        shown = page.until("page.pairs.length > 1")
        assert shown["pairs"] == [{"better in the end": "a", "than": "b"}]


@pytest.mark.parametrize("width", [400, 1280])
def test_names_of_whatever_origin_are_text(tmp_path, watch, width):
    """Arms, instances, titles and what a solver writes may be anything: none of it runs, none of it hides."""
    bad, turned = HOSTILE, "\u202egnp.exe"
    folder = tmp_path / "study"
    with live_study(folder, arms=(bad, "__proto__", "constructor" + turned)) as writer:
        title = '[study]\ntitle = "<script>alert(2)</script>"'
        contract = (folder / "study.toml").read_text(encoding="utf-8")
        (folder / "study.toml").write_text(contract.replace("[study]", title), encoding="utf-8")
        writer.run(f"{bad}/i1/1", [(1.0, 15.0)])
        writer.run("__proto__/i1/1", [(1.0, 5.0)])
        attempt = writer.begin("__proto__/j1/1")
        (attempt / "stderr.log").write_text(f"{bad}\n{turned}\n\x1b[31mred\n")
        writer.say("__proto__/j1/1", 0.5, bad)
        writer.end("__proto__/j1/1", exit_code=1)
        writer.begin(f"{bad}/j1/1")
        writer.say(f"{bad}/j1/1", 0.5, 25.0)
        with serving(folder) as served:
            page = watch(served.address, width=width)
            page.settle()
            shown = page.until("Object.keys(page.running).length === 1 && page.failures.length === 1")
            assert bad in {row["arm"] for row in shown["arms"]}
            assert "\\u202egnp.exe" in shown["failures"][0]
            assert page.page.locator("h1").text_content() == "<script>alert(2)</script>"
            assert page.page.locator("img").count() == 0
            assert page.page.evaluate("() => document.documentElement.scrollWidth") <= width
            assert page.page.evaluate("() => ({}).polluted === undefined && Object.keys(Object.prototype).length === 0")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_narrow_screen_in_every_state(tmp_path, watch, scheme):
    long = "an-arm-with-a-very-long-name-that-nobody-would-want-to-read-in-a-table-but-somebody-has"
    with live_study(tmp_path / "study", arms=("a", long)) as writer, serving(writer.path) as served:
        page = watch(served.address, width=400, color_scheme=scheme)

        def fits():
            return page.page.evaluate("() => document.documentElement.scrollWidth") <= 400

        page.until("page.phase.startsWith('Not begun')")
        assert fits()
        writer.run("a/i1/1", [(1.0, 15.0)])
        writer.begin(f"{long}/i1/1")
        writer.say(f"{long}/i1/1", 1.0, 12.0)
        page.until("Object.keys(page.running).length === 1 && page.counts.done === '1'")
        page.settle()
        assert fits()


def test_a_folder_of_studies_is_a_list_and_a_click_opens_one(tmp_path, watch):
    with live_study(tmp_path / "studies" / "one") as one, live_study(tmp_path / "studies" / "two") as two:
        one.run("a/i1/1", [(1.0, 15.0)])
        for cell in two.cells:
            two.run(str(cell.key), [(1.0, 25.0)])
        with serving(tmp_path / "studies") as served:
            page = watch(served.address)
            page.page.wait_for_selector("[data-study=two]")
            rows = page.page.locator("#study-table tbody tr").all_text_contents()
            assert "Finished" in rows[1]
            assert "4 of 4" in rows[1]
            assert "1 of 4" in rows[0]
            page.page.locator("[data-study=two]").click()
            assert page.until("page.phase.startsWith('Finished')")["counts"]["done"] == "4"
            assert page.page.locator("#all-studies").is_visible()
            # One that appears later is listed as well.
            shutil.copytree(tmp_path / "studies" / "one", tmp_path / "studies" / "three")
            page.page.locator("#all-studies").click()
            page.page.wait_for_selector("[data-study=three]")


def test_an_empty_folder_says_so_and_shows_the_study_that_appears_goes_and_comes_back(tmp_path, watch):
    folder = tmp_path / "studies"
    folder.mkdir()
    with serving(folder) as served:
        page = watch(served.address)
        page.page.wait_for_selector("text=No study is in this folder yet")
        assert page.read()["title"] == "No study yet · gapline live"
        assert not page.page.locator("#study-table").is_visible()
        with live_study(folder / "one") as one:
            one.run("a/i1/1", [(1.0, 15.0)])
            renewed = "page.counts.done === '1' && page.report.startsWith('As of') && !page.report.includes('renew')"
            page.until(renewed)
            assert not page.page.locator("#studies").is_visible()
            one.path.rename(tmp_path / "elsewhere")
            shown = page.until("page.phase.startsWith('No study here')")
            assert "it is shown as soon as it is" in shown["phase"]
            assert (shown["counts"], shown["arms"], shown["link"]) == ({}, [], "connected")
            assert "undefined" not in page.page.locator("body").inner_text()
            (tmp_path / "elsewhere").rename(one.path)
            page.until(renewed)
            # A page of a study that is gone, opened or loaded anew, says so and goes on when it is there.
            one.path.rename(tmp_path / "elsewhere")
            page.until("page.phase.startsWith('No study here')")
            page.excused = True
            page.page.goto(f"{served.address}?study=other")
            page.until("page.link.startsWith('The server has no study “other”')")
            (tmp_path / "elsewhere").rename(folder / "other")
            page.until("page.link === 'connected' && page.counts.done === '1'")


def test_without_references_a_run_under_way_shows_its_incumbent_and_says_what_it_lacks(tmp_path, watch):
    with live_study(tmp_path / "study") as writer:
        # Before the server starts: a reference that it has read stays with it.
        (writer.path / "references" / "known.json").unlink()
        with serving(writer.path) as served:
            writer.begin("a/i1/1")
            writer.say("a/i1/1", 1.0, 15.0)
            page = watch(served.address)
            shown = page.until("Object.keys(page.running).length === 1")
            assert shown["running"]["a/i1/1"] == {"incumbent": "15", "candidates": "1"}
            card = page.page.locator(".run-card").text_content()
            assert "Its instance has no reference, so it has no gap and no score." in card
            writer.say("a/i1/1", 2.0, 12.0)
            page.until("page.running['a/i1/1'].incumbent === '12'")


def test_what_does_not_change_is_not_drawn_again(tmp_path, watch):
    with live_study(tmp_path / "study") as writer, serving(writer.path) as served:
        writer.run("a/i1/1", [(1.0, 15.0)])
        for name in ("a/j1/1", "b/i1/1"):
            writer.begin(name)
            writer.say(name, 1.0, 30.0)
        page = watch(served.address)
        page.until("Object.values(page.running).filter((run) => run.incumbent === '30').length === 2")
        page.settle()
        marked = "#fairness li, #events li, #live-arm-table td"
        page.page.evaluate("(all) => document.querySelectorAll(all).forEach((node) => (node.kept = true))", marked)
        writer.say("a/j1/1", 2.0, 29.0)
        page.until("page.running['a/j1/1'].incumbent === '29'")
        kept = "(selector) => [...document.querySelectorAll(selector)].filter((node) => node.kept).length"
        assert page.page.evaluate(kept, "#fairness li") == page.page.locator("#fairness li").count()
        assert page.page.evaluate(kept, "#events li") == page.page.locator("#events li").count() - 1
        # The means of whole runs stand; only their bounds moved.
        assert page.page.evaluate(kept, "#live-arm-table td:nth-child(2)") == 2


def test_the_keyboard_reaches_what_can_be_done(tmp_path, watch):
    with live_study(tmp_path / "study") as writer, serving(writer.path) as served:
        writer.run("a/i1/1", [(1.0, 15.0)])
        page = watch(served.address)
        page.settle()
        reached = []
        for _ in range(8):
            page.page.keyboard.press("Tab")
            reached.append(page.page.evaluate("() => document.activeElement.id || document.activeElement.className"))
        assert reached[0] == "skip"
        assert {"save-report", "live-arms-csv"} <= set(reached)


def test_saving_says_why_where_there_is_nothing_to_save(tmp_path, watch):
    with live_study(tmp_path / "study") as writer, serving(writer.path) as served:
        page = watch(served.address)
        page.until("page.phase.startsWith('Not begun')")
        page.complaints.clear()
        page.page.get_by_role("button", name="Save as report").click()
        page.page.wait_for_function("() => document.getElementById('save-words').textContent.startsWith('No report')")
        # The browser notes the refusal on its console, which is no complaint of the page.
        page.complaints = [text for text in page.complaints if "409" not in text]
    assert Path(writer.path / "results").exists() is False


def test_a_server_that_hangs_is_noticed_and_asked_again(tmp_path, watch):
    """Nothing tells a browser of a connection that died without a word: after a silence the page asks."""
    with live_study(tmp_path / "study") as writer, serving(writer.path) as served:
        writer.run("a/i1/1", [(1.0, 15.0)])
        page = watch(served.address, clock=True)
        page.until("page.counts.done === '1'")
        page.settle()
        page.excused = True
        served.process.send_signal(signal.SIGSTOP)
        page.page.clock.fast_forward(45_000)
        page.page.clock.fast_forward(15_000)
        page.until("page.link.startsWith('No server since')")
        writer.run("b/i1/1", [(1.0, 16.0)])
        served.process.send_signal(signal.SIGCONT)
        page.until("page.link === 'connected' && page.counts.done === '2'")


def test_a_study_with_too_many_steps_shows_summaries(tmp_path, watch):
    few = "from gapline.report.page import encode\nencode.MOST_STEPS = 3"
    with live_study(tmp_path / "study") as writer, serving(writer.path, before=few) as served:
        writer.run("a/i1/1", [(1.0, 15.0), (2.0, 14.0)])
        page = watch(served.address)
        page.settle()
        assert "summaries" not in page.page.url
        page.page.select_option("#weighting", "run")
        writer.run("b/i1/1", [(1.0, 16.0), (2.0, 15.0)])
        page.page.wait_for_url("**/?summaries=1*")
        page.until("page.counts.done === '2' && page.ranking.length === 3")
        page.settle()
        assert page.page.locator("#weighting").input_value() == "run"
        assert "This page carries summaries" in page.page.locator("#left-out").text_content()
        writer.run("a/j1/1", [(1.0, 30.0)])
        page.until("page.report.startsWith('As of') && page.ranking.some((row) => row.at(-5) === '2')")


def test_the_picture_of_the_docs_is_of_this_page(tmp_path, watch):
    """With GAPLINE_PICTURES=docs/pictures it is drawn anew; here it is drawn to be sure that it can be."""
    values = {f"{family}-{size}": 100.0 + size for family in ("clustered", "random") for size in (20, 40, 60)}
    ends = {"hgs": 1.004, "ils": 1.03, "greedy": 1.11}
    chance = random.Random(5)
    options = {"instances": values, "certified": tuple(values), "seeds": (1, 2), "horizon": 30.0}
    with live_study(tmp_path / "study", arms=tuple(ends), **options) as writer:
        contract = (writer.path / "study.toml").read_text(encoding="utf-8")
        title = 'name = "three-solvers"\ntitle = "Three solvers, six instances"'
        (writer.path / "study.toml").write_text(contract.replace('name = "live"', title), encoding="utf-8")
        names = [str(cell.key) for cell in writer.cells]

        def steps(name, count):
            arm, instance, _ = name.split("/")
            floor, value, time = ends[arm] * values[instance], 1.7 * values[instance], 0.4
            for _ in range(count):
                yield round(time, 3), round(value, 3)
                time, value = (
                    time * (1.3 + 0.3 * chance.random()),
                    floor + (value - floor) * (0.5 + 0.4 * chance.random()),
                )

        for name in names[:-4]:
            writer.run(name, [step for step in steps(name, 14) if step[0] < 30.0])
        with serving(writer.path) as served:
            page = watch(served.address)
            page.settle()
            for name in names[-4:-1]:
                writer.begin(name)
                for time, value in steps(name, 8):
                    writer.say(name, time, value)
            page.until("Object.values(page.running).filter((run) => run.incumbent !== 'none yet').length === 3")
            folder = Path(os.environ.get("GAPLINE_PICTURES", tmp_path))
            frame = {"x": 0, "y": 0, "width": 1280, "height": 1375}
            picture = page.page.screenshot(path=folder / "live-page.png", clip=frame, full_page=True)
    assert picture.startswith(b"\x89PNG")
    assert (Path(__file__).parents[2] / "docs" / "pictures" / "live-page.png").is_file()
