"""Random bytes and mutated logs: an error of ours or a counted rejection, never a traceback, in bounded memory."""

import random
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gapline.cli.app import run
from gapline.errors import GaplineError
from gapline.logs.formats import find_reader, format_names
from gapline.logs.reader import HEAD, LogFile
from gapline.logs.survey import survey_logs
from gapline.testing.readers import mutated
from profiles import examples

WORDS = [
    b"Instance: A\n", b"BKS: 5\n", b"Solution value, local machine time, standardized time\n", b"1 2 3\n",
    b"Primal Integral: 1\n", b"A.vrp;1;2;3\n", b"runtime,best_cost,best_feas\n", b"0.1,5,1\n",
    b"[objective direction ]: minimize\n", b"[  1 sec,  2 itr]: 70\n", b"timeMillisSpent,score\n",
    b'5,"0hard/-1soft"\n', b"* 1: Cost = 0_5, Time = 0.1 sec.\n", b"Run 1: Cost = 0_5, Time = 0.1 sec.\n", b"o 5\n",
    b"c time 1\n", b"s UNKNOWN\n", b"=opt= a 1\n", b"{", b"}", b"[", b"]",
    b"#1       0.20s best:21    next:[22,1]\n", b"#Done\n", b"----------\n", b"==========\n",
    b"% time elapsed: 0.05 s\n", b'{"type": "solution"}\n', b'{"Time":0.017,"Incumbent":-30,"step":1}',
    b"time,objective\n", b"1,2\n", b"nan", b"inf", b"-1", b"1e400", b"\0", b"\xff", b"\r\n", b",", b";", b"\t",
    b" ", b'"', b":", b"=", b"\xef\xbb\xbf", "٣".encode(),
]  # fmt: skip
TEXT = st.lists(st.sampled_from(WORDS), max_size=30).map(b"".join)


@pytest.mark.parametrize("name", format_names())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=TEXT | st.binary(max_size=300))
def test_no_bytes_make_a_reader_fail(name, data):
    reader = find_reader(name)
    for path in ("x.log", "x.json", "x.csv", "x.info"):
        assert reader.looks_like(path, data[:HEAD]) in (True, False)
        assert reader.is_companion(path, data[:HEAD]) in (True, False)
    try:
        found = reader.read(LogFile("x.log", data))
    except GaplineError:
        return
    for one in found.runs:
        assert len(one.time) == len(one.objective)


def test_a_folder_of_noise_is_refused_in_one_message(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)
    (tmp_path / "logs").mkdir()
    for number in range(40):
        (tmp_path / "logs" / f"{number}.log").write_bytes(mutated(b"".join(draw.choices(WORDS, k=20)), draw))
    assert run(["import", "logs", "--arm", "a", "--instance", "i", "-o", "campaign"]) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert "Traceback" not in err
    assert "internal error" not in err


@pytest.mark.slow
@pytest.mark.parametrize("name", format_names())
def test_a_line_of_100_mb_takes_memory_of_the_order_of_the_file(name, tmp_path):
    place = tmp_path / "x.log"
    place.write_bytes(b"1" * (100 << 20))
    tracemalloc.start()
    survey = survey_logs([place], format=name, arm="a", instance="i")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(survey.files) == 1
    assert peak < 8 * (100 << 20)
