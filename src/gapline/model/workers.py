"""What passes over runs need of other processes or machines: somebody who takes tasks and gives back results."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol


class Workers(Protocol):
    """A place that runs tasks apart from this process; `gapline.run.where.tasks` opens one for what `--on` names."""

    def width(self) -> int:
        """Return how many tasks it takes at a time, as it stands now."""

    def run(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call `function(*task)` for every task; yield the number of the task and its result as they come.

        In any order, each once: a task whose worker is lost is given to another one, and an exception of a task ends
        all and is raised here.
        """
