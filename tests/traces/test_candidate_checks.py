"""Candidates that are all late, rejected or unreadable: refused, confirmed, or said of one of several arms."""

import json

import numpy as np
import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.envelope.build import build_envelopes
from gapline.errors import TraceError

HEADER = "arm,instance,seed,time,objective,valid,horizon"
GOOD = "good,i,1,1,20,true,60\ngood,i,1,2,19,true,60\n"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\nj,10\n")

    def write(rows, header=HEADER):
        (tmp_path / "t.csv").write_text(f"{header}\n{rows}")
        return "t.csv"

    return write


def rows(arm, *cells):
    """Write rows of an arm, each time, objective and verdict, with and without a horizon of their own."""
    return "".join(f"{arm},i,1,{cell},60\n" for cell in cells)


LATE, FAR = rows("bad", "61,20,true", "500,19,true"), rows("bad", "601,20,true")
REJECTED = rows("bad", "1,20,false", "2,,no")
NEGATIVE = rows("bad", "-1,20,true", "-2,19,true")
UNREADABLE = rows("bad", "0.5s,20,true", "2s,19,true")
NO_NUMBER = rows("bad", "1,cheap,true", "2,cheaper,true")
SILENT = "arm,instance,seed,time,objective,valid"


def without_horizon(text):
    return "".join(f"{line.rpartition(',')[0]}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    ("cells", "words", "confirmed"),
    [
        (FAR, "expected the last candidates near the horizon, got one at 601 s in run bad/i/1, 10 times its", False),
        (LATE, "all 2 candidates are later than the horizon (run bad/i/1: at 61 s, its horizon is 60 s)", True),
        (REJECTED, "all 2 candidates are rejected (declared invalid 2)", True),
        (NEGATIVE, "rejected (time negative 2); the first: t.csv:2: expected a time of 0 or more, got '-1'", True),
        (UNREADABLE, "t.csv:2: expected a time in seconds, got '0.5s': none of 2 times can be read", False),
        (NO_NUMBER, "t.csv:2: expected an objective, got 'cheap': none of 2 objectives can be read", False),
    ],
)  # fmt: skip
def test_a_source_of_which_no_candidate_counts_is_refused(cells, words, confirmed, source):
    path = source(cells)
    with pytest.raises(TraceError) as refused:
        gl.read(path)
    assert words in refused.value.message
    with pytest.raises(TraceError) as refused:
        gl.open_study(path, references="refs.csv")
    assert words in refused.value.message
    # Only what `--allow-empty` confirms names it.
    assert ("--allow-empty" in refused.value.hint) == confirmed
    if not confirmed:
        with pytest.raises(TraceError):
            gl.read(path, allow_empty=True)
        return
    study = gl.open_study(path, references="refs.csv", allow_empty=True)
    assert study.scores[0].frame["squeezed"].to_list() == [1.0]
    assert any(note.startswith("bad: all 2 candidates are ") for note in study.notes())


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (LATE, "bad: all 2 candidates are later than the horizon"),
        (REJECTED, "bad: all 2 candidates are rejected (declared invalid 2); its runs count as empty"),
        (NEGATIVE, "bad: all 2 candidates are rejected (time negative 2)"),
        (UNREADABLE, "some times look like 0.5s: --time-unit s reads them"),
        (UNREADABLE, "bad: all 2 candidates are rejected (time not a number 2)"),
        (NO_NUMBER, "bad: all 2 candidates are rejected (objective not a number 2)"),
    ],
)  # fmt: skip
def test_one_of_several_arms_is_ranked_as_it_is_with_a_note(cells, words, source):
    study = gl.open_study(source(GOOD + cells), references="refs.csv")
    assert any(words in note for note in study.notes())
    assert study.ranking.frame.select("rank", "arm").rows() == [(1, "good"), (2, "bad")]
    # Not where times cannot be in the unit of the horizon.
    with pytest.raises(TraceError, match="10 times its horizon"):
        gl.open_study(source(GOOD + FAR), references="refs.csv")


def test_a_horizon_that_only_an_option_states_gives_a_warning_first(source):
    path = source(without_horizon(GOOD + FAR), SILENT)
    study = gl.open_study(path, references="refs.csv", horizon=60)
    notes = " ".join(study.notes())
    assert "candidates are far later than --horizon, one at 601 s in run bad/i/1, 10 times its horizon of 60 s" in notes
    assert "bad: the only candidate is later than the horizon" in notes
    every = source(without_horizon(LATE + FAR), SILENT)
    with pytest.raises(TraceError, match="all 3 candidates are later than the horizon") as refused:
        gl.open_study(every, references="refs.csv", horizon=60)
    assert refused.value.hint.startswith("--time-unit ms if times are milliseconds; --allow-empty")
    with pytest.raises(TraceError, match="all 3 candidates are later"):
        build_envelopes(gl.read(every), horizon=60)
    assert build_envelopes(gl.read(every), horizon=60, allow_empty=True).runs["steps"].to_list() == [0]


def test_a_shorter_horizon_chosen_for_scoring_judges_nothing(source):
    study = gl.open_study(source(GOOD), references="refs.csv", horizon=0.5)
    assert study.scores[0].frame["squeezed"].to_list() == [1.0]
    far = source(rows("bad", "59,20,true"))
    assert gl.open_study(far, references="refs.csv", horizon=1).scores[0].frame["squeezed"].to_list() == [1.0]


def test_a_row_with_a_bound_alone_is_no_candidate(source):
    header = "arm,instance,seed,time,objective,bound,horizon"
    only_bounds = gl.read(source("a,i,1,1,,5,60\na,i,1,9000,,6,60\na,i,1,soon,,7,60\n", header))
    assert (only_bounds.diagnostics.candidates, only_bounds.diagnostics.rejected_count) == (0, 0)
    # A bound at no time is a problem all the same.
    assert only_bounds.diagnostics.problem_count == 1
    with pytest.raises(TraceError, match="the only candidate is rejected"):
        gl.read(source("a,i,1,1,,5,60\na,i,1,-2,9,,60\n", header))


def test_a_source_without_any_candidate_is_no_error(source, capsys):
    path = source("a,i,1,,,,60\nb,i,1,,,,60\n")
    assert run(["score", path, "--references", "refs.csv", "--json"]) == 0
    assert [arm["empty"] for arm in json.loads(capsys.readouterr().out)["arms"]] == [1, 1]


def test_runs_of_which_several_files_tell_are_judged_together(source, tmp_path):
    """A file of one run that was rejected is no reason to refuse the others."""
    source(GOOD)
    (tmp_path / "u.csv").write_text(f"{HEADER}\ngood,j,1,1,20,false,60\n")
    assert len(gl.read(["t.csv", "u.csv"])) == 2
    # How its times are written is that of a file, whatever others hold.
    (tmp_path / "u.csv").write_text(f"{HEADER}\ngood,j,1,0:01:10,20,true,60\ngood,j,1,0:01:11,20,true,60\n")
    with pytest.raises(TraceError, match="got '0:01:10'") as refused:
        gl.read(["t.csv", "u.csv"])
    assert refused.value.hint == "--time-unit clock reads times such as 0:01:10"


def test_every_command_refuses_with_the_option_that_confirms(source, tmp_path, capsys):
    path = source(REJECTED + REJECTED.replace("bad", "worse"))
    references, out = ["--references", "refs.csv"], ["-o", str(tmp_path / "out")]
    for words in (
        ["score", path, *references], ["curve", path, *references], ["analyse", path, *references],
        ["compare", f"{path}:bad", f"{path}:worse", *references], ["report", path, *references, *out],
        ["import", path, "-o", str(tmp_path / "campaign")],
    ):  # fmt: skip
        assert run(words) == 1
        said = capsys.readouterr().err
        assert "all 4 candidates are rejected (declared invalid 4)" in said
        assert "--allow-empty scores these runs as runs that found nothing" in said
        if words[0] in ("score", "import"):
            assert run([*words, "--allow-empty"]) == 0
            capsys.readouterr()
    assert run(["score", str(tmp_path / "campaign"), *references]) == 1
    capsys.readouterr()


def test_an_import_judges_a_horizon_of_its_own_option(source, tmp_path, capsys):
    path = source(without_horizon(GOOD + FAR), SILENT)
    assert run(["import", path, "--horizon", "60", "-o", str(tmp_path / "c")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "candidates are later than 10 times the horizon of 60 s, which only --horizon states" in said
    assert "--time-unit ms" in said
    assert run(["import", path, "--horizon", "0.5", "-o", str(tmp_path / "d")]) == 1
    assert "all 3 candidates are later than the horizon" in capsys.readouterr().err


def test_parts_and_filtered_runs_are_judged_alike():
    """Runs in parts, and some of the runs of a campaign, whose columns hold others too."""
    from gapline.traces.candidate_checks import check_accepted

    runs = [{"arm": f"a{k}", "instance": "i", "seed": 1, "trace": [(k, 9.0), (2 * k, 8.0)]} for k in range(1, 5)]
    campaign = gl.Campaign.from_runs(runs)
    notes = check_accepted(campaign, np.full(4, 2.5), allow_empty=False)
    assert [note.partition(":")[0] for note in notes] == ["a3", "a4"]
    some = campaign.filter(arm=["a3", "a4"])
    with pytest.raises(TraceError, match="all 4 candidates are later"):
        check_accepted(some, np.full(2, 2.5), allow_empty=False)
