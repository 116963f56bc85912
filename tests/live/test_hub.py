"""Which studies a path stands for, and how they are looked at."""

import asyncio

import pytest

from gapline.errors import UsageError
from gapline.live.hub import Hub, find_studies
from live_studies import live_study


def test_a_study_and_a_folder_of_them(tmp_path):
    with live_study(tmp_path / "one"), live_study(tmp_path / "two"):
        assert list(find_studies(tmp_path)) == ["one", "two"]
        assert list(find_studies(tmp_path / "two")) == ["two"]


def test_a_folder_may_have_none_yet_and_what_is_not_there_is_refused(tmp_path):
    assert find_studies(tmp_path) == {}
    (tmp_path / "traces.csv").touch()
    for name in ("none", "traces.csv"):
        with pytest.raises(UsageError, match="no such directory"):
            find_studies(tmp_path / name)


def test_new_studies_are_found_and_names_are_looked_up(tmp_path):
    async def work():
        with live_study(tmp_path / "one"):
            hub = Hub(tmp_path)
            assert hub.of(None).name == "one"
            assert hub.of("two") is None
            assert hub.of("../one") is None
            with live_study(tmp_path / "two"):
                hub.find()
                assert list(hub.studies) == ["one", "two"]

    asyncio.run(work())


def test_a_study_that_is_gone_is_listed_no_more_and_kept_for_those_who_watch_it(tmp_path):
    async def work():
        with live_study(tmp_path / "one") as one, live_study(tmp_path / "two") as two:
            hub = Hub(tmp_path)
            client = hub.of("two").channel.join(None)
            for study in (one, two):
                (study.path / "study.toml").rename(study.path / "kept.toml")
            hub.find()
            assert (list(hub.studies), hub.documents(), hub.of(None)) == (["two"], [], None)
            assert hub.of("two").look()["phase"] == "absent"
            hub.of("two").channel.leave(client)
            hub.find()
            assert hub.of("two") is None
            (two.path / "kept.toml").rename(two.path / "study.toml")
            hub.find()
            assert hub.of(None).look()["phase"] == "not begun"
            hub.of(None).close()

    asyncio.run(work())


def test_no_more_studies_are_followed_than_one_can_be_told_of(tmp_path, monkeypatch):
    """Of those that appear later none pushes out one that is followed."""
    monkeypatch.setattr("gapline.live.hub.MOST_STUDIES", 1)

    async def work():
        with live_study(tmp_path / "two"):
            hub = Hub(tmp_path)
            with live_study(tmp_path / "one"):
                hub.find()
                assert [one["id"] for one in hub.documents()] == ["two"]

    asyncio.run(work())


def test_who_asks_twice_in_a_moment_looks_once(tmp_path):
    async def work():
        with live_study(tmp_path / "one") as study:
            hub = Hub(study.path)
            watched = hub.of(None)
            looks = []
            real = watched.look
            watched.look = lambda: looks.append(1) or real()
            await hub.fresh(watched)
            await hub.fresh(watched)
            assert len(looks) == 1
            assert watched.channel.state["phase"] == "not begun"
            hub.close("done")
            await hub.run()
            watched.live.close()

    asyncio.run(work())


@pytest.mark.parametrize(
    ("ago", "cost", "pause"),
    [(0.0, 0.01, 1.25), (0.25, 0.25, 1.0), (1.0, 1.0, 1.0), (2.0, 2.0, 1.25), (0.5, None, 1.25)],
)
def test_looks_begin_at_equal_distances_and_leave_as_much_time_as_they_take(tmp_path, monkeypatch, ago, cost, pause):
    """A look that takes long on a busy machine does not put the next one off by as much."""

    async def work():
        with live_study(tmp_path / "one") as study:
            hub = Hub(study.path)
            watched = hub.of(None)
            monkeypatch.setattr("gapline.live.hub.time.monotonic", lambda: 100.0)
            if cost is not None:
                watched.channel.join(None)
                watched.looked, watched.cost = 100.0 - ago, cost
            assert hub._pause() == pytest.approx(pause)

    asyncio.run(work())
