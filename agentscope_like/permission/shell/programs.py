"""Programs of one kind, by all the names that they go by."""

from __future__ import annotations

__all__ = ["COPIERS", "FINDERS", "GREPS", "LINKERS", "MOVERS", "MOVING", "RIGHTS", "SEARCHERS"]

FINDERS = frozenset({"find", "fd", "fdfind"})
"""List what they find below a place."""

GREPS = frozenset({"grep", "egrep", "fgrep"})
"""Search their input, unless they are told of files."""

SEARCHERS = frozenset({"rg", "ag", "ack", "ack-grep"})
"""Search all below where they run, unless they are told of files."""

COPIERS = frozenset({"cp", "gcp"})
MOVERS = frozenset({"mv", "gmv"})
LINKERS = frozenset({"ln", "gln"})

MOVING = frozenset({"cd", "pushd"})
"""Change the directory of the shell."""

RIGHTS = frozenset({"chmod", "chown", "chgrp", "setfacl"})
"""Change who may do what with a file."""
