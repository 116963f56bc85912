"""The look of an arm in every drawing: its colour, dash and shape, and its colour and letter on a terminal.

The look of an arm follows from its position by name among all arms of the study, not from the arms next to it: page,
figures, terminal and notebooks use the same look, whatever a filter leaves out.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Okabe and Ito's colours, distinguishable with any colour vision; dashes and shapes are for print in grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
# Their names on a terminal; "default" is black, or white on a dark background.
INKS = ("blue", "red", "green", "magenta", "yellow", "cyan", "default", "bright_black")
DASHES = ((1, 0), (6, 3), (2, 2), (8, 2, 2, 2), (4, 4), (10, 3), (1, 3), (12, 4, 2, 4))
# Outlines around 0 in the format of Vega and SVG: disc, square, triangle, diamond, plus, triangle down, cross,
# hourglass.
SHAPES = (
    "M.9,0A.9,.9,0,1,1,-.9,0A.9,.9,0,1,1,.9,0Z",
    "M-.8,-.8H.8V.8H-.8Z",
    "M0,-1L1,.8H-1Z",
    "M0,-1.15L.95,0L0,1.15L-.95,0Z",
    "M-.35,-1H.35V-.35H1V.35H.35V1H-.35V.35H-1V-.35H-.35Z",
    "M0,1L1,-.8H-1Z",
    "M-.98,-.48L-.48,-.98L0,-.5L.48,-.98L.98,-.48L.5,0L.98,.48L.48,.98L0,.5L-.48,.98L-.98,.48L-.5,0Z",
    "M-.85,-1H.85L-.85,1H.85Z",
)
# One per curve on a terminal without enough colours; further curves share the last one.
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#"
# With more lines than this nobody can follow one: the best LEADERS keep their colours, the others are grey.
MOST_LOOKS, LEADERS, GREY = 24, len(COLOURS), "#cccccc"
# The rotation of shapes in each round of colours: with it, any two of colour, dash and shape identify one of 64 arms.
_TURNS = (0, 2, 4, 6, 3, 1, 7, 5)


class Look(NamedTuple):
    """The look of one arm; `ink` and `letter` are for a terminal."""

    colour: str
    dash: tuple[int, ...]
    shape: str
    ink: str
    letter: str


def look_of(place: int) -> Look:
    """Return the look of the arm at a position; 512 looks differ, and no two of 64 share two of colour, dash and shape.

    >>> look_of(0) == look_of(64), look_of(0).colour == look_of(8).colour, look_of(0).shape == look_of(8).shape
    (False, True, False)
    """
    cycle, within = divmod(place, 64)
    turn, first = divmod(within, 8)
    return Look(
        COLOURS[first],
        DASHES[first ^ turn],
        SHAPES[((first ^ _TURNS[turn]) + cycle) % 8],
        INKS[first],
        LETTERS[min(place, len(LETTERS) - 1)],
    )


def looks_of(names: Sequence[str], arms: Sequence[str] = ()) -> dict[str, Look]:
    """Return the look of each name: by its position among the `arms` of the study, if all names are arms.

    Other names, such as panels, are numbered in the given order.

    >>> looks_of(["b"], ["a", "b"])["b"] == look_of(1), looks_of(["b"])["b"] == look_of(0)
    (True, True)
    """
    whole = list(arms) if set(names) <= set(arms) else names
    places = {name: place for place, name in enumerate(dict.fromkeys(whole))}
    return {name: look_of(places[name]) for name in names}


def leading(names: Sequence[str], best: Sequence[str]) -> list[str]:
    """Return which of many names keep their colours, `best` first; empty if all can be distinguished.

    >>> leading(["a", "b"], ["b", "a"]), leading([f"arm {k}" for k in range(30)], ["arm 7", "arm 2"])
    ([], ['arm 7', 'arm 2'])
    """
    return [] if len(names) <= MOST_LOOKS else [name for name in best if name in names][:LEADERS]


def with_grey(looks: Mapping[str, Look], lead: Sequence[str]) -> dict[str, Look]:
    """Return the looks with all but the leading names in grey; unchanged without leading names."""
    return {name: one if not lead or name in lead else one._replace(colour=GREY) for name, one in looks.items()}


def grey_words(names: Sequence[str], lead: Sequence[str]) -> str:
    """Return a caption text on which names are grey; empty if none is."""
    return f"; in colour: the best {len(lead)} of {len(names)}" if lead else ""
