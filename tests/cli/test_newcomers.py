"""Mistakes in the files of newcomers: the answer to the command that they try names the cause and the fix."""

import gzip
import io
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import pytest

from gapline.cli.app import run

REFERENCES = "instance,value\ni1,10\ni2,20\n"
TRACE = """arm,instance,seed,time,objective,valid,horizon
fast,i1,1,1,12,true,30
fast,i1,1,4,11,true,30
fast,i2,1,2,25,true,30
deep,i1,1,5,10.5,true,30
deep,i2,1,9,21,true,30
"""
SCORE = "score t.csv --references refs.csv"


@dataclass(frozen=True)
class Mistake:
    """A file with a mistake: the command, its exit code, and what its answer has to hold: the cause and the fix."""

    name: str
    files: dict[str, str | bytes]
    says: tuple[str, ...]
    command: str = SCORE
    code: int = 1

    def write(self, folder: Path) -> None:
        for name, content in {"refs.csv": REFERENCES, **self.files}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())


def trace(*changes: tuple[str, str]) -> dict[str, str | bytes]:
    """Return the trace with some of its text replaced."""
    text = TRACE
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return {"t.csv": text}


def column(name: str, pattern: str, *, rows: Sequence[int] = range(5)) -> dict[str, str | bytes]:
    """Return the trace with some cells of a column in another form; `{row}` is the number of the row."""
    header, *lines = TRACE.splitlines()
    place = header.split(",").index(name)
    cells = [line.split(",") for line in lines]
    for row in rows:
        cells[row][place] = pattern.format(cells[row][place], row=row)
    return {"t.csv": "\n".join([header, *map(",".join, cells)]) + "\n"}


def without(*names: str, text: str = TRACE) -> str:
    """Return the trace without some of its columns."""
    header, *rows = (line.split(",") for line in text.splitlines())
    kept = [k for k, name in enumerate(header) if name not in names]
    return "".join(",".join(row[k] for k in kept) + "\n" for row in [header, *rows])


def workbook() -> bytes:
    """Return the first bytes of an Excel file as they are: a zip of XML."""
    stream = io.BytesIO()
    with ZipFile(stream, "w") as book:
        book.writestr("[Content_Types].xml", "<Types/>")
        book.writestr("xl/workbook.xml", "<workbook/>")
    return stream.getvalue()


SEEDS = "".join(f"a,i1,1,{t},{z},true,30\n" for z0 in (20, 18, 19) for t, z in ((1, z0), (5, z0 - 3), (20, z0 - 5)))
HEADER = "arm,instance,seed,time,objective,valid,horizon\n"
RISING = "".join(
    f"{arm},i1,1,{t},{100 + 10 * t + bonus},true,30\n" for arm, bonus in (("a", 0), ("b", 5)) for t in range(1, 6)
)

MISTAKES = [
    Mistake(
        "semicolons and decimal commas",
        {"t.csv": TRACE.replace(",", ";").replace("10.5", "10,5")},
        ("--decimal ,",),
        code=0,
    ),
    Mistake(
        "decimal commas everywhere",
        {"t.csv": HEADER.replace(",", ";") + "a;i1;1;0,5;12,5;true;30\na;i1;1;1,5;11,5;true;30\n"},
        ("'0,5'", "--decimal ,"),
    ),
    Mistake(
        "decimal commas between commas",
        {"t.csv": HEADER + "a,i1,1,0,5,12,true,30\n"},
        ("t.csv:2: expected 7 fields, as in the header, got 8", "--decimal ,"),
    ),
    Mistake(
        "spaces between columns",
        {"t.csv": TRACE.replace(",", " ")},
        ("got arm instance seed time", "separated by commas, semicolons or tabs"),
    ),
    Mistake(
        "bars between columns",
        {"t.csv": TRACE.replace(",", "|")},
        ("got arm|instance|seed", "separated by commas, semicolons or tabs"),
    ),
    Mistake(
        "no time column", {"t.csv": without("time")}, ("got arm, instance, seed, objective", "--columns time=NAME")
    ),
    Mistake(
        "no header",
        {"t.csv": TRACE.split("\n", 1)[1]},
        (
            "expected a header arm,instance,seed,time,objective, got 'fast,i1,1,1,12,true,30'",
            "the first line names the columns: write it above the rows",
        ),
    ),
    Mistake(
        "other column names",
        {"t.csv": TRACE.replace("arm,instance,seed,time,objective", "solver,problem,run,elapsed,cost")},
        ("--columns arm=solver,instance=problem,seed=run,time=elapsed,objective=cost",),
    ),
    Mistake(
        "time and objective swapped",
        {"t.csv": HEADER + "".join(f"a,i{k},1,{1000 - 40 * k - t},{t},true,30\n" for k in (1, 2) for t in (1, 4, 9))},
        ("32 times its horizon", "--columns time=objective,objective=time if these two are swapped"),
    ),
    Mistake("thousands separators", column("objective", '"1,2{row}4.5"'), ("'1,204.5'", "thousands")),
    Mistake(
        "thousands separators in some rows",
        column("objective", '"1,2{row}4.5"', rows=[1]),
        ("'1,214.5'", "marks between thousands, such as 1,214.5: write them without"),
        code=0,
    ),
    Mistake(
        "negative times",
        column("time", "-{}"),
        ("0 or more, got '-1'", "times count from the start of the run", "--allow-empty"),
    ),
    Mistake("times in per cent of the horizon", column("time", "{}%"), ("got '1%'", "times are seconds")),
    Mistake("objectives in per cent", column("objective", "{}%"), ("got '12%'", "instead of shares")),
    Mistake("milliseconds", column("time", "{}000"), ("9000 s", "--time-unit ms")),
    Mistake(
        "milliseconds, horizon as an option",
        {"t.csv": without("horizon", text=str(column("time", "{}000")["t.csv"]))},
        ("later than the horizon", "--time-unit ms"),
        command=SCORE + " --horizon 30",
    ),
    Mistake("nanoseconds", column("time", "{}500000000"), ("9500000000 s", "--time-unit ns")),
    Mistake(
        "a unit that there is not",
        column("time", "{}000"),
        ("the column 'msec:time'", "'msec' is no unit: s, ms, us, ns, min, h"),
        command=SCORE + " --columns time=msec:time",
    ),
    Mistake("epoch seconds", column("time", "176000000{}"), ("--time-unit epoch",)),
    Mistake(
        "epoch seconds as they are told to be",
        column("time", "176000000{}"),
        ("`started`", "--time-unit epoch-first"),
        command=SCORE + " --time-unit epoch",
    ),
    Mistake("dates", column("time", "2026-01-01T10:00:0{}"), ("'2026-01-01T10:00:01'", "--time-unit iso")),
    Mistake("clock", column("time", "0:00:0{}"), ("'0:00:01'", "--time-unit clock")),
    Mistake("a unit behind each time", column("time", "{}s"), ("'1s'", "--time-unit s")),
    Mistake(
        "a unit behind some times",
        column("time", "{}s", rows=[4]),
        ("'9s'", "--time-unit s"),
        code=0,
    ),
    Mistake(
        "maximisation without a word",
        {"t.csv": HEADER + RISING, "refs.csv": "instance,value\ni1,200\n"},
        ("maximised", "--sense max"),
    ),
    Mistake("repetitions under one seed", {"t.csv": HEADER + SEEDS}, ("several runs", "--number-runs")),
    Mistake(
        "repetitions under one seed in a file each",
        {f"t{k}.csv": HEADER + f"a,i1,1,1,1{k},true,30\n" for k in (1, 2)},
        ("got 1 in more than one source: a/i1/1", "give repeated runs a seed each"),
        command="score t1.csv t2.csv --references refs.csv",
    ),
    Mistake("a currency", column("objective", "${}"), ("got '$12'", "write plain numbers")),
    Mistake("a title above the header", {"t.csv": f"# run of May\n{TRACE}"}, ("t.csv:2: expected 1 fields", "remove")),
    Mistake(
        "a column that stands twice",
        {"t.csv": TRACE.replace("valid", "time", 1)},
        ("got time more than once", "rename or remove"),
    ),
    Mistake("a unit behind the horizon", column("horizon", "{}s"), ("got '30s'", "--columns horizon=s:horizon")),
    Mistake("a horizon of 0", column("horizon", "0"), ("fast/i1/1 0.0", "leave the cell empty")),
    Mistake(
        "NaN objectives",
        column("objective", "nan"),
        ("finite objective, got 'nan'", "valid=false", "leave time and objective empty"),
    ),
    Mistake(
        "infinite objectives before the first solution",
        column("objective", "inf", rows=[0, 1]),
        ("finite objective, got 'inf'",),
        code=0,
    ),
    Mistake(
        "an empty file",
        {"t.csv": ""},
        ("empty file", "arm,instance,seed,time,objective", "a header and one row for each candidate"),
    ),
    Mistake("a header alone", {"t.csv": HEADER}, ("a header without rows", "time and objective empty")),
    Mistake(
        "an Excel file renamed to csv", {"t.csv": workbook()}, ("got an Excel workbook", "save the sheet as CSV UTF-8")
    ),
    Mistake("UTF-16", {"t.csv": TRACE.encode("utf-16")}, ("4 runs",), code=0),
    Mistake("a byte order mark", {"t.csv": TRACE.encode("utf-8-sig")}, ("4 runs",), code=0),
    Mistake(
        "references of other instance names",
        trace() | {"refs.csv": "instance,value\ni1.vrp,10\ni2.vrp,20\n"},
        ("i1 (missing)", "the snapshot has 'i1.vrp'"),
    ),
    Mistake(
        "references and traces swapped",
        trace(),
        ("these are reference values: gapline score TRACES --references refs.csv",),
        command="score refs.csv --references t.csv",
    ),
    Mistake("no references", trace(), ("expected a reference", "--references FILE"), command="score t.csv", code=2),
    Mistake(
        "a wrong path",
        trace(),
        ("tt.csv: expected a trace file", "did you mean 't.csv'?"),
        command="score tt.csv --references refs.csv",
    ),
    Mistake(
        "a wrong path of the references",
        trace(),
        ("expected a references CSV, got no such file", "did you mean 'refs.csv'?"),
        command="score t.csv --references ref.csv",
    ),
    Mistake(
        "a directory without a study",
        {"logs/a.txt": "x"},
        ("expected a campaign directory", "`gapline import` reads folders of logs"),
        command="score logs --references refs.csv",
    ),
    Mistake(
        "one JSON document instead of lines",
        {"t.jsonl": '[\n{"arm": "a", "instance": "i1", "seed": 1, "time": 1, "objective": 12}\n]\n'},
        ("expected one JSON object, got '['", "write one object per line"),
        command="score t.jsonl --references refs.csv",
    ),
    Mistake(
        "JSON under another suffix",
        {"t.json": '{"arm": "a", "instance": "i1", "seed": 1, "time": 1, "objective": 12}\n'},
        ("got .json", "rename", ".jsonl", "`gapline import`"),
        command="score t.json --references refs.csv",
        code=2,
    ),
    Mistake(
        "a log of a solver",
        {"t.log": "Gurobi Optimizer version 11\n"},
        ("gapline import",),
        command="score t.log --references refs.csv",
        code=2,
    ),
    Mistake(
        "a packed file that is cut",
        {"t.csv.gz": gzip.compress(TRACE.encode())[:-9]},
        ("expected a whole gzip file, got one that is cut or damaged", "copy or pack it again"),
        command="score t.csv.gz --references refs.csv",
    ),
    Mistake("a packed file without its suffix", {"t.csv": gzip.compress(TRACE.encode())}, ("4 runs",), code=0),
    Mistake("no arm column", {"t.csv": without("arm")}, ("--columns arm=NAME", "gapline import --arm NAME")),
    Mistake("an arm name with spaces that differs", trace(("deep,i2", '"deep ",i2')), ("deep",), code=0),
    Mistake(
        "references that are traces",
        trace(),
        ("t.csv:1: expected a column value", "this is a table of runs: references are a CSV instance,value"),
        command="score t.csv --references t.csv",
    ),
    Mistake(
        "an option of another command",
        trace(),
        ("No such option", "--horizon"),
        command=SCORE + " --horizont 30",
        code=2,
    ),
    Mistake("an unknown kernel", trace(), ("squezed", "squeezed"), command=SCORE + " --kernel squezed", code=2),
    Mistake(
        "an arm that there is not",
        trace(),
        ("--arm fsat: matches no run", "fast"),
        command=SCORE + " --arm fsat",
        code=2,
    ),
    Mistake(
        "other words for valid",
        column("valid", "feasible"),
        ("expected true, false or nothing in valid, got 'feasible'", "leave the cell empty"),
    ),
    Mistake(
        "horizon in another unit",
        column("horizon", "0.5"),
        ("18 times its horizon of 0.5 s", "--columns horizon=min:horizon"),
    ),
    Mistake(
        "all times after the horizon",
        column("horizon", "0.9"),
        ("all 5 candidates are later", "--allow-empty"),
    ),
    Mistake("no horizon", {"t.csv": without("horizon")}, ("--horizon SECONDS",)),
    Mistake(
        "rows that stand twice",
        {"t.csv": TRACE + TRACE.split("\n", 1)[1]},
        ("5 duplicates among 10 candidates", "counts once"),
        code=0,
    ),
    Mistake(
        "a row that is cut",
        {"t.csv": TRACE[:-9]},
        ("got none for 1: deep/i2/1", "t.csv:6: expected 7 fields, got 5 where the file ends"),
    ),
    Mistake(
        "seeds that are names",
        column("seed", "s{}"),
        ("expected a whole number in every seed, got t.csv:2: 's1'", "number the seeds"),
    ),
    Mistake(
        "two horizons in one run",
        trace(("fast,i1,1,4,11,true,30", "fast,i1,1,4,11,true,60")),
        ("expected one horizon in run fast/i1/1, got 30, 60", "rows of other runs need a seed of their own"),
    ),
    Mistake("objectives of zero", column("objective", "0"), ("--kernel berthold",)),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_a_mistake_is_answered_with_its_cause_and_its_fix(mistake, tmp_path, monkeypatch, capsys):
    mistake.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    code = run(shlex.split(mistake.command))
    said = capsys.readouterr()
    # Lines are broken where they are long.
    text = " ".join(f"{said.out} {said.err}".split())
    assert (code, [words for words in mistake.says if words not in text]) == (mistake.code, []), text
    assert "internal error" not in text


def test_there_are_mistakes_enough():
    assert len({mistake.name for mistake in MISTAKES}) == len(MISTAKES) >= 46
