"""The model behind a chat-completions server, against a real one on loopback."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from email.utils import formatdate
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import (
    AssistantMsg,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.model import ChatResponse, OpenAIChatModel
from agentscope_like.model.failure import seconds_to_wait
from agentscope_like.tool import ToolChoice
from agentscope_like.types import ErrorType
from tests.model.chat_server import ChatServer, Reply, delta, failed, serving, sse, streamed

HELLO = streamed(
    delta(role="assistant", content=""), delta(content="Hel"), delta("stop", content="lo")
)
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": name, "description": "", "parameters": {}}}
    for name in ("Bash", "Read")
]


def call_part(
    index: int | None, call_id: str | None = None, name: str | None = None, more: str = ""
) -> Any:
    function = {"name": name, "arguments": more} if name is not None else {"arguments": more}
    part = {"index": index, "id": call_id, "function": function}
    return {key: value for key, value in part.items() if value is not None}


def calls(*parts: Any, finish: str | None = None) -> dict[str, Any]:
    return delta(finish, tool_calls=list(parts))


async def ask(
    server: ChatServer, *messages: Msg, waits: list[float] | None = None, **options: Any
) -> list[ChatResponse]:
    async def sleep(seconds: float) -> None:
        if waits is not None:
            waits.append(seconds)

    choice = options.pop("tool_choice", None)
    tools = options.pop("tools", None)
    options.setdefault("api_key", "sk-secret")
    async with OpenAIChatModel("m", base_url=server.url, sleep=sleep, **options) as model:
        answer = await model(list(messages) or [UserMsg("u", "hi")], tools, choice)
        if isinstance(answer, ChatResponse):
            return [answer]
        async with aclosing(answer):
            return [response async for response in answer]


def said(*responses: ChatResponse) -> str:
    blocks = [block for response in responses for block in response.content]
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


def called(*responses: ChatResponse) -> list[tuple[str, str, str]]:
    """Return id, name and arguments of each call, its pieces joined by id."""
    joined: dict[str, tuple[str, str]] = {}
    for response in responses:
        for block in response.content:
            if isinstance(block, ToolCallBlock):
                before = joined.get(block.id, ("", ""))[1]
                joined[block.id] = (block.name, before + block.input)
    return [(call_id, *rest) for call_id, rest in joined.items()]


class TestAnswers:
    """What comes of what a server says."""

    async def test_text(self) -> None:
        """Text comes piece by piece under one block id, and whole at the end."""
        async with serving(HELLO) as server:
            *pieces, whole = await ask(server)
        assert [said(piece) for piece in pieces] == ["Hel", "lo"]
        assert said(whole) == "Hello"
        assert whole.is_last
        assert whole.metadata == {"finish_reason": "stop"}
        assert {b.id for r in (*pieces, whole) for b in r.content} == {whole.content[0].id}

    async def test_usage(self) -> None:
        """Usage is asked for, and comes with the last response."""
        usage = {
            "prompt_tokens": 90,
            "completion_tokens": 7,
            "total_tokens": 97,
            "prompt_tokens_details": {"cached_tokens": 64},
        }
        last = {**delta(), "choices": [], "usage": usage}
        async with serving(streamed(delta("stop", content="x"), last)) as server:
            whole = (await ask(server))[-1]
        assert server.requests[0]["stream_options"] == {"include_usage": True}
        assert whole.usage is not None
        assert (whole.usage.input_tokens, whole.usage.output_tokens) == (90, 7)
        assert whole.usage.cache_input_tokens == 64
        assert whole.usage.time > 0

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
    async def test_thinking(self, field: str) -> None:
        """Reasoning of a compatible server is a thinking block before the text."""
        reply = streamed(
            delta(**{field: "Let me "}), delta(**{field: "see."}), delta("stop", content="Yes")
        )
        async with serving(reply) as server:
            whole = (await ask(server))[-1]
        thinking, text = whole.content
        assert isinstance(thinking, ThinkingBlock)
        assert thinking.thinking == "Let me see."
        assert isinstance(text, TextBlock)

    async def test_an_answer_cut_at_the_token_limit(self) -> None:
        """An answer that was cut says so in its metadata."""
        async with serving(streamed(delta("length", content="and th"))) as server:
            assert (await ask(server))[-1].metadata["finish_reason"] == "length"

    async def test_an_empty_answer(self) -> None:
        """A model that says nothing gives one response without content."""
        for reply in (streamed(delta("stop")), streamed()):
            async with serving(reply) as server:
                (whole,) = await ask(server)
            assert whole.is_last
            assert whole.content == []

    async def test_without_streaming(self) -> None:
        """With `stream=False` one response holds text, thinking, calls and usage."""
        body = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "tool_calls",
                    "message": {
                        "role": "assistant",
                        "content": "I look.",
                        "reasoning_content": "Where?",
                        "tool_calls": [
                            call_part(None, "a", "Bash", "{}"),
                            call_part(None, "a", "Read", "{}"),
                        ],
                    },
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        }  # fmt: skip
        reply = Reply([json.dumps(body).encode()], headers={"content-type": "application/json"})
        async with serving(reply) as server:
            (whole,) = await ask(server, stream=False)
        assert server.requests[0]["stream"] is False
        assert "stream_options" not in server.requests[0]
        assert [type(b) for b in whole.content[:2]] == [ThinkingBlock, TextBlock]
        (first, *_), (second, *_) = called(whole)
        assert first == "a"
        assert second != "a"
        assert whole.usage is not None
        assert whole.usage.output_tokens == 2

    async def test_surrogates_split_between_pieces(self) -> None:
        """A character that a server splits in two is joined; half of one is replaced."""
        reply = streamed(
            delta(content="\ud83d"), delta(content="\ude00!"), delta("stop", content="\ud83d")
        )
        async with serving(reply) as server:
            *pieces, whole = await ask(server)
        assert said(*pieces) == said(whole) == "\U0001f600!\ufffd"
        for response in (*pieces, whole):
            for block in response.content:
                block.model_dump_json()


class TestCalls:
    """Calls, as servers send them and as they should not."""

    @pytest.mark.parametrize(
        ("chunks", "expected"),
        [
            (  # fragments by index, interleaved
                [
                    calls(call_part(0, "a", "Bash")),
                    calls(call_part(1, "b", "Read", '{"p')),
                    calls(call_part(0, more='{"command": "l')),
                    calls(call_part(1, more='": 1}'), call_part(0, more='s"}')),
                ],
                [("a", "Bash", '{"command": "ls"}'), ("b", "Read", '{"p": 1}')],
            ),
            (  # broken JSON is passed on raw
                [calls(call_part(0, "a", "Bash", '{"command": '))],
                [("a", "Bash", '{"command": ')],
            ),
            (  # no index: told apart by id, continued without either
                [
                    calls(call_part(None, "a", "Bash", '{"x"')),
                    calls(call_part(None, more=": 1}")),
                    calls(call_part(None, "b", "Read", "{}")),
                ],
                [("a", "Bash", '{"x": 1}'), ("b", "Read", "{}")],
            ),
            (  # every call at index 0
                [
                    calls(call_part(0, "a", "Bash", "{}")),
                    calls(call_part(0, "b", "Read", "{}")),
                ],
                [("a", "Bash", "{}"), ("b", "Read", "{}")],
            ),
            (  # id and name repeated in every fragment
                [
                    calls(call_part(0, "a", "Bash", "{")),
                    calls(call_part(0, "a", "Bash", "}")),
                ],
                [("a", "Bash", "{}")],
            ),
            (  # the name comes late, or never
                [
                    calls(call_part(0, "a", more="{")),
                    calls(call_part(0, name="Bash", more="}")),
                    calls(call_part(1, "b", more="{}")),
                ],
                [("a", "Bash", "{}"), ("b", "", "{}")],
            ),
            (  # no arguments at all
                [calls(call_part(0, "a", "Bash"))],
                [("a", "Bash", "")],
            ),
            (  # arguments that are an object instead of text
                [calls({"id": "a", "function": {"name": "Bash", "arguments": {"x": 1}}})],
                [("a", "Bash", '{"x": 1}')],
            ),
        ],
    )  # fmt: skip
    async def test_pieces(self, chunks: list[Any], expected: list[tuple[str, str, str]]) -> None:
        """The pieces of a call join to what the model wrote, and so does the last response."""
        async with serving(streamed(*chunks, delta("tool_calls"))) as server:
            *pieces, whole = await ask(server)
        assert called(*pieces) == expected
        assert called(whole) == expected

    @pytest.mark.parametrize("parts", [
        [call_part(0, "a", "Bash", "{}"), call_part(1, "a", "Read", "{}")],
        [call_part(0, name="Bash", more="{}"), call_part(1, "", "Read", "{}")],
        [call_part(None, name="Bash", more="{}"), call_part(None, name="Read", more="{}")],
        [call_part(0, "old", "Bash", "{}"), call_part(1, "b", "Read", "{}")],
    ])  # fmt: skip
    async def test_ids_are_unique(self, parts: list[Any]) -> None:
        """Ids that are missing, doubled, or taken earlier in the conversation are replaced."""
        before = AssistantMsg("a", [ToolCallBlock(id="old", name="Bash", input="{}")])
        async with serving(streamed(calls(*parts), delta("tool_calls"))) as server:
            *pieces, whole = await ask(server, UserMsg("u", "x"), before)
        found = called(whole)
        assert called(*pieces) == found
        assert [name for _, name, _ in found] == ["Bash", "Read"]
        assert len({"old", "", *(call_id for call_id, _, _ in found)}) == 4


class TestFailures:
    """Each failure says of what kind it is; what may pass is tried again."""

    @pytest.mark.parametrize("stream", [True, False])
    @pytest.mark.parametrize(
        ("status", "kind", "tries", "mend"),
        [
            (400, ErrorType.INVALID_REQUEST, 1, "correct the request"),
            (401, ErrorType.AUTHENTICATION, 1, "set OPENAI_API_KEY or pass api_key"),
            (403, ErrorType.PERMISSION, 1, "another model"),
            (404, ErrorType.INVALID_REQUEST, 1, "base_url"),
            (408, ErrorType.CONNECTION, 3, "try again"),
            (409, ErrorType.UPSTREAM, 3, "try again"),
            (422, ErrorType.INVALID_REQUEST, 1, "correct the request"),
            (429, ErrorType.RATE_LIMIT, 3, "limit"),
            (500, ErrorType.UPSTREAM, 3, "try again"),
            (529, ErrorType.UPSTREAM, 3, "try again"),
        ],
    )
    async def test_statuses(
        self, stream: bool, status: int, kind: ErrorType, tries: int, mend: str
    ) -> None:
        """A status is told with the server's words and the mend, and retried where that helps."""
        async with serving(*[failed(status, "because of sk-secret")] * 3) as server:
            with pytest.raises(ModelError) as caught:
                await ask(server, stream=stream, max_retries=2)
        assert caught.value.type is kind
        assert f"{status}: because of [API key]" in caught.value.message
        assert mend in caught.value.message
        assert len(server.requests) == tries

    async def test_success_after_failures(self) -> None:
        """A passing failure leaves no trace in the answer."""
        async with serving(failed(500), failed(503), HELLO) as server:
            waits: list[float] = []
            assert said((await ask(server, waits=waits))[-1]) == "Hello"
        assert len(waits) == 2

    async def test_retry_after(self) -> None:
        """The wait that a server names is kept; one of an hour is told instead of waited."""
        waits: list[float] = []
        async with serving(failed(429, headers={"retry-after": "7"}), HELLO) as server:
            await ask(server, waits=waits)
        assert waits == [7.0]
        async with serving(failed(429, headers={"retry-after": "3600"}), HELLO) as server:
            with pytest.raises(ModelError, match="wait 3600 s"):
                await ask(server, waits=waits)
        assert waits == [7.0]

    async def test_no_credit_is_not_waited_out(self) -> None:
        """A 429 for an account without credit is raised at once."""
        body = json.dumps({"error": {"message": "quota", "code": "insufficient_quota"}}).encode()
        async with serving(Reply([body], 429, {"content-type": "application/json"})) as server:
            with pytest.raises(ModelError, match="add credit"):
                await ask(server)
        assert len(server.requests) == 1

    async def test_nobody_listens(self) -> None:
        """A server that is not there is a connection error, after the agreed tries."""
        async with serving() as server:
            pass
        waits: list[float] = []
        with pytest.raises(ModelError, match="base_url") as caught:
            await ask(server, waits=waits, max_retries=1)
        assert caught.value.type is ErrorType.CONNECTION
        assert len(waits) == 1

    async def test_no_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without a key, OpenAI is not called; a server of one's own may do without."""
        monkeypatch.delenv("OPENAI_API_KEY", raising=False)
        monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
        async with OpenAIChatModel("m", stream=False) as model:
            with pytest.raises(ModelError, match="set OPENAI_API_KEY") as caught:
                await model([UserMsg("u", "hi")])
        assert caught.value.type is ErrorType.AUTHENTICATION
        async with serving(HELLO) as server:
            assert said((await ask(server, api_key=None))[-1]) == "Hello"


class TestBrokenStreams:
    """Streams that end badly."""

    @pytest.mark.parametrize("reply", [
        streamed(delta(content="Hel"), cut=True, done=False),
        streamed(delta(content="Hel"), done=False),
        streamed(delta(content="Hel")),
    ])  # fmt: skip
    async def test_dropped_after_a_part(self, reply: Reply) -> None:
        """A connection that drops once a part was shown is an error, never a second try."""
        async with serving(reply, HELLO) as server:
            model = OpenAIChatModel("m", api_key="k", base_url=server.url)
            async with model, aclosing(stream_of(await model([UserMsg("u", "x")]))) as stream:
                assert said(await anext(stream)) == "Hel"
                with pytest.raises(ModelError) as caught:
                    await anext(stream)
        assert caught.value.type is ErrorType.CONNECTION
        assert len(server.requests) == 1

    @pytest.mark.parametrize("reply", [
        streamed(delta(role="assistant"), cut=True, done=False),
        streamed(cut=True, done=False),
        streamed({"error": {"message": "overloaded", "type": "server_error"}}),
    ])  # fmt: skip
    async def test_dropped_before_any_part(self, reply: Reply) -> None:
        """One that drops before anything was shown is tried again."""
        async with serving(reply, HELLO) as server:
            assert said((await ask(server))[-1]) == "Hello"
        assert len(server.requests) == 2

    @pytest.mark.parametrize("reply", [
        streamed("{not json"),
        streamed(delta(content="a"), '{"choices": [{"delta"'),
        Reply([b"<html>welcome</html>"], headers={"content-type": "text/html"}),
        Reply([b'data: \xff\xfe{"\n\n'], headers={"content-type": "text/event-stream"}),
    ])  # fmt: skip
    async def test_not_a_stream(self, reply: Reply) -> None:
        """What is no chat-completions stream is an error that names base_url."""
        async with serving(reply) as server:
            with pytest.raises(ModelError, match="base_url") as caught:
                await ask(server)
        assert caught.value.type is ErrorType.UPSTREAM
        assert len(server.requests) == 1

    @pytest.mark.parametrize("body", ["<html>", "{}", '{"choices": []}', "[1]", "{", "null"])
    @pytest.mark.parametrize("kind", ["text/html", "application/json"])
    async def test_not_a_completion(self, body: str, kind: str) -> None:
        """Without streaming too."""
        async with serving(Reply([body.encode()], headers={"content-type": kind})) as server:
            with pytest.raises(ModelError, match="base_url") as caught:
                await ask(server, stream=False)
        assert caught.value.type is ErrorType.UPSTREAM

    async def test_odd_chunks_are_passed_over(self) -> None:
        """Chunks that hold nothing, or are of no known shape, do no harm."""
        odd: list[Any] = [
            "5", "[]", "null", {"choices": None}, {"choices": [{"delta": None}]}, {"x": 1},
            {"choices": [{"index": 1, "delta": {"content": "other"}}]},
            delta(content=[{"text": "x"}], tool_calls=[{"index": 0}], reasoning={"a": 1}),
        ]  # fmt: skip
        async with serving(streamed(*odd, delta("stop", content="x"))) as server:
            whole = (await ask(server))[-1]
        assert said(whole) == "x"

    async def test_closing_early_ends_the_connection(self) -> None:
        """A stream that is closed in the middle leaves no connection open."""
        held = asyncio.Event()
        reply = Reply(
            sse(delta(content="Hel")), headers={"content-type": "text/event-stream"}, held=held
        )
        async with serving(reply) as server:
            model = OpenAIChatModel("m", api_key="k", base_url=server.url)
            async with model, aclosing(stream_of(await model([UserMsg("u", "x")]))) as stream:
                assert said(await anext(stream)) == "Hel"
            held.set()
            async with asyncio.timeout(10):
                await server.idle.wait()


def stream_of(answer: Any) -> Any:
    assert not isinstance(answer, ChatResponse)
    return answer


class TestRequests:
    """What the server is sent."""

    async def test_a_server_that_refuses_stream_options(self) -> None:
        """A server that does not know stream_options is asked without, from then on."""
        refusal = failed(400, "Unrecognized request argument: stream_options")
        async with serving(refusal, HELLO, HELLO) as server:
            waits: list[float] = []

            async def sleep(seconds: float) -> None:
                waits.append(seconds)

            async with OpenAIChatModel("m", base_url=server.url, api_key="k", sleep=sleep) as model:
                for _ in range(2):
                    async with aclosing(stream_of(await model([UserMsg("u", "x")]))) as stream:
                        assert said([r async for r in stream][-1]) == "Hello"
        assert ["stream_options" in request for request in server.requests] == [True, False, False]
        assert waits == []

    async def test_fields(self) -> None:
        """Model, key and more fields, known to the client or not, go to the server."""
        async with serving(HELLO) as server:
            await ask(server, generate_kwargs={"temperature": 0, "top_k": 5})
        request = server.requests[0]
        assert (request["model"], request["temperature"], request["top_k"]) == ("m", 0, 5)
        assert server.headers[0]["authorization"] == "Bearer sk-secret"

    async def test_lone_surrogates_are_cleaned(self) -> None:
        """Text that UTF-8 cannot hold is replaced before it is sent, in messages and schemas."""
        tool = {"type": "function", "function": {"name": "T", "description": "\ud800"}}
        async with serving(HELLO) as server:
            await ask(server, UserMsg("u", "a\udc80b"), tools=[tool])
        assert server.requests[0]["messages"][0]["content"] == "a\\udc80b"
        assert server.requests[0]["tools"][0]["function"]["description"] == "\ufffd"

    async def test_the_conversation(self) -> None:
        """Calls and their results go as assistant and tool messages."""
        told = AssistantMsg(
            "a",
            [
                ToolCallBlock(id="c", name="Bash", input='{"command": "ls"}'),
                ToolResultBlock(id="c", name="Bash", output="x", state=ToolResultState.SUCCESS),
            ],
        )
        async with serving(HELLO) as server:
            await ask(server, UserMsg("u", "go"), told, tools=TOOLS)
        roles = [message["role"] for message in server.requests[0]["messages"]]
        assert roles == ["user", "assistant", "tool"]
        assert server.requests[0]["tools"] == TOOLS

    @pytest.mark.parametrize(
        ("choice", "names", "sent"),
        [
            (None, ["Bash", "Read"], None),
            (ToolChoice(mode="none"), ["Bash", "Read"], "none"),
            (ToolChoice(mode="required", tools=["Read"]), ["Read"], "required"),
            (
                ToolChoice(mode="Bash"),
                ["Bash", "Read"],
                {"type": "function", "function": {"name": "Bash"}},
            ),
        ],
    )
    async def test_tool_choice(
        self, choice: ToolChoice | None, names: list[str], sent: Any
    ) -> None:
        """A choice is told in the interface's words, and hides the tools it does not list."""
        async with serving(HELLO) as server:
            await ask(server, tools=TOOLS, tool_choice=choice)
        request = server.requests[0]
        assert [tool["function"]["name"] for tool in request["tools"]] == names
        assert request.get("tool_choice") == sent

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (ToolChoice(mode="Bahs"), "did you mean 'Bash'"),
            (ToolChoice(mode="Auto"), "did you mean 'auto'"),
            (ToolChoice(mode="auto", tools=["read"]), "did you mean 'Read'"),
        ],
    )
    async def test_a_choice_of_an_unknown_tool(self, wrong: ToolChoice, said: str) -> None:
        """A choice that names no tool shown is a mistake of the developer, with the nearest."""
        async with serving(HELLO) as server:
            with pytest.raises(ConfigurationError, match=said):
                await ask(server, tools=TOOLS, tool_choice=wrong)
        assert server.requests == []

    def test_fields_that_are_not_free(self) -> None:
        """What the model sets itself cannot be given."""
        with pytest.raises(ConfigurationError, match="'stream'"):
            OpenAIChatModel("m", generate_kwargs={"stream": False})

    async def test_a_client_of_ones_own(self) -> None:
        """A client that was given is used, without tries of its own, and not closed."""
        from openai import AsyncOpenAI

        async with serving(failed(500), HELLO) as server:
            async with AsyncOpenAI(api_key="k", base_url=server.url, max_retries=5) as client:
                model = OpenAIChatModel("m", client=client, stream=False, max_retries=0)
                async with model:
                    with pytest.raises(ModelError):
                        await model([UserMsg("u", "x")])
                assert not client.is_closed()
            assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({}, None, None),
        ({"retry-after": "2.5"}, 2.5, 2.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5, 1.5),
        ({"retry-after": "-3"}, 0, 0),
        ({"retry-after": "soon"}, None, None),
        ({"retry-after": "nan"}, None, None),
        ({"retry-after": formatdate(4_000_000_000, usegmt=True)}, 1e6, 1e12),
        ({"retry-after": formatdate(1_000_000_000, usegmt=True)}, 0, 0),
    ],
)
def test_retry_after_header(headers: dict[str, str], low: float | None, high: float | None) -> None:
    """The header holds seconds or a date; what is neither counts as nothing."""
    seconds = seconds_to_wait(headers)
    assert (seconds is None) == (low is None)
    if seconds is not None and low is not None and high is not None:
        assert low <= seconds <= high
