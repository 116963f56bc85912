"""Watch a study as a reader does, in a real browser: what the page shows, and of which event."""

import csv
import io
import re
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from patience import PATIENCE

# A whole read of the page happens between two drawings: everything in it is of one event.
READ = """() => {
  const text = (node) => node.textContent.trim();
  const rows = (id) => { const table = document.getElementById(id);
    return table === null || table.closest("[hidden]") ? [] : [...table.rows].map((row) => [...row.cells].map(text)); };
  const list = (selector) => [...document.querySelectorAll(selector)].filter((node) => !node.closest("[hidden]"));
  return {
    id: Number(document.documentElement.dataset.live), title: document.title,
    link: text(document.getElementById("link")),
    phase: text(document.getElementById("phase")), stopped: list("#stopped").map(text).join(),
    counts: Object.fromEntries(list("[data-count]").map((node) => [node.dataset.count, text(node)])),
    arms: rows("live-arm-table"), pairs: rows("live-pair-table"), alarms: list("#alarm-list > .alarm").map(text),
    refused: list("#refused").map(text).join(), events: list("#events li").map(text),
    failures: list(".failure").map(text), fairness: list("#fairness li").map(text),
    running: Object.fromEntries(list(".run-card").map((card) => [card.dataset.run, Object.fromEntries(
      [...card.querySelectorAll("[data-fact]")].map((node) => [node.dataset.fact, text(node)]))])),
    ranking: rows("ranking"), report: text(document.getElementById("report-words")),
  };
}"""


class LivePage:
    """One opened page, with everything that it complained about or asked others for."""

    def __init__(self, browser: Any, address: str, *, width: int = 1280, clock: bool = False, **options: Any) -> None:
        options.setdefault("viewport", {"width": width, "height": 900})
        self.context = browser.new_context(accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.excused = False
        self.page.set_default_timeout(1000 * PATIENCE)
        self._server = urlsplit(address)
        own = self._server.netloc
        self.page.on("console", lambda message: self._complain(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on(
            "request", lambda asked: urlsplit(asked.url).netloc in (own, "") or self.complaints.append(f"{asked.url}")
        )
        if clock:
            # Time can then be moved on by hand.
            self.page.clock.install()
        # A server is of low priority: on a busy machine its page comes late.
        self.page.goto(address, timeout=1000 * PATIENCE)

    def _complain(self, text: str) -> None:
        # A browser says on the console that a server is gone, whatever the page does about it; on a busy machine also
        # of one that ended with its test, before the page was closed, and let go of an answer that it was making (500).
        gone = re.search("Failed to load resource: (net::ERR_|.*status of 404)", text)
        ended = gone or re.search("Failed to load resource: .*status of 500", text)
        if not (gone and self.excused) and not (ended and not self._is_served()):
            self.complaints.append(text)

    def _is_served(self) -> bool:
        try:
            socket.create_connection((self._server.hostname, self._server.port), timeout=10).close()
        except OSError:
            return False
        return True

    def read(self) -> dict[str, Any]:
        """Return everything that the page shows, of one event."""
        found = self.page.evaluate(READ)
        for name in ("arms", "pairs", "ranking"):
            head, *rows = found[name] or [[]]
            found[name] = [dict(zip(head, row, strict=True)) for row in rows]
        return found

    def until(self, happened: str, *values: Any, patience: float = PATIENCE) -> dict[str, Any]:
        """Wait until a condition of what the page shows (`page`, and `value` as given) holds, and read it."""
        condition = f"(value) => {{ const page = ({READ})(); return {happened}; }}"
        arg = values[0] if values else None
        # Not with every frame: reading the whole page takes longer than one.
        self.page.wait_for_function(condition, arg=arg, timeout=1000 * patience, polling=50)
        return self.read()

    def settle(self) -> None:
        """Wait until the report is there and everything in it is drawn."""
        self.page.wait_for_function(
            """() => { const { renders, settled } = document.documentElement.dataset;
                       return renders !== undefined && settled === renders }""",
            timeout=1000 * PATIENCE,
        )

    def numbers(self) -> tuple[int, list[dict[str, str]]]:
        """Press the CSV button of the arms' table; returns the number of its event and the rows, all digits."""
        with self.page.expect_download() as download:
            self.page.locator("#live-arms-csv").click()
        rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))
        return int(rows[0]["event"]), rows
