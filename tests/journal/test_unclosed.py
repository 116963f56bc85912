"""Recordings without an end: told by their process on the same boot and namespace, else by the time alone."""

import datetime

import msgspec
import pytest

from gapline.journal.records import Order, RecorderProcess
from gapline.journal.unclosed_recordings import Here, Unclosed, this_recorder, unclosed_state

START = datetime.datetime(2026, 11, 18, 12, 0, tzinfo=datetime.UTC)
STARTED, HORIZON = START.isoformat(), 60.0
RECORDER = RecorderProcess(pid=77, began=500, boot="boot", namespace="pid:[1]", clock=1_000 * 10**9)
GOES_ON, KILLED, OVERDUE = Unclosed.IN_PROGRESS, Unclosed.KILLED, Unclosed.OVERDUE


def order(recorder=RECORDER, started=STARTED):
    return Order(arm="a", instance="i", seed=1, panel="p", horizon=HORIZON, recorder=recorder, started=started)


def here(alive, *, clock=1.0, wall=1.0, boot="boot", namespace="pid:[1]"):
    """Look `clock` and `wall` seconds after the start."""
    asked = {(77, 500): alive}
    moment = START + datetime.timedelta(seconds=wall)
    return Here(boot, namespace, moment, int((1_000 + clock) * 1e9), lambda pid, began: asked[pid, began])


@pytest.mark.parametrize(
    ("alive", "moment", "state"),
    [
        (True, {}, GOES_ON),
        (False, {}, KILLED),
        (None, {}, GOES_ON),
        (True, {"clock": 60.0}, OVERDUE),
        (False, {"clock": 60.0}, KILLED),
        (None, {"clock": 60.0}, KILLED),
        (True, {"clock": 59.999}, GOES_ON),
        # Somebody set the time of day: on the same boot it is not asked.
        (True, {"clock": 30.0, "wall": 1e6}, GOES_ON),
        (True, {"clock": 61.0, "wall": -1e6}, OVERDUE),
        # On another boot, or in another namespace, the number is that of another process.
        (True, {"boot": "other", "wall": 30.0}, GOES_ON),
        (True, {"boot": "other", "wall": 60.0}, KILLED),
        (False, {"boot": "other", "wall": 30.0}, GOES_ON),
        (True, {"boot": "other", "clock": 1e6, "wall": 30.0}, GOES_ON),
        (True, {"boot": "", "wall": 60.0}, KILLED),
        (False, {"namespace": "pid:[2]", "clock": 30.0}, GOES_ON),
        (True, {"namespace": "pid:[2]", "clock": 60.0}, KILLED),
        # A clock below that of the start is another one: a namespace of time.
        (True, {"clock": -500.0, "wall": 61.0}, OVERDUE),
    ],
)
def test_a_run_goes_on_until_its_horizon_while_its_process_may_be_alive(alive, moment, state):
    assert unclosed_state(order(), here(alive, **moment)) is state


@pytest.mark.parametrize("recorder", [msgspec.UNSET, RecorderProcess(pid=77), RecorderProcess(pid=77, began=500)])
@pytest.mark.parametrize(
    ("started", "wall", "state"),
    [
        (STARTED, 59.0, GOES_ON),
        (STARTED, 60.0, KILLED),
        (msgspec.UNSET, 1.0, KILLED),
        ("yesterday", 1.0, KILLED),
        ("2026-11-18T12:00:00", 1.0, KILLED),
    ],
)
def test_without_facts_of_the_process_the_time_alone_tells(recorder, started, wall, state):
    """So were recordings written before, and so are those of a system that tells nothing of its processes."""
    assert unclosed_state(order(recorder, started), here(False, wall=wall)) is state


def test_this_process_is_alive_by_its_own_facts():
    found = order(this_recorder(), datetime.datetime.now(datetime.UTC).isoformat())
    assert unclosed_state(found, Here.now()) is GOES_ON
    assert unclosed_state(msgspec.structs.replace(found, horizon=1e-9), Here.now()) is OVERDUE


def test_orders_of_campaigns_have_neither():
    plain = Order(arm="a", instance="i", seed=1, panel="p", horizon=1.0)
    assert {"started", "recorder"}.isdisjoint(msgspec.json.decode(msgspec.json.encode(plain)))
