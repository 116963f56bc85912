"""Instances from a name: the same bytes everywhere, windows that bind and can be kept."""

import gzip
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.check import load_checker
from gapline.check.routing_files import read_vrptw
from gapline.errors import UsageError
from gapline.generate import write_instances
from gapline.generate.draws import Draws
from gapline.model.store import file_digest

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


def test_the_instance_file_pins_its_arrival_times(tmp_path):
    """Compressed bytes may differ between versions of zlib; what is in them may not."""
    (path,) = write_instances("tdvrptw", tmp_path, name="demo", customers=6)
    stated = json.loads(path.read_text())["td"]
    content = gzip.decompress((tmp_path / stated["atf_path"]).read_bytes())
    assert hashlib.sha256(content).hexdigest() == stated["atf_sha256"]
    assert (tmp_path / stated["atf_path"]).read_bytes()[4:8] == b"\0\0\0\0"


def test_instances_of_one_name_differ_and_do_not_depend_on_the_count(tmp_path):
    three = write_instances("cvrp", tmp_path / "a", name="x", customers=8, count=3)
    two = write_instances("cvrp", tmp_path / "b", name="x", customers=8, count=2)
    assert [path.read_bytes() for path in three[:2]] == [path.read_bytes() for path in two]
    assert len({path.read_bytes().split(b"NODE_COORD")[1] for path in three}) == 3


def first_come_routes(instance):
    """Serve customers in the order of their numbers, with no eye on the clock."""
    routes, load = [[]], 0
    for customer in range(1, instance.customers + 1):
        if load + instance.demands[customer] > instance.capacity:
            routes.append([])
            load = 0
        routes[-1].append(customer)
        load += instance.demands[customer]
    return routes


def test_windows_bind_and_can_be_kept(tmp_path):
    """A plan without an eye on the clock breaks them; the planted one, which the fleet is sized for, keeps them."""
    from gapline.generate import vrptw as generator
    from gapline.generate.planted import plant_windows

    planted = []

    def remember(*arguments, **options):
        planted.append(plant_windows(*arguments, **options))
        return planted[-1]

    generator.plant_windows, original = remember, generator.plant_windows
    try:
        (path,) = write_instances("vrptw", tmp_path, name="bind", customers=30)
    finally:
        generator.plant_windows = original
    checker = load_checker("vrptw")
    assert checker.check(path, planted[0][1]).valid
    assert checker.check(path, [route[::-1] for route in planted[0][1]]).kind == "time window violated"
    assert checker.check(path, first_come_routes(read_vrptw(path))).kind in {"time window violated", "too many routes"}


def test_every_tdvrptw_customer_can_be_served_alone(tmp_path):
    (path,) = write_instances("tdvrptw", tmp_path, name="alone", customers=20)
    assert load_checker("tdvrptw").check(path, [[customer] for customer in range(1, 21)]).valid


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=20), st.integers(-1000, 1000), st.integers(0, 10**6))
def test_draws_stay_inside_and_repeat_themselves(name, low, span):
    first = [Draws(name).integer(low, low + span) for _ in range(2)]
    assert first[0] == first[1]
    assert low <= first[0] <= low + span


def test_draws_are_even():
    """6,000 throws of a die: each face within five standard deviations of 1,000."""
    draws = Draws("die")
    throws = [draws.integer(1, 6) for _ in range(6000)]
    assert all(abs(throws.count(face) - 1000) < 5 * 29 for face in range(1, 7))


def test_shuffling_keeps_all():
    assert sorted(Draws("s").shuffled(range(50))) == list(range(50))


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
