"""What one check finds of a subject."""

from gapline.package.checks.rows import Verification


def look_at(check, subject):
    return Verification(subject.name, subject.kind, tuple(check(subject)))
