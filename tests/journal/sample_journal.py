"""A journal of three candidates, as lines and as a file."""

import msgspec

from gapline.journal.records import Ending, Order

ORDER = Order(arm="a", instance="i", seed=1, panel="p", horizon=2.0, attempt=1, argv=["solver"])

END = Ending(cause="exit", started="2026-08-01T12:00:00+00:00", elapsed=1.0, exit_code=0)

OBJECTIVES = [30.0, 20.0, 10.0]


def bodies() -> list[bytes]:
    events = [
        b'"t":%.9f,"say":{"objective":%.1f,"solution":["\\n",%d]}' % (0.1 * k, objective, k)
        for k, objective in enumerate(OBJECTIVES, start=1)
    ]
    return [b'"start":' + msgspec.json.encode(ORDER), *events, b'"end":' + msgspec.json.encode(END)]
