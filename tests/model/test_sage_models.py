"""Seed 003, "LLM layer", row by row."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from openai import AsyncOpenAI

from agentscope_like.agent import Agent
from agentscope_like.event import TextBlockDeltaEvent
from agentscope_like.exception import ModelError
from agentscope_like.message import ToolCallBlock, UserMsg
from agentscope_like.model import (
    ChatResponse,
    DualAsyncOpenAI,
    ModelCapabilities,
    OpenAIChatModel,
    OpenAIEmbeddingModel,
    SageAsyncOpenAI,
    probe_connection,
    probe_multimodal,
    probe_structured_output,
    sanitize_model_request_kwargs,
)
from agentscope_like.observability import ObservabilityManager, TraceMiddleware
from agentscope_like.types import ErrorType
from tests.model.chat_server import Reply, delta, failed, running, sse, streamed
from tests.model.strict_server import Abilities, StrictServer, completion, image_part, images_in
from tests.observability.kit import Recorder

ASKED = [{"role": "user", "content": "Hi"}]
SHOWN = [{"role": "user", "content": [{"type": "text", "text": "Look"}, image_part()]}]
SCHEMA = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}}


@asynccontextmanager
async def two(
    standard: Abilities, fast: Abilities | None = None, **options: Any
) -> AsyncIterator[tuple[DualAsyncOpenAI, StrictServer, StrictServer]]:
    """Run a server for each model, and give a client of both."""
    here, there = StrictServer(big=standard), StrictServer(small=fast or Abilities())
    async with running(here), running(there):
        configured: dict[str, Any] = {} if fast is None else {"fast_model": "small"}
        client = DualAsyncOpenAI(
            AsyncOpenAI(api_key="standard-key", base_url=here.url, max_retries=0),
            None if fast is None else AsyncOpenAI(api_key="fast-key", base_url=there.url),
            model="big",
            **configured,
            **options,
        )
        async with client:
            yield client, here, there


async def test_sage_l_01_one_wrapper_around_two_clients() -> None:
    """It is made of a standard client and perhaps a fast one, under the document's name too."""
    assert SageAsyncOpenAI is DualAsyncOpenAI
    async with two(Abilities(), Abilities()) as (client, here, there):
        assert client.standard.client.base_url == here.url + "/"
        assert client.fast.client.base_url == there.url + "/"
        assert (client.standard.model, client.fast.model) == ("big", "small")


async def test_sage_l_02_it_is_used_like_the_library_s_client() -> None:
    """Answers, streams, options and all else are the library's."""
    async with two(Abilities(), Abilities()) as (client, here, _):
        answer = await client.chat.completions.create(model="big", messages=ASKED)
        assert answer.choices[0].message.content == "I am big."
        stream = await client.chat.completions.create(messages=ASKED, stream=True)
        assert [chunk.choices[0].delta.content async for chunk in stream] == ["I a", "m big."]
        raw = await client.chat.completions.with_raw_response.create(messages=ASKED)
        assert raw.parse().choices[0].message.content == "I am big."
        assert client.api_key == "standard-key"
        assert str(client.base_url) == here.url + "/"
        assert not client.is_closed()
        assert {"embeddings", "responses", "fast"} <= set(dir(client))
    assert client.is_closed()
    assert client.fast.client.is_closed()


async def test_sage_l_03_the_standard_client_by_default() -> None:
    """A request that names no type, or the standard one, goes to the standard client."""
    async with two(Abilities(), Abilities()) as (client, here, there):
        await client.chat.completions.create(messages=ASKED)
        await client.chat.completions.create(messages=ASKED, model_type="standard")
        assert [request["model"] for request in here.requests] == ["big", "big"]
        assert here.headers[0]["authorization"] == "Bearer standard-key"
        assert "model_type" not in here.requests[1]
        assert there.requests == []


async def test_sage_l_04_the_fast_client_with_its_own_model() -> None:
    """A fast request goes to the fast client, and to its model whatever the request names."""
    async with two(Abilities(), Abilities()) as (client, here, there):
        await client.chat.completions.create(messages=ASKED, model_type="fast")
        await client.chat.completions.create(model="big", messages=ASKED, model_type="fast")
        assert [request["model"] for request in there.requests] == ["small", "small"]
        assert there.headers[0]["authorization"] == "Bearer fast-key"
        assert here.requests == []


async def test_sage_l_05_without_a_fast_model_the_standard_one_answers() -> None:
    """The same call works where no fast model is configured."""
    async with two(Abilities()) as (client, here, _):
        answer = await client.chat.completions.create(
            model="small", messages=ASKED, model_type="fast"
        )
        assert answer.choices[0].message.content == "I am big."
        assert here.requests[0]["model"] == "big"
        assert client.fast == client.standard


async def test_sage_l_06_flags_are_attributes_of_the_client() -> None:
    """They are of each model by itself; nothing is known before the probe."""
    able = Abilities(images=True, structured=True)
    async with two(able, Abilities()) as (client, *_):
        assert client.supports_multimodal is client.supports_structured_output is None
        await client.probe()
        assert client.supports_multimodal is client.supports_structured_output is True
        assert client.fast.supports_multimodal is client.fast.supports_structured_output is False


async def test_sage_l_07_requests_to_both_clients_are_sanitized() -> None:
    """Each is cut down to what its own model takes, in any way of asking."""
    able = Abilities(images=True, structured=True)
    async with two(able, Abilities()) as (client, here, there):
        await client.probe()
        here.requests.clear()
        there.requests.clear()
        for model_type in ("standard", "fast"):
            wanted: Any = {"messages": SHOWN, "model_type": model_type}
            settings: dict[str, Any] = {
                "supports_multimodal": True,
                "temperature": None,
                "response_format": SCHEMA,
            }
            await client.chat.completions.create(**wanted, **settings)
            await client.chat.completions.create(**wanted, extra_body=settings)
            await client.chat.completions.with_raw_response.create(**wanted, **settings)
            async with client.chat.completions.stream(**wanted, **settings) as events:
                assert [event async for event in events]
        assert len(here.requests) == len(there.requests) == 4
        for request in here.requests:
            assert images_in(request) == 1
            assert "response_format" in request
        for request in there.requests:
            assert images_in(request) == 0
            assert "response_format" not in request


@pytest.mark.parametrize(
    ("model", "given", "left"),
    [
        ("m", {"supports_multimodal": True, "supports_x": 1}, {}),
        ("m", {"temperature": None, "top_p": "", "logit_bias": {}}, {}),
        ("m", {"temperature": 0, "top_p": 0.0}, {"temperature": 0, "top_p": 0.0}),
        ("m", {"response_format": SCHEMA}, {}),
        ("m", {"max_tokens": 9}, {"max_tokens": 9}),
        ("o3-mini", {"max_tokens": 9}, {"max_completion_tokens": 9}),
        (
            "gpt-5",
            {"max_tokens": 9, "max_completion_tokens": 5},
            {"max_completion_tokens": 5},
        ),
        *[(name, {"temperature": 0.5, "top_p": 1}, {}) for name in ("o1", "o3", "o4-mini")],
        ("gpt-5-mini", {"temperature": 0.5, "presence_penalty": 1}, {}),
        ("gpt-4o", {"temperature": 0.5, "stop": ["x"]}, {"temperature": 0.5, "stop": ["x"]}),
    ],
)
def test_sage_l_08_what_a_model_does_not_take_is_left_out(
    model: str, given: dict[str, Any], left: dict[str, Any]
) -> None:
    """Settings, empty parameters and what the model would refuse go; the rest stays."""
    cannot = ModelCapabilities(supports_structured_output=False)
    assert sanitize_model_request_kwargs({"model": model, **given}, cannot) == {
        "model": model,
        **left,
    }


@pytest.mark.parametrize(
    ("model", "stays"),
    [
        ("gpt-4o", False),
        ("gpt-4o-mini-2024-07-18", False),
        ("openai/gpt-4.1", False),
        ("ft:gpt-4o-mini-2024-07-18:acme::1", False),
        ("gpt-5-chat-latest", False),
        ("o1-mini", False),
        ("o1", True),
        ("o3-mini-2025-01-31", True),
        ("gpt-5-2025-08-07", True),
        ("gpt-5.2", True),
        ("a-model-of-ones-own", True),
    ],
)
def test_sage_l_09_effort_is_for_models_that_reason(model: str, stays: bool) -> None:
    """`reasoning_effort` goes for models that do not reason, and stays where nobody knows."""
    request = {"model": model, "reasoning_effort": "low"}
    assert ("reasoning_effort" in sanitize_model_request_kwargs(request)) is stays
    told = ModelCapabilities(supports_reasoning=not stays)
    assert ("reasoning_effort" in sanitize_model_request_kwargs(request, told)) is not stays


async def test_sage_l_10_streams_and_calls_are_put_together() -> None:
    """A streamed call of a tool comes whole, by either model."""
    part = {"index": 0, "id": "c", "function": {"name": "Bash", "arguments": '{"command": '}}
    rest = {"index": 0, "function": {"arguments": '"ls"}'}}
    reply = streamed(delta(tool_calls=[part]), delta("tool_calls", tool_calls=[rest]))
    async with two(Abilities(), Abilities()) as (client, here, there):
        here.replies, there.replies = [reply], [reply]
        for model in (
            OpenAIChatModel(client=client),
            OpenAIChatModel(client=client, model_type="fast"),
        ):
            answer = await model([UserMsg("u", "x")])
            assert not isinstance(answer, ChatResponse)
            async with aclosing(answer) as stream:
                whole = [response async for response in stream][-1]
            (call,) = whole.content
            assert isinstance(call, ToolCallBlock)
            assert (call.name, call.input) == ("Bash", '{"command": "ls"}')
        assert (here.requests[0]["model"], there.requests[0]["model"]) == ("big", "small")


class EmbeddingServer(StrictServer):
    """Makes vectors whose first number is the length of the text, and tells them backwards."""

    def reply_to(self, request: dict[str, Any]) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        size = request.get("dimensions", 3072)
        data = [
            {"object": "embedding", "index": index, "embedding": [float(len(text))] * size}
            for index, text in enumerate(request["input"])
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = {"object": "list", "model": "e", "data": data[::-1], "usage": usage}
        return Reply([json.dumps(body).encode()], headers={"content-type": "application/json"})


async def test_sage_l_11_texts_become_vectors() -> None:
    """Ten texts a request, 1,024 numbers a vector, of `text-embedding-3-large`, in order."""
    async with running(EmbeddingServer()) as server:
        async with OpenAIEmbeddingModel(api_key="k", base_url=server.url) as model:
            vectors = await model.embed(["x" * n for n in range(1, 24)])
        assert [vector[0] for vector in vectors] == [float(n) for n in range(1, 24)]
        assert {len(vector) for vector in vectors} == {1024}
        assert [len(request["input"]) for request in server.requests] == [10, 10, 3]
        assert {r["model"] for r in server.requests} == {"text-embedding-3-large"}
        assert {r["dimensions"] for r in server.requests} == {1024}


async def test_sage_l_12_the_first_probe_is_a_word() -> None:
    """It says "Hi", wants five tokens, and fails with what is to be mended."""
    async with running(StrictServer(big=Abilities())) as server:
        async with AsyncOpenAI(api_key="sk-secret", base_url=server.url, max_retries=0) as client:
            await probe_connection(client, "big")
            assert server.requests == [{"model": "big", "messages": ASKED, "max_tokens": 5}]
            with pytest.raises(ModelError, match="check the model's name and base_url") as caught:
                await probe_connection(client, "bug")
            assert caught.value.type is ErrorType.INVALID_REQUEST
            server.replies = [failed(401, "wrong key sk-secret")]
            with pytest.raises(ModelError, match="pass api_key") as caught:
                await probe_connection(client, "big")
            assert "sk-secret" not in caught.value.message
        both = DualAsyncOpenAI(
            AsyncOpenAI(api_key="k", base_url=server.url), model="big", fast_model="bug"
        )
        async with both:
            with pytest.raises(ModelError, match="'bug'"):
                await both.probe()
            assert both.supports_multimodal is None


async def test_sage_l_13_the_second_probe_is_structured_output() -> None:
    """Only an object with `ok` counts; a refusal and any failure are a no."""
    server = StrictServer(
        able=Abilities(structured=True),
        deaf=Abilities(ignores_format=True),
        unable=Abilities(),
        thinker=Abilities(structured=True, thinks=300),
    )
    async with running(server), AsyncOpenAI(api_key="k", base_url=server.url) as client:
        assert await probe_structured_output(client, "able")
        (request,) = server.requests
        assert request["max_tokens"] == 20
        assert request["response_format"]["type"] == "json_schema"
        assert "json" not in str(request["messages"]).lower()
        assert not await probe_structured_output(client, "deaf")
        assert not await probe_structured_output(client, "unable")
        for other in ('{"answer": true}', "[true]", '"ok"', "null"):
            server.replies = [completion(other)]
            assert not await probe_structured_output(client, "able")
        assert await probe_structured_output(client, "thinker")
        assert len(server.asked("thinker")) == 2
    assert not await probe_structured_output(client, "able")


async def test_sage_l_14_the_third_probe_is_an_image() -> None:
    """A model that names the colour sees; one that refuses, fails or guesses does not."""
    server = StrictServer(
        able=Abilities(images=True),
        unable=Abilities(),
        blind=Abilities(images=True, says="Sorry, no image was rendered or shared."),
        thinker=Abilities(images=True, thinks=300),
    )
    async with running(server), AsyncOpenAI(api_key="k", base_url=server.url) as client:
        assert await probe_multimodal(client, "able")
        assert images_in(server.requests[0]) == 1
        assert "red" not in server.requests[0]["messages"][0]["content"][0]["text"].split()
        assert not await probe_multimodal(client, "unable")
        assert not await probe_multimodal(client, "blind")
        assert await probe_multimodal(client, "thinker")


async def test_sage_l_15_the_probe_runs_once() -> None:
    """Its findings live with the client and its copies, and each model has its own."""
    able = Abilities(images=True, structured=True)
    async with two(Abilities(), able) as (client, here, there):
        copy = client.with_options(timeout=7)
        await asyncio.gather(client.probe(), copy.probe(), client.probe())
        await client.probe()
        assert len(here.requests) == len(there.requests) == 3
        assert copy.supports_multimodal is client.supports_multimodal is False
        assert copy.fast.supports_multimodal is client.fast.supports_multimodal is True
        await client.chat.completions.create(messages=SHOWN, model_type="fast")
        assert images_in(there.requests[-1]) == 1


BROKEN = streamed({"error": {"message": "overloaded", "type": "server_error"}})


def robot(client: DualAsyncOpenAI, heard: Recorder, **options: Any) -> Agent:
    """Return an agent that is observed."""
    return Agent(
        "robot",
        "Be kind.",
        OpenAIChatModel(client=client, max_retries=0, **options),
        middlewares=[TraceMiddleware(ObservabilityManager([heard]))],
    )


@pytest.mark.parametrize("model_type", ["standard", "fast"])
@pytest.mark.parametrize(
    ("reply", "end"),
    [
        (None, "llm_end"),
        (failed(400), "llm_error"),
        (streamed(delta(content="So"), cut=True, done=False), "llm_error"),
        (streamed(delta(content="So")), "llm_error"),
        (streamed(delta(content="So"), *[{"error": {"message": "over"}}]), "llm_error"),
    ],
)  # fmt: skip
async def test_sage_l_16_model_calls_are_surrounded_by_events(
    model_type: Any, reply: Reply | None, end: str
) -> None:
    """Each start has one end, which tells of a failure amid the stream, for both models."""
    heard = Recorder()
    async with two(Abilities(), Abilities()) as (client, here, there):
        server = here if model_type == "standard" else there
        server.replies = [] if reply is None else [reply]
        await robot(client, heard, model_type=model_type).reply(UserMsg("u", "Hi"))
    told = [name for name in heard.names if name.startswith("llm")]
    assert told == ["llm_start", end]
    ((_, model_name, _),) = heard.details("llm_start")
    assert model_name == {"standard": "big", "fast": "small"}[model_type]
    heard.check_pairs()


async def test_sage_l_16_a_call_that_is_cancelled_has_its_end() -> None:
    """Cancelled in the middle of a stream, the call ends as an error, and the connection too."""
    heard, held, seen = Recorder(), asyncio.Event(), asyncio.Event()
    stream = {"content-type": "text/event-stream"}
    async with two(Abilities(), Abilities()) as (client, _, there):
        there.replies = [Reply(sse(delta(content="So")), headers=stream, held=held)]
        agent = robot(client, heard, model_type="fast")

        async def listen() -> None:
            async with aclosing(agent.reply_stream(UserMsg("u", "Hi"))) as events:
                async for event in events:
                    if isinstance(event, TextBlockDeltaEvent):
                        seen.set()

        task = asyncio.create_task(listen())
        await seen.wait()
        task.cancel()
        await asyncio.wait([task])
        assert [n for n in heard.names if n.startswith("llm")] == ["llm_start", "llm_error"]
        heard.check_pairs()
        held.set()
        async with asyncio.timeout(10):
            await there.idle.wait()
