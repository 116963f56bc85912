"""The example notebook runs as it stands, offline, and draws what it says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parent.parent / "docs" / "notebook.ipynb"


@pytest.mark.slow
def test_the_notebook_runs_and_its_charts_are_drawn_without_a_network(tmp_path):
    execute = ["--execute", "--to", "notebook", "--output-dir", str(tmp_path), str(NOTEBOOK)]
    done = subprocess.run(
        [sys.executable, "-m", "nbconvert", *execute], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads((tmp_path / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    shown = [output["data"] for output in outputs if "data" in output]
    drawn = ["".join(data["image/svg+xml"]) for data in shown if "image/svg+xml" in data]
    assert (
        sum("figures." in "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code") == len(drawn) == 4
    )
    assert all("<text" in drawing and "<script" not in drawing for drawing in drawn)
    assert [output for output in outputs if output["output_type"] == "error" or output.get("name") == "stderr"] == []
    tables = ["".join(data["text/html"]) for data in shown if "text/html" in data]
    assert len(tables) >= 4
    assert any("annealing" in table and "descent" in table for table in tables)


def test_the_notebook_is_stored_without_outputs():
    """Its runs are timed: what they gave on one machine is nobody else's."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    assert all(
        cell["outputs"] == [] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code"
    )
