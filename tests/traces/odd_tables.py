"""Tables as hypothesis makes them, clean or with odd cells, and all that reading one says."""

import json

import polars as pl
from hypothesis import strategies as st

import gapline as gl
from gapline.errors import TraceError
from gapline.traces import blocks, json_lines, neutral, parquet_process

NAMES = ["arm", "instance", "seed", "time", "objective", "valid", "horizon"]
CLEAN = {
    "arm": ["a", "b", "a b"],
    "instance": ["i", "X-n1", "j"],
    "seed": ["1", "2"],
    "time": ["0.5", "1", "2.25", "3e1", "0"],
    "objective": ["12.5", "-3", "1e6", ".5"],
    "valid": ["true", "false", ""],
    "horizon": ["60"],
    "reason": ["", "too heavy"],
    "bound": ["", "1.5", "7"],
    "threads": ["1", "1.0"],
}
ODD = {
    "arm": [" a", '"a"'],
    "seed": ["x", "1.5", ""],
    "time": ["", " ", "-1", "-0", "inf", "nan", "x", "1e400", " 2", "2 ", "9007199254740993", "1,5", '"3"', '""'],
    "objective": ["", " ", "nan", "-inf", "x", "1_0", "9007199254740993", "9007199254740992", "0x1", "1e400", "+7"],
    "valid": ["T", " no ", "maybe", "1"],
    "horizon": ["", "x", "-1", "61"],
    "bound": ["x", "inf", "9007199254740993", " "],
    "threads": ["2", ""],
}
# Bytes of a block: a row, about seven of them, everything.
SIZES = [1, 200, 1 << 30]


@st.composite
def tables(draw):
    """Draw the names of columns and rows of text; about half of the tables have an odd cell or some."""
    names = NAMES + draw(st.lists(st.sampled_from(["reason", "bound", "threads"]), unique=True))
    odd = draw(st.booleans())
    rows = []
    for _ in range(draw(st.integers(1, 25))):
        row = {name: draw(st.sampled_from(CLEAN[name])) for name in names}
        if odd and draw(st.integers(0, 5)) == 0:
            name = draw(st.sampled_from([name for name in names if name in ODD]))
            row[name] = draw(st.sampled_from(ODD[name]))
        rows.append(row)
    order = draw(st.sampled_from(["as drawn", "by run", "by run and time"]))
    if order != "as drawn":
        rows.sort(key=lambda row: (row["arm"], row["instance"], row["seed"], row["time"] * (order != "by run")))
    return names, rows


def as_csv(names, rows, *, end="\n"):
    lines = [",".join(names), *(",".join(f'"{row[n]}"' if "," in row[n] else row[n] for n in names) for row in rows)]
    return ("\n".join(lines) + end).encode()


def as_jsonl(names, rows):
    """Write cells that are JSON as what they are, and others as text, or as they are where Python's JSON has them."""

    def cell(text):
        if text in ("", "inf", "nan", "-inf"):
            return {"": "null", "inf": "Infinity", "-inf": "-Infinity", "nan": "NaN"}[text]
        try:
            json.loads(text)
        except ValueError:
            return json.dumps(text)
        return text

    return "".join("{" + ",".join(f'"{n}":{cell(row[n])}' for n in names) + "}\n" for row in rows).encode()


def as_frame(names, rows):
    """Return columns of numbers where all cells are such, as a Parquet file has them, else text."""
    table = pl.DataFrame(
        {name: [row[name] or None for row in rows] for name in names}, schema=dict.fromkeys(names, pl.String)
    )
    numbers = {name: table[name].cast(pl.Float64, strict=False) for name in names if name not in ("arm", "instance")}
    return table.with_columns(n for name, n in numbers.items() if n.null_count() == table[name].null_count())


def outcome(path):
    """Return everything that reading a file gives: the campaign to the bit, and every word that is said."""
    try:
        campaign = gl.read(path)
    except TraceError as error:
        return str(error)
    columns = {name: (column.dtype.str, column.tobytes()) for name, column in campaign.columns.items()}
    return (
        campaign.digest(),
        campaign.diagnostics,
        columns,
        campaign.runs.schema,
        campaign.runs.rows(),
        campaign.reasons,
    )


def in_blocks(monkeypatch, size):
    for module in (blocks, json_lines):
        monkeypatch.setattr(module, "BLOCK", size)
    monkeypatch.setattr(neutral, "SLICE", size)
    monkeypatch.setattr(parquet_process, "PIECE", size)
