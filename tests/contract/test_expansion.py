"""Patterns, lists, ladders and `where`: what a short contract stands for, and every slip in it."""

import pytest

from campaign.contracts import mistakes_of, write
from gapline.contract.expansion import find_files, fits_size
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract

HEAD = """
seeds = 2
[study]
name = "short"
[objective]
validation = "solver"
[time]
horizon = 10
"""
ARM = """
[[arms]]
name = "one"
solver = "kayros"
"""
FILES = ["n=10/a.vrp.json", "n=10/b.vrp.json", "n=100/a.vrp.json", "n=20/deep/c.vrp.json", "n=20/notes.txt", ".git/x"]
PATTERN = """
[[instances]]
path = "instances/n=*/**.vrp.json"
panel = "{parent}"
name = "{1}/{stem}"
size = "{1}"
"""


@pytest.fixture
def study(tmp_path):
    for name in FILES:
        file = tmp_path / "instances" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
    return tmp_path


def contract_of(folder, text):
    return load_contract(write(folder, text), files=True)


def test_a_pattern_finds_files_in_their_natural_order_and_names_them(study):
    found = contract_of(study, HEAD + PATTERN + ARM).instances
    assert [(i.path, i.name, i.panel, i.size) for i in found] == [
        ("instances/n=10/a.vrp.json", "10/a", "n=10", 10),
        ("instances/n=10/b.vrp.json", "10/b", "n=10", 10),
        ("instances/n=20/deep/c.vrp.json", "20/c", "deep", 20),
        ("instances/n=100/a.vrp.json", "100/a", "n=100", 100),
    ]


def test_exclusions_and_the_folder(study):
    text = HEAD + PATTERN.replace("{parent}", "{folder}") + 'exclude = ["instances/n=10/*", "**/deep/**"]\n' + ARM
    (only,) = contract_of(study, text).instances
    assert (only.path, only.panel) == ("instances/n=100/a.vrp.json", "instances/n=100")


def test_a_file_whose_name_has_wildcards_is_itself(study):
    (study / "instances/[a].vrp").write_text("")
    (only,) = contract_of(study, HEAD + '[[instances]]\npath = "instances/[a].vrp"\n' + ARM).instances
    assert (only.path, only.name) == ("instances/[a].vrp", "[a]")


def test_braces_in_the_name_of_a_single_file_stay(study):
    entry = '[[instances]]\npath = "instances/n=10/a.vrp.json"\nname = "{x}"\n'
    assert contract_of(study, HEAD + entry + ARM).instances[0].name == "{x}"


def test_a_list_states_what_differs(study):
    (study / "list.csv").write_text(
        "path,panel,size,horizon,seeds\n"
        "instances/n=10/a.vrp.json,small,10,5,\ninstances/n=100/a.vrp.json,,100,,1\ninstances/n=10/b.vrp.json,,,,\n"
    )
    text = (
        HEAD
        + '[[instances]]\ncsv = "list.csv"\npanel = "{parent}"\nname = "{parent}/{stem}"\nexclude = ["*/b.*"]\n'
        + ARM
    )
    contract = contract_of(study, text)
    assert [(i.name, i.panel, i.size, i.horizon) for i in contract.instances] == [
        ("n=10/a", "small", 10, 5.0),
        ("n=100/a", "n=100", 100, None),
    ]
    assert [(c.instance.name, c.seed, c.horizon) for c in Plan.of(contract).cells] == [
        ("n=10/a", 1, 5.0), ("n=100/a", 1, 10.0), ("n=10/a", 2, 5.0),
    ]  # fmt: skip


def test_a_ladder_is_an_arm_for_each_step(study):
    ladder = """
[[arms]]
name = "mine-{slices}"
solver = "command"
command = ["./mine", "--slices", "{slices}", "{instance}"]
tier = 2
options = {fast = true}
ladder = {slices = [5, 24]}
instances = ["panel:n=10"]
[[arms]]
name = "threaded"
solver = "kayros"
ladder = {threads = [1, 2], gamma = [0.5]}
instances = ["size>50"]
seeds = [7]
"""
    contract = contract_of(study, HEAD + PATTERN + ladder)
    assert [(a.name, a.options, a.steps, a.threads) for a in contract.arms] == [
        ("mine-5", {"fast": True, "slices": 5}, {"slices": 5}, None),
        ("mine-24", {"fast": True, "slices": 24}, {"slices": 24}, None),
        ("threaded threads=1 gamma=0.5", {"gamma": 0.5}, {"threads": 1, "gamma": 0.5}, 1),
        ("threaded threads=2 gamma=0.5", {"gamma": 0.5}, {"threads": 2, "gamma": 0.5}, 2),
    ]
    assert contract.arms[1].command == ["./mine", "--slices", "24", "{instance}"]
    cells = [(c.arm.name, c.instance.name, c.seed, c.threads) for c in Plan.of(contract).cells]
    assert cells == [
        ("mine-5", "10/a", 1, 1), ("mine-24", "10/a", 1, 1), ("mine-5", "10/b", 1, 1), ("mine-24", "10/b", 1, 1),
        ("threaded threads=1 gamma=0.5", "100/a", 7, 1), ("threaded threads=2 gamma=0.5", "100/a", 7, 2),
        ("mine-5", "10/a", 2, 1), ("mine-24", "10/a", 2, 1), ("mine-5", "10/b", 2, 1), ("mine-24", "10/b", 2, 1),
    ]  # fmt: skip


def test_of_several_where_the_last_counts_and_each_field_by_itself(study):
    rules = """
[[where]]
size = "<=50"
seeds = 3
horizon = 5
[[where]]
panel = "n=10"
arm = ["o*"]
seeds = [1]
memory = 512
"""
    contract = contract_of(study, HEAD + PATTERN + ARM + ARM.replace("one", "two") + rules)
    found = {}
    for cell in Plan.of(contract).cells:
        found.setdefault((cell.arm.name, cell.instance.name), []).append((cell.seed, cell.horizon, cell.memory))
    assert found["one", "10/a"] == [(1, 5.0, 512)]
    assert found["two", "10/a"] == found["one", "20/c"] == [(1, 5.0, None), (2, 5.0, None), (3, 5.0, None)]
    assert found["one", "100/a"] == [(1, 10.0, None), (2, 10.0, None)]


def test_the_digest_of_a_plan_is_that_of_what_differs(study):
    plain = Plan.of(contract_of(study, HEAD + PATTERN + ARM)).digest
    threads = HEAD.replace("horizon = 10", "horizon = 10\nthreads = 2")
    assert Plan.of(contract_of(study, threads + PATTERN + ARM)).digest == plain
    rule = '[[where]]\npanel = "n=10"\nthreads = 2\n'
    assert Plan.of(contract_of(study, HEAD + PATTERN + ARM + rule)).digest != plain
    (study / "instances/n=10/new.vrp.json").write_text("{}")
    assert Plan.of(contract_of(study, HEAD + PATTERN + ARM)).digest != plain


def after_solver(text):
    return 'solver = "kayros"', f'solver = "kayros"\n{text}'


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        (("n=*", "m=*"), "instances[0].path: expected files that fit 'instances/m=*/**.vrp.json', got none"),
        (
            ("{1}/{stem}", "{stem}"),
            'instances[0].name: expected unique names, got a again; name = "{parent}/{stem}" tells them apart',
        ),
        (
            ("{parent}", "{parant}"),
            "instances[0].panel: expected the parts {stem}, {parent}, {folder}, {1}, {2}, got {parant}; "
            "did you mean 'parent'?",
        ),
        (
            ('size = "{1}"', 'size = "{stem}"'),
            "instances[0].size: expected a number of 'instances/n=10/a.vrp.json', got 'a'",
        ),
        (('panel = "{parent}"', 'csv = "x.csv"'), "instances[0].path: expected a path or a csv, got both"),
        (('path = "instances/n=*/**.vrp.json"', 'csv = "x.csv"'), "instances[0].csv: expected a file, got 'x.csv'"),
        (after_solver("ladder = {}\nsteps = {a = 1}"), "arms[0].steps: unknown field; did you mean 'ladder'?"),
        (
            after_solver("ladder = {threads = [0]}"),
            "arms[0].ladder.threads: expected greater than or equal to 1, got 0",
        ),
        (
            after_solver("ladder = {a = [1, 1]}"),
            'arms[0].name: expected unique names, got one a=1 again; name = "mine-{threads}" tells steps apart',
        ),
        (
            after_solver('instances = ["panel:n=11"]'),
            "arms[0].instances: expected a panel, got 'panel:n=11', which none fits; did you mean 'n=10'?",
        ),
        (
            after_solver('instances = ["size<x"]'),
            "arms[0].instances: expected a range such as size<=50 or size:20..50, got 'size<x'",
        ),
        (
            after_solver('[[where]]\narm = "two"\nseeds = 1'),
            "where[0].arm: expected the name of one, got 'two', which none fits",
        ),
        (
            after_solver('[[where]]\nsize = "small"\nseeds = 1'),
            "where[0].size: expected <=50, >50, =100 or 20..50, got 'small'",
        ),
        (
            after_solver('[[where]]\nsize = ">500"\nseeds = 1'),
            "where[0].size: expected sizes of instances, got '>500', which none fits",
        ),
        (
            after_solver('[[where]]\nsize = ">50"'),
            "where[0]: expected seeds, horizon, threads or memory, got none of them",
        ),
    ],
)
def test_every_slip_is_named(study, change, mistake):
    text = HEAD + PATTERN + ARM
    assert change[0] in text
    assert mistakes_of(study, text.replace(*change)) == (mistake,)


@pytest.mark.parametrize(
    ("table", "mistake"),
    [
        ("name\nx\n", "expected the column path in 'l.csv', got name"),
        ("", "expected the column path in 'l.csv', got no rows"),
        ("path,pannel\na,b\n", "got 'pannel'; did you mean 'panel'?"),
        ("path,panel\na\n", "expected 2 fields in line 2 of 'l.csv'"),
        ("path,panel\n,b\n", "expected a path in line 2 of 'l.csv'"),
        ("path,size\na,many\n", "line 2 of 'l.csv': invalid literal"),
        ("path,horizon\na,0\n", "line 2 of 'l.csv': horizon: expected greater than 0, got 0.0"),
    ],
)
def test_every_slip_of_a_list_is_named(study, table, mistake):
    (study / "l.csv").write_text(table)
    (found,) = mistakes_of(study, HEAD + '[[instances]]\ncsv = "l.csv"\n' + ARM)
    assert found.startswith("instances[0].csv: ")
    assert mistake in found


def test_contrasts_name_arms_of_a_ladder(study):
    arms = '[[arms]]\nname = "k{threads}"\nsolver = "kayros"\nladder = {threads = [1, 2]}\n'
    contrasts = '[aggregate]\ncontrasts = [["k1", "k2"]]\n'
    assert contract_of(study, HEAD + contrasts + PATTERN + arms).aggregate.contrasts == [["k1", "k2"]]
    (mistake,) = mistakes_of(study, HEAD + contrasts.replace("k2", "k3") + PATTERN + arms)
    assert mistake.startswith("aggregate.contrasts[0]: expected the name of an arm, got 'k3'")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("instances/*/a.*", ["n=10/a.vrp.json", "n=100/a.vrp.json"]),
        ("instances/**/c.vrp.json", ["n=20/deep/c.vrp.json"]),
        ("instances/n=?0/[!b].vrp.json", ["n=10/a.vrp.json"]),
        ("instances/.git/*", [".git/x"]),
        ("instances/*/x", []),
    ],
)
def test_wildcards_stay_in_their_folder_unless_doubled(study, pattern, found):
    assert [path.removeprefix("instances/") for path, _ in find_files(study, pattern)] == found


def test_an_instance_without_a_size_is_in_no_range():
    assert not fits_size(None, "<=50")
    assert fits_size(None, "")
