"""The version of gapline, for whatever records or prints it."""

VERSION = "0.1.0"
