"""The newest events are kept, the others are counted."""

from gapline.contract.tables import RunKey
from gapline.live.event_log import MOST, Happenings, Kind


def test_the_newest_come_first_and_old_ones_go():
    happenings = Happenings()
    for number in range(MOST + 5):
        happenings.add(Kind.INCUMBENT, str(number), RunKey("a", "i", 1))
    found = happenings.documents(MOST + 5)
    assert [one["text"] for one in found[:2]] == [str(MOST + 4), str(MOST + 3)]
    assert [one["number"] for one in found[:2]] == [MOST + 5, MOST + 4]
    assert len(found) == MOST


def test_an_event_as_json():
    happenings = Happenings()
    happenings.add(Kind.RUNNER, "gone")
    (found,) = happenings.documents()
    assert found | {"at": ""} == {"number": 1, "at": "", "kind": "runner", "run": None, "text": "gone"}
