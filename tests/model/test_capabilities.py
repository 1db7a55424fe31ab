"""Requests without what their model does not take."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai import NOT_GIVEN, omit

from agentscope_like.model import ModelCapabilities, sanitize_model_request_kwargs
from agentscope_like.model.dual.capabilities import IMAGE_LEFT_OUT
from agentscope_like.model.dual.families import family_of, family_table
from tests.model.strict_server import image_part

BLIND = ModelCapabilities(supports_multimodal=False)
LEFT_OUT = {"type": "text", "text": IMAGE_LEFT_OUT}
TEXT = {"type": "text", "text": "Look"}

flags = st.one_of(st.none(), st.booleans())
values = st.sampled_from([None, "", [], {}, 0, 1, 0.5, "low", "none", ["x"], {"a": 1}])
fields = st.dictionaries(
    st.sampled_from(
        [*sorted(family_table().optional), "response_format", "supports_x", "tools", "user"]
    ),
    values,
)
parts = st.lists(st.sampled_from([TEXT, image_part(), {"type": "file"}]), max_size=3)
messages = st.lists(
    st.fixed_dictionaries({"role": st.just("user"), "content": st.one_of(parts, st.text())}),
    max_size=3,
)


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    """Return a request, some of whose fields are in `extra_body`."""
    names = st.sampled_from(["gpt-4o", "o3", "gpt-5", "gpt-5.2", "o1-mini", "gpt-oss", "m"])
    request = {**draw(fields), "model": draw(names), "messages": draw(messages)}
    return {**request, "extra_body": draw(fields)} if draw(st.booleans()) else request


@given(requests(), flags, flags, flags)
def test_the_input_is_never_changed(
    request_: dict[str, Any], images: bool | None, structured: bool | None, reasons: bool | None
) -> None:
    """Whatever goes, it goes from a copy; and what was sanitized once stays as it is."""
    known = ModelCapabilities(images, structured, reasons)
    before = deepcopy(request_)
    sanitized = sanitize_model_request_kwargs(request_, known)
    assert request_ == before
    assert sanitize_model_request_kwargs(sanitized, known) == sanitized


@given(requests())
def test_nothing_is_made_up(request_: dict[str, Any]) -> None:
    """What stays has the value that it had; only the limit of tokens changes its name."""
    sanitized = sanitize_model_request_kwargs(request_)
    for name, value in sanitized.items():
        if name not in ("extra_body", "max_completion_tokens"):
            assert value is request_[name]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": [TEXT, image_part()]}, [TEXT, LEFT_OUT]),
        ({"role": "tool", "content": (image_part(), image_part())}, [LEFT_OUT, LEFT_OUT]),
        ({"role": "user", "content": [{"type": "input_image"}, {"type": "file"}]}, None),
        ({"role": "user", "content": "image_url"}, "image_url"),
        ({"role": "assistant", "content": None}, None),
    ],
)
def test_images_that_cannot_be_seen(message: dict[str, Any], expected: Any) -> None:
    """Each is replaced, where it stood, with a text that says so; all else stays."""
    if expected is None and message["content"]:
        expected = [LEFT_OUT, {"type": "file"}]
    request = {"model": "m", "messages": [message]}
    (sent,) = sanitize_model_request_kwargs(request, BLIND)["messages"]
    assert sent == {**message, "content": expected}
    for seeing in (ModelCapabilities(), ModelCapabilities(supports_multimodal=True)):
        assert sanitize_model_request_kwargs(request, seeing) == request


def test_messages_that_are_no_plain_list() -> None:
    """Objects of the library stay as they are, and any iterable of messages will do."""
    answer = object()
    shown = {"role": "user", "content": [image_part()]}
    sent = sanitize_model_request_kwargs({"messages": iter([answer, shown])}, BLIND)
    assert sent["messages"] == [answer, {"role": "user", "content": [LEFT_OUT]}]
    assert sanitize_model_request_kwargs({"messages": "?"}, BLIND) == {"messages": "?"}


def test_what_was_not_given_is_left_out() -> None:
    """The library's marks for absent arguments take no other argument's place."""
    request = {"model": "o3", "max_completion_tokens": omit, "max_tokens": 5, "user": NOT_GIVEN}
    assert sanitize_model_request_kwargs(request) == {"model": "o3", "max_completion_tokens": 5}


def test_the_extra_body_is_no_way_around() -> None:
    """Its fields, which win over the others, are sanitized too."""
    request = {
        "model": "gpt-5",
        "extra_body": {"temperature": 1, "max_tokens": 3, "top_k": 4, "supports_x": 1},
    }
    assert sanitize_model_request_kwargs(request) == {
        "model": "gpt-5",
        "extra_body": {"max_completion_tokens": 3, "top_k": 4},
    }


@pytest.mark.parametrize(
    ("model", "effort", "samples"),
    [
        ("gpt-5", "none", False),
        ("gpt-5.2", "none", True),
        ("gpt-5.2", "low", False),
        ("gpt-5.2", None, False),
        ("gpt-4o", None, True),
        ("gpt-4o-search-preview", None, False),
        ("gpt-oss-120b", "high", True),
    ],
)
def test_sampling_of_models_that_reason(model: str, effort: str | None, samples: bool) -> None:
    """Some sample while they do not reason, which must be said; in `extra_body` as well."""
    for request in (
        {"model": model, "temperature": 0.3, "reasoning_effort": effort},
        {"model": model, "temperature": 0.3, "extra_body": {"reasoning_effort": effort}},
    ):
        assert ("temperature" in sanitize_model_request_kwargs(request)) is samples


@pytest.mark.parametrize(
    ("model", "like"),
    [
        ("GPT-4o-mini", "gpt-4o"),
        ("openrouter/openai/gpt-4.1-nano", "gpt-4.1"),
        ("ft:gpt-3.5-turbo:acme::x", "gpt-3.5"),
        ("gpt-6.2-astra", "gpt-6"),
        ("gpt-5.9", "gpt-5"),
        ("o1-mini-2024-09-12", "o1-mini"),
        ("o10", "nothing-known"),
        ("gpt-40", "nothing-known"),
        ("phi-4o", "nothing-known"),
        ("", "nothing-known"),
    ],
)
def test_families_go_by_whole_words(model: str, like: str) -> None:
    """The longest beginning counts, of the name without its provider."""
    assert family_of(model) == family_of(like)


def test_the_table_of_families() -> None:
    """No name is listed twice, and what fills the tables is used."""
    names = [name for family in family_table().family for name in family.names]
    assert len(set(names)) == len(names)
    assert family_table().sampling < family_table().optional
