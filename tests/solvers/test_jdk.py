"""A Java that is missing or too old is one line."""

import pytest

from gapline.contract.contract import Arm
from gapline.solvers import check_setup

pytestmark = pytest.mark.slow


def test_a_missing_jdk_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    found = check_setup(Arm(name="t", solver="timefold"))
    assert found == f"arm t: expected a JDK 17 or later, got no java in JAVA_HOME {str(tmp_path)!r}"
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "got no java on the path" in check_setup(Arm(name="t", solver="timefold"))
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    java.chmod(0o755)
    assert f"got {java} of version 11" in check_setup(Arm(name="t", solver="timefold"))
