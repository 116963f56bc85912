"""The newest events are kept, the others are counted."""

from gapline.contract.tables import RunKey
from gapline.live.progress import MOST_EVENTS, EventLog


def test_the_newest_come_first_and_old_ones_go():
    log = EventLog()
    for number in range(MOST_EVENTS + 5):
        log.add("incumbent", str(number), RunKey("a", "i", 1))
    found = log.documents()
    assert [one["text"] for one in found[:2]] == [str(MOST_EVENTS + 4), str(MOST_EVENTS + 3)]
    assert [one["number"] for one in found[:2]] == [MOST_EVENTS + 5, MOST_EVENTS + 4]
    assert len(found) == MOST_EVENTS


def test_an_event_as_json():
    log = EventLog()
    log.add("runner", "gone")
    (found,) = log.documents()
    assert found | {"at": ""} == {"number": 1, "at": "", "kind": "runner", "run": None, "text": "gone"}
