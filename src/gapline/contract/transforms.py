"""Declared transforms of objectives, bounds and references: scores are defined only for positive, minimised ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.errors import ObjectiveError, UsageError, listing
from gapline.text import as_patterns, meant

Values = NDArray[np.float64]


class TransformKind(StrEnum):
    """The transforms that can be declared."""

    NONE = "none"
    SHIFT = "shift"
    RECIPROCAL = "reciprocal"
    NEGATE_SHIFT = "negate-shift"
    HIERARCHICAL = "hierarchical"


SYNTAX = "none, shift:C (z + C), reciprocal[:C] (C / z), negate-shift:C (C - z), hierarchical:M or :10n (M·K + C)"


def shortest(number: float) -> str:
    """Write a number as part of a name, so that different numbers never look alike.

    >>> shortest(0.01), shortest(1234567)
    ('0.01', '1234567')
    """
    text = f"{number:g}"
    return text if float(text) == number else repr(float(number)).removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Transform:
    """A declared map from captured objectives to positive minimised ones.

    `constant` is C, or the multiplier M of a hierarchical objective; with `per_size`, M is `constant` × n, n being in
    the `size` column of the runs.

    >>> Transform.parse("negate-shift:100").apply([30.0]).tolist()
    [70.0]
    >>> Transform.parse("reciprocal").maximises
    True
    """

    kind: TransformKind = TransformKind.NONE
    constant: float = 0.0
    per_size: bool = False

    @classmethod
    def parse(cls, text: "str | Transform | None") -> "Transform":
        """Read `shift:10`, `reciprocal`, `negate-shift:1e6`, `hierarchical:10n` or `none`."""
        if isinstance(text, Transform):
            return text
        name, _, argument = (text or "none").strip().partition(":")
        if name not in list(TransformKind):
            raise UsageError(f"transform: expected {SYNTAX}, got {text!r}", hint=meant(name, list(TransformKind)))
        kind = TransformKind(name)
        per_size = kind is TransformKind.HIERARCHICAL and argument.endswith("n")
        number = argument.removesuffix("n") if per_size else argument
        if kind is TransformKind.NONE and argument:
            raise UsageError(f"transform: expected none without a number, got {text!r}")
        # C cancels in every ratio of an objective and its reference, so it may be left out.
        if kind is TransformKind.RECIPROCAL and not number:
            number = "1"
        try:
            constant = float(number) if kind is not TransformKind.NONE else 0.0
        except ValueError:
            constant = math.nan
        positive = kind in (TransformKind.RECIPROCAL, TransformKind.HIERARCHICAL)
        if not math.isfinite(constant) or (positive and constant <= 0):
            wanted = "a positive number" if positive else "a finite number"
            raise UsageError(f"transform: expected {wanted} after {name!r}, got {text!r}", hint=SYNTAX)
        return cls(kind, constant, per_size)

    def __str__(self) -> str:
        if self.kind is TransformKind.NONE:
            return "none"
        return f"{self.kind}:{shortest(self.constant)}{'n' if self.per_size else ''}"

    @property
    def maximises(self) -> bool:
        """Whether larger captured objectives are better."""
        return self.kind in (TransformKind.RECIPROCAL, TransformKind.NEGATE_SHIFT)

    @property
    def hierarchical(self) -> bool:
        """Whether the objective is scalarised from two components."""
        return self.kind is TransformKind.HIERARCHICAL

    @property
    def keeps(self) -> bool:
        """Whether captured objectives stay as they are, except those computed from two components."""
        return self.kind in (TransformKind.NONE, TransformKind.HIERARCHICAL)

    def apply(self, values: ArrayLike) -> Values:
        """Transform objectives, bounds or references; scalarised values of a hierarchy stay as they are."""
        z = np.asarray(values, np.float64)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            if self.kind is TransformKind.SHIFT:
                return z + self.constant
            if self.kind is TransformKind.NEGATE_SHIFT:
                return self.constant - z
            if self.kind is TransformKind.RECIPROCAL:
                # For z <= 0 the result is negative or infinite, and is refused.
                return self.constant / z
        return z

    def multiplier(self, size: ArrayLike | None) -> Values:
        """Return M for each run of a hierarchical objective, from the `size` column where M is a multiple of n."""
        if not self.per_size:
            return np.asarray(self.constant, np.float64)
        if size is None:
            raise ObjectiveError(f"transform {self}: expected a `size` column in the runs table, got none")
        n = np.asarray(size, np.float64)
        if not np.all(np.isfinite(n) & (n > 0)):
            raise ObjectiveError(f"transform {self}: expected a positive size for every run, got {n[~(n > 0)][:5]}")
        return self.constant * n

    def scalarise(self, primary: ArrayLike, secondary: ArrayLike, *, size: ArrayLike | None = None) -> Values:
        """Return z = M·K + C (the paper's hierarchical objective).

        >>> Transform.parse("hierarchical:10n").scalarise([3.0], [250.0], size=[100]).tolist()
        [3250.0]
        """
        multiplier = self.multiplier(size)
        return multiplier * np.asarray(primary, np.float64) + np.asarray(secondary, np.float64)


# Forms of a declaration: one transform for all, and one for instances or `panel:NAME`.
Declared = str | Transform | Sequence[str] | None
PANEL = "panel:"


def parse_transforms(declared: Declared) -> tuple[Transform, list[tuple[str, Transform]]]:
    """Return the transform for all instances and the rules for some, those of instances before those of panels."""
    if declared is None or isinstance(declared, Transform):
        return declared or Transform(), []
    default: list[Transform] = []
    rules: list[tuple[str, Transform]] = []
    for text in as_patterns(declared):
        # From the right: instances may be called n=20/a, but transforms contain no equals sign.
        rule, equals, name = text.rpartition("=")
        parsed = Transform.parse(name)
        if not equals:
            default.append(parsed)
        elif parsed.hierarchical:
            raise UsageError(f"transform: expected a hierarchical one for all instances or none, got {text!r}")
        else:
            rules.append((rule, parsed))
    if len(default) > 1:
        raise UsageError(f"transform: expected one for all instances, got {listing(map(str, default))}")
    return default[0] if default else Transform(), sorted(rules, key=lambda rule: rule[0].startswith(PANEL))
