"""Every command and every Python block in the README and the docs runs as it stands, in an empty directory."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    return [text for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")) if kind == language]


def script_of(block: str) -> str:
    """Turn a console block into a script: lines after `$ ` are commands, here-documents included."""
    lines, inside = [], None
    for line in block.splitlines():
        if inside is not None:
            lines.append(line)
            inside = None if line == inside else inside
        elif line.startswith("$ "):
            lines.append(line[2:])
            mark = re.search(r"<<'?(\w+)'?", line)
            inside = mark.group(1) if mark else None
    return "\n".join(lines)


@pytest.mark.parametrize("page", [p for p in PAGES if BLOCK.search(p.read_text())], ids=lambda p: p.name)
def test_a_page_runs_as_it_stands(page, tmp_path):
    """The console blocks in order, then the Python blocks as one script, in the same directory."""
    script = "set -euo pipefail\n" + "\n".join(script_of(block) for block in blocks(page, "console"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in (["bash", "-c", script], [sys.executable, "-c", "\n".join(blocks(page, "python"))]):
        done = subprocess.run(
            command, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_the_workflow_parses_and_what_it_runs_is_run_here():
    """Its gapline commands are those of the console blocks, which run above; its files are the ones that they write."""
    import shlex

    import yaml

    page = ROOT / "docs" / "compare-in-ci.md"
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    workflow = yaml.safe_load(text)
    steps = workflow["jobs"]["anytime"]["steps"]
    assert all("uses" in step or "run" in step for step in steps)
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    ours = [shlex.split(line) for line in lines if line.startswith("gapline ")]
    shown = "\n".join(script_of(block) for block in blocks(page, "console"))
    run_here = [shlex.split(line) for line in shown.splitlines() if line.startswith("gapline ")]
    assert ours
    assert [command for command in ours if command not in run_here] == []


def test_the_docs_import_nothing_from_inner_modules():
    """`gapline`, or a folder that authors of plug-ins import from: never a module inside a folder."""
    inner = re.compile(r"^\s*(?:from|import) gapline\.\w+\.\w+", re.MULTILINE)
    for page in PAGES:
        assert inner.findall(page.read_text(encoding="utf-8")) == [], page.name


def test_every_promise_names_a_test_that_is_there():
    """In docs/trust.md: a section without one is a promise that nobody keeps."""
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|torture|tools)/[\w/.-]+)", page)
    assert [name for name in named if not (ROOT / name).exists()] == []
    sections = page.split("\n## ")[1:]
    lacking = [
        section.partition("\n")[0] for section in sections if "`tests/" not in section and "`make test" not in section
    ]
    assert lacking == []
