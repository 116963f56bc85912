"""A packed file as if it were unpacked: places in it are sought by reading up to them, and nothing is held."""

import io
from collections.abc import Iterator
from pathlib import Path

from gapline.capture.unpack import Unpacked
from gapline.model.regular import open_regular


class Unrolled:
    """What a .gz or .zst holds, for whoever goes through it in order; going back begins anew.

    `whole` says at the end whether it did not end early.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = path
        self._begin()

    def _begin(self) -> None:
        self._stream = open_regular(self._path)
        self._unpacked = Unpacked(self._stream, self._path)
        self._pieces: Iterator[bytes] = iter(self._unpacked)
        self._piece, self._used, self._at = b"", 0, 0

    @property
    def whole(self) -> bool:
        """Whether it was read to its end, as far as is known."""
        return self._unpacked.whole

    def tell(self) -> int:
        """Return how many unpacked bytes were read or passed over."""
        return self._at

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, or to the end where that comes first."""
        assert whence == io.SEEK_SET
        if place < self._at:
            self.close()
            self._begin()
        while self._at < place and self._fill():
            self._pass(min(place - self._at, len(self._piece) - self._used))
        return self._at

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer only at the end."""
        found = io.BytesIO()
        while (left := size - found.tell()) > 0 and self._fill():
            found.write(self._piece[self._used : self._used + left])
            self._pass(min(left, len(self._piece) - self._used))
        return found.getvalue()

    def _pass(self, size: int) -> None:
        self._used += size
        self._at += size

    def _fill(self) -> bool:
        while self._used == len(self._piece):
            following = next(self._pieces, None)
            if following is None:
                return False
            self._piece, self._used = following, 0
        return True

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __del__(self) -> None:
        # It is kept from one chunk to the next, and nobody knows which is the last.
        if hasattr(self, "_stream"):
            self.close()
