"""The machine is taken out of texts; what is none of it stays as it is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.package.scrub import Scrubber, alias_hosts, names_local_path

STUDY = "/data/home/jane doe/my study"


def scrubber(**more):
    return Scrubber({"node7": "host-1", "Big-2.cluster.org": "host-2"}, studies=[STUDY, "/short"], **more)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"--instance={STUDY}/instances/a.vrp", "--instance=instances/a.vrp"),
        (f"cd '{STUDY}'", "cd '.'"),
        (f"in {STUDY}.", "in .."),
        (f"{STUDY}-old/x", "…/my study-old/x"),
        ("/data/home/jane doe", "~"),
        ("/data/home/jane doe/other/y z", "…/y z"),
        ("/short/a but not a/short/b", "a but not a/short/b"),
        ("/opt/solver/bin/solve:12", "…/solve:12"),
        ("-I/opt/a/include x -L/home/bob/lib", "-I…/include x -L…/lib"),
        ("file:///home/bob/x", "file://…/x"),
        ("/home/bob and /root and /root/x", "~ and ~ and …/x"),
        ("jane doe@node7, NODE7.cluster.org, node7_1", "user@host-1, host-1, host-1_1"),
        ("big-2 is big-2.cluster.org", "host-2 is host-2"),
    ],
)
def test_what_says_where_somebody_works_is_taken_out(before, after):
    assert scrubber().text(before, "x") == after


@pytest.mark.parametrize(
    "text",
    [
        "/usr/bin/env python3 > /dev/null",
        "https://example.org/home/a/b?c=/d/e",
        "10/20/30 km/h and/or a /b",
        "instances/home/a.vrp ./mine ../x a~/b",
        "node71 node70-node7x xnode7",
        "localhost root 7",
        "",
    ],
)
def test_what_says_nothing_of_anybody_stays(text):
    scrub = scrubber()
    assert scrub.text(text, "x") == text
    assert scrub.list_taken() == []


def test_names_of_the_study_are_never_taken_for_a_machine():
    assert scrubber(names=["node7", "Jane Doe"]).text("node7 by jane doe", "x") == "node7 by jane doe"


def test_what_was_taken_is_counted_and_not_kept():
    scrub = scrubber()
    scrub.text(f"node7 {STUDY}/a {STUDY}/b", "log")
    scrub.text("by jane doe", "log")
    assert [tuple(one) for one in scrub.list_taken()] == [
        ("host name", "log", 1), ("path", "log", 2), ("user name", "log", 1),
    ]  # fmt: skip


def test_a_user_who_is_called_as_what_stands_in_for_users_is_not_counted():
    scrub = Scrubber(studies=["/home/user/study"])
    assert scrub.text("the user said so", "log") == "the user said so"
    assert scrub.list_taken() == []


def test_numbers_and_layout_of_json_stay_byte_for_byte():
    body = rb'{ "objective" : 1.50e0, "at":"\u002fhome\u002fbob\u002fx", "n":[1,  2.0] }'
    assert scrubber().json(body, "x") == '{ "objective" : 1.50e0, "at":"…/x", "n":[1,  2.0] }'.encode()


def test_an_escape_that_is_half_a_letter_does_no_harm():
    assert scrubber().json(rb'{"a":"\ud800 /opt/a/b"}', "x") == '{"a":"\\ud800 …/b"}'.encode()


def test_bytes_that_are_no_text_stay():
    assert scrubber().line(b"\xff /opt/a/b \xfe\n", "x") == b"\xff \xe2\x80\xa6/b \xfe\n"


def test_the_words_of_the_protocol_stay_whatever_a_machine_is_called():
    scrub = Scrubber({"objective": "host-1", "optimal": "host-2"})
    body = b'{"objective":1,"claim":"optimal"}'
    assert scrub.json(body, "x") == body


WORDS = st.lists(
    st.sampled_from([STUDY, "/", "node7", "jane doe", "a", " ", "/opt/b", ":", "home", "é", '"', "\\", "…", "."])
).map("".join)


@given(WORDS)
def test_scrubbing_twice_is_scrubbing_once(text):
    scrub = scrubber()
    once = scrub.text(text, "x")
    assert scrub.text(once, "x") == once


@given(WORDS)
def test_no_study_and_no_home_is_left(text):
    clean = scrubber().text(text, "x")
    assert STUDY not in clean
    assert "/home/jane doe" not in clean


@given(st.recursive(WORDS | st.integers() | st.none(), lambda one: st.lists(one) | st.dictionaries(WORDS, one)))
def test_json_is_scrubbed_as_its_texts_are(value):
    """Whatever way a text is escaped."""
    texts = [json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(value).replace("/", "\\/")]
    clean = [json.loads(scrubber().json(text.encode(), "x")) for text in texts]
    assert clean[0] == clean[1] == clean[2]


def test_hosts_are_numbered_in_their_order():
    assert alias_hosts(["b", "", "a", "b"]) == {"b": "host-1", "a": "host-2"}


def test_a_contract_may_name_what_every_system_has():
    assert not names_local_path('command = ["/usr/bin/python3", "./mine", "{instance}"]')
    assert names_local_path('command = ["/opt/me/mine"]')
    assert names_local_path("# see /home/jane")
