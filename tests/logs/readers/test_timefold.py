import pytest

from gapline.errors import TraceError
from gapline.logs.reader import LogFile
from gapline.logs.readers.timefold import NOT_INITIALIZED, READER, parse_score
from gapline.testing.readers import ReaderConformance

LOG = b""""timeMillisSpent","score","initialized"
106,"-5hard/-541soft","false"
250,"-1hard/-500soft","true"
1106,"0hard/-541soft","true"
2000,"0hard/-500soft","true"
"""


class TestTimefold(ReaderConformance):
    reader = READER
    path = "BEST_SCORE.csv"
    sample = LOG
    candidates = ((1.106, -541.0), (2.0, -500.0))


def read(data: bytes):
    return READER.read(LogFile("BEST_SCORE.csv", data))


def test_scores_are_maximised_and_kept_as_they_are():
    (run,) = read(LOG).runs
    assert (run.sense, run.resolution) == ("max", 0.001)
    assert run.objective.tolist() == [-541.0, -500.0, -541.0, -500.0]


def test_valid_means_hard_not_below_0_and_initialized():
    (run,) = read(LOG).runs
    assert run.verdict.tolist() == [0, 0, 1, 1]
    assert run.reason == [NOT_INITIALIZED, "hard score below 0", "", ""]


def test_older_files_lack_the_third_column():
    (run,) = read(b'"timeMillisSpent","score"\n5,"-3init/0hard/-9soft"\n9,"0hard/-9soft"\n').runs
    assert run.verdict.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "valid", "soft"),
    [
        ("-12", True, (-12.0,)),
        ("0hard/-2medium/-7soft", True, (-2.0, -7.0)),
        ("[0/0]hard/[-1/-2/-3]soft", True, (-1.0, -2.0, -3.0)),
        ("[0/-1]hard/[-1]soft", False, (-1.0,)),
        ("-3init/-12", False, (-12.0,)),
        ("0hard/-1.5soft", True, (-1.5,)),
    ],
)
def test_scores_of_every_kind(text, valid, soft):
    score = parse_score(text)
    assert (score.valid, score.soft) == (valid, soft)


@pytest.mark.parametrize("text", ["", "hard", "0hard", "0hard/-1,5soft", "0hard/soft", "infsoft", "0hard/-1softer"])
def test_what_is_no_score(text):
    assert parse_score(text) is None


def test_levels_below_hard_become_primary_and_secondary():
    (run,) = read(b'"timeMillisSpent","score","initialized"\n5,"0hard/-2medium/-7soft","true"\n').runs
    assert (run.primary, run.secondary) == ([-2.0], [-7.0])


def test_a_torn_row_is_not_believed():
    found = read(LOG[: LOG.rindex(b"500")])
    assert len(found.runs[0].time) == 3
    assert found.runs[0].status == "killed"
    assert len(found.problems) == 1


def test_a_bad_score_is_rejected_with_a_reason():
    found = read(b'"timeMillisSpent","score"\n5,"banana"\n-5,"-1soft"\n')
    assert found.runs[0].reason == ["objective not a number", "time negative"]
    assert len(found.problems) == 2


def test_two_runs_in_one_file_are_refused():
    with pytest.raises(TraceError, match=r"BEST_SCORE\.csv:6: expected rows of one run, got a second header"):
        read(LOG + LOG)


def test_other_headers_are_refused():
    with pytest.raises(TraceError, match="expected timeMillisSpent,score, got 'a,b'"):
        read(b"a,b\n")


def test_optaplanner_6_wrote_another_word_and_other_statistics_are_not_ours():
    old = (
        LOG.replace(b"Spent", b"Spend")
        .replace(b',"initialized"', b"")
        .replace(b',"true"', b"")
        .replace(b',"false"', b"")
    )
    assert READER.looks_like("BEST_SCORE.csv", old)
    assert read(old).runs[0].time.tolist() == [0.106, 0.25, 1.106, 2.0]
    assert not READER.looks_like("MEMORY_USE.csv", b'"timeMillisSpent","usedMemory","maxMemory"\n')


def test_a_header_alone_is_an_empty_run():
    (run,) = read(LOG[: LOG.index(b"106")]).runs
    assert (len(run.time), run.status) == (0, "unknown")
