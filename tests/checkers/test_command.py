"""Programs as checkers: real child processes, good ones and bad ones."""

import os
import sys

import pytest

from gapline.checkers import CheckerFailure, load_checker
from gapline.checkers.command import ERRORS_KEPT, CommandChecker, LineProcess
from gapline.errors import EnvironmentLacksError
from gapline.testing import CheckerSuite

GOOD = """
import json, sys, pathlib
print(json.dumps({"checker": "sum", "version": "1.0"}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    path, solution = pathlib.Path(asked["instance"]), asked["solution"]
    if not path.is_file():
        print("no instance", flush=True)
    elif not isinstance(solution, list) or not solution or not all(type(x) is float for x in solution):
        print(json.dumps({"valid": False, "reason": "malformed solution"}), flush=True)
    elif sum(solution) < 3:
        print(json.dumps({"valid": False, "reason": "too little"}), flush=True)
    else:
        print(json.dumps({"valid": True, "objective": sum(solution)}), flush=True)
"""
HELLO = 'print(\'{"checker": "bad", "version": "1"}\', flush=True)\n'
BAD = {
    "crash": "import sys\nsys.stdin.readline()\nsys.exit('it broke here')",
    "garbage": "input()\nprint('what?', flush=True)\ninput()",
    "not-a-number": 'input()\nprint(\'{"valid": true, "objective": NaN}\', flush=True)\ninput()',
    "no-objective": "input()\nprint('{\"valid\": true}', flush=True)\ninput()",
    "wrong-type": 'input()\nprint(\'{"valid": "yes", "objective": 1}\', flush=True)\ninput()',
    "endless-line": "input()\nprint('x' * 3_000_000, flush=True)\ninput()",
    "closes-output": "import os\nos.close(1)\ninput()\ninput()",
}


def program(folder, source):
    path = folder / "my checker.py"
    path.write_text(source)
    return f"{sys.executable} '{path}'"


class TestCommand(CheckerSuite):
    valid = (([1.0, 2.5], 3.5),)
    invalid = (([1.0], "too little"), ([], "malformed"))

    @pytest.fixture
    def loaded(self, tmp_path):
        checker = load_checker("command:" + program(tmp_path, GOOD))
        yield checker
        checker.close()

    @pytest.fixture
    def instance(self, tmp_path):
        path = tmp_path / "goal.txt"
        path.write_text("3")
        return path

    def test_it_is_asked_who_it_is(self, loaded):
        assert (loaded.name, loaded.version) == ("command:sum", "1.0")

    def test_it_goes_on_after_a_failure(self, loaded, instance, tmp_path):
        with pytest.raises(CheckerFailure):
            loaded.check(tmp_path / "missing", [3.0])
        assert loaded.check(instance, [3.0]).objective == 3.0

    def test_a_large_solution_passes_through_the_pipe(self, loaded, instance):
        assert loaded.check(instance, [1.0] * 200_000).objective == 200_000.0


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_program_leaves_the_candidate_unchecked(tmp_path, kind):
    checker = CommandChecker(program(tmp_path, HELLO + BAD[kind]))
    with pytest.raises(CheckerFailure, match="expected a JSON line"):
        checker.check(tmp_path, [1.0])
    checker.close()


def test_its_last_words_are_told(tmp_path):
    checker = CommandChecker(program(tmp_path, HELLO + BAD["crash"]))
    with pytest.raises(CheckerFailure, match="it said: it broke here"):
        checker.check(tmp_path, [1.0])


def test_a_program_that_hangs_is_not_waited_for(tmp_path):
    checker = CommandChecker(program(tmp_path, HELLO + "import time\ntime.sleep(1000)"))
    checker.patience = 0.05
    with pytest.raises(CheckerFailure, match="no answer within"):
        checker.check(tmp_path, [1.0])


def test_a_missing_program_is_found_at_once():
    with pytest.raises(EnvironmentLacksError, match="no-such-program"):
        load_checker("command:no-such-program --fast")


def test_no_process_is_left(tmp_path):
    pid_file = tmp_path / "pid"
    source = f"import os\nopen({str(pid_file)!r}, 'w').write(str(os.getpid()))\n" + GOOD
    checker = CommandChecker(program(tmp_path, source))
    checker.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


def test_of_a_flood_of_errors_the_end_is_kept():
    code = "import sys; [sys.stderr.write('x' * 100000) for _ in range(200)]; sys.stderr.write('the end')"
    child = LineProcess([sys.executable, "-S", "-E", "-c", code])
    with pytest.raises(EOFError):
        child.exchange(None, 60.0)
    assert child.errors().endswith("xthe end")
    assert len(child.errors()) == ERRORS_KEPT
    child.end()
