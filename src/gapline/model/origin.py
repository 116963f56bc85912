"""Where the columns of a campaign lie, so that another process can open them and knows that they are the same."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A campaign directory as it was when it was opened, and what was done to its columns since.

    `seal` is that of its manifest; `negated` are arms whose objectives count with the other sign; times are multiplied
    by the column `time_scale` of the runs where `scaled` says so.
    """

    directory: str
    seal: str
    negated: tuple[str, ...] = ()
    scaled: bool = False
