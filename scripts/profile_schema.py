"""Writes the JSON Schema of profiles into the documentation."""

from __future__ import annotations

import json
from pathlib import Path

from agentscope_like.profile import Profile

SCHEMA = Path(__file__).parent.parent / "docs" / "assets" / "profile.schema.json"

if __name__ == "__main__":
    SCHEMA.write_text(json.dumps(Profile.json_schema(), indent=2) + "\n", encoding="utf-8")
