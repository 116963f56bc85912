"""The version of gapline."""

VERSION = "0.1.0"
