"""Names, titles, log lines and values full of terminal escapes: every command shows them, and none lets one through."""

import json
import os
import shutil
import subprocess
import sys

import pytest

import gapline as gl
from gapline.cli.app import COMMANDS, run
from gapline.traces.campaign_archive import write_archive

ESCAPES = "\x1b[31m\x1b]0;pwned\x07\x9b2J\u202e"
SHOWN = "\\u001b[31m\\u001b]0;pwned\\u0007\\u009b2J\\u202e"
SOLVER = """
import json, sys
sys.stderr.write({escapes!r} + "\\n")
print({escapes!r} + " is not a candidate", flush=True)
for value in {values}:
    print(json.dumps({{"objective": value, "solution": [{escapes!r}]}}), flush=True)
{ending}
"""
CONTRACT = """
seeds = [1, 2]
[study]
name = "s{e}"
title = "t{e}"
[objective]
name = "o{e}"
checker = "command:{python} checker.py"
[time]
horizon = 30
grace = 0.5
machine = "m{e}"
[[instances]]
path = "instances/i{e}.txt"
panel = "p{e}"
[[instances]]
path = "instances/j{e}.txt"
panel = "p{e}"
[[arms]]
name = "a{e}"
solver = "command"
command = ["{python}", "good.py"]
[[arms]]
name = "b{e}"
solver = "command"
command = ["{python}", "dies.py"]
"""
CHECKER = """
import json, sys
print(json.dumps({{"checker": {escapes!r}, "version": {escapes!r}}}), flush=True)
for number, line in enumerate(sys.stdin):
    answer = {{"valid": number == 0, "objective": 20.0, "reason": {escapes!r}}}
    print(json.dumps(answer), flush=True)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a folder with a study that has run, a campaign, references, snapshots and logs, all of hostile names."""
    home = tmp_path_factory.mktemp("hostile")
    study = home / f"study{ESCAPES}"
    (study / "instances").mkdir(parents=True)
    escaped = json.dumps(ESCAPES)[1:-1]
    contract = CONTRACT.format(e=escaped, python=json.dumps(sys.executable)[1:-1])
    (study / "study.toml").write_text(contract, encoding="utf-8")
    (study / "checker.py").write_text(CHECKER.format(escapes=ESCAPES))
    (study / "good.py").write_text(SOLVER.format(escapes=ESCAPES, values=[20, 15], ending=""))
    (study / "dies.py").write_text(SOLVER.format(escapes=ESCAPES, values=[18], ending="raise SystemExit(3)"))
    for name in "ij":
        (study / "instances" / f"{name}{ESCAPES}.txt").write_text(ESCAPES)
    rows = [
        {
            "arm": arm + ESCAPES, "instance": name + ESCAPES, "panel": f"p{ESCAPES}", "seed": seed, "horizon": 30.0,
            "trace": [(1 + k + seed, 20.0 + k), (9.0, 12.0 + k)], "host": f"h{ESCAPES}",
        }
        for k, arm in enumerate("ab") for name in "ijk" for seed in (1, 2)
    ]  # fmt: skip
    campaign = gl.Campaign.from_runs(rows)
    campaign.save(home / f"campaign{ESCAPES}")
    values = {name + ESCAPES: 11.0 for name in "ijk"}
    gl.Snapshot.from_values(values, name=f"n{ESCAPES}", source=f"s{ESCAPES}").save(home / f"refs{ESCAPES}.json")
    less = values | {f"i{ESCAPES}": 10.0}
    gl.Snapshot.from_values(less, name=f"m{ESCAPES}", source=f"s{ESCAPES}").save(home / f"less{ESCAPES}.json")
    lines = [f'"{name}",{value},false,"s{ESCAPES}"' for name, value in less.items()]
    lines.insert(0, "instance,value,certified,source")
    (home / f"refs{ESCAPES}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    head = "arm,instance,seed,time,objective,horizon\n"
    (home / f"trace{ESCAPES}.csv").write_text(
        f'{head}"a{ESCAPES}","i{ESCAPES}",1,1,20,30\n"a{ESCAPES}","i{ESCAPES}",1,"{ESCAPES}",15,30\n', encoding="utf-8"
    )
    (home / f"torn{ESCAPES}.json").write_text(f'{{"{ESCAPES}": ')
    (home / f"torn{ESCAPES}.zip").write_bytes(b"PK\3\4" + ESCAPES.encode())
    (home / f"file{ESCAPES}").write_text("")
    bad = home / f"bad{ESCAPES}"
    bad.mkdir()
    wrong = contract.replace("[time]\nhorizon = 30", f'[time]\nhorizon = "{escaped}"').replace("seeds", f'"{escaped}"')
    (bad / "study.toml").write_text(wrong, encoding="utf-8")
    # What later calls need is there before any of them: tests of one file may run in several processes.
    gl.run_study(study)
    write_archive(campaign, home / f"packed{ESCAPES}.zip")
    return home


@pytest.fixture(autouse=True)
def here(place, monkeypatch):
    monkeypatch.chdir(place)


GOOD = ["campaign@", "--snapshot", "refs@.json", "--validation", "solver", "--draws", "50"]
# Words, the exit codes that they may end in; @ stands for the escapes.
CALLS = [
    (["run", "study@"], {0, 1}),
    (["status", "study@"], {0}),
    (["check", "study@", "--again"], {0, 1}),
    (["check", "study@", "--checker", "command:false @"], {0, 1, 2, 3}),
    (["check", "study@", "--checker", "python:no@:f"], {1, 2, 3}),
    (["doctor", "study@"], {0, 3}),
    (["pack", "study@", "-o", "package@.zip"], {1, 2}),
    (["pack", "study@", "-o", "package@.zip", "--keep-hosts"], {1, 2}),
    (["pack", "study@", "-o", "package@"], {2}),
    (["pack", "bad@", "-o", "package@.zip"], {2}),
    (["demo", "file@"], {2}),
    (["demo", "--worked-example"], {0}),
    (["init", "new@", "--name", "n@"], {0, 2}),
    (["init", "file@"], {2}),
    (["generate", "cvrp", "--n", "5", "--name", "n@", "-o", "made@"], {0, 2}),
    (["import", "trace@.csv", "-o", "imported@"], {0}),
    (["import", "trace@.csv", "--dry-run"], {0, 1}),
    (["import", "torn@.json", "-o", "nothing@"], {1, 2}),
    (["import", "trace@.csv", "-o", "campaign@"], {2}),
    (["import", "trace@.csv", "--format", "f@", "-o", "x"], {2}),
    (["import", "--list-formats"], {0}),
    (["export", "campaign@", "-o", "out@.csv"], {0}),
    (["export", "campaign@", "--arm", "x@", "-o", "out@.csv"], {2}),
    (["export", "study@", "-o", "out@.jsonl"], {0}),
    (["export", "campaign@", "-o", "out.@"], {2}),
    (["merge", "campaign@", "-o", "merged@"], {0}),
    (["merge", "campaign@", "campaign@", "-o", "both@"], {1, 2}),
    (["snapshot", "freeze", "csv:refs@.csv", "--name", "f@", "-o", "frozen@.json"], {0}),
    (["snapshot", "freeze", "csv:no@.csv", "--name", "f@", "-o", "frozen@.json"], {1, 2}),
    (["snapshot", "freeze", "st@:x", "--name", "f@", "-o", "frozen@.json"], {1, 2}),
    (["snapshot", "fold", "refs@.json", "campaign@", "--name", "g@", "-o", "g@.json", "--validation", "solver"], {0}),
    (["snapshot", "fold", "refs@.json", "refs@.csv", "--name", "h@", "-o", "h@.json", "--validation", "solver"], {0}),
    (["snapshot", "fold", "refs@.json", "refs@.csv", "--name", "h@", "-o", "h@.json"], {1}),
    (["snapshot", "log", "refs@.json", "*"], {0}),
    (["snapshot", "log", "refs@.json", "no@"], {2}),
    (["snapshot", "page", "refs@.json", "-o", "chain@.html"], {0}),
    (["snapshot", "diff", "refs@.json", "less@.json"], {0}),
    (["snapshot", "verify", "refs@.json", "torn@.json"], {1}),
    (["snapshot", "show", "refs@.json"], {0}),
    (["snapshot", "sho@"], {2}),
    (["score", *GOOD, "--per-run"], {0, 1}),
    (["score", "study@", "--policy", "analysis", "--references", "refs@.csv", "--validation", "solver"], {0, 1}),
    (["score", *GOOD, "--kernel", "k@"], {2}),
    (["score", *GOOD, "--kernel", "python:m@:f"], {2}),
    (["score", *GOOD, "--weight", "w@"], {2}),
    (["score", *GOOD, "--time-scale", "x@=2"], {0, 1, 2}),
    (["score", *GOOD, "--transform", "i@=shift:@"], {2}),
    (["score", "trace@.csv", "--references", "refs@.csv", "--validation", "solver"], {0, 1}),
    (["score", "no@.csv", "--references", "refs@.csv"], {1}),
    (["score", "bad@"], {1, 2}),
    (["score", *GOOD, "--@"], {2}),
    (["curve", *GOOD], {0, 1}),
    (["curve", *GOOD, "--kind", "eaf"], {0, 1}),
    (["curve", *GOOD, "--kind", "eaf-difference", "--pair", "a@", "b@"], {0, 1}),
    (["curve", *GOOD, "--kind", "target-ecdf"], {0, 1}),
    (["curve", *GOOD, "-o", "curve@.csv"], {0, 1}),
    (["curve", *GOOD, "-o", "curve.@"], {2}),
    (["compare", "campaign@:a@", "campaign@:b@", *GOOD[1:], "--fail-if-worse", "0", "--suggest"], {0, 1}),
    (["compare", "campaign@:a@", "campaign@:c@", *GOOD[1:]], {1, 2}),
    (["compare", "campaign@:a@", "campaign@:b@", *GOOD[1:], "--markdown", "c@.md", "--junit", "c@.xml"], {0, 1}),
    (["compare", "campaign@:a@", "no@*.csv", *GOOD[1:], "--markdown", "c@.md", "--junit", "c@.xml"], {1, 2}),
    (["export", "campaign@", "-o", "packed@.zip"], {0}),
    (["score", "packed@.zip", *GOOD[1:]], {0, 1}),
    (["score", "torn@.zip", *GOOD[1:]], {1}),
    (["analyse", *GOOD, "--contrast", "a@", "b@"], {0, 1}),
    (["analyse", *GOOD, "--contrast", "a@", "c@"], {1, 2}),
    (["plan", *GOOD], {0, 1}),
    (["scale", "0.05"], {0}),
    (["scale", "0.05", "--kernel", "k@"], {2}),
    (["scale", "x@"], {2}),
    (["report", *GOOD, "-o", "report@", "--title", "t@", "--format", "svg"], {0, 1}),
    (["paper", *GOOD, "-o", "paper@", "--title", "t@", "--format", "svg"], {0, 1}),
    (["verify", "study@", "--recheck"], {0, 1}),
    (["verify", "packed@.zip"], {1}),
    (["replicate", "packed@.zip", "-o", "again@"], {1}),
    (["replicate", "no@.zip", "-o", "again@"], {2}),
    (["verify", "bad@"], {1, 2}),
    (["watch", "study@", "--once"], {0, 1}),
    (["watch", "bad@", "--once"], {1, 2}),
    (["serve", "bad@", "--port", "@"], {2}),
    (["serve", "no@"], {2}),
    (["run", "bad@"], {2}),
    (["status", "bad@"], {2}),
    (["check", "bad@"], {2}),
    (["doctor", "bad@"], {2}),
    (["nonsense@"], {2}),
]  # fmt: skip
PLAIN = {"demo", "export", "merge", "init", "generate", "paper", "report", "serve", "watch"}


@pytest.mark.slow
def test_every_command_is_among_the_calls():
    assert {words[0] for words, _ in CALLS} >= set(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize(("words", "codes"), CALLS, ids=lambda one: " ".join(one[:3]) if isinstance(one, list) else "")
def test_escapes_are_shown_and_never_obeyed(words, codes, capfd):
    arguments = [word.replace("@", ESCAPES) for word in words]
    for more in ([], ["--json"]):
        if more and (words[0] in PLAIN or words[-1].startswith("--list") or codes == {2}):
            continue
        shutil.rmtree(f"imported{ESCAPES}", ignore_errors=True)
        code = run([*arguments, *more])
        out, err = capfd.readouterr()
        assert code in codes, (code, out, err)
        assert "internal error" not in err
        # Stronger than no ESC and no C1: nothing at all that is not printed as it is.
        assert [line for line in (out + err).split("\n") if not line.isprintable()] == []
        if more and "error: " not in err:
            json.loads(out)


@pytest.mark.slow
def test_a_name_is_shown_where_it_was_obeyed(capfd):
    """Not merely lost: who reads the output sees which name is meant."""
    for words in (["score", "no@.csv"], ["status", "study@"], ["import", "torn@.json", "-o", "n@"]):
        run([word.replace("@", ESCAPES) for word in words])
        out, err = capfd.readouterr()
        assert SHOWN in out + err


@pytest.mark.slow
def test_the_traceback_of_a_debug_call_is_shown_too(place):
    call = subprocess.run(
        [sys.executable, "-c", "from gapline.cli import main; main()", "score", f"no{ESCAPES}.csv", "--debug"],
        cwd=place, capture_output=True, check=False,
    )  # fmt: skip
    assert call.returncode == 1
    assert b"Traceback" in call.stderr
    assert SHOWN.encode() in call.stderr
    assert not {0x1B, 0x9B, 0x07} & set(call.stderr)


ASCII = {"PYTHONIOENCODING": "ascii"}
LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LATIN = {"PYTHONIOENCODING": "latin-1"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("environment", "words", "code"),
    [
        (LOCALE, ["demo", "--worked-example"], 0),
        (LATIN, ["demo", "--worked-example"], 0),
        (ASCII, ["score", "--help"], 0),
        (LOCALE, ["score", "été.csv", "--references", "refs.csv"], 1),
        (LATIN, ["score", "trace.csv", "--references", "refs.csv"], 0),
        (ASCII, ["score", "trace.csv", "--references", "refs.csv", "--json"], 0),
        (ASCII, ["analyse", "trace.csv", "--references", "refs.csv", "--draws", "20"], 0),
        (ASCII, ["curve", "trace.csv", "--references", "refs.csv"], 0),
    ],
    ids=lambda one: " ".join(one[:2]) if isinstance(one, list) else "",
)
def test_an_encoding_of_few_letters_gets_ascii(environment, words, code, tmp_path):
    rows = "".join(f"solveur-é,i{i}→,1,{i},2{i},30\n" for i in range(1, 4))
    (tmp_path / "trace.csv").write_text(f"arm,instance,seed,time,objective,horizon\n{rows}", encoding="utf-8")
    refs = "".join(f"i{i}→,11\n" for i in range(1, 4))
    (tmp_path / "refs.csv").write_text(f"instance,value\n{refs}", encoding="utf-8")
    call = subprocess.run(
        [sys.executable, "-c", "from gapline.cli import main; main()", *words],
        cwd=tmp_path, capture_output=True, env=os.environ | environment, check=False,
    )  # fmt: skip
    assert call.returncode == code, call.stderr
    assert b"expected names in UTF-8" not in call.stderr
    written = call.stdout + call.stderr
    assert len(written) > 50
    if environment.get("PYTHONIOENCODING") == "latin-1":
        written.decode("latin-1")
    else:
        assert written.isascii()
    if "--json" in words:
        assert "solveur-é" in json.dumps(json.loads(call.stdout), ensure_ascii=False)


@pytest.mark.slow
@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (1, 2), (0, 1, 2)])
def test_a_standard_stream_that_is_closed_is_no_error_and_no_file_takes_its_place(closed, tmp_path):
    """`gapline export … >&-`: Python has no stream then, and the next file to be opened gets its number."""
    (tmp_path / "t.csv").write_text("arm,instance,seed,time,objective,horizon\na,i,1,1,20,30\n")
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\n")
    shut = " ".join(f"{number}>&-" if number else "0<&-" for number in closed)
    main = f"{sys.executable} -c 'from gapline.cli import main; main()'"
    for words in ("score t.csv --references refs.csv", "export t.csv -o out.csv"):
        call = subprocess.run(["sh", "-c", f"{main} {words} {shut}"], cwd=tmp_path, capture_output=True, check=False)
        assert call.returncode == 0, (call.stdout, call.stderr)
        assert b"internal error" not in call.stderr
    assert gl.read(tmp_path / "out.csv", strict=True).objective.tolist() == [20.0]
