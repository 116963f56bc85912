"""What a browser shows without any script."""

from types import SimpleNamespace

from gapline.serve.page import page_of


def hub_of(*states):
    studies = {str(k): SimpleNamespace(channel=SimpleNamespace(state=state)) for k, state in enumerate(states)}
    return SimpleNamespace(studies=studies)


def test_everything_is_escaped_and_alarms_are_loud():
    bad = "<script>alert(1)</script>"
    state = {
        "study": {"name": bad}, "phase": bad, "progress": {"done": 1, "left": 0}, "kernels": [bad],
        "runner": {"resume": bad, "words": bad}, "refused": {"message": bad},
        "arms": [{"arm": bad, "runs": 1, "scores": {bad: 0.5}}],
        "alarms": [{"instance": bad, "kind": bad}], "running_alarms": [],
        "events": [{"at": bad, "run": bad, "kind": bad, "text": bad}],
    }  # fmt: skip
    body, policy = page_of(hub_of(state))
    assert b"<script" not in body
    assert b'class="alarm"' in body
    assert b"'unsafe" not in policy


def test_before_the_first_look_it_says_so():
    assert b"reading the journals" in page_of(hub_of({}))[0]
