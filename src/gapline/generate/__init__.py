"""Instances from a name alone: the same on every machine, so that nobody needs the data of others to start."""

from gapline.generate.write import PROBLEMS, write_instances

__all__ = ["PROBLEMS", "write_instances"]
