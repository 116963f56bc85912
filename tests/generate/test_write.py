"""Instances from a name: the same bytes everywhere, windows that bind and can be kept."""

import pytest

from gapline.campaign.store import file_digest
from gapline.errors import UsageError
from gapline.generate import write_instances

# Pinned: these may never change, or snapshots made with an earlier gapline lose their instances.
DIGESTS = {
    "tdvrptw": ("demo-n25-1.vrp.json", "sha256:3c112899d5da3c4fa0d691d07a7ace3910bb76789682965496f36c28773619bb"),
    "vrptw": ("demo-n25-1.txt", "sha256:13c42f544e8239cce9cb7c261c0c9b08debe9d4ea606138fe52ff18243d8a27e"),
    "cvrp": ("demo-n25-1.vrp", "sha256:52672ab4f4c48ff480d48ff8b1a112e9b89e0b7b24e2cd56e16307486dbb2f4b"),
}


@pytest.mark.parametrize("problem", DIGESTS)
def test_the_same_name_gives_the_same_digest_on_every_machine(tmp_path, problem):
    (path,) = write_instances(problem, tmp_path, name="demo", customers=25)
    assert (path.name, file_digest(path)) == DIGESTS[problem]


def test_a_mip_name_gives_the_same_cover_and_knapsack_on_every_machine(tmp_path):
    assert {path.name: file_digest(path) for path in write_instances("mip", tmp_path, name="demo", customers=25)} == {
        "demo-setcover-n25-1.mps": "sha256:e7a0c6819e594d0ea89baa4a767fcf9b85066d2bd1f77fb720597e7c751415f6",
        "demo-knapsack-n25-1.mps": "sha256:928afe4ab04316e02de03933b7fb6580442c2b88df79350fc18a950525c75dae",
    }


def test_instances_of_one_name_differ_and_do_not_depend_on_the_count(tmp_path):
    three = write_instances("cvrp", tmp_path / "a", name="x", customers=8, count=3)
    two = write_instances("cvrp", tmp_path / "b", name="x", customers=8, count=2)
    assert [path.read_bytes() for path in three[:2]] == [path.read_bytes() for path in two]
    assert len({path.read_bytes().split(b"NODE_COORD")[1] for path in three}) == 3


@pytest.mark.parametrize(
    ("problem", "name", "customers", "message"),
    [
        ("vrtw", "x", 5, "did you mean 'vrptw'"),
        ("cvrp", "../x", 5, "got '../x'"),
        ("cvrp", "", 5, "got ''"),
        ("cvrp", "x", 0, "got 0 and 1"),
    ],
)
def test_wrong_use_is_named(tmp_path, problem, name, customers, message):
    with pytest.raises(UsageError, match=message):
        write_instances(problem, tmp_path, name=name, customers=customers)
