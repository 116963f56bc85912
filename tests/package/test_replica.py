"""The study that runs a package again: which part, its contract in words, and what may be gone on with."""

import tomllib

import pytest

from gapline.contract.study_file import load_contract
from gapline.errors import UsageError
from gapline.package.replication_plan import choose_part, opened_package, origin_of, prepare, read_origin, replica_text
from gapline.study.replication import PackageOrigin, ReplicatedPart
from package.toy_package import write_toy
from packages import make_package

ORIGIN = PackageOrigin(name='a "b".zip', sha256=f"sha256:{'0' * 64}", swhid=f"swh:1:dir:{'1' * 40}")


@pytest.fixture
def contract(tmp_path):
    return load_contract(write_toy(tmp_path / "toy"))


def test_names_patterns_lists_and_ranges_say_which_part(contract):
    part = choose_part(contract, arms=["quick,th*"], panels=["q"], seeds=["1..1", "2"], horizon_scale=0.5)
    assert part == ReplicatedPart(arms=("quick", "third"), panels=("q",), seeds=(1, 2), horizon_scale=0.5)
    assert choose_part(contract) == ReplicatedPart()
    assert choose_part(contract, seeds=[2]).seeds == (2,)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"arms": ["quik"]}, "--arms: expected names of the package, got 'quik'"),
        ({"seeds": ["3..5"]}, r"--seeds: expected seeds of the package \(1, 2\), got '3..5'"),
        ({"horizon_scale": 0.0}, "--horizon-scale: expected a positive number, got 0"),
        ({"horizon_scale": float("inf")}, "--horizon-scale: expected a positive number, got inf"),
    ],
)
def test_a_part_that_is_not_there_is_refused(contract, asked, said):
    with pytest.raises(UsageError, match=said):
        choose_part(contract, **asked)


@pytest.mark.parametrize("text", ["seeds = [1]\n[time]\nhorizon = 1", "seeds = [1]\r\n[time]\r\nhorizon = 1\r\n"])
def test_the_contract_keeps_its_words_and_says_where_it_comes_from(text):
    part = ReplicatedPart(arms=("a", 'b"c'), seeds=(1,), horizon_scale=0.25)
    written = replica_text(
        "# mine\n" + text, PackageOrigin(name=ORIGIN.name, sha256=ORIGIN.sha256, swhid=ORIGIN.swhid, part=part)
    )
    assert "# mine\n" + text.rstrip() in written
    data = tomllib.loads(written)
    assert data["time"]["horizon"] == 1
    assert data["replicates"] == {
        "name": ORIGIN.name, "sha256": ORIGIN.sha256, "swhid": ORIGIN.swhid,
        "arms": ["a", 'b"c'], "seeds": [1], "horizon_scale": 0.25,
    }  # fmt: skip


def test_a_replication_of_a_replication_names_one_package_and_multiplies_the_scales(tmp_path):
    study = write_toy(tmp_path / "toy")
    first = choose_part(load_contract(study), arms=["quick", "steady"], horizon_scale=0.5)
    origin = PackageOrigin(name="one.zip", sha256=ORIGIN.sha256, swhid=ORIGIN.swhid, part=first)
    (study / "study.toml").write_text(replica_text((study / "study.toml").read_text(), origin))
    contract = load_contract(study)
    second = choose_part(contract, seeds=["1"], horizon_scale=0.5)
    assert second == ReplicatedPart(arms=("quick", "steady"), seeds=(1,), horizon_scale=0.25)
    again = PackageOrigin(name="two.zip", sha256=ORIGIN.sha256, swhid=ORIGIN.swhid, part=second)
    (study / "study.toml").write_text(replica_text((study / "study.toml").read_text(), again))
    found = load_contract(study)
    assert (found.replicates.name, found.seeds, found.time.horizon) == ("two.zip", [1], 75.0)
    assert [arm.name for arm in found.arms] == ["quick", "steady"]


def test_a_directory_goes_on_with_its_own_package_and_part_alone(tmp_path):
    study = write_toy(tmp_path / "toy")
    place = tmp_path / "again"
    with opened_package(make_package(study, tmp_path / "one.zip")) as opened:
        origin = origin_of(opened, choose_part(load_contract(study), arms=["quick"]))
        prepare(opened, place, origin)
        assert read_origin(place) == origin
        prepare(opened, place, origin)
        other = origin_of(opened, choose_part(load_contract(study), arms=["steady"]))
        with pytest.raises(
            UsageError, match=r"the part of the package that was begun there \(arms quick\), got another"
        ):
            prepare(opened, place, other)
    (study / "extra.txt").write_text("more")
    two = make_package(study, tmp_path / "two.zip")
    begun = pytest.raises(UsageError, match=r"expected the package that was begun there, one\.zip")
    with opened_package(two) as opened, begun:
        prepare(opened, place, origin_of(opened, origin.part))
    assert read_origin(tmp_path / "nothing") is None


def test_programs_and_code_come_along_and_results_do_not(tmp_path):
    study = write_toy(tmp_path / "toy")
    (study / "tools").mkdir()
    (study / "tools" / "solve").write_text("#!/bin/sh\n")
    (study / "tools" / "solve").chmod(0o755)
    (study / "kernels.py").write_text("")
    for folder in ("journal/cell", "campaign", "results"):
        (study / folder).mkdir(parents=True)
        (study / folder / "old.json").write_text("{}")
    (study / "replication.json").write_text("{}")
    with opened_package(make_package(study, tmp_path / "one.zip")) as opened:
        prepare(opened, tmp_path / "again", origin_of(opened, ReplicatedPart()))
    found = sorted(path.name for path in (tmp_path / "again").iterdir())
    assert found == ["instances", "kernels.py", "references", "study.toml", "tools"]
    assert (tmp_path / "again" / "tools" / "solve").stat().st_mode & 0o100
