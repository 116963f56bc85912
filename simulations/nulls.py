"""Campaigns in which two arms do not differ: instance differences with mean zero, of several shapes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """So many panels of so many instances."""

    panels: int
    instances: int

    def __str__(self) -> str:
        return f"{self.panels}×{self.instances}"

    @property
    def strata(self) -> Integers:
        """The panel of each instance."""
        return np.repeat(np.arange(self.panels), self.instances)


DESIGNS = (Design(1, 3), Design(1, 5), Design(2, 3), Design(3, 10), Design(4, 20), Design(10, 21))
SEEDS = (1, 2, 5)
LAWS = {
    "normal": "normal",
    "skewed": "standard log-normal, less its mean (skewness 6.2)",
    "mild skew": "log-normal with σ = 0.5, less its mean (skewness 1.8)",
    "heavy": "Student's t with 3 degrees of freedom",
    "ties": "normal, every other instance exactly 0",
    "unequal": "normal, every other panel with four times the spread",
}


def draw_null(law: str, design: Design, *, seeds: int, campaigns: int, generator: np.random.Generator) -> Floats:
    """Return campaigns × instances: differences of mean zero, each the mean of its seeds.

    The part of an instance and that of a seed come from the same law with the same spread. Whether an instance is tied
    is settled for all its seeds.
    """
    shape = (campaigns, len(design.strata))
    found = _draw(law, shape, generator)
    for _ in range(seeds):
        found += _draw(law, shape, generator) / seeds
    if law == "ties":
        found *= generator.integers(0, 2, shape)
    if law == "unequal":
        found *= np.where(design.strata % 2, 4.0, 1.0)
    return found


def _draw(law: str, shape: tuple[int, int], generator: np.random.Generator) -> Floats:
    normal = generator.standard_normal(shape)
    if law == "skewed":
        return np.exp(normal) - np.exp(0.5)
    if law == "mild skew":
        return np.exp(0.5 * normal) - np.exp(0.125)
    if law == "heavy":
        return normal / np.sqrt(generator.chisquare(3, shape) / 3)
    return normal


def designs_of(law: str) -> list[Design]:
    """Return the designs in which a law says something of its own: one panel has no unequal spread."""
    return [design for design in DESIGNS if law != "unequal" or design.panels > 1]
