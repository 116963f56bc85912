"""The site: pages and generated references, built by Zensical to be read without a network."""

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from handbook.api import api_pages
from handbook.commands import command_pages
from handbook.contract_fields import contract_page
from handbook.formulas import with_formulas

ROOT = Path(__file__).parent.parent
# Pages at the top of the repository that the site has too, under a name of its own.
AT_THE_TOP = {
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
SITE_NAMES = AT_THE_TOP | {"README.md": "index.md"}
# A link from a page of docs/ to one at the top; on the site that is one folder nearer.
_OUTWARDS = re.compile(rf"\]\(\.\./((?:\.\./)*)({'|'.join(SITE_NAMES)})")
SECTIONS = {
    "Start": [
        "index.md", "start/researcher.md", "start/solver-team.md", "start/organiser.md", "start/keeper.md",
        "start/notebook.md",
    ],
    "Understand": ["what-the-numbers-mean.md", "neighbours.md", "statistics.md", "trust.md", "compared.md"],
    "Tasks": [
        "score.md", "import-logs.md", "import-formats.md", "references.md", "contract.md", "run-a-campaign.md",
        "add-a-solver.md", "mip.md", "watch.md", "more-than-one-machine.md", "analyse.md", "compare-in-ci.md",
        "plan.md", "report.md", "replication.md", "python.md", "terminal.md",
    ],
    "Gallery": ["gallery/index.md"],
    "Reference": [
        "reference/commands.md", "reference/study-toml.md", "reference/python.md", "file-formats.md", "versions.md",
    ],
    "Contribute": ["architecture.md", "contributing.md", "changelog.md"],
}  # fmt: skip
# What the theme would fetch from the network for pages that are opened from a file, and what stands in for it.
_SHIM = "https://unpkg.com/iframe-worker/shim"
_SEARCH = "assets/javascripts/search-from-a-file.js"
STYLE = """\
.formula { overflow-x: auto; margin: 1em 0; }
.md-typeset math { font-size: 1.08em; }
.math { white-space: nowrap; }
.md-typeset img[src$=".svg"] { background: #fff; border-radius: 4px; }
.md-typeset table:not([class]) { font-size: .68rem; }
.md-typeset table:not([class]) th { min-width: 0; }
.md-typeset table:not([class]) :is(th, td) { padding: .5em .6em; }
.md-typeset table:not([class]) code { word-break: normal; overflow-wrap: normal; }
.md-typeset td:not(:first-child):has(> code:only-child) { min-width: 8rem; }
.md-typeset pre > code { font-size: .66rem; line-height: 1.35; }
"""


def build_site(out: Path, work: Path) -> Path:
    """Build the site into a folder; `work` is for what is put together before. Raises where anything is amiss."""
    source = gather(work / "pages")
    settings = work / "zensical.toml"
    settings.write_text(_settings(source), encoding="utf-8")
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict", "-f", str(settings)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if built.returncode:
        raise RuntimeError(f"the site was not built:\n{built.stdout}\n{built.stderr}")
    keep_offline(work / "site")
    shutil.rmtree(out, ignore_errors=True)
    return Path(shutil.move(work / "site", out))


def gather(folder: Path) -> Path:
    """Put all pages into a folder as the site has them: pages, generated references, formulas drawn."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs", folder)
    for name, page in AT_THE_TOP.items():
        (folder / page).write_text(_moved((ROOT / name).read_text(encoding="utf-8")), encoding="utf-8")
    for name, text in reference_pages().items():
        path = folder / "reference" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for file in folder.rglob("*.md"):
        text = _OUTWARDS.sub(lambda found: f"]({found[1]}{SITE_NAMES[found[2]]}", file.read_text(encoding="utf-8"))
        file.write_text(with_formulas(text), encoding="utf-8")
    (folder / "style.css").write_text(STYLE, encoding="utf-8")
    return folder


@cache
def reference_pages() -> dict[str, str]:
    """Return the pages that are made from the code, by path below `reference/`, in the order of the menu."""
    return command_pages() | {"study-toml.md": contract_page()} | api_pages()


def _moved(text: str) -> str:
    """Return a page of the top with its links as seen from among the pages of docs/."""
    for name, page in SITE_NAMES.items():
        text = text.replace(f"]({name}", f"]({page}")
    return re.sub(r"\]\(docs/", "](", text)


def navigation(source: Path) -> dict[str, list[str]]:
    """Return the pages of each section; one that stands in none is in the gallery by its name, or with the tasks."""
    placed = {page for pages in SECTIONS.values() for page in pages}
    found = [path.relative_to(source).as_posix() for path in source.rglob("*.md")]
    # The page that lists those of a folder stands before them, and they stand in its order.
    found.sort(key=lambda page: (Path(page).parent, _place(source / page), page))
    sections = {head: [page for page in pages if page in found] for head, pages in SECTIONS.items()}
    for page in found:
        if page not in placed and not page.startswith("reference/"):
            sections["Gallery" if page.startswith("gallery/") else "Tasks"].append(page)
    return sections


def _place(page: Path) -> int:
    """Return which page of its folder this is: none before the index, then as that lists them, then the others."""
    index = page.with_name("index.md")
    listed = re.findall(r"\]\(([\w-]+\.md)\)", index.read_text(encoding="utf-8")) if index.exists() else []
    order = ["index.md", *listed]
    return order.index(page.name) if page.name in order else len(order)


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ").replace("`", "")


def _menu(source: Path) -> list[dict[str, Any]]:
    """Return the menu: below the list of commands, and that of Python, the page of each."""
    menu: list[dict[str, Any]] = []
    for head, pages in navigation(source).items():
        entries: list[dict[str, Any]] = []
        for page in pages:
            inside = f"{page.removesuffix('.md')}/"
            inner = [f"reference/{name}" for name in reference_pages() if f"reference/{name}".startswith(inside)]
            more: list[Any] = [{_title(source / one): one} for one in inner]
            entries.append({_title(source / page): [page, *more] if more else page})
        menu.append({head: entries})
    return menu


def _settings(source: Path) -> str:
    project = {
        "site_name": "gapline",
        "site_description": "Judge anytime optimization solvers by the whole line of the gap over time.",
        "docs_dir": source.name,
        "site_dir": "site",
        "use_directory_urls": False,
        "extra_css": ["style.css"],
        "nav": _menu(source),
    }
    features = [
        "navigation.tabs", "navigation.indexes", "navigation.top", "navigation.footer", "toc.follow",
        "content.code.copy", "search.highlight",
    ]  # fmt: skip
    palettes = [
        {"media": "(prefers-color-scheme: light)", "scheme": "default"},
        {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
    ]
    lines = ["[project]", *(f"{key} = {_toml(value)}" for key, value in project.items())]
    lines += ["[project.theme]", "font = false", f"features = {_toml(features)}", f"palette = {_toml(palettes)}"]
    lines += ["[project.plugins.offline]", "[project.plugins.search]"]
    # Named one by one: among the usual ones is one that turns 1/2 into a sign of its own.
    for extension in ("attr_list", "tables", "md_in_html", "pymdownx.inlinehilite", "pymdownx.superfences"):
        lines.append(f"[project.markdown_extensions.{extension}]")
    lines += ["[project.markdown_extensions.toc]", "permalink = true"]
    lines += ["[project.markdown_extensions.pymdownx.highlight]", "pygments_lang_class = true"]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {_toml(inner)}" for key, inner in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def keep_offline(out: Path) -> None:
    """Let search work from a file: the theme would fetch a script for it from the network.

    A page that was opened from a file may not start a worker from a file, but from a text that it holds.
    """
    (worker,) = (out / "assets/javascripts/workers").glob("search.*.js")
    (out / _SEARCH).write_text(
        'if (location.protocol === "file:") {\n'
        f"  const source = {json.dumps(worker.read_text(encoding='utf-8'))};\n"
        "  const Started = window.Worker;\n"
        "  window.Worker = function (address, options) {\n"
        '    return new Started(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), options);\n'
        "  };\n}\n",
        encoding="utf-8",
    )
    for page in out.rglob("*.html"):
        up = "../" * (len(page.relative_to(out).parts) - 1)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(_SHIM, f"{up}{_SEARCH}"), encoding="utf-8")
