"""The folder list is the flow: a folder imports only from folders above it in the table of ARCHITECTURE.md."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import gapline

SOURCE = Path(gapline.__file__).parent
ARCHITECTURE = Path(__file__).parents[1] / "ARCHITECTURE.md"
# The table, top to bottom; the package itself is last, as it names everything.
FLOW = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", ARCHITECTURE.read_text(encoding="utf-8"), re.M)
FLOW = [*FLOW, "__init__"]
SCORES = {"native", "envelope", "references", "scoring", "statistics", "measures", "study", "report"}
FORBIDDEN = {"run": SCORES, "solvers": SCORES, "generate": SCORES}
# `Campaign.from_runs` is a convenience on the noun; the import is inside the method. Commands call the public API.
ALLOWED = {("campaign", "traces"), ("cli", "__init__")}


def folder_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_folders(text: str) -> set[str]:
    """Return the folders that a module imports from, wherever the import stands: at the top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module == "gapline" and not node.level:
            # `from gapline import x` is a folder, or a public name, which belongs to the package.
            found |= {alias.name if alias.name in FLOW else "__init__" for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("gapline."):
            found.add(node.module.split(".")[1])
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".") for alias in node.names if alias.name.split(".")[0] == "gapline"]
            found |= {name[1] if len(name) > 1 else "__init__" for name in names}
    return found


def wrong_imports(here: str, text: str) -> list[str]:
    wrong = []
    for there in imported_folders(text):
        if there == here or (here, there) in ALLOWED:
            continue
        if FLOW.index(there) > FLOW.index(here) or there in FORBIDDEN.get(here, set()):
            wrong.append(there)
    return wrong


def test_the_table_of_the_architecture_is_the_tree():
    tree = {folder_of(path) for path in SOURCE.rglob("*.py")}
    assert set(FLOW) == tree


def test_a_module_imports_only_from_folders_above_its_own():
    found = {
        path.relative_to(SOURCE).as_posix(): wrong_imports(folder_of(path), path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize(
    "text",
    [
        "from gapline.report import table",
        "def f():\n    from gapline.report.table import Table",
        "def f():\n    import gapline.report.table",
        "from gapline import report",
        "from gapline import __version__",
        "import gapline",
    ],
)
def test_the_rule_sees_every_kind_of_import(text):
    assert wrong_imports("scoring", text) != []


def test_the_runner_never_sees_scores():
    assert wrong_imports("run", "def f():\n    from gapline.scoring.scores import score") == ["scoring"]


def imported_modules(tree: ast.AST, modules: set[str]) -> set[str]:
    """Return the modules that a module needs when it runs, those imported inside functions included."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names & modules
            found |= {node.module} & modules if names - modules else set()
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names} & modules
        found |= imported_modules(node, modules)
    return found


def cycles_of(graph: dict[str, set[str]]) -> set[frozenset[str]]:
    """Return the sets of modules that reach each other, which have more than one member."""
    reached = {module: set(imports) for module, imports in graph.items()}
    # Warshall's closure.
    for middle in graph:
        for module in graph:
            if middle in reached[module]:
                reached[module] |= reached[middle]
    groups = {frozenset(other for other in reached[module] if module in reached[other]) for module in graph}
    return {group for group in groups if len(group) > 1}


# The one cycle, through an import inside a method: `Campaign.from_runs` reads runs as a trace is read.
KNOWN_CYCLES = {"gapline.campaign.campaign"}


def test_no_modules_import_each_other():
    """Not even inside functions: what two modules need of each other belongs into one of them, or into a third."""
    files = {
        ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__"): path
        for path in SOURCE.rglob("*.py")
    }
    # The package itself names everything, on first use.
    del files["gapline"]
    graph = {
        name: imported_modules(ast.parse(path.read_text(encoding="utf-8")), set(files)) - {name}
        for name, path in files.items()
    }
    assert [sorted(cycle) for cycle in cycles_of(graph) if not cycle & KNOWN_CYCLES] == []


def test_a_cycle_is_seen_wherever_its_imports_stand():
    modules = {"gapline.a", "gapline.b"}
    lazy = ast.parse("def f():\n    from gapline import a")
    typed = ast.parse("if TYPE_CHECKING:\n    from gapline.a import A")
    assert imported_modules(lazy, modules) == {"gapline.a"}
    assert imported_modules(typed, modules) == set()
    assert cycles_of({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == {frozenset("abc")}


def test_import_gapline_loads_nothing_heavy():
    heavy = ["numpy", "numba", "polars", "pydantic", "altair", "rich", "starlette", "kayros", "pyvrp", "ortools"]
    code = f"import sys, gapline; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ["score", "t.csv", "--per-run", "--kernel", "raw", "--kernel", "dimacs:1.1", "--goal", "0.1"],
        ["score", "t.csv", "--json", "--weight", "early-log:0.5"],
        ["curve", "t.csv", "--json"],
        ["compare", "t.csv:a", "t.csv:b"],
    ],
    ids=lambda command: command[0],
)
def test_a_small_campaign_needs_no_compiler(command, tmp_path):
    """Numba alone takes longer to load than all that these commands do."""
    rows = [
        f"{arm},i{instance},{seed},{time},{100 + ('ab'.index(arm) + instance * seed) % 7 + 9 - time},true,30"
        for arm in "ab" for instance in range(6) for seed in (1, 2) for time in (0, 2, 5, 9)
    ]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(["arm,instance,seed,time,objective,valid,horizon", *rows]) + "\n")
    (tmp_path / "refs.csv").write_text("instance,value\n" + "".join(f"i{k},90\n" for k in range(6)))
    unwanted = ["numba", "llvmlite", "scipy.stats", "altair", "gapline.contract.contract"]
    # Intervals need the tails of distributions.
    unwanted += ["scipy"] if command[0] != "compare" else []
    code = (
        "import sys; from gapline.cli.app import run; code = run(sys.argv[1:])\n"
        f"print([m for m in {unwanted} if m in sys.modules], file=sys.stderr); sys.exit(code)"
    )
    command = [sys.executable, "-c", code, *command, "--references", "refs.csv"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (0, "[]"), done.stderr


def test_public_names_are_complete_and_sorted():
    assert gapline.__all__ == sorted(gapline.__all__)
    assert all(getattr(gapline, name) is not None for name in gapline.__all__)


def test_score_is_a_plain_function_with_its_own_signature_and_help():
    import inspect

    assert inspect.isfunction(gapline.score)
    assert list(inspect.signature(gapline.score).parameters)[:2] == ["envelopes", "snapshot"]
    assert gapline.score.__doc__.startswith("Score every run.")


def test_every_public_function_has_a_signature_types_and_help():
    import inspect
    import typing

    functions = {name: found for name in gapline.__all__ if inspect.isroutine(found := getattr(gapline, name))}
    assert len(functions) > 20
    for name, function in functions.items():
        assert inspect.getdoc(function), name
        parameters = inspect.signature(function).parameters.values()
        # What an editor completes: names and types of everything, nothing that only the source knows.
        assert all(one.annotation is not inspect.Parameter.empty for one in parameters), name
        assert inspect.signature(function).return_annotation is not inspect.Signature.empty, name
        assert "return" in typing.get_type_hints(function), name
