"""Skills on disk for tests."""

from __future__ import annotations

from pathlib import Path

SEED_SKILL = """\
# Skill: My Skill

## Purpose
What problem this skill solves, when to use it.

## Steps
1. Run the script.

## Notes
- None.
"""
"""A `SKILL.md` as seed 000, 5.3 has it."""


def write_skill(
    directory: Path, name: str = "pdf", description: str = "Fill in forms.", text: str = "Do it."
) -> Path:
    """Write a `SKILL.md` into the directory, which is made where it is missing."""
    front = f"---\nname: {name}\ndescription: {description}\n---\n"
    return write_file(directory, f"{front}\n{text}\n")


def write_file(directory: Path, content: str | bytes, name: str = "SKILL.md") -> Path:
    """Write a file, by default a `SKILL.md`, of this very content."""
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def write_package(directory: Path, text: str = SEED_SKILL) -> Path:
    """Write a whole package: `SKILL.md`, a script that may be run, and an asset."""
    write_file(directory, text)
    script = write_file(directory, "#!/bin/sh\ncat assets/words.txt\n", "scripts/run.sh")
    script.chmod(0o755)
    write_file(directory, "hello\n", "assets/words.txt")
    return directory
