"""Alarms and beaten references come before every number, in each command, and stand in the methods."""

import json

import pytest

from gapline.cli.app import run

ROWS = ["arm,instance,seed,time,objective,bound,horizon"]
ROWS += [
    f"{arm},i{k},{seed},{1 + k / 2 + (arm == 'b') + seed / 10},{110 + k},,10"
    for arm in "abc" for k in range(5) for seed in (1, 2)
]  # fmt: skip


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """Return the arguments of a campaign; of arm b a bound on i0 is above what arm a found, and i4 beats its value."""
    monkeypatch.chdir(tmp_path)

    def sources(*, alarm=True, beaten=True):
        rows = [*ROWS, *(["b,i0,1,9,,200,10"] if alarm else [])]
        (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
        values = {f"i{k}": 130 if beaten and k == 4 else 100 for k in range(5)}
        (tmp_path / "r.csv").write_text("instance,value\n" + "".join(f"{n},{v}\n" for n, v in values.items()))
        return ["t.csv", "--references", "r.csv"]

    return sources


COMMANDS = (
    ["score"], ["score", "--per-run"], ["curve"], ["analyse"], ["analyse", "--all"],
    ["plan"], ["report"],
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_an_alarm_is_the_first_line_and_beaten_references_follow(command, sources, capsys):
    options = ["--format", "svg"] if command == ["report"] else []
    assert run([*command, *sources(), *options]) == 1
    lines = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[0].startswith("ALARM i0: a run has a better solution than the dual bound of another allows")
    assert not lines[1].startswith("Mean")
    text = " ".join(lines)
    assert text.count("6 of 30 runs beat their references") == 1
    assert text.count("ALARM ") == (2 if command == ["analyse"] else 3), "the summary names two and counts the others"


def test_rows_of_arms_and_instances_with_an_alarm_are_marked(sources, capsys):
    run(["score", *sources(), "--per-run"])
    out = capsys.readouterr().out
    marked = [line.split()[1] for line in out.splitlines() if " (alarm)" in line and line.split()[0] in "123"]
    assert marked == ["a", "b"]
    assert sum("i0 (alarm)" in line for line in out.splitlines()) == 6
    assert "(alarm): runs of this arm are part of an integrity alarm." in out


def test_without_an_alarm_beaten_references_come_first_and_the_headline_stands(sources, capsys):
    assert run(["analyse", *sources(alarm=False)]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    assert lines[0] == "6 of 30 runs beat their references."
    assert lines[1] == "a, c share the lowest mean"
    run(["score", *sources(alarm=False, beaten=False)])
    assert capsys.readouterr().out.startswith("Mean scores")


def test_the_table_of_a_csv_stays_alone(sources, capsys):
    run(["score", *sources(), "--csv"])
    printed = capsys.readouterr()
    assert printed.out.startswith('"arm",')
    assert printed.err.startswith("ALARM i0")


@pytest.mark.slow
def test_a_report_states_them_first_on_the_page_and_in_the_methods(sources, tmp_path, capsys):
    run(["report", *sources(), "-o", "out", "--format", "svg"])
    capsys.readouterr()
    page, methods = (tmp_path / "out" / name for name in ("report.html", "methods.md"))
    text = page.read_text()
    assert text.index("Integrity alarms</h2>") < text.index("6 of 30 runs beat their references.")
    assert text.index("6 of 30 runs beat their references.") < text.index('id="headline"')
    assert "3 integrity alarms: no arm is called better" in text
    for name in ("methods.md", "methods.tex"):
        said = (tmp_path / "out" / name).read_text()
        assert "3 integrity alarms, so that no arm is called better than another: i0" in said
        assert "6 of 30 runs beat their references." in said
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert not results["headline"]["settled"]
    assert "integrity alarms" in methods.read_text()
    assert "i0 (alarm)" in (tmp_path / "out" / "tables" / "instances.md").read_text()
    assert "b (alarm)" in (tmp_path / "out" / "tables" / "scores.tex").read_text()
