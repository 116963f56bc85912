"""Keep the instance that was read last: the candidates of one run cost one read of the file."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from gapline.check.verdict import CheckerFailure

T = TypeVar("T")


class LastInstance(Generic[T]):
    """Read an instance file once, again only when another is asked for or the file has changed."""

    def __init__(self, read: Callable[[Path], T]) -> None:
        # Time and size of the file are part of the key, so that a changed file is another instance.
        self._read = lru_cache(maxsize=1)(lambda file, *_state: read(file))

    def get(self, path: str | Path) -> T:
        """Return the instance; one that cannot be read is the checker's failure, not the candidate's."""
        # Not resolved: a linked instance has its companions beside the link.
        file = Path(path).absolute()
        try:
            state = file.stat()
            return self._read(file, state.st_mtime_ns, state.st_size)
        except CheckerFailure:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CheckerFailure(f"{path}: expected an instance that can be read, got {reason}") from error
