"""Lists of digests that `sha256sum -c` reads: one line per file, sorted by name."""

import re

from gapline.errors import IntegrityError
from gapline.model.text import printable

_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


def sums_text(digests: dict[str, str]) -> str:
    r"""Return the list of files with their digests ("sha256:…").

    >>> sums_text({"b": "sha256:" + "0" * 64, "a": "sha256:" + "1" * 64}).split("\n")[0][60:]
    '1111  a'
    """
    return "".join(f"{digests[name].removeprefix('sha256:')}  {name}\n" for name in sorted(digests))


def parse_sums(text: str, where: str) -> dict[str, str]:
    """Return the digests ("sha256:…") of a list by name.

    Raises
    ------
    IntegrityError
        Where a line is none of such a list, or a name is there twice; `where` is how the error calls the list.
    """
    digests: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        found = _LINE.fullmatch(line)
        if found is None or found[2] in digests:
            what = "a name twice" if found else printable(line[:80])
            raise IntegrityError(f"{where}:{number}: expected a digest and a name, got {what!r}")
        digests[found[2]] = f"sha256:{found[1]}"
    return digests
