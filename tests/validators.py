"""Programs by which others judge a package's metadata; `make test-all` brings them into an environment of their own."""

import json
import subprocess
from collections import Counter
from pathlib import Path

import pytest

ENVIRONMENT = Path(__file__).parents[1] / ".venv-validators"


def program(name: str) -> str:
    """Return the path of a program; a test without it says that it skips."""
    if not (ENVIRONMENT / ".ready").is_file():
        pytest.skip("make .venv-validators/.ready brings the programs that judge metadata")
    return str(ENVIRONMENT / "bin" / name)


def crate_issues(folder: Path, level: str, report: Path) -> Counter[str]:
    """Let rocrate-validator judge a folder as a Process Run Crate, without a network; count its issues by message."""
    command = [program("rocrate-validator"), "-y", "--disable-color", "validate", "--offline", "--no-paging"]
    command += ["--cache-path", str(ENVIRONMENT / "http-cache"), "-p", "process-run-crate-0.5", "-l", level]
    command += ["-f", "json", "-o", str(report), str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert report.is_file(), done.stdout + done.stderr
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["passed"] == (found["issues"] == [])
    assert found["validation_settings"]["profile_identifier"] == "process-run-crate-0.5"
    return Counter(issue["message"] for issue in found["issues"])


def read_by_rocrate(folder: Path) -> dict[str, object]:
    """Let the library `rocrate` read a crate; return what it found."""
    code = """
import json, sys
from rocrate.rocrate import ROCrate
crate = ROCrate(sys.argv[1])
actions = [one for one in crate.contextual_entities if one.type == "CreateAction"]
print(json.dumps({
    "name": crate.name, "files": sorted(one.id for one in crate.data_entities if one.type == "File"),
    "instruments": sorted({one["instrument"]["name"] for one in actions}),
    "objects": sorted({str(one["object"].id) for one in actions if not isinstance(one["object"], list)}),
}))
"""
    done = subprocess.run([program("python"), "-c", code, str(folder)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def citation_is_valid(path: Path) -> bool:
    """Let cffconvert judge a citation."""
    command = [program("cffconvert"), "--validate", "-i", str(path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return done.returncode == 0
