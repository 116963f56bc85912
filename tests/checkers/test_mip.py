"""Two integers and a fraction, rows and objective by hand; then points that HiGHS itself calls optimal."""

import gzip
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.checkers import CheckerFailure, load_checker
from gapline.testing import CheckerSuite
from profiles import examples

# Minimise 3x + 2y + z + 4 with x + y + z/2 >= 2 and 2x + y <= 10; x whole in 0..5, y binary, z in 0..1.5.
TINY = """NAME tiny
ROWS
 N cost
 G cover
 L cap
COLUMNS
 MARKER 'MARKER' 'INTORG'
 x cost 3 cover 1
 x cap 2
 y cost 2 cover 1
 y cap 1
 MARKER 'MARKER' 'INTEND'
 z cost 1 cover 0.5
RHS
 RHS cover 2 cap 10
 RHS cost -4
BOUNDS
 UP BND x 5
 BV BND y
 UP BND z 1.5
ENDATA
"""


class TestMip(CheckerSuite):
    checker = "mip"
    valid = (
        ({"x": 2}, 10.0),
        ({"x": 1, "y": 1}, 9.0),
        ({"x": 1.0, "y": 1.0, "z": 0.0}, 9.0),
        # Rounded before anything is computed.
        ({"x": 0.9999999999998, "y": 1.0000000000002}, 9.0),
        ({"x": 2, "z": 0.25}, 10.25),
    )
    invalid = (
        ({"x": 1, "y": 1, "w": 1}, "unknown variable: 'w'"),
        ({"x": 1}, "row violated: cover is 1, expected 2 to inf"),
        ({"x": 5, "y": 1}, "row violated: cap is 11, expected -inf to 10"),
        ({"x": 6}, "bound violated: x is 6, expected 0 to 5"),
        ({"x": -1, "y": 1, "z": 1.5}, "bound violated: x is -1, expected 0 to 5"),
        ({"x": 2, "z": 1.50001}, "bound violated: z is 1.50001, expected 0 to 1.5"),
        ({"x": 1.5, "y": 1}, "not integral: x is 1.5"),
        ({"x": 2, "y": "1"}, "malformed solution: expected a finite value of 'y', got '1'"),
        ({"x": 2, "y": True}, "malformed solution: expected a finite value of 'y', got True"),
        ({"x": 10**400}, "malformed solution: expected a finite value of 'x', got a huge number"),
        ({"x": float("nan")}, "malformed solution: expected a finite value of 'x', got nan"),
        ({}, "row violated: cover is 0"),
        ([1, 1, 0], "malformed solution: expected an object of names and values, got a list of 3"),
    )

    @pytest.fixture
    def instance(self, tmp_path):
        path = tmp_path / "tiny.mps"
        path.write_text(TINY)
        return path

    def test_rows_may_be_missed_by_the_stated_tolerance_only(self, instance):
        checker = load_checker("mip")
        instance.write_text(TINY.replace(" UP BND x 5", " UP BND x 1").replace("z 1.5", "z 3"))
        assert checker.check(instance, {"x": 1, "z": 2 - 1e-6}).objective == pytest.approx(3 + 2 + 4, abs=1e-5)
        assert checker.check(instance, {"x": 1, "z": 2 - 1e-5}).kind == "row violated"
        assert "feasibility 1e-06" in checker.version
        assert "integrality 1e-06" in checker.version

    def test_the_same_program_as_lp_and_compressed_gets_the_same_verdicts(self, instance, tmp_path):
        lp = tmp_path / "tiny.lp"
        lp.write_text(
            "minimize\n cost: 3 x + 2 y + z + 4\nsubject to\n cover: x + y + 0.5 z >= 2\n cap: 2 x + y <= 10\n"
            "bounds\n x <= 5\n z <= 1.5\ngeneral\n x\nbinary\n y\nend\n"
        )
        packed = tmp_path / "tiny.mps.gz"
        packed.write_bytes(gzip.compress(TINY.encode()))
        checker = load_checker("mip")
        for solution, _ in (*self.valid, *self.invalid[:7]):
            verdicts = [checker.check(path, solution) for path in (instance, lp, packed)]
            assert verdicts == verdicts[:1] * 3

    def test_a_semi_continuous_variable_is_zero_or_within(self, instance):
        instance.write_text(TINY.replace(" UP BND z 1.5", " SC BND z 1.5\n LO BND z 1"))
        checker = load_checker("mip")
        assert checker.check(instance, {"x": 2}).objective == 10
        assert checker.check(instance, {"x": 2, "z": 1.25}).objective == 11.25
        assert checker.check(instance, {"x": 2, "z": 0.5}).kind == "bound violated"

    def test_a_file_that_is_no_program_is_the_checkers_failure(self, tmp_path):
        path = tmp_path / "broken.mps"
        path.write_text("ROWS\n what is this\n")
        with pytest.raises(CheckerFailure, match=r"broken\.mps: expected an instance that can be read"):
            load_checker("mip").check(path, {})


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(-1, 6), st.integers(-1, 2), st.sampled_from([0.0, 0.25, 0.5, 1.0, 1.5, 1.75]))
def test_verdicts_follow_the_text_of_the_program(tmp_path_factory, x, y, z):
    """The rows and bounds again, written out in Python."""
    path = tmp_path_factory.getbasetemp() / "law.mps"
    if not path.exists():
        path.write_text(TINY)
    verdict = load_checker("mip").check(path, {"x": x, "y": y, "z": z})
    valid = 0 <= x <= 5 and 0 <= y <= 1 and 0 <= z <= 1.5 and x + y + z / 2 >= 2 and 2 * x + y <= 10
    assert verdict.valid == valid
    if valid:
        assert verdict.objective == 3 * x + 2 * y + z + 4


def test_the_checker_and_cpsat_never_meet_in_one_process():
    """Their libraries clash: neither module may load the other's."""
    code = "import sys, gapline.checkers.mip as m; m.MipChecker(); print([n for n in sys.modules if n == 'ortools'])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
