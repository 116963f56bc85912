import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.solu import READER

TEXT = b"=opt= a 10.5\n=best= b 20\n=inf= c\n=unkn= d\n\n# remark\n=best= e x\n"


def test_optimal_values_are_certified_and_best_ones_are_not():
    found = READER.read(LogFile("x.solu", TEXT))
    assert [(one.instance, one.value, one.certified) for one in found.references] == [
        ("a", 10.5, True), ("b", 20.0, False),
    ]  # fmt: skip
    assert found.runs == []
    assert found.problems == ["x.solu:7: expected a value after e, got 'x'"]


def test_names_are_those_of_the_models_not_of_their_files():
    (found,) = READER.read(LogFile("x.solu", b"=opt= t3.opb.gz 4\n")).references
    assert found.instance == "t3"


def test_it_is_recognised_by_its_first_line():
    assert READER.looks_like("x.solu", TEXT)
    assert not READER.looks_like("x.solu", b"opt a 1\n")


def test_other_text_is_refused():
    with pytest.raises(TraceError, match="got none that can be used"):
        READER.read(LogFile("x.solu", b"hello\n"))


def test_comments_may_come_first():
    assert READER.looks_like("short.solu", b"# values of a testset\n\n  # of 2024\n=opt= enigma 0\n")
    assert not READER.looks_like("notes.md", b"# values of a testset\nnone yet\n")
