"""Markdown for a pull request: the outcome first, every choice in it, and names that do nothing."""

import pytest
from markdown_it import MarkdownIt

import gapline as gl
from gapline.errors import TraceError
from gapline.report.statements.comparison import refused_pull_request, to_pull_request
from gapline.study.comparison import judge_pair

HOSTILE = (
    "x|y\n# @all <img src=x onerror=alert(1)> [a](http://b.c) www.evil.org :ant: $e^x$ ~~no~~ `c` &lt; "
    "\x1b[2J ![p](data:,) **b** _i_ <!-- --> \\"
)


def runs(arm, pace, *, panel="p", seeds=(1, 2)):
    return [
        {"arm": arm, "instance": f"{panel}-{i}", "seed": seed, "panel": panel, "horizon": 20,
         "trace": [(pace * (1 + 0.1 * i + 0.01 * seed), 150.0, True), (pace * (2 + 0.3 * i), 101.0, True)]}
        for i in range(5) for seed in seeds
    ]  # fmt: skip


@pytest.fixture
def judge(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def judge(old, new, *, value=100.0, **asked):
        for name, given in (("old", old), ("new", new)):
            gl.Campaign.from_runs(given).save(name, overwrite=True)
        names = sorted({run["instance"] for run in old})
        snapshot = gl.Snapshot.from_values(dict.fromkeys(names, value), name="known", certified=names)
        return judge_pair("old", "new", snapshots=[snapshot], **asked)

    return judge


def rendered(text):
    """Parse as GitHub does, tables, strikethrough and bare addresses included: every kind of thing that comes out."""
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    return tokens, {child.type for token in tokens for child in [token, *(token.children or [])]}


def test_the_outcome_is_first_and_every_choice_is_in(judge):
    judged = judge(runs("a", 1.0), runs("a", 2.5), fail_if_worse=0.002)
    text = to_pull_request(judged)
    lines = text.splitlines()
    assert lines[0] == "### Failed: worse by more than 0.002"
    assert lines[2].startswith("**new:&#8203;a: worse: +0.")
    assert "| p | 5 | 0." in text
    for row in (
        f"| digest | {judged.comparison.reading.reference.digest} |",
        "| kernel | squeezed |",
        "| weight | uniform |",
        "| weighting | panel-equal |",
        "| horizon | 20 s |",
        "| coverage | 20 runs |",
        "| gate | --fail-if-worse 0.002, error 0.05 |",
    ):
        assert row in lines
    assert "| its rates | fails an arm that is worse by no more than 0.002 in at most 5%" in text
    assert "Alarm" not in text
    assert "missing" not in text
    tokens, _ = rendered(text)
    assert sum(token.type == "table_open" for token in tokens) == 2


def test_missing_runs_and_alarms_are_listed(judge):
    judged = judge(runs("a", 1.0, seeds=range(6)), runs("a", 1.0), value=130.0, fail_if_worse=0.002)
    text = to_pull_request(judged)
    count = len(judged.comparison.alarms)
    assert text.startswith(f"### Failed: {count} alarms; 20 runs are missing: new:a p-0/0 (not there)")
    assert text.split("\n\n")[1] == f"**{count} alarms**"
    assert "**20 runs are missing on one side**\n\n- new:a p-0/0 (not there)\n" in text
    assert f"**{len(judged.comparison.alarms)} alarms**\n\n- " in text
    more = judge(runs("a", 1.0, seeds=range(8)), runs("a", 1.0))
    assert "- and 10 more\n" in to_pull_request(more)


def test_without_a_gate_the_verdict_is_the_outcome(judge):
    text = to_pull_request(judge(runs("a", 1.0), runs("a", 1.0)))
    assert text.startswith("### No difference shown\n\n**new:&#8203;a: no difference shown")
    assert "| gate | none |" in text


def test_a_single_instance_has_no_interval_and_says_why(judge):
    text = to_pull_request(judge(runs("a", 1.0)[:2], runs("a", 1.0)[:2]))
    assert "| interval | none: " in text


def test_hostile_names_are_shown_and_do_nothing(judge):
    judged = judge(runs(HOSTILE, 1.0, panel=HOSTILE), runs(HOSTILE, 2.0, panel=HOSTILE), fail_if_worse=0.002)
    text = to_pull_request(judged)
    tokens, kinds = rendered(text)
    assert not kinds & {"html_inline", "html_block", "link_open", "image", "code_inline", "s_open", "em_open", "fence"}
    tables = [token for token in tokens if token.type == "table_open"]
    assert len(tables) == 2
    assert sum(token.type == "heading_open" for token in tokens) == 1
    for line in text.splitlines():
        assert line.isprintable()
    # What GitHub acts on after the Markdown is read: mentions, emoji, addresses, mathematics.
    for active in ("@all", "http://", "www.evil", ":ant:", " $e"):
        assert active not in text
    # Shown all the same.
    words = "".join(child.content for token in tokens for child in token.children or [] if child.type == "text")
    assert "<img src=x onerror=alert(1)>" in words.replace("\u200b", "")
    assert "@all" in words.replace("\u200b", "")


def test_a_refused_comparison_says_why():
    text = refused_pull_request("old", "@new", TraceError("new: expected <b>, got none", hint="look"))
    assert text.startswith("### @&#8203;new against old: not judged")
    assert "new: expected \\<b\\>, got none" in text
    assert "Hint: look" in text
