"""Trace files that nobody should write: each is scored, or refused with one clear error.

`fuzzed(seed)` gives the name and the bytes of a file: a small trace whose columns were renamed, doubled, retyped or
filled with hostile cells, in one of the carriers, and whose bytes were perhaps flipped, cut or repeated.
`flipped(seed)` gives a larger Parquet or Arrow file with a few wrong bytes.
"""

import contextlib
import io
import json
import os
import random
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from gapline.cli.app import run
from gapline.testing.readers import mutated

FORMS = ("csv", "jsonl", "parquet", "arrow", "s.arrow")
NAMES = ["arm", "instance", "seed", "time", "objective", "valid", "panel", "horizon", "status"]
OPTIONAL = ["claimed", "reason", "bound", "primary", "secondary", "sense", "size", "resolution", "validation", "clock"]
OTHERS = ["slices", "note", "solution", "", " ", "Time", "TIME", "_run", "_row", "_time", "_known", "first", "count",
          "verdict", "1", "2.5s", "t=10", "import_notes", "tier", "started", "x" * 300, "a,b", 'a"b',
          "a\nb", "\u202e", "\0"]  # fmt: skip
CELLS: list[Any] = [
    None, "", " ", "a", "nan", "-inf", "1e400", "-0", "1_000", "1,5", "٣", "9" * 400, "0x1p3", "true", "false", "yes",
    "=1+1", "2026-01-01", "\0", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "a\nb", '"', "max",
    0, -1, 2**53 + 1, 2**63 - 1, -(2**63), 2**64, 10**400, 0.1, -0.0, float("nan"), float("inf"), 5e-324, 1e308,
    True, False, [], [1, 2], {"a": 1}, {}, "finished", "crashed",
]  # fmt: skip

# What may come out of a command: an exit code of ours, and none of these words.
CODES = {0: "scored", 1: "refused", 2: "refused as a call"}
ALARM = "scored with an alarm"
NEVER = ("internal error", "panicked", "backtrace", "Traceback")


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Score `count` files, of which every third is a flipped one."""
    (scratch / "refs.csv").write_text("instance,value\ni,1\nj,1\n", encoding="utf-8")
    outcomes = dict.fromkeys((*CODES.values(), ALARM), 0)
    for number in range(count):
        outcomes[score(flipped if number % 3 == 2 else fuzzed, seed * 1_000_000 + number, scratch)] += 1
    return outcomes


def score(make: Callable[[int], tuple[str, bytes]], seed: int, scratch: Path) -> str:
    """Score one file and say how that ended; what may not be raises an `AssertionError` that names the file."""
    name, data = make(seed)
    file = scratch / name
    file.write_bytes(data)
    what = f"{make.__name__}({seed})"
    references = str(scratch / "refs.csv")
    # What stands in a file is often doubtful too: every second one is read as its user insists.
    insist = ("--sense", "min", "--sort-rows", "--allow-empty") if seed % 2 else ()
    with _listening(scratch / "said.txt") as said:
        code = run(["score", str(file), "--references", references, "--horizon", "10", "--allow-unchecked", *insist])
    text = said.read_text(encoding="utf-8", errors="replace")
    assert code in CODES, f"{what}: exit code {code}: {text}"
    assert not any(word in text for word in NEVER), f"{what}: {text}"
    if code == 1 and "ALARM" in text and "error: " not in text:
        return ALARM
    if code:
        assert "error: " in text, f"{what}: {text}"
        assert "expected" in text or "Hint: --" in text, f"{what}: {text}"
    return CODES[code]


@contextlib.contextmanager
def _listening(file: Path) -> Iterator[Path]:
    """Take down what goes to the streams and to their descriptors: Rust prints past Python."""
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    with file.open("w", encoding="utf-8") as heard:
        for stream in kept:
            os.dup2(heard.fileno(), stream)
        try:
            with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
                yield file
        finally:
            heard.flush()
            for stream, place in kept.items():
                os.dup2(place, stream)
                os.close(place)


def kinds(draw: random.Random, height: int) -> list[pl.Series]:
    """Return columns of every type that Parquet or Arrow can hold."""
    whole = [draw.randint(0, 9) for _ in range(height)]
    return [
        pl.Series(whole, dtype=kind)
        for kind in (pl.Int8, pl.UInt8, pl.Int32, pl.UInt64, pl.Float32, pl.Int128, pl.Decimal(20, 3))
    ] + [
        pl.Series([[n] for n in whole], dtype=pl.List(pl.Int64)),
        pl.Series([[n, n] for n in whole], dtype=pl.Array(pl.Float64, 2)),
        pl.Series([[[str(n)]] for n in whole], dtype=pl.List(pl.List(pl.String))),
        pl.Series([{"a": n, "b": str(n)} for n in whole], dtype=pl.Struct({"a": pl.Int64, "b": pl.String})),
        pl.Series([bytes([n]) for n in whole], dtype=pl.Binary),
        pl.Series([str(n) for n in whole], dtype=pl.Categorical),
        pl.Series([str(n) for n in whole], dtype=pl.Enum([str(n) for n in range(10)])),
        pl.Series([date(2026, 1, 1 + n) for n in whole], dtype=pl.Date),
        pl.Series([datetime(2026, 1, 1 + n) for n in whole], dtype=pl.Datetime("ns", "UTC")),
        pl.Series([time(n) for n in whole], dtype=pl.Time),
        pl.Series([timedelta(seconds=n) for n in whole], dtype=pl.Duration("ms")),
        pl.Series([Decimal(n) for n in whole], dtype=pl.Decimal(38, 0)),
        pl.Series([None] * height, dtype=pl.Null),
        pl.Series([n > 4 for n in whole], dtype=pl.Boolean),
        pl.Series([str(n) for n in whole], dtype=pl.String),
    ]


def sound(draw: random.Random) -> dict[str, list[Any]]:
    """Return the columns of a trace that is as it should be."""
    height = draw.choice([0, 1, 2, 5, 12])
    columns: dict[str, list[Any]] = {
        "arm": [draw.choice("ab") for _ in range(height)],
        "instance": [draw.choice("ij") for _ in range(height)],
        "seed": [draw.randint(1, 2) for _ in range(height)],
        "time": [draw.random() * 9 for _ in range(height)],
        "objective": [draw.random() * 100 + 1 for _ in range(height)],
        "valid": [draw.choice([True, True, False, None]) for _ in range(height)],
        "horizon": [10.0] * height,
    }
    for name in draw.sample(OPTIONAL, draw.randint(0, 3)):
        columns[name] = [draw.choice([1.0, 2.0, None]) for _ in range(height)]
    return columns


def fuzzed(seed: int) -> tuple[str, bytes]:
    """Return the name and the bytes of a file; the same for the same seed."""
    draw = random.Random(seed)
    form = draw.choice(FORMS)
    table = list(sound(draw).items())
    for _ in range(draw.choice([0, 1, 1, 2, 3])):
        _spoil(draw, table)
    data = _packed(draw, form, table)
    for _ in range(draw.choice([0, 0, 1, 2])):
        data = _damaged(draw, data)
    return f"t.{form}", data


def flipped(seed: int) -> tuple[str, bytes]:
    """Return a Parquet or Arrow file of up to 300 rows with one to three of its bytes changed."""
    draw = random.Random(seed)
    height = draw.choice([3, 50, 300])
    frame = pl.DataFrame({
        "arm": draw.choices("ab", k=height), "instance": ["i"] * height, "seed": [1] * height,
        "time": [draw.random() for _ in range(height)], "objective": [float(draw.randint(1, 9)) for _ in range(height)],
    })  # fmt: skip
    for place in range(draw.randint(0, 2)):
        frame = frame.with_columns(draw.choice(kinds(draw, height)).alias(f"x{place}"))
    form = draw.choice(["parquet", "parquet", "arrow", "s.arrow"])
    data = bytearray(_written(draw, form, frame))
    for _ in range(draw.randint(1, 3)):
        at = draw.choice([draw.randrange(len(data)), max(0, len(data) - draw.randint(1, 600))])
        data[at] = draw.randrange(256)
    return f"t.{form}", bytes(data)


def _spoil(draw: random.Random, table: list[tuple[str, Any]]) -> None:
    place = draw.randrange(len(table))
    name, cells = table[place]
    height = len(cells)
    kind = draw.randrange(7)
    if kind == 0:
        other = draw.choice([f" {name}", f"{name} ", name.upper(), f"{name}\t", *OTHERS, *NAMES])
        table.insert(draw.randrange(len(table) + 1), (other, cells))
    elif kind == 1:
        table[place] = (draw.choice([f" {name} ", name.title(), *OTHERS, *NAMES]), cells)
    elif kind == 2:
        del table[place]
        if not table:
            table.append((name, cells))
    elif kind == 3 and height:
        spoilt = list(cells)
        for _ in range(draw.randint(1, 4)):
            spoilt[draw.randrange(height)] = draw.choice(CELLS)
        table[place] = (name, spoilt)
    elif kind == 4:
        table[place] = (name, draw.choice(kinds(draw, height)))
    elif kind == 5:
        table.append((draw.choice(OTHERS + OPTIONAL + NAMES), draw.choice(kinds(draw, height))))
    else:
        table.append((draw.choice(OTHERS), [draw.choice(CELLS) for _ in range(height)]))


def _packed(draw: random.Random, form: str, table: list[tuple[str, Any]]) -> bytes:
    if form == "csv":
        mark = draw.choice(",,,;\t")
        rows = [[name for name, _ in table], *(list(row) for row in zip(*(cells for _, cells in table), strict=True))]
        text = "\n".join(mark.join(_cell(cell, draw) for cell in row) for row in rows)
        return (text + draw.choice(["\n", "\n", "", "\n\n", "\r\n"])).encode("utf-8", "replace")
    if form == "jsonl":
        plain = [(name, [_json(cell) for cell in cells]) for name, cells in table]
        lines = zip(*(cells for _, cells in plain), strict=True)
        names = [name for name, _ in plain]
        pairs = (
            "{" + ", ".join(f"{json.dumps(n)}: {c}" for n, c in zip(names, row, strict=True)) + "}" for row in lines
        )
        return "\n".join(pairs).encode("utf-8", "replace") + draw.choice([b"\n", b""])
    frame = pl.DataFrame()
    for name, cells in table:
        column = cells if isinstance(cells, pl.Series) else _series(cells)
        # A frame has each name once: a double is one that differs in blanks or case.
        frame = frame.with_columns(column.alias(name)) if frame.width else pl.DataFrame([column.alias(name)])
    try:
        return _written(draw, form, frame)
    except pl.exceptions.PolarsError:
        # A struct without fields has no place in Parquet.
        return _written(draw, form, frame.select(pl.selectors.all() - pl.selectors.by_dtype(pl.Struct)))


def _written(draw: random.Random, form: str, frame: pl.DataFrame) -> bytes:
    file = io.BytesIO()
    if form == "parquet":
        packing = draw.choice(["zstd", "uncompressed", "snappy", "lz4", "gzip"])
        sizes = {"row_group_size": draw.choice([None, 100]), "data_page_size": draw.choice([None, 256])}
        frame.write_parquet(file, compression=packing, **sizes)
    elif form == "arrow":
        frame.write_ipc(file, compression=draw.choice(["uncompressed", "zstd", "lz4"]))
    else:
        frame.write_ipc_stream(file)
    return file.getvalue()


def _series(cells: list[Any]) -> pl.Series:
    try:
        return pl.Series(cells, strict=True)
    except (TypeError, OverflowError, pl.exceptions.PolarsError):
        return pl.Series([None if cell is None else str(cell) for cell in cells], dtype=pl.String)


def _cell(cell: Any, draw: random.Random) -> str:
    text = "" if cell is None else str(cell).lower() if isinstance(cell, bool) else str(cell)
    needs = any(mark in text for mark in ',;\t"\n')
    return '"' + text.replace('"', '""') + '"' if needs and draw.random() < 0.8 else text


def _json(cell: Any) -> str:
    try:
        return json.dumps(cell)
    except (TypeError, ValueError):
        return json.dumps(str(cell))


def _damaged(draw: random.Random, data: bytes) -> bytes:
    kind = draw.randrange(5)
    if not data:
        return draw.randbytes(20)
    if kind == 0:
        return data[: draw.randrange(len(data))]
    if kind == 1:
        # At the end of a Parquet file stands what everything else is read by.
        at = max(0, len(data) - draw.randint(1, 400))
        return data[:at] + bytes([draw.randrange(256)]) + data[at + 1 :]
    if kind == 2:
        at = draw.randrange(len(data))
        return data[:at] + data[at + draw.randint(1, 30) :]
    return mutated(data, draw)
