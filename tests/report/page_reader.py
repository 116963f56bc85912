"""Use the page as a reader does: set its controls, read its tables, save its CSV files."""

import csv
import io
from pathlib import Path
from typing import Any

from patience import PATIENCE


class PageReader:
    """One opened page, with everything that it complained about or asked the network for."""

    def __init__(
        self,
        browser: Any,
        path: Path,
        *,
        hash: str = "",
        width: int = 1280,
        wait: bool = True,
        tab: Any = None,
        **options: Any,
    ) -> None:
        size = {"width": width, "height": 900}
        if tab is None:
            tab = browser.new_context(accept_downloads=True, **{"viewport": size} | options).new_page()
        else:
            tab.set_viewport_size(size)
            tab.emulate_media(media="null", color_scheme=options.get("color_scheme", "light"))
        self.page, self.context = tab, tab.context
        self.page.set_default_timeout(1000 * PATIENCE)
        self.complaints: list[str] = []
        self._url = path.resolve().as_uri()
        self._listeners = {
            "console": lambda message: self.complaints.append(f"{message.type}: {message.text}"),
            "pageerror": lambda error: self.complaints.append(f"error: {error}"),
            "dialog": lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()),
            "request": self._requested,
        }
        for event, listener in self._listeners.items():
            self.page.on(event, listener)
        self.page.goto(self._url + hash)
        if wait and options.get("java_script_enabled", True):
            self.settle()

    def _requested(self, request: Any) -> None:
        # A blob is made by the page itself, for its worker.
        if request.url.split("#")[0] != self._url and not request.url.startswith("blob:"):
            self.complaints.append(request.url)

    def leave(self) -> Any:
        """Leave the page and return its tab, in which nothing of it stays."""
        assert self.page.evaluate("() => localStorage.length + sessionStorage.length + document.cookie.length") == 0
        for event, listener in self._listeners.items():
            self.page.remove_listener(event, listener)
        self.page.goto("about:blank")
        return self.page

    def settle(self, before: str | None = None) -> None:
        """Wait until the page has drawn everything that follows from the last change."""
        self.page.wait_for_function(
            """before => { const { renders, settled } = document.documentElement.dataset;
                           return renders !== undefined && renders !== before && settled === renders }""",
            arg=before,
        )

    def change(self, act: Any) -> None:
        """Do something that changes the choice, and wait for it."""
        before = self.page.evaluate("() => document.documentElement.dataset.renders ?? null")
        act()
        self.settle(before)

    def choose(self, **choice: Any) -> None:
        """Set controls by what a reader sees: kernel, snapshot, goal, weighting, scale, horizon."""
        for name, value in choice.items():
            if name == "horizon":
                field = self.page.locator("#horizon-seconds")
                self.change(lambda field=field, value=value: (field.fill(str(value)), field.press("Enter")))
            elif name == "goal":
                option = self.page.locator("#goal option", has_text=f"{100 * value:g} %").first.get_attribute("value")
                self.change(lambda option=option: self.page.select_option("#goal", option))
            elif self.page.locator(f"#{name}").input_value() != str(value):
                self.change(lambda name=name, value=value: self.page.select_option(f"#{name}", str(value)))

    def table(self, name: str) -> list[dict[str, str]]:
        """Return the rows of a table by the labels of its columns."""
        grid = self.page.evaluate(
            """id => [...document.getElementById(id).rows].map(
                        row => [...row.cells].map(cell => cell.textContent.trim()))""",
            name,
        )
        return [dict(zip(grid[0], row, strict=True)) for row in grid[1:]]

    def text(self, selector: str) -> str:
        return str(self.page.locator(selector).text_content())

    def saved(self, name: str) -> list[dict[str, str]]:
        """Press the CSV button of a figure or table and return the rows of the file."""
        with self.page.expect_download() as download:
            self.page.locator(f'[data-csv="{name}"]').click()
        return list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8"))))


def number(text: str) -> float | None:
    """Read a number as the page prints it; None for a dash."""
    clean = text.replace("−", "-").replace(",", "").replace("≥", "").strip()
    if clean == "–":
        return None
    return float(clean.removesuffix("%")) / 100 if clean.endswith("%") else float(clean)
