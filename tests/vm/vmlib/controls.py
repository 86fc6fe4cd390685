"""The controls that ARCHITECTURE.md's table speaks of, and the tests that show each one (file "controls")."""
import collections
import re

from . import images

Control = collections.namedtuple("Control", "name shown")  # shown: [(user, kind/file, regex)]


def controls():
    found = []
    with open(f"{images.HERE}/controls", encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            if not line[0].isspace():
                found.append(Control(line.strip(), []))
                continue
            user, path, regex = line.split(None, 2)
            found[-1].shown.append((user, path, regex.strip()))
    return found


def wanted(user, name):
    """A regular expression for all tests of this file (KIND/FILE) that some control needs, or None."""
    return "|".join(regex for control in controls() for who, file, regex in control.shown
                    if (who, file) == (user, name)) or None
