"""No command ends in an internal error: a bad file, place or value is an exit code and a sentence."""

import errno
import os
import re
from itertools import product

import pytest

from gapline.cli import app
from gapline.cli.app import run

TRACE = "arm,instance,seed,time,objective,horizon\n" + "".join(
    f"{arm},{instance},{seed},1.5,{value},30\n"
    for arm, value in (("a", 12), ("b", 11)) for instance in "ij" for seed in (1, 2)
)  # fmt: skip


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Return a folder with one good file of each kind and the bad ones that people hand in."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").write_text(TRACE)
    (tmp_path / "one.csv").write_text("".join(line for line in TRACE.splitlines(keepends=True) if line[0:2] != "b,"))
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\nj,10\n")
    assert run(["snapshot", "freeze", "csv:refs.csv", "--name", "r", "-o", "refs.json"]) == 0
    (tmp_path / "header.csv").write_text("arm,instance,seed,time,objective,valid,horizon\n")
    (tmp_path / "empty.csv").write_bytes(b"")
    (tmp_path / "blank.csv").write_text("\n\n")
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "latin.csv").write_bytes(TRACE.replace("a,i", "\xe9,i").encode("latin-1"))
    (tmp_path / "text.csv").write_text("hello\nworld\n")
    (tmp_path / "torn.jsonl").write_bytes(b'{"arm": "a", "inst')
    (tmp_path / "bad.parquet").write_bytes(b"PAR1" + bytes(40))
    (tmp_path / "empty.json").write_bytes(b"")
    (tmp_path / "binary.json").write_bytes(bytes(range(256)))
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.toml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "manifest.json").write_text('{"schema": "gapline.campaign/1"}')
    return tmp_path


def refused(capsys, arguments, codes=(1, 2, 3)):
    """Run a command that must fail, and return its sentence."""
    code = run(arguments)
    said = capsys.readouterr()
    assert "internal error" not in said.err, (arguments, said.err)
    assert "Traceback" not in said.err, (arguments, said.err)
    assert code in codes, (arguments, code, said.out, said.err)
    assert len(said.err) + len(said.out) > 10, (arguments, "a sentence")
    return said.err + said.out


BAD_TRACES = [
    "header.csv", "empty.csv", "blank.csv", "binary.csv", "text.csv", "torn.jsonl", "bad.parquet", "folder",
    "folder.csv", "pipe.csv", "missing.csv", "good.csv/inside.csv", "study", "cut", "", "x" * 300 + ".csv",
]  # fmt: skip
READERS = [
    ["score", "@", "--references", "refs.csv"],
    ["curve", "@", "--references", "refs.csv"],
    ["compare", "@", "one.csv", "--references", "refs.csv"],
    ["compare", "one.csv", "@", "--references", "refs.csv"],
    ["analyse", "@", "--references", "refs.csv", "--draws", "20"],
    ["report", "@", "--references", "refs.csv", "-o", "out"],
    ["paper", "@", "--references", "refs.csv", "-o", "out"],
    ["export", "@", "-o", "out.csv"],
    ["merge", "@", "-o", "out"],
    ["import", "@", "-o", "out"],
    ["check", "@"],
    ["status", "@"],
    ["run", "@"],
    ["snapshot", "fold", "refs.json", "@", "--name", "n", "-o", "out.json", "--validation", "solver"],
    ["snapshot", "freeze", "campaign:@", "--name", "n", "-o", "out.json"],
]


def test_a_source_that_is_none_is_a_sentence(capsys):
    for command, bad in product(READERS, BAD_TRACES):
        said = refused(capsys, [word.replace("@", bad) for word in command])
        if bad == "header.csv" and command[0] not in ("check", "status", "run"):
            assert re.search(r"expected runs, got (none|a header without rows)", said), command


def test_a_file_in_another_encoding_is_a_sentence(capsys):
    for command in READERS[:10]:
        code = run([word.replace("@", "latin.csv") for word in command])
        said = capsys.readouterr().err
        assert "internal error" not in said, (command, said)
        assert code in (0, 1, 2)


BAD_REFERENCES = [
    "empty.csv",
    "header.csv",
    "binary.csv",
    "latin.csv",
    "folder",
    "pipe.csv",
    "missing.csv",
    "good.csv/x",
]
BAD_SNAPSHOTS = [
    "empty.json",
    "binary.json",
    "list.json",
    "refs.csv",
    "folder",
    "pipe.csv",
    "missing.json",
    "refs.json/x",
]
SCORERS = [command for command in READERS if "--references" in command]


def test_references_that_are_none_are_a_sentence(capsys):
    for command, bad in product(SCORERS, BAD_REFERENCES):
        refused(capsys, [word.replace("refs.csv", bad).replace("@", "one.csv") for word in command], codes=(1, 2))


SNAPSHOT_READERS = [
    *([*(w for w in command if w not in ("--references", "refs.csv")), "--snapshot", "?"] for command in SCORERS),
    ["snapshot", "show", "?"],
    ["snapshot", "log", "?"],
    ["snapshot", "page", "?", "-o", "out.html"],
    ["snapshot", "verify", "?"],
    ["snapshot", "diff", "?", "refs.json"],
    ["snapshot", "diff", "refs.json", "?"],
    ["snapshot", "fold", "?", "good.csv", "--name", "n", "-o", "out.json"],
    ["snapshot", "freeze", "csv:?", "--name", "n", "-o", "out.json"],
    ["snapshot", "freeze", "solu:?", "--name", "n", "-o", "out.json"],
    ["snapshot", "freeze", "snapshot:?", "--name", "n", "-o", "out.json"],
    ["snapshot", "fold", "refs.json", "solu:?", "--name", "n", "-o", "out.json", "--validation", "solver"],
    ["snapshot", "freeze", "cvrplib:?", "--name", "n", "-o", "out.json"],
    ["snapshot", "freeze", "mamut:?", "--name", "n", "-o", "out.json"],
    ["snapshot", "freeze", "mamut:?@v1", "--name", "n", "-o", "out.json"],
    ["snapshot", "freeze", "campaign:?", "--name", "n", "-o", "out.json"],
]


def test_a_snapshot_that_is_none_is_a_sentence(capsys):
    for command, bad in product(SNAPSHOT_READERS, BAD_SNAPSHOTS):
        # A CSV of references is a good store.
        if not (bad == "refs.csv" and command[:3] == ["snapshot", "freeze", "csv:?"]):
            refused(capsys, [word.replace("?", bad).replace("@", "one.csv", 1) for word in command], codes=(1, 2))


# The folder of a file cannot be made inside a file, nor in /proc, whoever asks.
BAD_FILES = ["good.csv/out.json", "folder", "/proc/gapline-nowhere/out.json", "y" * 300 + ".json", ""]
BAD_FOLDERS = ["good.csv", "good.csv/out", "/proc/gapline-nowhere/out", "y" * 300, ""]
FILE_WRITERS = [
    ["export", "good.csv", "--format", "csv", "-o", "?"],
    ["export", "good.csv", "--format", "parquet", "-o", "?"],
    ["snapshot", "freeze", "csv:refs.csv", "--name", "n", "-o", "?"],
    ["snapshot", "fold", "refs.json", "good.csv", "--name", "n", "--validation", "solver", "-o", "?"],
]
FOLDER_WRITERS = [
    ["merge", "good.csv", "-o", "?"],
    ["import", "good.csv", "-o", "?"],
    ["import", "good.csv", "-o", "?", "--overwrite"],
    ["report", "good.csv", "--references", "refs.csv", "-o", "?"],
    ["paper", "good.csv", "--references", "refs.csv", "-o", "?"],
    ["generate", "cvrp", "--n", "5", "-o", "?"],
    ["init", "?", "--problem", "cvrp"],
    ["demo", "?"],
]


def test_a_file_that_cannot_be_written_is_a_sentence(capsys):
    for command, bad in product(FILE_WRITERS, BAD_FILES):
        assert bad[:8] in refused(capsys, [word.replace("?", bad) for word in command]), command


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_is_a_sentence(capsys):
    for command, bad in product(FOLDER_WRITERS, BAD_FOLDERS):
        refused(capsys, [word.replace("?", bad) for word in command])


BIG = f"1{'0' * 30}"
BAD_VALUES = [
    ["--arm", "a\0"], ["--references", "refs\0.csv"], ["--references=\0"], ["--snapshot", "\0"], ["--weight", "x\0"],
    ["--arm", ""], ["--panel", ""], ["--instance", ""], ["--arm", "nobody"], ["--arm=", "x"],
    ["--horizon", "nan"], ["--horizon", "inf"], ["--horizon", "0"], ["--horizon", "-1"], ["--horizon", "ten"],
    ["--transform", ""], ["--transform", "shift"], ["--transform", "shift:nan"], ["--transform", "hierarchical:x"],
    ["--validation", ""], ["--policy", ""], ["--references", ""], ["--snapshot", ""],
]  # fmt: skip
BAD_CHOICES = {
    "score": [["--kernel", ""], ["--kernel", "dimacs:"], ["--kernel", "dimacs:nan"], ["--weight", ""],
              ["--weight", "early-log:0"], ["--weighting", "x"], ["--goal", "nan"], ["--goal", "-1"]],
    "curve": [["--kernel", ""], ["--kernel", "dimacs:x"], ["--weight", "x"], ["--by", ""], ["--by", "nothing"],
              ["--points", BIG]],
    "plan": [["--seeds", BIG], ["--detect", "1e-320"], ["--kernel", f"dimacs:{BIG}"]],
    "compare": [["--kernel", ""], ["--level", "nan"], ["--level", "2"], ["--draws", "0"], ["--draws", "-5"]],
    "analyse": [["--kernel", ""], ["--ladder", "colour"], ["--goal", "nan"], ["--level", "nan"], ["--draws", "0"],
                ["--contrast", "a", ""], ["--contrast", "a", "nobody"], ["--tier-2", "nobody"]],
    "report": [["--kernel", ""], ["--goal", "nan"], ["--title", ""]],
    "paper": [["--kernel", ""], ["--goal", "nan"]],
}  # fmt: skip


def test_a_value_that_cannot_be_is_a_sentence(capsys):
    for command in (["score"], ["curve"], ["compare", "one.csv"], ["analyse"], ["report"], ["paper"], ["plan"]):
        for value in (*BAD_VALUES, *BAD_CHOICES[command[0]]):
            more = ["--references", "refs.csv"] if value[0] not in ("--references", "--snapshot") else []
            refused(capsys, [*command, "one.csv", *more, *value], codes=(1, 2))


BAD_CALLS = [
    ["score"], ["curve"], ["compare"], ["analyse"], ["report"], ["paper"], ["export"], ["merge"], ["import"],
    ["plan"], ["check"], ["status"], ["run"], ["init"], ["generate"], ["snapshot", "freeze"], ["snapshot", "fold"],
    ["snapshot", "diff"], ["snapshot", "verify"], ["snapshot", "show"], ["nonsense"],
    ["snapshot", "nonsense"], ["snapshot", "freeze", "csv:refs.csv", "--name", "", "-o", "x.json"],
    ["snapshot", "freeze", "refs", "--name", "n", "-o", "x.json"], ["snapshot", "log"],
    ["snapshot", "page", "refs.json"],
    ["snapshot", "freeze", "csv:", "--name", "n", "-o", "x.json"],
    ["snapshot", "freeze", "csv:refs.csv", "--name", "n", "-o", "x.json", "--as-of", ""],
    ["snapshot", "freeze", "csv:refs.csv", "--name", "n", "-o", "x.json", "--as-of", "soon"],
    ["snapshot", "diff", "refs.json", "refs.json", "--tolerance", "nan"],
    ["snapshot", "fold", "refs.json", "good.csv", "--name", "n", "-o", "x.json", "--horizon", "nan"],
    ["snapshot", "fold", "refs.json", "good.csv", "--name", "n", "-o", "x.json", "--tolerance", "-1"],
    ["import", "good.csv", "-o", "out", "--name", ""], ["import", "good.csv", "-o", "out", "--arm", ""],
    ["import", "good.csv", "-o", "out", "--name", "{arm"], ["import", "good.csv", "-o", "out", "--horizon", "nan"],
    ["import", "good.csv", "-o", "out", "--format", ""], ["import", "good.csv", "-o", "out", "--format", "x"],
    ["import", "good.csv", "-o", "folder", "--seed", "x"], ["import", "good.csv", "-o", "folder", "--seed", BIG],
    ["import", "good\0.csv", "-o", "out"], ["import", "good.csv", "-o", "o\0"], ["run", "a\0"],
    ["export", "good.csv", "-o", "x.csv", "--arm", ""], ["export", "good.csv", "-o", "x.txt"],
    ["merge", "good.csv", "good.csv", "-o", "out"],
    ["generate", "cvrp", "--name", "", "-o", "out"], ["generate", "cvrp", "--name", "a/b", "-o", "out"],
    ["generate", "cvrp", "--n", "0"], ["generate", "cvrp", "--count", "0"], ["generate", ""],
    ["init", "s", "--name", ""], ["init", "s", "--problem", "x"],
    ["run", "study", "--jobs", "0"], ["check", "study", "--checker", ""],
    ["doctor", "study"], ["doctor", "missing"],
    ["demo", "--worked-example", "--jobs", "0"], ["demo", "good.csv", "--worked-example", "--nonsense"],
]  # fmt: skip


def test_a_call_that_cannot_be_is_a_sentence(capsys):
    for arguments in BAD_CALLS:
        refused(capsys, arguments)


def test_filters_that_together_match_nothing_are_a_sentence(place, capsys):
    (place / "panels.csv").write_text(
        "arm,instance,seed,time,objective,horizon,panel\na,i,1,1,12,30,p\nb,j,1,1,12,30,q\n"
    )
    for command in ("score", "curve", "analyse", "export"):
        more = ["-o", "x.csv"] if command == "export" else ["--references", "refs.csv"]
        said = refused(capsys, [command, "panels.csv", "--arm", "a", "--panel", "q", *more], codes=(1, 2))
        assert "--arm a --panel q: matches no run" in said


@pytest.mark.parametrize(
    ("failure", "code", "sentence"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "out/x"), 3, "out/x: permission denied"),
        (OSError(errno.ENOSPC, "No space left on device", "out/x"), 3, "out/x: no space left on device"),
        (OSError(errno.EROFS, "Read-only file system", "out/x"), 3, "out/x: read-only file system"),
        (IsADirectoryError(errno.EISDIR, "Is a directory", ".x.tmp", None, "out"), 2, "out: is a directory"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", b"out/x"), 2, "out/x: not a directory"),
        (FileExistsError(errno.EEXIST, "File exists", "a\x1bb"), 2, "a\\u001bb: file exists"),
        (OSError(errno.EIO, "Input/output error"), 3, "input/output error"),
        (UnicodeDecodeError("utf-8", b"ab\xff", 2, 3, "invalid start byte"), 1, "byte 0xff at position 2"),
        (UnicodeEncodeError("utf-8", "a\udcff", 1, 2, "surrogates not allowed"), 2, "got '\\udcff'"),
        (MemoryError(), 3, "expected more memory"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_the_machine_refuses_is_a_sentence(failure, code, sentence, monkeypatch, capsys):
    def fail(*_, **__):
        raise failure

    monkeypatch.setattr(app.gapline, "main", fail)
    assert run(["score", "x"]) == code
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert sentence in said
    with pytest.raises(type(failure)):
        run(["score", "x", "--debug"])


def test_an_export_never_takes_the_place_of_a_device(capsys):
    assert "expected a file to write, got neither" in refused(
        capsys, ["export", "good.csv", "--format", "csv", "-o", "pipe.csv"], codes=(2,)
    )


def test_a_defect_of_ours_is_still_called_one(monkeypatch, capsys):
    def fail(*_, **__):
        raise KeyError("oops")

    monkeypatch.setattr(app.gapline, "main", fail)
    assert run(["score", "x"]) == 1
    assert capsys.readouterr().err.startswith("internal error: KeyError: 'oops'")
