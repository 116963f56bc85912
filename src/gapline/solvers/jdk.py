"""Find a Java for the solvers on the JVM."""

import os
import re
import shutil
import subprocess
from pathlib import Path

OLDEST = 17


def find_java() -> str | None:
    """Return the java program of JAVA_HOME, or the one on the path, or None."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return shutil.which(str(Path(home) / "bin" / "java"))
    return shutil.which("java")


def jdk_lack(*, compiler: bool = False) -> str | None:
    """Report that Java is missing, too old, or lacks a required compiler; None if nothing is missing."""
    wanted, java = f"expected a JDK {OLDEST} or later, got", find_java()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        where = f"in JAVA_HOME {home!r}" if home else "on the path, and JAVA_HOME is not set"
        return f"{wanted} no java {where}"
    try:
        # It prints on the standard error; read the output too, in case some build differs.
        found = java_version(_say(java, "-version"))
        if found is None or found < OLDEST:
            return f"{wanted} {java} of version {found or 'unknown'}"
        # A runtime without a compiler has the same version as a JDK.
        if compiler and "jdk.compiler" not in _say(java, "--list-modules"):
            return f"{wanted} {java} without a compiler"
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{wanted} {java} that does not start: {error}"
    return None


def _say(java: str, question: str) -> str:
    done = subprocess.run([java, question], capture_output=True, text=True, timeout=60, check=False)
    return done.stderr + done.stdout


def java_version(text: str) -> int | None:
    """Return the feature release that `java -version` prints.

    >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('java version "1.8.0_392"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None
