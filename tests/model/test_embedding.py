"""Texts as vectors: what goes wrong, and what then comes of it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import AsyncOpenAI

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.model import DualAsyncOpenAI, OpenAIEmbeddingModel
from agentscope_like.types import ErrorType
from tests.model.chat_server import Reply, failed, running, serving
from tests.model.test_sage_models import EmbeddingServer


def vectors(*items: tuple[int, list[float]]) -> Reply:
    """Return an answer with these vectors, and their indexes."""
    data = [{"object": "embedding", "index": index, "embedding": one} for index, one in items]
    body = {"object": "list", "model": "e", "data": data}
    return Reply([json.dumps(body).encode()], headers={"content-type": "application/json"})


async def embedded(reply: Reply | None, texts: list[str], **options: Any) -> list[list[float]]:
    """Return what comes of one reply."""
    async with serving(*([] if reply is None else [reply])) as server:
        options = {"api_key": "sk-secret", "max_retries": 0, "dimensions": 2, **options}
        async with OpenAIEmbeddingModel("e", base_url=server.url, **options) as model:
            return await model.embed(texts)


async def test_a_passing_failure_is_tried_again() -> None:
    """Only the request that failed is; the wait that the server names is kept."""
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with running(EmbeddingServer()) as server:
        server.replies = [failed(429, headers={"retry-after": "3"})]
        async with OpenAIEmbeddingModel("e", api_key="k", base_url=server.url, sleep=sleep) as one:
            assert len(await one.embed(["a"])) == 1
    assert waits == [3.0]


async def test_a_failure_says_how_to_mend_it() -> None:
    """The key is not in the message."""
    with pytest.raises(ModelError, match="pass api_key") as caught:
        await embedded(failed(401, "wrong key sk-secret"), ["a"])
    assert caught.value.type is ErrorType.AUTHENTICATION
    assert "sk-secret" not in caught.value.message


@pytest.mark.parametrize(
    "reply",
    [
        vectors((0, [1.0, 2.0])),
        vectors((0, [1.0, 2.0]), (0, [1.0, 2.0])),
        vectors((0, [1.0, 2.0]), (2, [1.0, 2.0])),
        vectors((0, [1.0, 2.0]), (1, [1.0])),
        vectors((0, [1.0]), (1, [1.0])),
        vectors((0, []), (1, [])),
        vectors(),
        Reply([b"<html>"], headers={"content-type": "text/html"}),
    ],
)
async def test_an_answer_that_does_not_fit(reply: Reply) -> None:
    """A vector that is missing, doubled or of another size is an error, never a wrong result."""
    with pytest.raises(ModelError, match="base_url") as caught:
        await embedded(reply, ["a", "b"])
    assert caught.value.type is ErrorType.UPSTREAM


async def test_as_many_numbers_as_the_model_has() -> None:
    """With `dimensions=None` the field is not sent, and any size will do."""
    async with running(EmbeddingServer()) as server:
        client = AsyncOpenAI(api_key="k", base_url=server.url)
        async with DualAsyncOpenAI(client, model="big") as both:
            model = OpenAIEmbeddingModel("ada", client=both, dimensions=None)
            assert [len(vector) for vector in await model.embed(["a", "b"])] == [3072, 3072]
            await model.close()
            assert not both.is_closed()
        assert "dimensions" not in server.requests[0]


async def test_texts_that_cannot_be_sent() -> None:
    """No text is no request, an empty one is refused by its number, a lone surrogate replaced."""
    assert await embedded(None, []) == []
    with pytest.raises(ModelError, match="Text 1 is empty"):
        await embedded(None, ["a", " \n"])
    with pytest.raises(ConfigurationError, match="one text"):
        await embedded(None, "abc")  # type: ignore[arg-type]
    assert await embedded(vectors((0, [1.0, 2.0])), ["\ud800"]) == [[1.0, 2.0]]


@pytest.mark.parametrize(
    "options",
    [{"batch_size": 0}, {"dimensions": 0}, {"max_retries": -1}, {"base_url": "localhost"}],
)
def test_settings_that_cannot_work(options: dict[str, Any]) -> None:
    """They are refused at once."""
    with pytest.raises(ConfigurationError):
        OpenAIEmbeddingModel(**options)
