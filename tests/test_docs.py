"""Every command and Python block of the README and the docs runs as it stands, and prints what the page quotes."""

import re
from pathlib import Path

import pytest
from handbook.commands import all_commands
from handbook.drawings import DRAWINGS
from handbook.flow import flow_svg
from handbook.generated import results_table, with_parts
from handbook.quoted import FILL, agrees, blocks, differences, examples, pages, renewed, run_examples

from gapline import figures
from gapline.logs.formats import BUILT_IN

ROOT = Path(__file__).parent.parent
LANGUAGES = ("console", "python")


def lines_of(page: Path) -> list[str]:
    return page.read_text(encoding="utf-8").split("\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "page", [p for p in pages() if any(examples(lines_of(p), language) for language in LANGUAGES)], ids=lambda p: p.name
)
def test_a_page_runs_as_it_stands_and_prints_what_it_quotes(page, tmp_path):
    """Console blocks, then Python blocks as one script, in one folder; `python -m handbook refresh PAGE` renews."""
    lines = lines_of(page)
    for language in LANGUAGES:
        found = examples(lines, language)
        outcome = run_examples(found, tmp_path)
        assert outcome.code == 0, "\n".join(outcome.printed[-1] if outcome.printed else ["nothing was printed"])
        assert len(outcome.printed) == len(found)
        assert differences(lines, found, outcome) == []


def test_no_page_asks_for_an_output_that_was_never_filled_in():
    for page in pages():
        asking = [first for _, first, last in blocks(lines_of(page)) if FILL in lines_of(page)[first:last]]
        assert asking == [], page.name


def test_generated_parts_are_those_of_the_code():
    """`python -m handbook refresh PAGE` writes them anew."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        assert with_parts(text) == text, page.name
    marked = {name for page in pages() for name in re.findall(r"<!-- made: ([\w-]+) -->", page.read_text("utf-8"))}
    assert {"fields", "solvers", "checkers", "trace-columns", "snapshot-fields", "order-fields"} <= marked
    assert [row for row in results_table().splitlines() if row.endswith("|  |")] == [], "what does it hold?"


@pytest.mark.parametrize("name", [*DRAWINGS, "flow"])
def test_drawings_say_what_the_code_draws_now(name, tmp_path):
    """`python -m handbook refresh` draws them anew. Fonts decide how letters are laid out, not what they say."""
    if name == "flow":
        drawn = flow_svg()
    else:
        figures.write(DRAWINGS[name](), tmp_path / "drawn.svg")
        drawn = (tmp_path / "drawn.svg").read_text(encoding="utf-8")
    kept = (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
    assert words_of(kept) == words_of(drawn)
    linked = [
        page.name for page in (*pages(), ROOT / "ARCHITECTURE.md") if f"pictures/{name}.svg" in page.read_text("utf-8")
    ]
    assert linked, "no page shows it"


def words_of(svg: str) -> list[str]:
    """Return the words of a drawing, whichever lines they stand in; digests of drawn runs are those of a processor."""
    return re.sub(r"sha256:\w+", "sha256:", " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", svg))).split()


def test_commands_documents_and_outputs_are_told_apart():
    text = """text
```console
$ cat > a.txt <<'EOF'
$ not a command
EOF
$ cat a.txt
$ not a command

$ echo one \\
  two
one two
```
```python
print(1)
```

```output
1
```
"""
    lines = text.split("\n")
    console, python = (examples(lines, language) for language in LANGUAGES)
    assert [example.code for example in console] == [
        "cat > a.txt <<'EOF'\n$ not a command\nEOF", "cat a.txt", "not a command", "echo one \\\n  two",
    ]  # fmt: skip
    assert console[3].quoted(lines) == ["one two"]
    assert [example.quoted(lines) for example in python] == [["1"]]


def test_what_each_example_prints_is_told_apart_and_errors_are_among_it(tmp_path):
    lines = ["```console", "$ printf x", "$ echo a; echo b >&2", "$ false", "$ echo never", "```"]
    outcome = run_examples(examples(lines, "console"), tmp_path)
    assert outcome.code == 1
    assert outcome.printed == (("x",), ("a", "b"), ())
    outcome = run_examples(
        examples(["```python", "print(1)", "```", "```python", "print(2)", "```"], "python"), tmp_path
    )
    assert outcome.printed == (("1",), ("2",))


@pytest.mark.parametrize(
    ("quoted", "printed", "same"),
    [
        (["a"], ["a"], True),
        (["a"], ["a", "b"], False),
        (["a", "…"], ["a"], True),
        (["…", "b"], ["a", "c", "b"], True),
        (["…", "b"], ["a", "c"], False),
        (["in … s"], ["in 0.25 s"], True),
        (["in … s"], ["in 0.25 min"], False),
        (["x    …  1"], ["x 0.5      1"], True),
        (["x    1"], ["x 1"], False),
        # A number of another length moves the breaks of a sentence.
        (["a to …", "  b c", "d"], ["a to 0.25 b", "  c", "d"], True),
        (["a to …", "  b c", "d"], ["a to 0.25", "  b c", "d"], True),
        (["a to … b", "  c", "d"], ["a to 0.25", "  b", "  e", "d"], False),
        (["a to 1", "  b c"], ["a to 1 b", "  c"], False),
        (["…", "a to … b", "d"], ["x", "  y", "a to 1", "  b", "d"], True),
    ],
)
def test_marks_stand_for_anything_and_nothing_else_does(quoted, printed, same):
    assert agrees(quoted, printed) is same


def test_a_difference_is_named_with_its_line_and_command():
    lines = ["```console", "$ echo a", "b", "```"]
    found = examples(lines, "console")
    (said,) = differences(lines, found, type("O", (), {"printed": [["a"]]})())
    assert said.splitlines() == ["line 2: echo a", "  - b", "  + a"]


def test_outputs_are_renewed_with_marks_where_two_runs_differ():
    assert renewed([], ["took 1.5 s", "fine"], ["took 1.75 s", "fine"]) == ["took … s", "fine"]
    assert renewed(["host …", "old"], ["host a", "new"], ["host a", "new"]) == ["host …", "new"]
    assert renewed(["…"], ["a"], ["b", "c"]) == ["…"]
    assert renewed(["x"], ["a", "b"], ["a"]) == ["a", "…"]


def test_the_workflow_parses_and_what_it_runs_is_run_here():
    """Its gapline commands are those of the console blocks, which run above; its files are the ones that they write."""
    import shlex

    import yaml

    page = ROOT / "docs" / "compare-in-ci.md"
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    workflow = yaml.safe_load(text)
    steps = workflow["jobs"]["anytime"]["steps"]
    assert all("uses" in step or "run" in step for step in steps)
    lines = [line for step in steps for line in step.get("run", "").splitlines()]
    ours = [shlex.split(line) for line in lines if line.startswith("gapline ")]
    shown = "\n".join(example.code for example in examples(lines_of(page), "console"))
    run_here = [shlex.split(line) for line in shown.splitlines() if line.startswith("gapline ")]
    assert ours
    assert [command for command in ours if command not in run_here] == []


PROSE = [*pages(), ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_what_a_page_links_to_is_there_where_it_lies(page):
    """In the repository as on the site; of headings too."""
    broken = []
    for target, heading in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        file = page.parent / target if target else page
        if not file.exists() or (heading and heading not in headings(file)):
            broken.append(f"{target}#{heading}")
    assert broken == []


def headings(page: Path) -> set[str]:
    """Return the names of a page's headings, as they are linked to."""
    heads = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.name)
def test_commands_and_options_that_the_text_names_are_there(page):
    """Blocks are run; what stands inside of a sentence is not."""
    known = {name: {word for one in command.params for word in (*one.opts, *one.secondary_opts)}
             for name, command in all_commands()}  # fmt: skip
    wrong = []
    for said in re.findall(r"`gapline ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        words = said.split()
        name = next((name for name in (" ".join(words[:2]), words[0]) if name in known), None)
        options = {word for word in words if word.startswith("--")} - {"--help", "--help-all", "--version"}
        if name is None or options - known[name]:
            wrong.append(said)
    assert wrong == []


def test_pages_that_count_formats_count_those_that_are_there():
    counts = {
        page.name: int(number)
        for page in PROSE
        for number in re.findall(r"\b(\d+) (?:log )?formats\b", page.read_text(encoding="utf-8"))
    }
    assert counts.keys() >= {"README.md", "researcher.md"}
    assert set(counts.values()) == {len(BUILT_IN)}


def test_the_docs_import_nothing_from_inner_modules():
    """`gapline`, or a folder that authors of plug-ins import from: never a module inside a folder."""
    inner = re.compile(r"^\s*(?:from|import) gapline\.\w+\.\w+", re.MULTILINE)
    for page in pages():
        assert inner.findall(page.read_text(encoding="utf-8")) == [], page.name


def test_the_citation_is_that_of_this_version_and_of_the_paper_that_pages_name():
    import yaml

    import gapline

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == gapline.__version__
    (paper,) = cited["references"]
    for page in ("README.md", "docs/what-the-numbers-mean.md"):
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert paper["title"] in text, page
        assert paper["authors"][0]["family-names"] in text, page
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert changes.startswith(f"# Changelog\n\n## {gapline.__version__}")


def test_every_promise_names_a_test_that_is_there():
    """In docs/trust.md: a section without one is a promise that nobody keeps."""
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:tests|torture|tools)/[\w/.-]+)", page)
    assert [name for name in named if not (ROOT / name).exists()] == []
    sections = page.split("\n## ")[1:]
    lacking = [
        section.partition("\n")[0] for section in sections if "`tests/" not in section and "`make test" not in section
    ]
    assert lacking == []
