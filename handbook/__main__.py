"""`python -m handbook`: build the site. `python -m handbook refresh [PAGE…]`: write what pages quote and generate anew."""

import sys
from pathlib import Path

from handbook.quoted import refresh

ROOT = Path(__file__).parent.parent


def main(arguments: list[str]) -> None:
    """Build the site, or refresh pages."""
    if arguments[:1] == ["refresh"]:
        for page in [Path(name) for name in arguments[1:]]:
            print(page, "changed" if refresh(page) else "the same", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
