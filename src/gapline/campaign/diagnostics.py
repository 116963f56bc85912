"""Counts of what a reader read and of what it could not read."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gapline.text import writable

MOST_PROBLEMS = 100


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Counts that every campaign carries; `problems` holds the first of `problem_count` messages.

    From journals: attempts `superseded` by another attempt of the same run, by reason; processes that solvers
    `left_behind`; events `over_cap`, which were not journaled.
    """

    sources: tuple[str, ...] = ()
    runs: int = 0
    empty: int = 0
    candidates: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    unchecked: int = 0
    unordered: int = 0
    duplicate: int = 0
    late: int = 0
    problems: tuple[str, ...] = ()
    problem_count: int = 0
    superseded: Mapping[str, int] = field(default_factory=dict)
    left_behind: int = 0
    over_cap: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # These texts name paths, which may not be valid Unicode, and are written to files that must be.
        for name in ("sources", "problems", "notes"):
            object.__setattr__(self, name, tuple(map(writable, getattr(self, name))))

    def retold(self, change: Callable[[str], str]) -> "Diagnostics":
        """Return the same counts, with `change` applied to the texts that name files."""
        return replace(
            self,
            sources=tuple(map(change, self.sources)),
            problems=tuple(map(change, self.problems)),
            notes=tuple(map(change, self.notes)),
        )

    @property
    def rejected_count(self) -> int:
        """Number of candidates with verdict invalid, for any reason."""
        return sum(self.rejected.values())

    def __add__(self, other: "Diagnostics") -> "Diagnostics":
        mappings = ("rejected", "superseded")
        added = {name: getattr(self, name) + getattr(other, name) for name in self.__slots__ if name not in mappings}
        added |= {name: dict(Counter(getattr(self, name)) + Counter(getattr(other, name))) for name in mappings}
        # Counts add up; only the first problems are kept, and a note that both parts have is kept once.
        added["problems"] = added["problems"][:MOST_PROBLEMS]
        added["notes"] = tuple(dict.fromkeys(added["notes"]))
        return Diagnostics(**added)

    def attempts_document(self) -> dict[str, Any]:
        """Return the counts of attempts for JSON, under the same names in every command."""
        return {
            "superseded": sum(self.superseded.values()),
            "superseded_because": dict(self.superseded),
            "left_behind": self.left_behind,
            "over_cap": self.over_cap,
        }

    def lines(self) -> list[str]:
        """Return the counts as text, one line each; zero counts are left out, except runs and candidates."""
        lines = [f"{self.runs:,} runs, {self.empty:,} of them without a candidate; {self.candidates:,} candidates"]
        if self.rejected:
            each = ", ".join(f"{reason} {count:,}" for reason, count in sorted(self.rejected.items()))
            lines.append(f"rejected {self.rejected_count:,} ({each})")
        for name in ("unchecked", "unordered", "duplicate", "late"):
            if count := getattr(self, name):
                lines.append(f"{name} {count:,}")
        return lines + list(self.notes)

    def __str__(self) -> str:
        return "\n".join(self.lines())
