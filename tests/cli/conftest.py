"""Folders in which commands are tried: traces, references, and the options that name them."""

import pytest

from cli.two_arms import write_traces
from cli.worked_traces import TRACES

SMALL = """arm,instance,seed,time,objective,valid,horizon,panel
fast,i1,1,1,12,true,30,p
fast,i1,1,4,11,true,30,p
fast,i2,1,2,25,true,30,p
deep,i1,1,5,10.5,true,30,p
deep,i1,1,9,9.5,true,30,p
deep,i2,1,,,,30,p
"""


@pytest.fixture
def worked(tmp_path, monkeypatch):
    (tmp_path / "traces.csv").write_text(TRACES)
    (tmp_path / "refs.csv").write_text("instance,value\nworked,10\n")
    monkeypatch.chdir(tmp_path)
    return ["traces.csv", "--references", "refs.csv", "--horizon", "30"]


@pytest.fixture
def two_arms(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_traces(tmp_path / "traces.csv")
    names = [f"{'small' if i < 4 else 'large'}-{i}" for i in range(8)]
    (tmp_path / "refs.csv").write_text("instance,value\n" + "".join(f"{name},100\n" for name in names))
    return ["--references", "refs.csv", "--draws", "200"]


@pytest.fixture
def traces(tmp_path, monkeypatch):
    (tmp_path / "traces.csv").write_text(SMALL)
    (tmp_path / "refs.csv").write_text("instance,value,certified\ni1,10,false\ni2,20,false\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path
