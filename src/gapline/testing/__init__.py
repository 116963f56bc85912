"""Test suites for the author of an adapter, a checker or a reader to inherit: they hold for those of gapline too."""

from gapline.contract.contract import Arm
from gapline.testing.adapter import AdapterSuite
from gapline.testing.checker import CheckerSuite
from gapline.testing.readers import ReaderConformance

__all__ = ["AdapterSuite", "Arm", "CheckerSuite", "ReaderConformance"]
