"""Every command that prints a table keeps to the width: no word split, no line too wide, names told apart.

At 60, 80 and 120 columns and in a pipe, with 4, 9 and 20 arms whose names have 1 to 60 letters. A few whole outputs
lie in `outputs/`, to be read; `GAPLINE_OVERWRITE=1` writes them anew.
"""

import os
import re
from pathlib import Path

import pytest

from cli.two_arms import write_study
from crowded_traces import crowd_names, write_crowd
from gapline.cli.app import run
from gapline.cli.completion import TABLES
from gapline.report.tables.replication import conclusion_table, shift_table
from gapline.report.writers import terminal
from gapline.report.writers.terminal import fitted_lines, to_text
from gapline.study.replication import Agreement, Conclusion, Measured, Shift
from live_studies import live_study
from study.ruled_study import write_study as write_ruled_study
from study.test_replication import found
from terminal_laws import beyond, ragged, split_words

OUTPUTS = Path(__file__).parent / "outputs"
WIDTHS = ("60", "80", "120", None)
# What is said of columns that were left out, and of the width itself.
HINTS = [
    "--all-columns",
    "shows",
    "them,",
    "-o",
    "FILE.csv",
    "writes",
    "them",
    "--json",
    "has",
    "all",
    "a",
    "wider",
    "terminal",
]
READ = ["--references", "refs.csv", "--draws", "50"]
# Each with the traces of the crowd; A and B stand for its first two arms.
OF_TRACES = {
    "score": ["score", "traces.csv", *READ],
    "intervals": ["score", "traces.csv", *READ, "--intervals", "--kernel", "squeezed", "--kernel", "dimacs:1.1"],
    "all-columns": ["score", "traces.csv", *READ, "--intervals", "--all-columns"],
    "both": ["score", "traces.csv", *READ, "--policy", "both"],
    "runs": ["score", "traces.csv", *READ, "--per-run"],
    "groups": ["score", "traces.csv", *READ, "--by", "panel", "--by", "arm"],
    "curve": ["curve", "traces.csv", *READ],
    "log-curve": ["curve", "traces.csv", *READ, "--log-time"],
    "ecdf": ["curve", "traces.csv", *READ, "--kind", "target-ecdf"],
    "difference": ["curve", "traces.csv", *READ, "--kind", "eaf-difference", "--pair", "A", "B"],
    "compare": ["compare", "traces.csv:A", "traces.csv:B", *READ, "--suggest"],
    "plan": ["plan", "traces.csv", *READ, "--pair", "A", "B"],
    "summary": ["analyse", "traces.csv", *READ],
    "dry-run": ["import", "traces.csv", "--dry-run"],
    "export": ["export", "traces.csv", "-o", "out.csv"],
    "merge": ["merge", "traces.csv", "-o", "merged"],
}
ALONE = {
    "scale": ["scale"],
    "scale-scores": ["scale", "0.05", "0.5", "--raw-gap", "0.123"],
    "doctor": ["doctor"],
    "formats": ["import", "--list-formats"],
    "worked-example": ["demo", "--worked-example"],
    "freeze": ["snapshot", "freeze", "old.csv", "--name", "old", "-o", "old.json"],
    "freeze-new": ["snapshot", "freeze", "new.csv", "--name", "new", "-o", "new.json"],
    "fold": ["snapshot", "fold", "old.json", "new.csv", "--validation", "solver", "--name", "f", "-o", "folded.json"],
    "show": ["snapshot", "show", "old.json"],
    "diff": ["snapshot", "diff", "old.json", "new.json"],
    "log": ["snapshot", "log", "folded.json", "*"],
    "verify": ["snapshot", "verify", "old.json", "folded.json"],
    "status-plan": ["status", "study", "--plan"],
}
# Those of the same words on any machine and day, which are stored.
STORED_ALONE = ("scale-scores", "formats", "worked-example", "diff", "status-plan")
# A plot is drawn anew at each width: only its lines are measured. An answer with the width in it has its own words.
DRAWN = ("curve", "log-curve", "ecdf", "difference", "worked-example", "summary")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def show(capsys, monkeypatch):
    """Run a command at a width, and return what it prints; each table on the way has even decimals."""

    def looked_at(table, *arguments, **choices):
        assert ragged(table) == []
        return fitted_lines(table, *arguments, **choices)

    monkeypatch.setattr(terminal, "fitted_lines", looked_at)

    def answer(arguments, width):
        if width is None:
            monkeypatch.delenv("COLUMNS", raising=False)
        else:
            monkeypatch.setenv("COLUMNS", width)
        code = run(arguments)
        shown = capsys.readouterr()
        assert code == 0, shown.err
        return shown.out

    return answer


def check_laws(name, narrow, wide, width):
    lines = [line for line in beyond(narrow, int(width or 120)) if not re.search(r"gapline [a-z]+ ", line)]
    assert lines == [], (name, width)
    if name not in DRAWN:
        assert split_words(narrow, wide, known=HINTS) == set(), (name, width)


@pytest.mark.slow
@pytest.mark.parametrize("arms", [4, 9, 20])
@pytest.mark.parametrize("name", OF_TRACES)
def test_commands_of_traces_keep_to_the_width(folder, show, arms, name):
    arguments = _of_arms(OF_TRACES[name], write_crowd(folder, arms))
    wide = "" if name in DRAWN else show(_fresh(arguments, "100000"), "100000")
    for width in WIDTHS:
        check_laws(name, _same(show(_fresh(arguments, width), width)), _same(wide), width)


def _of_arms(arguments, names):
    """Return the arguments with the first two arms in the place of A and B."""
    stands = {"A": names[0], "B": names[1]}
    return [re.sub(r"(^|:)([AB])$", lambda m: m[1] + stands[m[2]], word) for word in arguments]


def _fresh(arguments, width):
    """Return the arguments with a new name for what they write: nothing is overwritten."""
    return [f"{word}-{width}" if word == "merged" else word for word in arguments]


def _same(text):
    return re.sub(r"merged-\w+", "merged", text)


def test_names_of_sixty_letters_are_told_apart_at_sixty_columns_and_written_out(folder, show):
    names = write_crowd(folder, 20)
    text = show(["score", "traces.csv", *READ], "60")
    rows = [line.split()[1] for line in text.splitlines() if re.match(r" +\d+  \S", line)]
    assert len(set(rows)) == len(rows) == 20
    assert all(name in text for name in names)


@pytest.mark.slow
def test_every_table_of_an_analysis_keeps_to_the_width(folder, show):
    write_crowd(folder, 4)
    wide = show(["analyse", "traces.csv", *READ, "--all"], "100000")
    for width in WIDTHS:
        check_laws("analyse", show(["analyse", "traces.csv", *READ, "--all"], width), wide, width)
    made = [name for name in TABLES if name in ("health", "pooled", "contrasts", "robustness", "power", "ranks")]
    for name in made:
        assert show(["analyse", "traces.csv", *READ, "--table", name], "80").strip() != ""


def test_commands_without_traces_keep_to_the_width(folder, show):
    (folder / "old.csv").write_text(
        f"instance,value,certified,source\ni1,10,true,paper A\n{'x' * 60},20.125,false,run\n"
    )
    (folder / "new.csv").write_text(f"instance,value,certified,source\ni1,10,true,B\n{'x' * 60},19.5,false,a team\n")
    write_study(folder / "study")
    for name, arguments in ALONE.items():
        answers = {}
        for width in (*WIDTHS, *(["100000"] if name not in DRAWN else [])):
            for file in ("old.json", "new.json", "folded.json"):
                if file in arguments[-1:] and name in ("freeze", "freeze-new", "fold"):
                    (folder / file).unlink(missing_ok=True)
            answers[width] = show(arguments, width)
        for width in WIDTHS:
            check_laws(name, answers[width], answers.get("100000", ""), width)
        if name in STORED_ALONE:
            assert_as_stored(f"{name}-60", answers["60"])


def test_commands_of_a_study_that_ran_keep_to_the_width(folder, show):
    names = crowd_names(4)
    with live_study(folder / "study", arms=tuple(names)) as study:
        for arm in names:
            study.run(f"{arm}/i1/1", [(1.0, 12.0), (2.0, 11.0)])
    for arguments in (["status", "study"], ["watch", "study", "--once"]):
        wide = show(arguments, "100000")
        for width in WIDTHS:
            narrow = show(arguments, width)
            # The time of day stands in front of an event.
            check_laws(arguments[0], *(re.sub(r"\d\d:\d\d:\d\d", "", text) for text in (narrow, wide)), width)


@pytest.mark.slow
def test_what_verify_replicate_and_paper_say_keeps_to_the_width(folder, show):
    (folder / "ruled").mkdir()
    write_ruled_study(folder / "ruled", ran=False)
    wide = show(["verify", "ruled"], "100000")
    for width in WIDTHS:
        check_laws("verify", show(["verify", "ruled"], width), wide, width)
    sixty = "kayros-adaptive-large-neighbourhood-search-with-restarts-v10"
    told = Measured(instances=8, difference=-0.2, low=-0.3, high=-0.1)
    one = Conclusion(a=sixty, b="b", declared=True, old=told, new=told, order_agrees=True, agreement=Agreement.AGREES)
    shift = Shift(arm=sixty, panel="p", instances=4, old=0.1, new=0.2, shift=0.1, tier=1)
    for table in (conclusion_table(found(conclusions=(one,))), shift_table(found(shifts=(shift,)))):
        assert ragged(table) == []
        whole = to_text(table)
        for width in (60, 80, 120):
            lines = ["".join(span.text for span in line) for line in fitted_lines(table, width)]
            check_laws("replicate", "\n".join(lines), whole, width)
    assert beyond(show(["paper", "-o", "a-folder-with-a-name-of-some-letters", "--format", "svg"], "60"), 60) == []


STORED = {
    "score-60": (OF_TRACES["intervals"], "60"),
    "score-80": (OF_TRACES["intervals"], "80"),
    "score-120": (OF_TRACES["intervals"], "120"),
    "score-piped": (OF_TRACES["intervals"], None),
    "analyse-80": (OF_TRACES["summary"], "80"),
    "curve-60": (OF_TRACES["curve"], "60"),
    "groups-60": (OF_TRACES["groups"], "60"),
    "both-80": (OF_TRACES["both"], "80"),
    "runs-60": (OF_TRACES["runs"], "60"),
    "ecdf-80": (OF_TRACES["ecdf"], "80"),
    "difference-60": (OF_TRACES["difference"], "60"),
    "export-60": (OF_TRACES["export"], "60"),
    "merge-60": (OF_TRACES["merge"], "60"),
    "scale-60": (ALONE["scale"], "60"),
    "compare-60": (OF_TRACES["compare"], "60"),
    "plan-80": (OF_TRACES["plan"], "80"),
    "dry-run-60": (OF_TRACES["dry-run"], "60"),
}


@pytest.mark.parametrize("name", STORED)
def test_an_output_reads_as_it_was_stored(folder, show, name):
    arguments, width = STORED[name]
    assert_as_stored(name, show(_of_arms(arguments, write_crowd(folder, 4)), width))


def assert_as_stored(name, text):
    """Compare an output with the one that lies in `outputs/`, or write it there."""
    place = OUTPUTS / f"{name}.txt"
    if os.environ.get("GAPLINE_OVERWRITE"):
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, encoding="utf-8")
    assert text == place.read_text(encoding="utf-8")
