"""An exhibit of the gallery: a campaign, its question, three pictures, and what follows from its numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gapline as gl


@dataclass(frozen=True)
class Exhibit:
    """One page of the gallery.

    Attributes
    ----------
    prepare
        Writes the study into a folder, small where asked to be quick, or records the runs itself; returns the source
        to open.
    contract
        Returns what the reader has to know to read a score, as a block of Markdown.
    pictures
        Names of figures of the report, each with what it shows.
    learned
        Sentences that follow from the numbers of the opened study, whichever way they come out.
    """

    name: str
    title: str
    question: str
    prepare: Callable[[Path, bool], Path]
    contract: Callable[[Path], str]
    pictures: Mapping[str, str]
    learned: Callable[[gl.Study], list[str]]
    choices: Mapping[str, Any] = field(default_factory=dict)
    log_time: bool = True
