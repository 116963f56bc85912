"""The stream of a study: what is kept for those who come back, and what becomes of those who do not read."""

import asyncio
import json

import pytest

from gapline.live import channel
from gapline.live.channel import Channel, encode


def run(work):
    return asyncio.run(work)


def data_of(event):
    return json.loads(event.split(b"data: ", 1)[1])


def test_nothing_new_is_no_event():
    async def work():
        found = Channel(start=5)
        assert found.publish({"a": 1})
        assert not found.publish({"a": 1})
        assert found.number == 6
        assert json.loads(found.document())["id"] == 6

    run(work())


def test_who_comes_back_gets_what_was_missed_and_nothing_else():
    async def work():
        found = Channel()
        for number in range(1, 6):
            found.publish({"n": number})
        client = found.join(3)
        events = (await client.take()).decode().strip().split("\n\n")
        assert [event.splitlines()[0] for event in events] == ["id: 4", "id: 5"]
        assert found.join(5) in found.clients
        whole = await found.join(None).take()
        assert whole.startswith(b"id: 5\nevent: state\n")
        assert (await found.join(99).take()).startswith(b"id: 5\nevent: state\n")

    run(work())


def test_what_is_no_longer_kept_is_the_whole_state(monkeypatch):
    monkeypatch.setattr(channel, "MOST_CHANGES", 3)

    async def work():
        found = Channel()
        for number in range(1, 10):
            found.publish({"n": number})
        assert (await found.join(2).take()).startswith(b"id: 9\nevent: state\n")
        assert (await found.join(6).take()).startswith(b"id: 7\nevent: change\n")

    run(work())


def test_kept_changes_are_bounded_by_their_size(monkeypatch):
    monkeypatch.setattr(channel, "MOST_BYTES", 1000)

    async def work():
        found = Channel()
        for number in range(50):
            found.publish({"text": f"{number}" + "x" * 300})
        assert sum(len(event) for event in found._kept) <= 1500

    run(work())


def test_a_client_that_does_not_read_is_dropped_and_holds_nothing():
    async def work():
        found = Channel()
        found.publish({"n": 0})
        client, reader = found.join(None), found.join(None)
        await reader.take()
        for number in range(1, 100):
            found.publish({"n": number})
            assert data_of(await reader.take())["set"] == [[["n"], number]]
        assert client.dropped
        assert await client.take() is None
        assert not reader.dropped
        found.leave(client)
        assert found.clients == {reader}

    run(work())


def test_heartbeats_and_the_last_word():
    async def work():
        found = Channel()
        found.publish({"n": 0})
        client = found.join(found.number)
        found.beat()
        found.close("the server ends")
        assert await client.take() == b": here\n\n"
        assert data_of(await client.take()) == {"reason": "the server ends"}

    run(work())


@pytest.mark.parametrize("name", ["\n\ndata: x", "\r", "\u2028", "\x00", "</script>"])
def test_no_text_ends_an_event_before_its_end(name):
    event = channel.encode_event("state", encode({name: name}), 1)
    assert event.count(b"\n") == 4
    assert b"\r" not in event
    assert data_of(event.strip()) == {name: name}


def test_what_is_no_text_and_no_number_is_still_json():
    assert json.loads(encode({"a": float("inf"), "b": "x"})) == {"a": None, "b": "x"}
    assert json.loads(encode({"a": "\udc80"}))["a"] == "\udc80"
