"""Kinds: what JSON says about its class, and what it is read as."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from pydantic import Field, ValidationError

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import Base64Source, DataBlock, TextBlock, ToolResponse
from agentscope_like.typed import Action, Observation, Schema, observation_of
from tests.typed.kit import Touched


class Hit(Observation):
    """One hit of a search."""

    path: str


class BetterHit(Hit):
    """One that says where."""

    line: int = 1


class Found(Observation):
    """Hits of several classes."""

    first: Hit
    others: tuple[Hit, ...] = ()


def imported_search(module: str) -> type[Action]:
    """Return a class `SearchAction` of a module of this name."""
    namespace: dict[str, Any] = {"Action": Action, "__name__": module}
    exec("class SearchAction(Action):\n    text: str\n", namespace)
    sys.modules[module] = ModuleType(module)
    made: type[Action] = namespace["SearchAction"]
    return made


def test_two_classes_of_one_name_live_together() -> None:
    """Each module has its `SearchAction`, and JSON of one is never read as the other."""
    web, code = imported_search("typed_web"), imported_search("typed_code")
    assert (web.kind, code.kind) == ("typed_web:SearchAction", "typed_code:SearchAction")
    action = web.model_validate({"text": "x"})
    assert type(Action.from_json(action.model_dump_json())) is web
    assert type(Action.from_json(code(text="x").model_dump(mode="json"))) is code  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="is no SearchAction"):
        code.from_json(action.model_dump_json())


@pytest.mark.parametrize(
    "observation",
    [
        Observation.from_text("hi"),
        Observation.from_text("no", is_error=True),
        Touched.from_text("x", runs=3),
        Found(first=BetterHit(path="a", line=3), others=(Hit(path="b"), BetterHit(path="c"))),
        Observation(
            content=(
                TextBlock(text="a"),
                DataBlock(source=Base64Source(data="AA==", media_type="image/png")),
            )
        ),
    ],
)
def test_an_observation_comes_back_from_json(observation: Observation) -> None:
    """Every observation is read from its JSON as its own class, also within another one."""
    for data in (observation.model_dump_json(), observation.model_dump(mode="json")):
        again = Observation.from_json(data)
        assert type(again) is type(observation)
        assert again == observation


def test_a_result_holds_its_observation() -> None:
    """The observation of a result comes of its metadata; of another result, of its content."""
    whole = Found(first=BetterHit(path="a"))
    response = ToolResponse(metadata={"observation": whole.model_dump(mode="json")})
    assert observation_of(response) == whole
    plain = observation_of(ToolResponse(content=[TextBlock(text="hi")]))
    assert (plain.text, plain.is_error) == ("hi", False)


@pytest.mark.parametrize("kind", ["os:system", "nowhere:Hit", 3, None, "tests.typed.kit:Nope"])
def test_a_kind_that_is_not_known_is_refused(kind: object) -> None:
    """JSON that names an unknown class is an error, and nothing is imported for it."""
    before = set(sys.modules)
    with pytest.raises(ValidationError, match="no class of the kind"):
        Observation.from_json({"kind": kind})
    assert set(sys.modules) == before


def test_a_kind_of_another_branch_is_refused() -> None:
    """Where an observation is expected, no action is read."""
    with pytest.raises(ValidationError, match="is no Observation"):
        Observation.from_json({"kind": imported_search("typed_any").kind, "text": "x"})


def test_a_field_may_be_called_kind_outside() -> None:
    """No field is named `kind`, but an alias may be: its value and the class are kept apart."""

    class Fish(Action):
        species: str = Field(alias="kind")

    fish = Fish.model_validate({"kind": "cod"})
    assert fish.species == "cod"
    assert Action.from_json(fish.model_dump_json()) == fish
    with pytest.raises(ConfigurationError, match="alias"):

        class Bad(Action):
            kind: str  # type: ignore[misc]


def test_a_schema_is_frozen_and_closed() -> None:
    """A value cannot be changed, and an unknown field is refused."""
    touched = Touched(runs=1)
    with pytest.raises(ValidationError, match="frozen"):
        touched.runs = 2  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra"):
        Touched.model_validate({"runs": 1, "more": 2})
    assert issubclass(Touched, Schema)


def test_what_is_shown_in_a_terminal() -> None:
    """An action shows its fields, and an observation its content; an error is marked."""
    web = imported_search("typed_shown")(text="hello")  # type: ignore[call-arg]
    assert web.visualize.plain == "SearchAction\ntext: hello"
    assert Observation.from_text("done").visualize.plain == "done"
    failed = Observation.from_text("bad", is_error=True)
    assert failed.visualize.plain.endswith("bad")
    assert "error" in failed.visualize.plain
    assert [getattr(block, "text", "") for block in failed.to_llm_content][-1] == "bad"
