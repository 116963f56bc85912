"""Instances generated from a name alone, the same on every machine: nobody has to download data to start."""

from gapline.generate.write import PROBLEMS, write_instances

__all__ = ["PROBLEMS", "write_instances"]
