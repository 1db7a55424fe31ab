"""Skills on disk for tests."""

from __future__ import annotations

from pathlib import Path


def write_skill(
    directory: Path, name: str = "pdf", description: str = "Fill in forms.", text: str = "Do it."
) -> Path:
    """Write a `SKILL.md` into the directory, which is made where it is missing."""
    front = f"---\nname: {name}\ndescription: {description}\n---\n"
    return write_file(directory, f"{front}\n{text}\n")


def write_file(directory: Path, content: str | bytes) -> Path:
    """Write a `SKILL.md` of this very content."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "SKILL.md"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path
