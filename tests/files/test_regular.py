"""What stands in the place of a file is refused by name, and nothing is waited for."""

import ast
import os
import re
import socket
from pathlib import Path

import pytest

import gapline
import gapline as gl
from gapline.files.atomic_write import check_directory, write_atomically
from gapline.files.open_file import open_regular, read_regular, reason_of


def test_a_file_and_a_link_to_one_are_read(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    (tmp_path / "l").symlink_to("f")
    assert read_regular(tmp_path / "f") == read_regular(str(tmp_path / "l")) == b"abc"
    with open_regular(tmp_path / "f") as stream:
        assert os.get_blocking(stream.fileno()) in (True, False)
        assert stream.read(2) == b"ab"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: path.unlink(missing_ok=True), "no such file"),
        (lambda path: path.mkdir(), "a directory"),
        (os.mkfifo, "a pipe"),
        (lambda path: path.symlink_to("/dev/zero"), "a character device"),
        (lambda path: path.symlink_to(path.name), "too many levels of symbolic links"),
    ],
    ids=["nothing", "directory", "pipe", "device", "loop"],
)
def test_anything_else_is_refused_at_once(tmp_path, make, told):
    before = len(list(Path("/proc/self/fd").iterdir()))
    make(tmp_path / "x")
    with pytest.raises(OSError, match="x") as caught:
        read_regular(tmp_path / "x")
    assert reason_of(caught.value) == told
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (gl.read, "no such file"),
        (gl.open, "a path with a NUL character"),
        (lambda path: gl.open_study(path, references={"i": 1.0}), "no such file"),
        (gl.load_contract, "a path with a NUL character"),
        (gl.verify, "no such file"),
        (lambda path: gl.record(path, arm="a", instance="i", horizon=1), "a text without NUL characters"),
        (lambda path: write_atomically(Path(path), print), "a path with a NUL character"),
        (lambda path: check_directory(Path(path)), "a path with a NUL character"),
    ],
)
def test_a_path_with_a_nul_is_an_error_in_our_words(use, told):
    with pytest.raises((gl.GaplineError, OSError), match=told):
        use("a\0b")


def test_a_socket_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        with pytest.raises(OSError, match="No such device"):
            read_regular("s")


# Reads that are not of a user's file: of the kernel, of the package itself, of what this process wrote or just mapped.
OTHER_READS = {
    "traces/parquet_process.py", "logs/unfinished_import.py", "files/process_start.py", "files/memory.py",
    "campaign/remote.py", "files/scratch_arrays.py", "report/page/seal.py", "process/cgroup.py", "process/machine.py",
    "process/tree.py", "executors/worker_requirements.py", "executors/submitit_cluster.py",
    "solvers/jsprit.py", "solvers/cpsat.py", "testing/adapter.py", "package/crate.py", "journal/claims.py",
    "journal/unclosed_recordings.py",
}  # fmt: skip


def test_one_function_opens_the_files_of_a_study():
    """`open` waits for the writer of a pipe, who may never come; `open_regular` and `open_input` do not."""
    source = Path(gapline.__file__).parent
    texts = {path: path.read_text(encoding="utf-8") for path in source.rglob("*.py")}
    found = {
        path.relative_to(source).as_posix()
        for path, text in texts.items()
        # To parse all of them would take seconds.
        if re.search(r"open\(|\.read_|\.scan_", text) and any(map(_reads_a_path, ast.walk(ast.parse(text))))
    }
    assert found == OTHER_READS


def _reads_a_path(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "open" and not _writes(node.args[1:])
    if node.func.attr == "open":
        # Path.open has at most a mode; `archive.open(member)` and `index.open()` are other methods.
        return any(isinstance(one, ast.Constant) and one.value in ("r", "rb") for one in node.args[:1])
    return node.func.attr in ("read_bytes", "read_text", "scan_parquet", "scan_ipc") and not node.args


def _writes(arguments: list[ast.expr]) -> bool:
    return any(not isinstance(one, ast.Constant) or set("wax") & set(str(one.value)) for one in arguments)
