"""All of this folder is tested twice: as compiled code, and as NumPy does it for small campaigns."""

from both_paths import each_path  # noqa: F401 (a fixture)
