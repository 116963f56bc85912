"""The other process answers with a line for every file."""

import io

import polars as pl

from gapline.capture.columnar_trial import answer, read_frame


def packed(form, frame):
    file = io.BytesIO()
    {"parquet": frame.write_parquet, "arrow": frame.write_ipc, "stream": frame.write_ipc_stream}[form](file)
    return file.getvalue()


def test_each_question_gets_one_line():
    good = packed("parquet", pl.DataFrame({"a": [1]}))
    asked = b"".join(b"parquet %d\n" % len(data) + data for data in (good, b"PAR1", good))
    answers = io.BytesIO()
    answer(io.BytesIO(asked), answers)
    first, second, third, rest = answers.getvalue().split(b"\n")
    assert (first, third, rest) == (b"", b"", b"")
    assert second


def test_both_forms_of_arrow_are_known_by_their_first_bytes():
    frame = pl.DataFrame({"a": [1, 2]})
    for form in ("arrow", "stream"):
        assert read_frame(packed(form, frame), "arrow").equals(frame)
