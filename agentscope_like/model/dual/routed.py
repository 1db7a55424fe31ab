"""Sends chat completions to one of two clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

__all__ = ["ModelType", "Route", "RoutedChat", "RoutedCompletions"]

ModelType: TypeAlias = Literal["standard", "fast"]
"""Which model answers: the one for the main work, or the one for small tasks such as summaries."""

Route: TypeAlias = Callable[[ModelType, Mapping[str, Any]], tuple[Any, dict[str, Any]]]
"""`(model_type, request)`: the completions of the chosen client, and the request for it.

`Any`, since the library defines the completions and a request is JSON of any shape.
"""


class _Routed:
    """A part of a client; attributes that are not routed are the standard client's.

    Args:
        standard: That part of the standard client.
        route: Chooses the client of a request.
    """

    __slots__ = ("_route", "_standard")

    def __init__(self, standard: Any, route: Route) -> None:
        self._standard = standard
        self._route = route

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._standard, name)


class RoutedChat(_Routed):
    """The `chat` of a client, with routed completions."""

    __slots__ = ()

    @property
    def completions(self) -> RoutedCompletions:
        """Return the completions."""
        return RoutedCompletions(self._standard.completions, self._route)


class RoutedCompletions(_Routed):
    """Completions that take the additional argument `model_type`.

    Requests and answers are `Any`, since their types differ between versions of the library.
    """

    __slots__ = ()

    async def create(self, *, model_type: ModelType = "standard", **request: Any) -> Any:
        """Send the request to the client of that type and return the answer, or a stream of it.

        Args:
            model_type: Which model answers.
            request: As for `AsyncOpenAI`, but `model` is optional.

        Raises:
            ConfigurationError: There is no such type.
        """
        completions, sent = self._route(model_type, request)
        return await completions.create(**sent)

    async def parse(self, *, model_type: ModelType = "standard", **request: Any) -> Any:
        """Return an answer, parsed as its `response_format` says; see `create`."""
        completions, sent = self._route(model_type, request)
        return await completions.parse(**sent)

    def stream(self, *, model_type: ModelType = "standard", **request: Any) -> Any:
        """Return a context manager around the events of an answer; see `create`."""
        completions, sent = self._route(model_type, request)
        return completions.stream(**sent)

    @property
    def with_raw_response(self) -> _Responses:
        """Return completions that return the HTTP response with the answer."""
        return _Responses(self._standard, self._route, "with_raw_response")

    @property
    def with_streaming_response(self) -> _Responses:
        """Return completions that return the HTTP response before its body is read."""
        return _Responses(self._standard, self._route, "with_streaming_response")


class _Responses(_Routed):
    """Completions that return HTTP responses, awaited or entered like the library's."""

    __slots__ = ("_shape",)

    def __init__(self, standard: Any, route: Route, shape: str) -> None:
        super().__init__(getattr(standard, shape), route)
        self._shape = shape

    def create(self, *, model_type: ModelType = "standard", **request: Any) -> Any:
        completions, sent = self._route(model_type, request)
        return getattr(completions, self._shape).create(**sent)

    def parse(self, *, model_type: ModelType = "standard", **request: Any) -> Any:
        completions, sent = self._route(model_type, request)
        return getattr(completions, self._shape).parse(**sent)
