"""One small trace in every carrier that can hold it, and a CSV file of given rows."""

import gzip
import json

import polars as pl
import pytest

HEADER = "arm,instance,seed,time,objective,valid,panel,horizon"


ROWS = [
    ("a", "i", 1, 0.5, 30.0, True, "p", 30.0),
    ("a", "i", 1, 2.0, 25.5, True, "p", 30.0),
    ("a", "i", 1, 3.0, 20.0, False, "p", 30.0),
    ("a", "j", 1, None, None, None, "q", 60.0),
    ("b", "i", 7, 1.0, 12.0, None, "p", 30.0),
]


NAMES = HEADER.split(",")


def table():
    return pl.DataFrame(ROWS, schema=NAMES, orient="row")


def records():
    return [dict(zip(NAMES, row, strict=True)) for row in ROWS]


def as_csv(folder):
    def cell(value):
        return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

    path = folder / "t.csv"
    path.write_text("\n".join([HEADER, *(",".join(map(cell, row)) for row in ROWS)]) + "\n", encoding="utf-8")
    return path


def as_jsonl(folder):
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records()), encoding="utf-8")
    return path


def as_parquet(folder):
    table().write_parquet(folder / "t.parquet")
    return folder / "t.parquet"


def as_arrow(folder):
    table().write_ipc(folder / "t.arrow")
    return folder / "t.arrow"


def as_arrow_stream(folder):
    table().write_ipc_stream(folder / "s.arrow")
    return folder / "s.arrow"


def as_gzip(folder):
    path = folder / "t.csv.gz"
    path.write_bytes(gzip.compress(as_csv(folder).read_bytes()))
    return path


def as_zstd(folder):
    zstandard = pytest.importorskip("zstandard")
    path = folder / "t.jsonl.zst"
    lines = as_jsonl(folder).read_bytes().splitlines(keepends=True)
    # Two frames, as appending to a compressed file leaves them.
    pack = zstandard.ZstdCompressor().compress
    path.write_bytes(pack(b"".join(lines[:2])) + pack(b"".join(lines[2:])))
    return path


def as_windows_csv(folder):
    path = folder / "w.csv"
    path.write_bytes(b"\xef\xbb\xbf" + as_csv(folder).read_bytes().replace(b"\n", b"\r\n"))
    return path


def as_pandas(_):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(records())


def as_pyarrow(_):
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.Table.from_pylist(records())


def as_duckdb(_):
    duckdb = pytest.importorskip("duckdb")
    frame = table()  # noqa: F841
    return duckdb.connect().sql("select * from frame")


def as_lists(_):
    keys = list(dict.fromkeys((r["arm"], r["instance"], r["seed"], r["panel"], r["horizon"]) for r in records()))
    return [
        {
            "arm": arm, "instance": instance, "seed": seed, "panel": panel, "horizon": horizon,
            "trace": [
                (r["time"], r["objective"], r["valid"]) for r in records()
                if (r["arm"], r["instance"], r["seed"]) == (arm, instance, seed) and r["time"] is not None
            ],
        }
        for arm, instance, seed, panel, horizon in keys
    ]  # fmt: skip


CARRIERS = [
    as_csv, as_jsonl, as_parquet, as_arrow, as_arrow_stream, as_gzip, as_zstd, as_windows_csv, as_pandas, as_pyarrow,
    as_duckdb, as_lists,
]  # fmt: skip


def write(folder, rows, *, header="arm,instance,seed,time,objective,valid,horizon"):
    path = folder / "bad.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path
