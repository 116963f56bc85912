"""A real server and real clients: what it answers, and that nobody gets in."""

import contextlib
import http.client
import json
import os
import re
import select
import shutil
import signal
from pathlib import Path

import pytest

import gapline as gl
from gapline.cli.app import run as gapline
from gapline.errors import EnvironmentLacksError
from gapline.live.server import open_socket
from live_server import Listener, serving
from live_studies import live_study

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    with live_study(tmp_path_factory.mktemp("served") / "study", arms=("a", HOSTILE)) as written:
        written.run("a/i1/1", [(1.0, 30.0), (2.0, 12.0)])
        written.run(f"{HOSTILE}/i1/1", [(3.0, 20.0)])
        written.begin("a/j1/1")
        written.say("a/j1/1", 1.0, 50.0)
        yield written


@pytest.fixture(scope="module")
def served(study):
    with serving(study.path) as found:
        yield found


def test_the_state_is_the_answer_of_score(served, study, capsys):
    state = served.state()
    assert gapline(["score", str(study.path), "--json"]) == 0
    expected = json.loads(capsys.readouterr().out)
    for name in ("arms", "reference", "kernels", "coverage", "notes", "alarms", "unreadable"):
        assert state[name] == expected[name], name
    assert state["running"]["a/j1/1"]["incumbent"] == 50.0
    assert state["phase"] == "running"


def test_runs_curves_studies_and_the_report_of_this_moment(served, study):
    runs = served.state("/api/runs")["runs"]
    assert {(run["arm"], run["scores"]["squeezed"]) for run in runs} == {
        (row["arm"], row["squeezed"]) for row in gl.open_study(str(study.path)).scores[0].frame.iter_rows(named=True)
    }
    curves = served.state("/api/curves")
    assert {line["arm"] for line in curves["mean"]} == {"a", HOSTILE}
    assert {line["goal"] for line in curves["attainment"]} == set(gl.open_study(str(study.path)).goals)
    (listed,) = served.state("/api/studies")
    assert (listed["id"], listed["phase"]) == ("study", "running")
    report = served.get("/report.html")
    assert report.status == 200
    assert "attachment" in report.headers["content-disposition"]
    assert "2 of 4 planned runs, 1 running, 1 missing" in report.text


def test_the_page_is_the_same_for_all_and_runs_its_own_scripts_alone(served):
    page = served.get("/")
    assert HOSTILE not in page.text
    policy = page.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src 'self'" in policy
    assert "unsafe" not in policy
    assert page.text == served.get("/?study=study").text


def test_the_report_of_the_page_is_sent_to_those_who_do_not_have_it(served):
    first = served.get("/api/report")
    assert first.status == 200
    assert HOSTILE not in first.text
    assert "2 of 4 planned runs" in first.text
    mark = re.search(r'data-mark="([^"]*)"', first.text)[1]
    again = served.get(f"/api/report?have={mark}")
    assert (again.status, again.text) == (204, "")


def test_every_answer_has_the_headers_that_keep_others_out(served):
    for path in ("/", "/api/state", "/nothing"):
        headers = served.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"
        assert headers["access-control-allow-origin"] is None


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", "",
             "10.0.0.1:{port}", "[::2]:{port}", "127.0.0.1:{port}@evil", "\u00e9:{port}"],
)  # fmt: skip
def test_a_foreign_host_header_is_turned_away(served, host):
    """A page of another site that points its own name here would else read the answers."""
    answer = served.get("/api/state", Host=host.format(port=served.port))
    assert answer.status in (400, 421)
    assert "arms" not in answer.text


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST:{port}"])
def test_its_own_names_are_answered(served, host):
    assert served.get("/api/state", Host=host.format(port=served.port)).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUATSCH"])
def test_nothing_can_be_changed(served, method):
    assert served.get("/api/state", method=method, body=b"x").status in (400, 405)


@pytest.mark.parametrize(
    "path",
    ["/../study.toml", "/api/../study.toml", "/..%2f..%2fetc/passwd", "/api/state/../../etc/passwd", "/study.toml",
     "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/api/state%00", "/api/runs/../../../etc/passwd"],
)  # fmt: skip
def test_no_path_leads_to_a_file(served, path):
    answer = served.get(path)
    assert answer.status in (400, 404)
    assert "root:" not in answer.text
    assert "[study]" not in answer.text


@pytest.mark.parametrize("name", ["..", "../study", "/etc", "study/..", "%2e%2e", "study%00", "." * 300, HOSTILE])
@pytest.mark.parametrize("path", ["/api/state", "/api/events", "/api/curves", "/api/runs", "/report.html"])
def test_a_name_that_is_not_listed_is_not_there(served, path, name):
    from urllib.parse import quote

    assert served.get(f"{path}?study={quote(name)}").status == 404


def test_a_body_is_not_read(served):
    assert served.get("/api/state", body=b"x" * 100).status == 413
    with served.raw(
        b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nTransfer-Encoding: chunked\r\n\r\n" % served.port
    ) as one:
        assert one.recv(100).startswith(b"HTTP/1.1 413")


def read_to_end(connection):
    found = b""
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    return found


def test_a_header_of_ten_megabytes_is_cut_off(served):
    before = served.memory()
    with served.raw(b"GET /api/state HTTP/1.1\r\nHost: x\r\nX-Long: ") as one:
        try:
            for _ in range(160):
                one.sendall(b"x" * 65536)
        except OSError:
            pass
        else:
            assert b"200 OK" not in read_to_end(one)
    assert served.memory() - before < 20_000_000
    assert served.get("/api/state").status == 200


def test_a_long_query_and_many_headers_are_refused(served):
    assert served.get("/api/state?x=" + "y" * 5000).status in (400, 413)
    many = b"".join(b"X-%d: y\r\n" % k for k in range(5000))
    with served.raw(b"GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%b\r\n" % (served.port, many)) as one:
        assert b"200 OK" not in read_to_end(one)


@pytest.mark.slow
def test_a_request_that_never_ends_is_ended(study):
    """A few bytes now and then would keep a connection for ever."""
    sooner = "from gapline.live import guard; guard.ASK_WITHIN = 0.5"
    with (
        serving(study.path, before=sooner) as served,
        served.raw(b"GET /api/state HTTP/1.1\r\nHost: ") as one,
        served.raw() as silent,
    ):
        assert read_to_end(one) == read_to_end(silent) == b""


def test_garbage_is_no_request(served):
    with served.raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 50) as one:
        assert b"200 OK" not in read_to_end(one)
    assert served.get("/api/state").status == 200


def test_websockets_are_not_there(served):
    answer = served.get("/api/events", Connection="Upgrade", Upgrade="websocket", Sec_WebSocket_Version="13",
                        Sec_WebSocket_Key="x" * 22 + "==", method="HEAD")  # fmt: skip
    assert answer.status != 101


@pytest.mark.slow
def test_beyond_so_many_connections_they_are_turned_away_and_then_taken_again(served, eventually):
    with contextlib.ExitStack() as held:
        ended = select.poll()
        for _ in range(300):
            ended.register(held.enter_context(served.raw()), select.POLLIN)
        # Nobody of them asked anything: what can be read is the end.
        eventually(lambda: len(ended.poll(0)) >= 300 - 256)

    def is_let_in():
        try:
            return served.get("/api/state").status == 200
        except (ConnectionResetError, http.client.HTTPException):
            return False

    eventually(is_let_in)


@pytest.mark.slow
def test_a_token_is_asked_for_where_others_can_call(study):
    with serving(study.path, "--host", "0.0.0.0") as served:
        assert len(served.token) >= 32
        assert served.get("/api/state").status == 401
        assert served.get("/").status == 401
        assert served.get("/?token=wrong").status == 403
        assert served.get(f"/api/state?token={served.token}").status == 401
        assert served.get("/api/state", Cookie="gapline=wrong").status == 401
        assert served.get("/api/state", Authorization=f"Bearer {served.token}x").status == 401
        welcome = served.get(f"/?token={served.token}")
        assert welcome.status == 200
        cookie = welcome.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        pair = cookie.partition(";")[0]
        assert served.get("/api/state", Cookie=pair).status == 200
        assert served.get("/", Cookie=pair).status == 200
        assert served.get("/api/state", Authorization=f"Bearer {served.token}").status == 200
        # By an address nobody can be misled; by a name that is not ours they could.
        assert served.get("/api/state", Cookie=pair, Host=f"10.1.2.3:{served.port}").status == 200
        assert served.get("/api/state", Cookie=pair, Host=f"evil.example:{served.port}").status == 421


@pytest.mark.slow
def test_a_token_of_ones_own_is_taken_and_a_short_one_refused(study):
    with serving(study.path, "--token", "open-sesame") as served:
        assert served.address.endswith("/?token=open-sesame")
        assert served.get("/api/state").status == 401
        assert served.get("/api/state", Authorization="bearer open-sesame").status == 200
    assert gapline(["serve", str(study.path), "--token", "short"]) == 2


@pytest.mark.slow
def test_the_stream_begins_with_the_state_and_goes_on_with_changes(tmp_path):
    with live_study(tmp_path / "study") as study, serving(study.path) as served:
        listener = Listener(served)
        listener.until(lambda one: one.kinds == ["state"])
        study.begin("a/i1/1")
        study.say("a/i1/1", 1.0, 30.0)
        listener.until(lambda one: "a/i1/1" in one.document.get("running", {}))
        study.say("a/i1/1", 2.0, 20.0)
        listener.until(lambda one: one.document["running"]["a/i1/1"]["incumbent"] == 20.0)
        appended = [path for change in listener.changes for path, _ in change["append"]]
        assert ["running", "a/i1/1", "trace", "time"] in appended
        study.end("a/i1/1")
        document = listener.until(lambda one: one.document["progress"]["done"] == 1)
        assert document["running"] == {}
        last = listener.number
        listener.close()
        whole = served.state()
        for name in ("arms", "progress", "bounds", "beaten", "coverage"):
            assert document[name] == whole[name]
        # While nobody listened something happened: who comes back gets that alone.
        study.run("b/i1/1", [(1.0, 15.0)])
        served.state()
        back = Listener(served, last=last)
        back.until(lambda one: any(p == ["progress", "done"] and v == 2 for c in one.changes for p, v in c["set"]))
        assert "state" not in back.kinds
        back.close()
        stranger = Listener(served, last=7)
        stranger.until(lambda one: one.kinds[:1] == ["state"])
        stranger.close()


@pytest.mark.slow
def test_a_server_that_was_killed_comes_back_on_its_port_and_clients_catch_up(tmp_path):
    with live_study(tmp_path / "study") as study:
        with serving(study.path) as served:
            port, listener = served.port, Listener(served)
            listener.until(lambda one: one.kinds == ["state"])
            study.run("a/i1/1", [(1.0, 30.0)])
            listener.until(lambda one: one.document["progress"]["done"] == 1)
            served.kill()
            listener.until(lambda one: one.kinds[-1] == "end")
            last = listener.number
            listener.close()
        study.run("b/i1/1", [(1.0, 15.0)])
        with serving(study.path, "--port", str(port)) as served:
            assert served.port == port
            back = Listener(served, last=last)
            document = back.until(lambda one: one.document.get("progress", {}).get("done") == 2)
            assert back.kinds[0] == "state"
            assert [row["runs"] for row in document["arms"]] == [1, 1]
            back.close()


@pytest.mark.slow
def test_it_says_goodbye(tmp_path):
    with live_study(tmp_path / "study") as study, serving(study.path) as served:
        listener = Listener(served)
        listener.until(lambda one: one.kinds == ["state"])
        served.process.send_signal(signal.SIGINT)
        listener.until(lambda one: "bye" in one.kinds)
        assert served.process.wait(30) == 0
        listener.close()


@pytest.mark.slow
def test_a_folder_of_studies_shows_all_of_them_and_new_ones(tmp_path):
    with live_study(tmp_path / "one") as one, live_study(tmp_path / "two"):
        (tmp_path / "notes").mkdir()
        one.run("a/i1/1", [(1.0, 30.0)])
        with serving(tmp_path) as served:
            found = {study["id"]: study["progress"]["done"] for study in served.state("/api/studies")}
            assert found == {"one": 1, "two": 0}
            assert served.state("/api/state?study=two")["phase"] == "not begun"
            assert served.state()["study"]["id"] == "one"


@pytest.mark.slow
def test_an_empty_folder_is_served_and_studies_come_and_go(tmp_path, eventually):
    folder = tmp_path / "studies"
    folder.mkdir()

    def listed():
        return [study["id"] for study in served.state("/api/studies")]

    with serving(folder) as served:
        assert listed() == []
        for path in ("/api/state", "/api/events", "/api/curves", "/api/runs", "/api/report", "/report.html"):
            assert served.get(path).status == 404, path
        assert served.get("/").status == 200
        with live_study(folder / "late") as study:
            eventually(lambda: listed() == ["late"])
            assert served.state()["phase"] == "not begun"
            study.run("a/i1/1", [(1.0, 30.0)])
            listener = Listener(served, path="/api/events?study=late")
            listener.until(lambda one: one.document.get("progress", {}).get("done") == 1)
            study.path.rename(tmp_path / "elsewhere")
            document = listener.until(lambda one: one.document["phase"] == "absent")
            assert "progress" not in document
            eventually(lambda: listed() == [])
            (tmp_path / "elsewhere").rename(study.path)
            listener.until(lambda one: one.document.get("progress", {}).get("done") == 1)
            assert listed() == ["late"]
            shutil.rmtree(study.path)
            listener.until(lambda one: one.document["phase"] == "absent")
            listener.close()
            # Nobody watches it any more: it is forgotten.
            eventually(lambda: served.get("/api/state?study=late").status == 404)


@pytest.mark.slow
def test_a_folder_that_becomes_a_study_is_that_study(tmp_path, eventually):
    (tmp_path / "study").mkdir()
    with serving(tmp_path / "study") as served:
        assert served.state("/api/studies") == []
        with live_study(tmp_path / "study") as study:
            eventually(lambda: [one["id"] for one in served.state("/api/studies")] == ["study"])
            study.run("a/i1/1", [(1.0, 30.0)])
            eventually(lambda: served.state()["progress"]["done"] == 1)


@pytest.mark.slow
def test_it_leaves_the_cores_of_runs_and_stays_off_them_between_two(tmp_path, eventually):
    cores = os.sched_getaffinity(0)
    if len(cores) < 2:
        pytest.skip("there is no other core to go to")
    first, second = sorted(cores)[:2]
    with live_study(tmp_path / "study") as study, serving(study.path) as served:

        def used():
            tasks = Path(f"/proc/{served.process.pid}/task").iterdir()
            return set().union(*(os.sched_getaffinity(int(task.name)) for task in tasks))

        assert used() == cores
        study.begin("a/i1/1", cpus=[first])
        eventually(lambda: used() == cores - {first})
        study.end("a/i1/1")
        eventually(lambda: served.state()["progress"]["done"] == 1)
        assert used() == cores - {first}
        if len(cores) == 2:
            study.begin("b/i1/1", cpus=[second])
            eventually(lambda: used() == {first})


@pytest.mark.slow
def test_a_study_that_becomes_unreadable_says_so_and_recovers(tmp_path):
    with live_study(tmp_path / "study") as study, serving(study.path) as served:
        contract = study.path / "study.toml"
        text = contract.read_text()
        listener = Listener(served)
        listener.until(lambda one: one.kinds == ["state"])
        contract.write_text("not toml at all")
        document = listener.until(lambda one: one.document["phase"] == "unreadable")
        assert "expected TOML" in document["refused"]["message"]
        contract.write_text(text)
        listener.until(lambda one: one.document["phase"] == "not begun")
        listener.close()


@pytest.mark.slow
def test_a_port_that_is_taken_is_said_to_be():
    with open_socket("127.0.0.1", 0) as taken, pytest.raises(EnvironmentLacksError, match="expected a free port"):
        open_socket("127.0.0.1", taken.getsockname()[1])


@pytest.mark.slow
def test_a_report_that_would_take_too_much_of_the_time_comes_later(study):
    """Nothing is wrong then: whoever asks is told when to ask again."""
    greedy = "from gapline.live import app\napp.ALLOWANCE = -1.0"
    with serving(study.path, before=greedy) as served:
        answer = served.get("/api/report")
        assert answer.status == 202
        assert int(answer.headers["retry-after"]) > 1
