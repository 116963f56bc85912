"""A process that reads Parquet and Arrow bytes and says how it went; started by `columnar`, it imports polars alone.

Each question is a line `FORM SIZE` and so many bytes, each answer a line: empty where they were read, else why not.
"""

import io
import sys
from typing import BinaryIO

import polars as pl


def read_frame(data: bytes, form: str) -> pl.DataFrame:
    """Read the bytes of a Parquet or Arrow file, whichever of the two Arrow forms it is; moments come as text."""
    if form == "parquet":
        frame = pl.read_parquet(io.BytesIO(data))
    else:
        frame = (pl.read_ipc if data[:6] == b"ARROW1" else pl.read_ipc_stream)(io.BytesIO(data))
    # Here, because a moment that there is not makes Polars panic only when it is looked at.
    return frame.with_columns(pl.col(pl.Date, pl.Datetime, pl.Time).cast(pl.String))


def answer(questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer until nothing more is asked."""
    while head := questions.readline():
        form, size = head.decode().split()
        data = questions.read(int(size))
        said = ""
        try:
            read_frame(data, form)
        # A panic of Rust is no `Exception`.
        except BaseException as error:
            said = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        answers.write(said.encode("utf-8", "replace") + b"\n")
        answers.flush()


if __name__ == "__main__":
    try:
        import resource

        # A damaged file may end this process: nobody needs the core of it.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass
    answer(sys.stdin.buffer, sys.stdout.buffer)
