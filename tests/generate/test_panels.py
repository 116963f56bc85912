"""Panels by size and family."""

from gapline.generate.instance_files import FoundInstance
from gapline.generate.instance_study import panels_of, spread


def found(name, size):
    return FoundInstance(name, f"{name}.vrp", "cvrp", size)


def test_a_folder_of_a_size_is_a_panel_and_a_family_stands_before_it():
    instances = [found(name, size) for name, size in (("B/n=10/x", 10), ("A/n=100/x", 100), ("A/n=20/x", 20))]
    assert list(panels_of(instances).items()) == [
        ("A/n=20/x", "A/n=20"), ("A/n=100/x", "A/n=100"), ("B/n=10/x", "B/n=10"),
    ]  # fmt: skip


def test_few_sizes_in_one_folder_are_a_panel_each():
    panels = panels_of([found("b", 20), found("a", 50), found("F/c", 7), found("x-10", 20), found("x-9", 20)])
    assert list(panels.items()) == [
        ("b", "n=20"), ("x-9", "n=20"), ("x-10", "n=20"), ("a", "n=50"), ("F/c", "F/n=7"),
    ]  # fmt: skip


def test_many_sizes_become_ranges_of_about_as_many_instances_and_one_size_is_never_split():
    sizes = [100, 105, 110, 110, 110, 110, 150, 200, 1000]
    panels = panels_of([found(f"x{place}", size) for place, size in enumerate(sizes)])
    assert list(panels.values()) == ["n=100-110"] * 6 + ["n=150-1000"] * 3
    twelve = panels_of([found(f"x{size}", size) for size in range(1, 13)])
    assert list(twelve.values()) == ["n=1-4"] * 4 + ["n=5-8"] * 4 + ["n=9-12"] * 4


def test_at_most_so_many_of_each_panel_are_spread_over_it():
    panels = {f"a{k}": "p" for k in range(10)} | {"b": "q"}
    assert spread(panels, 3) == {"a0", "a3", "a6", "b"}
    assert spread(panels, 100) == set(panels)
