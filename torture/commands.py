"""Command lines of gapline in a process of its own, one after the other: a hang or the end of the process is seen.

Each question is a line, the JSON list of arguments; each answer a line with the exit code and both outputs.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Self

PATIENCE = 30.0
NEVER = ("internal error", "Traceback", "panicked", "backtrace")


class Answer:
    """How a command line ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def text(self) -> str:
        """Everything that it printed."""
        return self.out + self.err

    def check(self, case: str) -> None:
        """Fail unless it is an answer, or one clear error."""
        for never in NEVER:
            assert never not in self.text, f"{case}: {self.err}"
        assert self.code in (0, 1, 2, 3), f"{case}: exit {self.code}: {self.err}"
        errors = sum(line.startswith("error: ") for line in self.err.splitlines())
        assert errors <= 1, f"{case}: {errors} errors: {self.err}"


class Commands:
    """The process; it is started again after a command that ended it."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._process: subprocess.Popen[bytes] | None = None
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        self._printed.close()

    def run(self, *arguments: str | Path, case: str = "") -> Answer:
        """Run one command line; a hang or the end of the process is an `AssertionError` that names the case."""
        if self._process is None:
            pipe = subprocess.PIPE
            # Beside what Python prints, whatever a native library prints is kept too.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "torture.commands"], stdin=pipe, stdout=pipe, stderr=self._printed
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([os.fspath(one) for one in arguments]).encode() + b"\n")
        process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], self.patience)
        line = process.stdout.readline() if ready else b""
        if not line:
            self._end()
            self._printed.seek(0)
            what = "hangs" if not ready else "ends the process"
            printed = self._printed.read()[-2000:].decode("utf-8", "replace")
            raise AssertionError(f"{case}: {what}: {list(map(str, arguments))}\n{printed}")
        return Answer(**json.loads(line))

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.communicate()


def scored(commands: Commands, source: Path, case: str, *options: str, names: Sequence[str] = ()) -> str | None:
    """Score a source: what it prints, or None where it is refused with one clear error that has one of the names."""
    answer = commands.run("score", source, "--json", "--per-run", *options, case=case)
    answer.check(case)
    if answer.code == 0:
        return answer.out
    assert answer.err.startswith("error: "), f"{case}: exit {answer.code} without an error: {answer.err}"
    assert not names or any(name in answer.err for name in names), f"{case}: names no file: {answer.err}"
    return None


def serve(questions: Sequence[bytes] | IO[bytes], answers: IO[bytes]) -> None:
    """Run the command lines that are asked for."""
    import io
    from contextlib import redirect_stderr, redirect_stdout

    from gapline.cli.app import run

    for question in questions:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run(json.loads(question))
        said = {"code": code, "out": out.getvalue(), "err": err.getvalue()}
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()


if __name__ == "__main__":
    # What a library prints below Python must not stand between the answers.
    own = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, own)
