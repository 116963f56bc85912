"""MiniZinc: text with times above or below the separator, the JSON stream, every ending."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foreign_logs import bounds, candidates, mutated, read_log, survive
from gapline.errors import TraceError
from gapline.logs.readers.minizinc import READER, UNVALUED_NOTE
from gapline.testing.readers import ReaderConformance
from profiles import examples

TEXT = """x = [1, 2, 3];
_objective = 40;
% time elapsed: 0.35 s
----------
x = [1, 3, 3];
obj = 999;
_objective = 38;
% time elapsed: 0.35 s
----------
x = [0, 3, 3];
_objective = -2.5;
% time elapsed: 12.10 s
----------
==========
% time elapsed: 14.02 s
%%%mzn-stat: objective=-2.5
%%%mzn-stat: objectiveBound=-2.5
%%%mzn-stat: method="minimize"
%%%mzn-stat-end
"""

STREAM = """{"type": "statistics", "statistics": {"method": "maximize", "flatTime": 0.1}}
{"type": "solution", "output": {"json": {"x": [1], "_objective": 3}}, "sections": ["json"], "time": 350}
{"type": "solution", "output": {"dzn": "x = [2];\\n_objective = 5;\\n"}, "sections": ["dzn"], "time": 350}
{"type": "solution", "output": {"default": "objective = 8\\n"}, "sections": ["default"], "time": 1200}
{"type": "statistics", "statistics": {"objective": 8, "objectiveBound": 9.5}}
{"type": "status", "status": "UNKNOWN", "time": 2000}
"""


def test_text_with_objective_and_time_in_each_block():
    found = read_log(READER, TEXT)
    (run,) = found.runs
    assert READER.looks_like("x", TEXT.encode())
    assert candidates(run) == [(0.35, 40), (0.35, 38), (12.1, -2.5)]
    assert bounds(run) == [(14.02, -2.5)]
    assert (run.status, run.sense, run.clock, run.horizon) == ("finished", "min", "wall", None)
    assert run.resolution == pytest.approx(0.01)
    assert found.problems == []


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        (TEXT, "optimal"),
        (TEXT.replace('"minimize"', '"satisfy"'), None),
        (TEXT.replace("==========", "=====UNKNOWN====="), None),
        ("=====UNSATISFIABLE=====\n", "infeasible"),
        (STREAM, None),
        (STREAM.replace("UNKNOWN", "OPTIMAL_SOLUTION"), "optimal"),
        ('{"type": "status", "status": "UNSATISFIABLE"}\n', "infeasible"),
        ('{"type": "status", "status": "UNSAT_OR_UNBOUNDED"}\n', None),
    ],
)
def test_what_the_end_of_the_search_proves(text, claim):
    (run,) = read_log(READER, text).runs
    assert run.carried.get("claim") == claim


def test_times_below_the_separator_belong_to_the_solution_above():
    text = "_objective = 4;\n----------\n% time elapsed: 1 s\n_objective = 7;\n----------\n% time elapsed: 2 s\n"
    found = read_log(READER, text)
    (run,) = found.runs
    assert candidates(run) == [(1.0, 4.0), (2.0, 7.0)]
    # Whole seconds, and a rising objective without statistics.
    assert (run.resolution, run.sense, run.status) == (1.0, "max", "unknown")
    assert "read as max" in found.notes[0]


def test_a_solution_without_objective_or_time_is_counted():
    found = read_log(READER, "x = 1;\n% time elapsed: 1.0 s\n----------\n_objective = 3;\n----------\n==========\n")
    assert found.runs[0].reason == ["objective missing", "time missing"]
    assert len(found.problems) == 2
    assert candidates(found.runs[0]) == []


@pytest.mark.parametrize(
    ("ending", "status"),
    [
        ("==========", "finished"),
        ("=====UNSATISFIABLE=====", "finished"),
        ("=====UNKNOWN=====", "unknown"),
        ("% Time limit exceeded!", "time-limit"),
        ("=====UNKNOWN=====\n% Time limit exceeded!", "time-limit"),
        ("=====ERROR=====", "crashed"),
    ],
)
def test_a_run_without_solutions_is_empty_and_has_its_ending(ending, status):
    (run,) = read_log(READER, ending + "\n").runs
    assert len(run.time) == 0
    assert run.status == status


def test_several_runs_in_one_text():
    found = read_log(READER, TEXT + "=====UNKNOWN=====\n" + TEXT.replace("minimize", "maximize"))
    assert [len(candidates(run)) for run in found.runs] == [3, 0, 3]
    assert [run.sense for run in found.runs] == ["min", None, "max"]
    assert [run.where for run in found.runs] == ["run 1", "run 2", "run 3"]


LIMIT = "% Time limit exceeded!\n"


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        (TEXT.partition("==========")[0] + LIMIT, ["time-limit", "finished"]),
        (TEXT.partition("==========")[0], ["unknown", "finished"]),
        (STREAM.rpartition('{"type": "status"')[0], ["killed", "unknown"]),
    ],
)
def test_a_run_without_an_end_ends_where_the_clock_starts_again(text, ends):
    """Two runs that met their limit were one run with the best of both."""
    following = STREAM if text.startswith("{") else TEXT
    whole = [candidates(run) for run in read_log(READER, following).runs]
    found = read_log(READER, text + following)
    assert [candidates(run) for run in found.runs] == whole * 2
    assert [run.where for run in found.runs] == ["run 1", "run 2"]
    assert found.runs[0].carried.get("claim") is None
    assert [run.status for run in found.runs] == ends


def test_a_text_that_breaks_off_inside_a_solution_is_killed():
    (run,) = read_log(READER, TEXT[: TEXT.index("_objective = -2.5")]).runs
    assert candidates(run) == [(0.35, 40), (0.35, 38)]
    assert run.status == "killed"


def test_crlf_changes_nothing():
    assert candidates(read_log(READER, TEXT.replace("\n", "\r\n")).runs[0]) == candidates(
        read_log(READER, TEXT).runs[0]
    )


@pytest.mark.parametrize("bad", ["1,5", "nan", "1e999", "1_000"])
def test_numbers_that_are_none_are_rejected(bad):
    found = read_log(READER, TEXT.replace("_objective = 38", f"_objective = {bad}"))
    assert candidates(found.runs[0]) == [(0.35, 40), (12.1, -2.5)]
    assert len(found.problems) == 1


def test_stream_counts_milliseconds_and_finds_the_objective_in_any_section():
    found = read_log(READER, STREAM)
    (run,) = found.runs
    assert READER.looks_like("x", STREAM.encode())
    assert candidates(run) == [(0.35, 3), (0.35, 5), (1.2, 8)]
    assert bounds(run) == [(2.0, 9.5)]
    assert (run.sense, run.status, run.resolution) == ("max", "unknown", 0.001)


def test_stream_without_a_status_is_killed_and_a_torn_line_is_counted():
    found = read_log(READER, STREAM[: STREAM.index('"objectiveBound"')])
    (run,) = found.runs
    assert len(candidates(run)) == 3
    assert run.status == "killed"
    assert "run.log:5: expected a JSON object" in found.problems[0]


def test_stream_with_several_runs_an_error_and_a_null_objective():
    text = STREAM.replace("UNKNOWN", "OPTIMAL_SOLUTION") + STREAM.replace('"_objective": 3', '"_objective": null')
    found = read_log(READER, text + '{"type": "error", "what": "bad"}\n')
    assert [run.status for run in found.runs] == ["finished", "crashed"]
    assert [len(candidates(run)) for run in found.runs] == [3, 2]


def test_hostile_streams_stay_bounded():
    survive(READER, b'{"type": "solution", "output": ' + b"[" * 100_000)
    survive(READER, b'{"type": "solution", "time": ' + b"9" * 10_000 + b"}")
    survive(READER, b"% time elapsed: " + b"9" * 5_000_000)


def test_the_last_statistics_before_a_solution_are_its_own():
    stats = "%%%mzn-stat: objective=1e+308\n%%%mzn-stat-end\n%%%mzn-stat: objective=51\n%%%mzn-stat-end\n"
    found = read_log(READER, stats + "x = 3;\n% time elapsed: 2.50 s\n----------\n==========\n")
    assert candidates(found.runs[0]) == [(2.5, 51.0)]
    found = read_log(READER, "_objective = 48;\n" + stats + "% time elapsed: 2.50 s\n----------\n==========\n")
    assert candidates(found.runs[0]) == [(2.5, 48.0)]


STATS = "%%%mzn-stat: objective={}\n%%%mzn-stat-end\n"


@pytest.mark.parametrize("again", [1, 2])
@pytest.mark.parametrize("end", ["==========\n", "", "=====UNKNOWN=====\n"])
def test_statistics_behind_a_solution_are_its_own_where_it_has_no_others(again, end):
    """Each objective went to the next solution, and that of the first was missing."""
    one = "x = 3;\n% time elapsed: {}.0 s\n----------\n"
    text = "".join(one.format(time) + STATS.format(value) * again for time, value in ((1, 9), (2, 7), (3, 4)))
    found = read_log(READER, text + end)
    assert candidates(found.runs[0]) == [(1.0, 9.0), (2.0, 7.0), (3.0, 4.0)]
    assert not found.problems
    stream = "".join(
        f'{{"type": "solution", "output": {{"default": "x = 3;"}}, "time": {time}000}}\n'
        + f'{{"type": "statistics", "statistics": {{"objective": {value}}}}}\n' * again
        for time, value in ((1, 9), (2, 7), (3, 4))
    )
    assert candidates(read_log(READER, stream).runs[0]) == [(1.0, 9.0), (2.0, 7.0), (3.0, 4.0)]


@pytest.mark.parametrize("end", ["==========\n", "", "Finished in 3s 12msec\n"])
def test_statistics_before_a_run_are_not_those_of_the_run_before(end):
    def one(method: str, value: int) -> str:
        head = f'% Generated FlatZinc statistics:\n%%%mzn-stat: method="{method}"\n%%%mzn-stat-end\n\n'
        return head + f"_objective = {value};\n% time elapsed: 0.50 s\n----------\n" + end

    found = read_log(READER, one("minimize", 9) + one("maximize", 4))
    assert [(run.sense, candidates(run)) for run in found.runs] == [("min", [(0.5, 9.0)]), ("max", [(0.5, 4.0)])]
    assert {run.status for run in found.runs} == {"finished" if "=" in end else "unknown"}


def test_another_text_is_refused():
    with pytest.raises(TraceError, match=r"run\.log: expected MiniZinc's output"):
        read_log(READER, "hello\n")
    assert not READER.looks_like("x", b"a table\n----------\nof ours\n")
    assert not READER.looks_like("x", b'{"type": "Feature"}')


@settings(max_examples=examples(150), deadline=None)
@given(st.binary(max_size=200) | mutated(TEXT.encode()) | mutated(STREAM.encode()))
def test_broken_output_is_survived(data):
    survive(READER, data)


def message(output, time, kind="solution"):
    name = "output" if kind == "solution" else "statistics"
    return json.dumps({"type": kind, name: output, "time": time}) + "\n"


@pytest.mark.parametrize(
    "outputs",
    [
        # A model with an output item of its own, and the objective in another section, of any name, or beside them.
        [{"default": "cost so far 7\n", "json": {"x": [1, 2], "_objective": value}} for value in (9, 7)],
        [{"default": "route: 1 2 3\n", "dzn": f"x = [1, 2];\n_objective = {value};\n"} for value in (9, 7)],
        [{"default": "obj = 1\n", "objective_section": f"_objective = {value};\n"} for value in (9, 7)],
        [{"default": "route: 1 2 3\n", "_objective": value} for value in (9, 7)],
        # MiniZinc 2.8 printed a JSON section as a text.
        [{"json": f'{{ "x" : [1, 2], "_objective" : {value} }}', "default": "tour\n"} for value in (9, 7)],
        [{"default": f'{{\n  "x" : [1, 2],\n  "_objective" : {value}\n}}\n'} for value in (9, 7)],
    ],
)
def test_a_stream_of_a_model_with_its_own_output_has_its_objectives(outputs):
    """Sixty solutions were an empty run."""
    text = "".join(message(output, 100 * place) for place, output in enumerate(outputs, start=1))
    found = read_log(READER, text)
    (run,) = found.runs
    assert (candidates(run), list(found.problems)) == ([(0.1, 9.0), (0.2, 7.0)], [])
    assert READER.looks_like("x", text.encode())


def test_a_solution_may_be_longer_than_the_line_of_a_log():
    text = message({"default": "x" * 50_000, "json": {"x": [1] * 9000, "_objective": 7}}, 100)
    found = read_log(READER, text + message({"json": {"x": "y" * (1 << 20), "_objective": 1}}, 200))
    assert candidates(found.runs[0]) == [(0.1, 7.0)]
    # Beyond a limit it is named, and not read.
    assert [problem[:40] for problem in found.problems] == ["run.log:2: expected a JSON object with a"]


def test_statistics_before_a_solution_have_its_objective_where_the_output_has_none():
    text = message({"objective": 9}, 50, "statistics") + message({"default": "tour 1 2\n"}, 100)
    text += message({"objective": 7}, 150, "statistics") + message({"default": "tour 2 1\n"}, 200)
    found = read_log(READER, text + message({"default": "tour 2 1\n"}, 300))
    (run,) = found.runs
    assert candidates(run) == [(0.1, 9.0), (0.2, 7.0)]
    # The third solution has none: it is counted as rejected, and the note says what to do.
    assert len(found.problems) == 1
    assert UNVALUED_NOTE in found.notes


def test_output_as_json_in_the_text():
    blocks = [
        '{\n  "x" : [1, 2],\n  "_objective" : 9\n}\n',
        '{"obj" : 3, "_objective" : 7, "x" : 1}\n',
        '{"x" : 1, "_objective" : 6}\n',
        'tour 1 2\n"_objective": 5,\n',
    ]
    text = "".join(f"{block}% time elapsed: {at}.00 s\n----------\n" for at, block in enumerate(blocks, start=1))
    found = read_log(READER, text + "==========\n")
    assert candidates(found.runs[0]) == [(1, 9), (2, 7), (3, 6), (4, 5)]
    assert (found.runs[0].carried["claim"], list(found.problems)) == ("optimal", [])


@pytest.mark.parametrize("number", ["-1,0641e+05", "1_000", "nan", "12abc"])
def test_an_objective_is_read_whole_or_rejected(number):
    found = read_log(READER, f"_objective = {number};\n% time elapsed: 1.00 s\n----------\n")
    assert (candidates(found.runs[0]), len(found.problems)) == ([], 1)


class TestConformance(ReaderConformance):
    reader = READER
    sample = TEXT.encode()
    candidates = ((0.35, 40.0), (0.35, 38.0), (12.1, -2.5))
    proofs = (b"==========",)


class TestStreamConformance(ReaderConformance):
    reader = READER
    sample = STREAM.replace("UNKNOWN", "OPTIMAL_SOLUTION").encode()
    candidates = ((0.35, 3.0), (0.35, 5.0), (1.2, 8.0))
    proofs = (b"OPTIMAL_SOLUTION",)
