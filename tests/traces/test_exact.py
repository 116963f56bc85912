"""An integer beyond 2^53 is kept as it is or refused, in every carrier: never rounded without a word."""

import json

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gapline as gl
from gapline.checkers.python import PythonChecker
from gapline.checkers.verdict import CheckerFailure
from gapline.errors import SnapshotError, TraceError
from gapline.references.freeze import freeze
from gapline.traces.candidates import not_exact

BIG = 2**53 + 1
ROW = {"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 9.0, "horizon": 30.0}
FORMS = ["csv", "jsonl", "parquet", "arrow", "records", "frame"]


def given_as(form, folder, rows):
    """Return rows in a carrier, their numbers in the types that they have."""
    path = folder / f"t.{form}"
    if form == "records":
        return rows
    if form == "csv":
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    elif form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        frame = pl.DataFrame(rows)
        if form == "frame":
            return frame
        (frame.write_parquet if form == "parquet" else frame.write_ipc)(path)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_an_objective_that_no_double_holds_is_a_named_rejection(form, tmp_path):
    source = given_as(form, tmp_path, [ROW | {"objective": BIG}, ROW | {"objective": BIG - 1, "time": 2.0}])
    campaign = gl.read(source)
    assert campaign.diagnostics.rejected == {"objective not exact": 1}
    assert "an objective that a double holds (each integer up to 2^53), got" in campaign.diagnostics.problems[0]
    assert str(BIG) in campaign.diagnostics.problems[0]
    assert gl.build_envelopes(campaign).objective.tolist() == [float(BIG - 1)]
    assert float(BIG) not in campaign.objective[:1].tolist()
    with pytest.raises(TraceError, match="--strict"):
        gl.read(source, strict=True)


@pytest.mark.parametrize("form", FORMS)
def test_a_time_that_no_double_holds_is_a_named_rejection(form, tmp_path):
    source = given_as(form, tmp_path, [ROW | {"time": BIG}, ROW | {"time": 2}])
    assert gl.read(source).diagnostics.rejected == {"time not exact": 1}


@pytest.mark.parametrize("form", ["csv", "jsonl", "records"])
def test_among_floats_too(form, tmp_path):
    """A column of integers and floats becomes floats: the integers in it must survive that."""
    rows = [ROW | {"objective": BIG}, ROW | {"objective": 0.5, "time": 2.0}]
    campaign = gl.read(given_as(form, tmp_path, rows))
    assert campaign.diagnostics.rejected == {"objective not exact": 1}
    assert gl.build_envelopes(campaign).objective.tolist() == [0.5]


@pytest.mark.parametrize("name", ["bound", "claimed", "primary", "secondary"])
def test_a_bound_or_component_that_no_double_holds_is_left_out_and_named(name):
    campaign = gl.read([ROW | {name: BIG}])
    assert campaign.diagnostics.problem_count == 1
    assert f"expected a {name} that a double holds" in campaign.diagnostics.problems[0]
    assert campaign.objective.tolist() == [9.0]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seed", [BIG, 2**63 - 1, -(2**63), -BIG])
def test_seeds_of_64_bits_are_kept_exactly(form, seed, tmp_path):
    rows = [ROW | {"seed": seed}, ROW | {"seed": seed ^ 1}]
    assert set(gl.read(given_as(form, tmp_path, rows)).runs["seed"]) == {seed, seed ^ 1}


@pytest.mark.parametrize("form", ["csv", "jsonl", "records"])
@pytest.mark.parametrize("seed", [2**63, 2**64 + 1, -(2**63) - 1])
def test_seeds_beyond_64_bits_are_refused(form, seed, tmp_path):
    with pytest.raises(TraceError, match="expected a whole number in every seed"):
        gl.read(given_as(form, tmp_path, [ROW | {"seed": seed}]))


def test_a_seed_that_went_through_floats_and_may_be_another_is_refused():
    """What a table with a blank cell in pandas does to its integers."""
    with pytest.raises(TraceError, match="expected a whole number in every seed"):
        gl.read(pl.DataFrame([ROW | {"seed": float(2**53 + 2)}]))
    assert gl.read(pl.DataFrame([ROW | {"seed": 7.0}])).runs["seed"].to_list() == [7]


@pytest.mark.parametrize("cells", [["9" * 25, "1"], [str(BIG), "0.5"]])
def test_a_further_column_of_such_numbers_stays_text(cells):
    rows = [ROW | {"seed": k, "build": cell} for k, cell in enumerate(cells)]
    assert gl.read(rows).runs["build"].to_list() == cells


def test_a_reference_that_no_double_holds_is_refused(tmp_path):
    (tmp_path / "refs.csv").write_text(f"instance,value\ni,{BIG}\nj,{BIG - 1}\nk,{BIG}.0\n")
    with pytest.raises(SnapshotError, match=rf"refs.csv:2: expected a number that a double holds in value, got {BIG}$"):
        gl.read_references(tmp_path / "refs.csv")


@pytest.mark.parametrize(
    ("store", "name", "text"),
    [
        ("solu", "refs.solu", f"=opt= i {BIG}\n"),
        ("history", "h.csv", f"date,instance,value\n2026-01-01,i,{BIG}\n"),
        ("cvrplib", "i.sol", f"Route #1: 1\nCost {BIG}\n"),
    ],
)
def test_a_store_whose_value_no_double_holds_is_refused(store, name, text, tmp_path):
    (tmp_path / name).write_text(text)
    place = tmp_path if store == "cvrplib" else tmp_path / name
    with pytest.raises(SnapshotError, match=rf"expected a (number|cost) that a double holds.*, got {BIG}"):
        freeze(f"{store}:{place}", name="s")
    (tmp_path / name).write_text(text.replace(str(BIG), str(BIG - 1)))
    assert [one.value for one in freeze(f"{store}:{place}", name="s").snapshot.values.values()] == [float(BIG - 1)]


def test_a_value_at_hand_that_no_double_holds_is_refused():
    with pytest.raises(SnapshotError, match=rf"expected a number that a double holds for i, got {BIG}"):
        gl.Snapshot.from_values({"i": BIG}, name="s")


def test_a_recorded_objective_that_no_double_holds_is_a_counted_rejection(tmp_path):
    """The journal of a run is read by the same lines."""
    with gl.record(tmp_path / "t.jsonl", arm="a", instance="i", seed=1, horizon=30) as trace:
        trace.add(BIG)
        trace.add(BIG - 1, bound=BIG)
    campaign = gl.read(tmp_path / "t.jsonl")
    assert campaign.diagnostics.rejected == {"objective not exact": 1}
    assert gl.build_envelopes(campaign).objective.tolist() == [float(BIG - 1)]
    assert campaign.bound is None or float(BIG) not in campaign.bound.tolist()


@pytest.mark.parametrize("form", ["olines", "hgs", "minizinc"])
def test_an_objective_of_a_log_that_no_double_holds_is_a_counted_rejection(form, tmp_path):
    logs = {
        "olines": f"c wall time: 1.0\no {BIG}\nc wall time: 2.0\no {BIG - 1}\ns SATISFIABLE\n",
        "hgs": f"i.vrp;1;{BIG};1\ni.vrp;1;{BIG - 1};2\n",
        "minizinc": "".join(
            f'{{"type": "solution", "time": {t}000, "output": {{"json": {{"_objective": {z}}}}}}}\n'
            for t, z in ((1, BIG), (2, BIG - 1))
        ),
    }
    (tmp_path / "run.log").write_text(logs[form])
    given = {"arm": "a", "instance": "i", "seed": 1, "horizon": 30.0}
    campaign = gl.import_logs([tmp_path / "run.log"], format=form, **given).campaign
    assert campaign.diagnostics.rejected == {"objective not exact": 1}
    assert gl.build_envelopes(campaign).objective.tolist() == [float(BIG - 1)]


@pytest.mark.parametrize(("found", "shown"), [(BIG, BIG), (10**400, "a huge number")])
def test_a_checker_that_recomputes_such_an_integer_fails_and_the_candidate_stays_unchecked(found, shown):
    with pytest.raises(CheckerFailure, match=rf"expected an objective that a double holds .*, got {shown}$"):
        PythonChecker("mine", lambda *_: found, "1").check("i", [])


powers = st.integers(0, 80).map(lambda n: 2**n)


@given(st.integers(-(2**64), 2**64) | powers | powers.map(lambda n: n + 1))
@example(2**53)
@example(BIG)
@example(-BIG)
@example(10**22)
@example(10**23)
def test_exact_is_what_python_says(number):
    exact = int(float(number)) == number
    assert not_exact(pl.Series([str(number), "x", "1e5", None])).tolist() == [not exact, False, False, False]
    assert not_exact(pl.Series([number], dtype=pl.Int128)).tolist() == [not exact]
    assert not_exact(pl.Series([number], dtype=pl.Decimal(38, 0))).tolist() == [not exact]
