"""Files that are packed as they are must name no machine."""

import pytest

from gapline.contract.study_file import load_contract
from gapline.errors import GaplineError
from gapline.package.contents import find_contents
from gapline.package.pack import refuse_named_machines
from gapline.package.scrub import Scrubber
from gapline.references.snapshot import Snapshot
from package.planted_machine import write_study

STUDY = "/srv/home/jane/study"


def look(study):
    scrub = Scrubber({"node7": "host-1", "vm": "host-2"}, studies=[STUDY])
    refuse_named_machines(find_contents(study, load_contract(study)), scrub)


@pytest.fixture
def fresh(tmp_path):
    return write_study(tmp_path / "s")


def test_a_contract_of_relative_names_passes(fresh):
    text = (fresh / "study.toml").read_text().replace("[time]", '[time]\nmachine = "a vm with /usr/bin/env"')
    (fresh / "study.toml").write_text(text)
    look(fresh)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("# written in /home/me/x", "an absolute path"),
        ("# on node7", "a host name"),
        (f"# {STUDY}", "the path of a study or a home"),
    ],
)
def test_a_line_that_names_a_machine_is_refused(fresh, line, what):
    text = (fresh / "study.toml").read_text()
    (fresh / "study.toml").write_text(f"{line}\n{text}")
    with pytest.raises(GaplineError, match=f"study.toml:1: {what}") as refused:
        look(fresh)
    assert "--keep-hosts" in refused.value.hint


def test_a_host_in_the_time_scale_is_refused(fresh):
    scale = 'horizon = 20\nscale = { lab2 = 1.5, "*" = 1.0 }'
    text = (fresh / "study.toml").read_text().replace("horizon = 20", scale)
    (fresh / "study.toml").write_text(text)
    with pytest.raises(GaplineError, match=r"study.toml:13: time.scale names the host 'lab2'"):
        look(fresh)


def test_a_time_scale_that_names_no_host_passes(fresh):
    text = (fresh / "study.toml").read_text().replace("horizon = 20", 'horizon = 20\nscale = { "*" = 1.0 }')
    (fresh / "study.toml").write_text(text)
    look(fresh)


def test_a_snapshot_that_names_a_place_is_refused(fresh):
    (fresh / "references" / "known.json").unlink()
    entries = {"one": {"value": 1.0, "source": "/home/me/solutions/one.sol"}}
    Snapshot.from_entries(entries, name="k", store={"name": "k"}).save(fresh / "references" / "known.json")
    with pytest.raises(GaplineError, match=r"references/known.json:\d+: an absolute path"):
        look(fresh)


def test_a_file_of_the_users_may_say_anything_but_where_the_study_is(fresh):
    (fresh / "rules.py").write_text("# node7 /opt/x/y\n")
    look(fresh)
    (fresh / "rules.py").write_text(f"\n#!{STUDY}/bin/python\n")
    with pytest.raises(GaplineError, match=r"rules.py:2: the path of a study or a home"):
        look(fresh)
