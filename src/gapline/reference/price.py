"""The price that a checker gives to a stored solution, put into the entry of its value."""

from typing import Any

from gapline.reference.freeze import Moved


def put_price(
    instance: str, entry: dict[str, Any], priced: float | None, reason: str, *, tolerance: float
) -> Moved | None:
    """Put the checker's value into an entry, in place, and say where it moved by more than the relative tolerance.

    A value that moves loses its certificate; of a solution that is infeasible (`priced` is None) none is left. The
    stored value stays as `stored`.

    >>> entry = {"value": 10.0, "certified": True}
    >>> put_price("i", entry, 11.0, "", tolerance=1e-9)
    Moved(instance='i', stored=10.0, repriced=11.0, reason='certificate withdrawn')
    >>> entry
    {'value': 11.0, 'certified': False, 'stored': 10.0}
    """
    value, was_certified = entry["value"], entry["certified"]
    # Priced here and now: whoever priced the stored value did not price this one.
    entry.pop("checker", None)
    if priced == value:
        return None
    entry |= {"value": priced, "stored": value}
    if priced is None:
        entry["stated"] = f"infeasible: {reason}"
    elif abs(priced - value) <= tolerance * abs(value):
        return None
    # The proof was of the stored price; of another price it says nothing.
    entry["certified"] = False
    withdrawn = "certificate withdrawn" if was_certified else ""
    return Moved(instance, value, priced, "; ".join(filter(None, (reason, withdrawn))))
