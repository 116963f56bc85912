"""Keep the instance that was read last: the candidates of one run cost one read of the file."""

from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from gapline.check.verdict import CheckerFailure

T = TypeVar("T")


class LastInstance(Generic[T]):
    """Read an instance file once, again only when another is asked for or the file has changed."""

    def __init__(self, read: Callable[[Path], T]) -> None:
        self._read = read
        self._key: tuple[Path, int, int] | None = None
        self._instance: T | None = None

    def get(self, path: str | Path) -> T:
        """Return the instance; one that cannot be read is the checker's failure, not the candidate's."""
        file = Path(path)
        try:
            state = file.stat()
            key = (file.resolve(), state.st_mtime_ns, state.st_size)
            if key != self._key or self._instance is None:
                self._instance = self._read(file)
                self._key = key
        except CheckerFailure:
            raise
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise CheckerFailure(f"{path}: expected an instance that can be read, got {reason}") from error
        return self._instance
