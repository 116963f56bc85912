"""What axe-core has to say of a page: the rules that its authors hold to be certain, and nothing of ours."""

from functools import cache
from importlib import resources
from typing import Any


@cache
def _axe() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def violations(tab: Any) -> list[str]:
    """Return what axe finds wrong with an opened page, each with the element that it is about."""
    if not tab.evaluate("() => 'axe' in window"):
        tab.evaluate(_axe())
    # What is right is not described, element by element.
    return list(
        tab.evaluate(
            """async () => (await axe.run({ resultTypes: ["violations"] })).violations.flatMap(
                 rule => rule.nodes.map(node => `${rule.id}: ${node.html} ${node.failureSummary}`))"""
        )
    )
