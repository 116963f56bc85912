"""`python -m handbook` builds the site; `python -m handbook refresh [PAGE…]` writes anew what pages quote."""

import sys
from pathlib import Path

from handbook.drawings import write_drawings
from handbook.flow import flow_svg
from handbook.generated import refresh_parts
from handbook.quoted import pages, refresh
from handbook.site import ROOT, build_site

DOCS = ROOT / "docs"
SITE = ROOT / "site"


def main(arguments: list[str]) -> None:
    """Build the site, or refresh pages: all of them, with the drawings, where none is named."""
    if arguments[:1] == ["refresh"]:
        named = [Path(name) for name in arguments[1:]]
        if not named:
            write_drawings(DOCS / "pictures")
            (DOCS / "pictures" / "flow.svg").write_text(flow_svg(), encoding="utf-8")
        for page in named or pages():
            changed = [refresh_parts(page), refresh(page)]
            print(page, "changed" if any(changed) else "as it was", flush=True)
    elif not arguments:
        print(f"open {build_site(SITE, ROOT / 'build' / 'site')}/index.html")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
