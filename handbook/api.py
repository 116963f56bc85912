"""The reference of the Python interface, made from signatures and docstrings."""

import inspect
import re
import textwrap
from types import ModuleType
from typing import Any

import gapline
from gapline import figures, hooks, testing

# What belongs together, in the order of the flow; a public name that stands nowhere here comes last.
GROUPS = {
    "Read and record": ("read", "open", "import_logs", "merge", "record", "Campaign"),
    "References": (
        "Snapshot", "read_references", "freeze_snapshot", "fold_snapshot", "diff_snapshots", "snapshot_log",
        "analysis_snapshot", "find_alarms", "find_contradictions",
    ),
    "Score": (
        "build_envelopes", "Envelopes", "score", "score_grid", "Scores", "primal_integral", "mean_curve",
        "attainment_curve", "curve_bands", "register_kernel", "function_weight", "step_weight", "kernel_inverse",
        "score_of_raw_gap", "scale_table", "resolution_bound",
    ),
    "Summarise and compare": (
        "summarise", "Summary", "Bootstrap", "contrasts", "ranking", "compare", "power_table", "analyse",
        "complementarity", "horizon_sweep",
    ),
    "Studies": (
        "open_study", "Study", "Reading", "load_contract", "load_checker", "run_study", "study_status", "check_study",
        "write_report", "read_results", "Results", "pack", "verify", "replicate",
    ),
}  # fmt: skip
MODULES = (figures, hooks, testing)


def public_groups() -> dict[str, list[str]]:
    """Return every public name of `gapline` under the heading that it stands under."""
    placed = {name for names in GROUPS.values() for name in names}
    rest = [name for name in gapline.__all__ if name not in placed and not name.startswith("__")]
    return {head: list(names) for head, names in GROUPS.items()} | {"Errors and the rest": rest}


def api_pages() -> dict[str, str]:
    """Return the pages, by path below `reference/`: one per heading, one per module that is used by its own name."""
    pages, lines = {}, []
    for head, names in public_groups().items():
        path = f"python/{re.sub(r'[^a-z]+', '-', head.lower())}.md"
        pages[path] = f"# {head}\n\n" + "\n".join(entry(f"gl.{name}", getattr(gapline, name)) for name in names)
        links = ", ".join(f"[`{name}`]({path}#{anchor(f'gl.{name}')})" for name in names)
        lines.append(f"- **{head}**: {links}")
    for module in MODULES:
        short = module.__name__.removeprefix("gapline.")
        names = module_names(module)
        pages[f"python/{short}.md"] = f"# gapline.{short}\n\n{prose(inspect.getdoc(module) or '')}\n\n" + "\n".join(
            entry(f"{short}.{name}", getattr(module, name)) for name in names
        )
        lines.append(f"- **[`gapline.{short}`](python/{short}.md)**: {', '.join(f'`{name}`' for name in names)}")
    text = "# Python\n\n`import gapline as gl`. [From Python](../python.md) shows how they work together.\n\n"
    return {"python.md": text + "\n".join(lines) + "\n"} | pages


def module_names(module: ModuleType) -> list[str]:
    """Return the public functions and classes of a module, its own or those that it offers."""
    if names := getattr(module, "__all__", None):
        return list(names)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__
    ]


def anchor(name: str) -> str:
    """Return the anchor of an entry: its name, as it is."""
    return name


def entry(name: str, value: Any, *, level: int = 2) -> str:
    """Return what is said of a function or class, and of the methods of a class."""
    kind = "class " if inspect.isclass(value) else ""
    parts = [f"{'#' * level} `{name}` {{ #{anchor(name)} }}", f"```python\n{kind}{signature(name, value)}\n```"]
    parts.append(prose(inspect.getdoc(value) or ""))
    if inspect.isclass(value):
        parts += [entry(f"{name}.{own}", method, level=level + 1) for own, method in _methods(value)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _methods(kind: type) -> list[tuple[str, Any]]:
    """Return the documented public methods and properties that a class of ours defines itself."""
    found = []
    for name, value in vars(kind).items():
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        inner = getattr(value, "fget", None) or getattr(value, "func", None) or plain
        if not name.startswith("_") and (inspect.isfunction(inner)) and inspect.getdoc(inner):
            found.append((name, value if isinstance(value, property) else getattr(kind, name, inner)))
    return found


def signature(name: str, value: Any) -> str:
    """Return a call as one would type it, an argument per line where it is long; types are in the source."""
    if isinstance(value, property) or not callable(value):
        return name
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return f"{name}(…)"
    words: list[str] = []
    keyword = False
    for parameter in parameters:
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            keyword = True
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword:
            words, keyword = [*words, "*"], True
        stars = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**" * (parameter.kind is parameter.VAR_KEYWORD)
        default = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
        words.append(f"{stars}{parameter.name}{default}")
    short = f"{name}({', '.join(words)})"
    return short if len(short) <= 90 else f"{name}(\n    " + ",\n    ".join(words) + ",\n)"


def _default(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 and " at 0x" not in text and "<" not in text else "…"


def prose(text: str) -> str:
    """Turn a docstring into Markdown: headings of numpydoc, tables of parameters, examples as blocks."""
    out: list[str] = []
    blocks = re.split(r"\n\s*\n", text)
    for block in blocks:
        if block.lstrip().startswith(">>>"):
            out.append(f"```pycon\n{textwrap.dedent(block)}\n```")
        elif found := re.match(r"(\w[\w ]*)\n-{3,}\n(.*)", block, re.DOTALL):
            out.append(f"**{found[1]}**\n\n{_section(found[1], found[2])}")
        elif all(line.startswith("    ") for line in block.splitlines() if line.strip()):
            out.append(f"```text\n{textwrap.dedent(block)}\n```")
        else:
            # Two colons announce a block in another markup.
            out.append(_plain(re.sub(r"\.?\s*::$", ":", block)))
    return "\n\n".join(out)


def _section(head: str, body: str) -> str:
    """Return the entries of a section: names at the margin, what they mean indented below."""
    if not re.search(r"^\s+\S", body, re.MULTILINE):
        return _plain(body)
    lines: list[str] = []
    for line in body.splitlines():
        if line and not line[0].isspace():
            lines.append(f"- `{line.strip()}`" if head != "Returns" else f"- {line.strip()}")
        elif line.strip():
            lines[-1] += (": " if lines[-1].endswith("`") else " ") + _plain(line.strip())
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Keep a text a text: no emphasis from the star of z*, no tag from a `<`."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<_])", r"\\\1", part) for part in parts)
