"""ripgrep and the program that stands in for it give the same answers."""

from __future__ import annotations

import os
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.tool.builtin.content_search import Query, find_ripgrep, search
from agentscope_like.tool.builtin.file_system import open_each

TEXTS = st.text(st.sampled_from("abAB \té\r\n\n"), max_size=40)
PATTERNS = st.sampled_from(
    ["a", "ab?", "^a", "b *$", "[ab]+", "a|é", r"\bB", "a.b", r"\s", "", "(a)(b)", "[^a]", "A{1,2}"]
)


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
@settings(max_examples=15, deadline=None)
@given(
    texts=st.lists(st.tuples(TEXTS, st.sampled_from(["utf-8", "utf-16", "latin-1"])), max_size=4),
    pattern=PATTERNS,
    ignore_case=st.booleans(),
    around=st.integers(0, 2),
    multiline=st.booleans(),
)
def test_both_engines_give_the_same_answers(
    tmp_path_factory: pytest.TempPathFactory,
    texts: list[tuple[str, str]],
    pattern: str,
    around: int,
    *,
    ignore_case: bool,
    multiline: bool,
) -> None:
    """Files, counts and lines are equal for any text of a project's usual kinds."""
    root = tmp_path_factory.mktemp("grep")
    for index, (text, codec) in enumerate(texts):
        plain = text.replace("\r\n", "\n").replace("\r", "")
        kept = plain if multiline else plain.replace("\n", "\r\n" if index % 2 else "\n")
        (root / f"f{index}").write_bytes(kept.encode(codec))
    files = sorted(os.listdir(root))

    for mode in ("content", "count", "files_with_matches"):
        query = Query(pattern, mode, ignore_case, multiline, around, around)
        with_rg, without = (
            search(query, open_each(str(root), files), lambda: None, ripgrep=ripgrep).files
            for ripgrep in (find_ripgrep(), None)
        )
        assert with_rg == without
