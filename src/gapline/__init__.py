"""Judge anytime optimization solvers by the whole line of the gap over time."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Public name -> where it lives. Loaded on first use, so that `import gapline` stays light.
_HOMES = {
    "Campaign": "gapline.model.campaign",
    "GaplineError": "gapline.errors",
    "open": "gapline.model.store:open_campaign",
    "read": "gapline.capture.read",
}

__all__ = sorted([*_HOMES, "__version__"])

if TYPE_CHECKING:
    from gapline.capture.read import read as read
    from gapline.errors import GaplineError as GaplineError
    from gapline.model.campaign import Campaign as Campaign
    from gapline.model.store import open_campaign as open  # noqa: A004


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gapline' has no attribute {name!r}")
    module, _, attribute = home.partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
