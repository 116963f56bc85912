"""Contracts to read, and the mistakes found in them."""

import pytest

from gapline.contract.study_file import load_contract
from gapline.errors import ContractError

SMALL = """
seeds = [1, 2]
[study]
name = "small"
[objective]
checker = "tdvrptw"
[time]
horizon = 2
[[instances]]
path = "instances/a.vrp.json"
[[instances]]
path = "other/b.vrp"
panel = "large"
size = 100
horizon = 5.5
name = "bee"
[[arms]]
name = "ils"
solver = "kayros"
[[arms]]
name = "mine"
solver = "command"
command = ["./mine", "{instance}"]
tier = 2
[arms.options]
fast = true
"""


def write(folder, text):
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def mistakes_of(folder, text, **options):
    with pytest.raises(ContractError) as found:
        load_contract(write(folder, text), **options)
    return found.value.mistakes
