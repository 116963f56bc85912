"""`gapline generate` prints what it wrote."""

import json

from gapline.campaign.store import file_digest
from gapline.cli.app import run


def test_generate_prints_each_path_with_its_digest(tmp_path, capsys):
    arguments = ["generate", "cvrp", "--name", "x", "--n", "7", "--count", "2", "-o", str(tmp_path)]
    assert run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{tmp_path / name}  {file_digest(tmp_path / name)}" for name in ("x-n7-1.vrp", "x-n7-2.vrp")]
    assert run([*arguments, "--json"]) == 0
    assert [entry["digest"] for entry in json.loads(capsys.readouterr().out)] == [line.split()[1] for line in lines]
