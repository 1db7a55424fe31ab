"""Texts are found by words, whatever their script, and the best come first."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.text_search import SearchQuery, SearchQueryError, rank, snippet_of

TEXTS = st.text(st.sampled_from("ab cdé-龍が洞ไม้ K\u0301"), max_size=40)


def found(search: str, *texts: str) -> list[str]:
    """Return the texts that a search finds, the best first."""
    return [texts[one.position] for one in rank(SearchQuery.read(search), texts)]


@pytest.mark.parametrize(
    ("search", "text"),
    [
        ("DRAGON", "a dragon sleeps"),
        ("drag", "a dragon sleeps"),
        ("École", "une e\u0301cole"),
        ("ＡＢＣ", "abc"),
        ("भाषा", "हिन्दी भाषा"),
        ("학교", "학교에 갔다"),
        ("山洞", "龙在山洞里睡觉"),
        ("ｶﾞｷﾞ", "これはガギです"),
        ("ครับ", "สวัสดีครับ"),
        ("tower", "東京tower"),
        ("->", "a -> b"),
    ],
)
def test_a_text_is_found_by_a_word_or_a_part(search: str, text: str) -> None:
    """Of any script, in any case, width and composition."""
    assert found(search, "nothing of it", text) == [text]


@pytest.mark.parametrize(
    ("search", "text"),
    [("rag", "a dragon"), ("दी", "हिन्दी"), ("山里", "山洞里"), ("a", "---")],
)
def test_the_middle_of_a_word_is_not_the_word(search: str, text: str) -> None:
    """Where words are parted by blanks, only their beginnings count."""
    assert found(search, text) == []


def test_any_word_suffices_and_rare_ones_count_more() -> None:
    """A frequent word finds more, and puts less in front."""
    texts = ("the cave", "the the the hill", "a dragon", "the sea")
    assert found("the dragon", *texts)[0] == "a dragon"
    assert len(found("the dragon", *texts)) == 4


def test_a_whole_word_counts_more_than_a_beginning() -> None:
    """And equal texts stay in the order in which they were given."""
    assert found("dragon", "dragonfly", "his dragon", "one dragon") == [
        "his dragon",
        "one dragon",
        "dragonfly",
    ]


@pytest.mark.parametrize("search", ["", " \n", " ".join(map(str, range(65)))])
def test_a_search_for_nothing_or_too_much_is_refused(search: str) -> None:
    """Instead of being shortened silently; 64 words are not too many."""
    with pytest.raises(SearchQueryError):
        SearchQuery.read(search)
    assert len(SearchQuery.read(" ".join(map(str, range(64)))).words) == 64


def test_a_snippet_shows_the_place_that_was_found() -> None:
    """Within its limit, with a sign for what was left out; a short text is shown as it is."""
    query = SearchQuery.read("cave")
    shown = snippet_of(query, "sea " * 100 + "Cave " + "hill " * 100, 40)
    assert len(shown) == 40
    assert "Cave" in shown
    assert shown[0] == shown[-1] == "…"
    assert snippet_of(query, "a cave", 40) == "a cave"


@given(TEXTS, st.integers(min_value=4, max_value=30), TEXTS)
def test_a_snippet_is_never_longer_than_its_limit(text: str, most: int, search: str) -> None:
    """And, without the signs for what was left out, it is a part of the text."""
    try:
        query = SearchQuery.read(search)
    except SearchQueryError:
        return
    shown = snippet_of(query, text, most)
    assert len(shown) <= most
    assert shown.strip("…") in text


@given(st.lists(TEXTS), TEXTS)
def test_a_text_that_is_searched_for_is_found(others: list[str], text: str) -> None:
    """Whatever it is, if it is not blank."""
    try:
        query = SearchQuery.read(text)
    except SearchQueryError:
        return
    assert len(others) in [one.position for one in rank(query, [*others, text])]
