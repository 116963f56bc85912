"""Run the campaigns of the gallery and write their pages; what is done already is not run again.

python -m campaigns.gallery            all of them, about a quarter of an hour on two quiet cores
python -m campaigns.gallery gate       one of them
python -m campaigns.gallery --quick    small ones of a minute, to see that everything works; the pages go elsewhere
"""

import argparse
from pathlib import Path

from campaigns.gallery import gate, mip, notebook, routing, threads
from campaigns.gallery.exhibit import Exhibit
from campaigns.gallery.page import write_exhibit
from campaigns.gallery.undisturbed import run_undisturbed

EXHIBITS: dict[str, Exhibit] = {
    module.EXHIBIT.name: module.EXHIBIT for module in (routing, mip, threads, notebook, gate)
}
INDEX = """# Gallery

Five campaigns from a question to a page, each run again by one command:

{rows}
"""


def main() -> int:
    """Run what was asked for."""
    options = argparse.ArgumentParser(prog="python -m campaigns.gallery", description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(EXHIBITS)}; all when left out")
    options.add_argument("--folder", type=Path, default=Path("campaign-runs/gallery"), help="where campaigns are kept")
    options.add_argument("--docs", type=Path, help="where pages are written (docs/gallery)")
    options.add_argument("--rounds", type=int, default=6, help="how often disturbed runs are run again at most")
    options.add_argument("--quick", action="store_true", help="small campaigns, disturbed runs and all")
    given = options.parse_args()
    if unknown := [name for name in given.names if name not in EXHIBITS]:
        options.error(f"expected any of {', '.join(EXHIBITS)}, got {', '.join(unknown)}")
    folder = given.folder / "quick" if given.quick else given.folder
    docs = given.docs or (folder / "pages" if given.quick else Path("docs/gallery"))
    docs.mkdir(parents=True, exist_ok=True)
    for name in given.names or EXHIBITS:
        print(f"{name}:", flush=True)
        source = EXHIBITS[name].prepare(folder / name, given.quick)
        if source.is_dir() and (left := run_undisturbed(source, rounds=0 if given.quick else given.rounds)):
            print(f"{name}: {left} runs were disturbed by other work and stay so", flush=True)
        print(f"written: {write_exhibit(EXHIBITS[name], source, docs)}", flush=True)
    rows = "\n".join(f"- [{exhibit.title}]({name}.md)" for name, exhibit in EXHIBITS.items())
    (docs / "index.md").write_text(INDEX.format(rows=rows), encoding="utf-8")
    (docs / "annealing.ipynb").write_text(notebook.notebook(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
