"""Every pass is tried compiled and in NumPy."""

from both_paths import each_path  # noqa: F401 (a fixture)
