"""The client of two models: its edges."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from agentscope_like.agent import Agent, ModelConfig
from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import Base64Source, DataBlock, TextBlock, UserMsg
from agentscope_like.model import DualAsyncOpenAI, ModelCapabilities, OpenAIChatModel
from agentscope_like.model.dual import probe
from agentscope_like.model.dual.capabilities import IMAGE_LEFT_OUT
from agentscope_like.observability import ObservabilityManager, TraceMiddleware
from agentscope_like.types import ErrorType
from tests.model.chat_server import Reply, delta, failed, running, streamed
from tests.model.strict_server import Abilities, StrictServer, image_part, images_in
from tests.model.test_sage_models import ASKED, SCHEMA, SHOWN, two
from tests.observability.kit import Recorder


def client_of(url: str = "http://127.0.0.1:9/v1", key: str = "k") -> AsyncOpenAI:
    """Return a client that does not try again."""
    return AsyncOpenAI(api_key=key, base_url=url, max_retries=0)


class Verdict(BaseModel):
    """What an answer is parsed as."""

    ok: bool


class TestSetUp:
    """What cannot work is refused when it is written."""

    @pytest.mark.parametrize(
        "options",
        [
            {"model": ""},
            {"model": "big", "fast_model": ""},
            {"model": "big", "fast_client": client_of()},
            {"model": "big", "fast_capabilities": ModelCapabilities()},
        ],
    )
    def test_names_that_are_missing(self, options: dict[str, Any]) -> None:
        """Each model needs its name."""
        with pytest.raises(ConfigurationError, match="name"):
            DualAsyncOpenAI(client_of(), **options)

    async def test_an_unknown_type(self) -> None:
        """It is refused with the nearest, before anything is sent."""
        client = DualAsyncOpenAI(client_of(), model="big")
        with pytest.raises(ConfigurationError, match="did you mean 'fast'"):
            await client.chat.completions.create(
                messages=ASKED,
                model_type="fasst",  # type: ignore[arg-type]
            )

    def test_two_models_of_one_server(self) -> None:
        """A fast model without a client of its own is reached by the standard one."""
        standard = client_of()
        client = DualAsyncOpenAI(standard, model="big", fast_model="small")
        assert client.fast.client is standard
        assert client.fast.model == "small"
        assert client.with_options(timeout=3).fast.client.timeout == 3

    def test_it_tells_no_key(self) -> None:
        """Its text has the models' names alone."""
        told = repr(DualAsyncOpenAI(client_of(key="sk-secret"), model="big", fast_model="small"))
        assert told == "DualAsyncOpenAI(model='big', fast_model='small')"

    def test_what_it_does_not_have(self) -> None:
        """Unknown and private names are missing, and nothing is set beside the clients."""
        client = DualAsyncOpenAI(client_of(), model="big")
        for name in ("nothing", "_client", "__deepcopy__"):
            assert not hasattr(client, name)
            assert not hasattr(client.chat.completions, name)
        with pytest.raises(AttributeError):
            setattr(client, "api_key", "other")  # noqa: B010 - mypy knows that it cannot be

    def test_importing_loads_no_client(self) -> None:
        """The library is loaded with the first client."""
        code = "import sys, agentscope_like.model; print('openai' in sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
        )
        assert done.stdout.strip() == "False"


class TestRequests:
    """What goes where."""

    async def test_another_model_of_the_standard_server(self) -> None:
        """Of a model that was not probed nothing is known, so nothing is left out."""
        server = StrictServer(big=Abilities(), seeing=Abilities(images=True))
        async with running(server), DualAsyncOpenAI(client_of(server.url), model="big") as client:
            await client.probe()
            answer = await client.chat.completions.create(model="seeing", messages=SHOWN)
            assert answer.choices[0].message.content == "Red."
            await client.chat.completions.create(model="big", messages=SHOWN)
            assert [images_in(r) for r in server.requests[-2:]] == [1, 0]

    async def test_every_shape_of_answers(self) -> None:
        """Parsed answers and responses go to the model of the type, too."""
        able = Abilities(structured=True)
        async with two(Abilities(), able) as (client, here, there):
            fast = client.chat.completions
            parsed = await fast.parse(messages=ASKED, response_format=Verdict, model_type="fast")
            assert parsed.choices[0].message.parsed == Verdict(ok=True)
            raw = fast.with_raw_response
            assert (await raw.parse(messages=ASKED, model_type="fast")).status_code == 200
            shape = fast.with_streaming_response
            async with shape.create(messages=ASKED, model_type="fast") as response:
                assert "I am small" in await response.text()
            async with shape.parse(messages=ASKED, model_type="fast") as response:
                assert response.status_code == 200
            assert len(there.requests) == 4
            assert here.requests == []
            assert callable(raw.retrieve)
            assert callable(fast.retrieve)
            assert callable(client.chat.with_raw_response.completions.create)

    async def test_options_of_one_server_do_not_reach_the_other(self) -> None:
        """A key or a header is the standard client's; a timeout is for both."""
        async with two(Abilities(), Abilities()) as (client, here, there):
            copy = client.with_options(
                api_key="new", default_headers={"x-token": "t"}, timeout=9, max_retries=1
            )
            for model_type in ("standard", "fast"):
                await copy.chat.completions.create(messages=ASKED, model_type=model_type)
            assert here.headers[0]["authorization"] == "Bearer new"
            assert here.headers[0]["x-token"] == "t"
            assert there.headers[0]["authorization"] == "Bearer fast-key"
            assert "x-token" not in there.headers[0]
            assert copy.standard.client.timeout == copy.fast.client.timeout == 9
            assert copy.fast.client.max_retries == 1

    async def test_closing_closes_both(self) -> None:
        """The second client is closed although closing the first failed."""
        standard, fast = client_of(), client_of()

        async def fail() -> None:
            raise OSError("no")

        closing, standard.close = standard.close, fail  # type: ignore[method-assign]
        client = DualAsyncOpenAI(standard, fast, model="big", fast_model="small")
        with pytest.raises(OSError, match="no"):
            await client.close()
        assert fast.is_closed()
        await closing()


class TestProbe:
    """Finding out what models can do."""

    async def test_what_the_user_says_is_not_probed(self) -> None:
        """It holds, and saves the request."""
        known = ModelCapabilities(supports_multimodal=True, supports_reasoning=True)
        async with two(Abilities(), capabilities=known) as (client, here, _):
            await client.probe()
            assert client.supports_multimodal is True
            assert client.supports_structured_output is False
            assert client.standard.capabilities.supports_reasoning is True
            assert len(here.requests) == 2

    async def test_a_failed_probe_may_be_tried_again(self) -> None:
        """Nothing is remembered of a model that could not be reached."""
        async with two(Abilities(images=True)) as (client, here, _):
            here.replies = [failed(503)]
            with pytest.raises(ModelError):
                await client.probe()
            assert client.supports_multimodal is None
            await client.probe()
            assert client.supports_multimodal is True

    async def test_a_server_that_does_not_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It fails in its time: the connection as an error, the abilities as a no."""
        module = sys.modules["agentscope_like.model.dual.probe"]
        for name in ("CONNECTION_TIMEOUT", "IMAGE_TIMEOUT"):
            monkeypatch.setattr(module, name, 0.05)
        held = asyncio.Event()
        async with running(StrictServer(big=Abilities())) as server, client_of(server.url) as one:
            server.replies = [Reply(held=held), Reply(held=held)]
            with pytest.raises(ModelError, match="timed out") as caught:
                await probe.probe_connection(one, "big")
            assert caught.value.type is ErrorType.CONNECTION
            assert not await probe.probe_multimodal(one, "big")
            held.set()

    @pytest.mark.parametrize(
        "reply",
        [
            Reply([b"<html>"], headers={"content-type": "text/html"}),
            Reply([b"{}"], headers={"content-type": "application/json"}),
        ],
    )
    async def test_what_is_no_model(self, reply: Reply) -> None:
        """A server that answers 200 with something else has failed the first probe."""
        async with two(Abilities()) as (client, here, _):
            here.replies = [reply]
            with pytest.raises(ModelError, match="check base_url"):
                await client.probe()

    @pytest.mark.parametrize("complains", [True, False])
    async def test_a_limit_of_tokens_is_no_failure(self, complains: bool) -> None:
        """A model that needs its few tokens for thinking is there, and is given more room."""
        able = Abilities(structured=True, images=True, thinks=200, complains=complains)
        async with two(able) as (client, here, _):
            await client.probe()
            assert client.supports_structured_output is client.supports_multimodal is True
            limits = sorted(request["max_tokens"] for request in here.requests)
            assert limits == [5, 20, 20, 2020, 2020]

    async def test_an_answer_that_stays_cut_is_a_no(self) -> None:
        """More room is given once."""
        async with two(Abilities(structured=True, images=True, thinks=9_000)) as (client, here, _):
            await client.probe()
            assert client.supports_structured_output is client.supports_multimodal is False
            assert len(here.requests) == 5

    async def test_models_that_reason_are_asked_in_their_way(self) -> None:
        """The probe's own requests are sanitized."""
        server = StrictServer(o3=Abilities(reasons=True, structured=True, thinks=100))
        async with running(server), DualAsyncOpenAI(client_of(server.url), model="o3") as client:
            await client.probe()
            assert client.supports_structured_output is True
            assert all("max_tokens" not in request for request in server.requests)

    async def test_a_name_that_tells_nothing(self) -> None:
        """A deployment of a model that reasons is asked again with the other limit of tokens."""
        server = StrictServer(ours=Abilities(reasons=True, structured=True))
        async with running(server), DualAsyncOpenAI(client_of(server.url), model="ours") as client:
            await client.probe()
            assert client.supports_structured_output is True
            assert "max_completion_tokens" in server.requests[1]

    async def test_a_probe_that_is_cancelled(self) -> None:
        """Whoever probes next starts afresh."""
        held = asyncio.Event()
        async with two(Abilities(images=True)) as (client, here, _):
            here.replies = [Reply(held=held)]
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await client.probe()
            held.set()
            await client.probe()
            assert client.supports_multimodal is True


class TestChatModel:
    """The client as that of an `OpenAIChatModel`."""

    async def test_the_model_s_name(self) -> None:
        """It is the client's; a standard model may be another one."""
        async with two(Abilities(), Abilities()) as (client, *_):
            assert OpenAIChatModel(client=client).model == "big"
            assert OpenAIChatModel(client=client, model_type="fast").model == "small"
            assert OpenAIChatModel("other", client=client).model == "other"
            with pytest.raises(ConfigurationError, match="'small'"):
                OpenAIChatModel("big", client=client, model_type="fast")

    def test_model_and_client_that_do_not_fit(self) -> None:
        """A type needs a client of two models, and without one a name is needed."""
        with pytest.raises(ConfigurationError, match="DualAsyncOpenAI"):
            OpenAIChatModel("m", client=client_of(), model_type="fast")
        with pytest.raises(ConfigurationError, match="`model` is missing"):
            OpenAIChatModel(client=client_of())
        with pytest.raises(ConfigurationError, match="'model_type' cannot be given"):
            OpenAIChatModel("m", generate_kwargs={"model_type": "fast"})

    async def test_its_fields_are_sanitized(self) -> None:
        """Fields of `generate_kwargs` go through the body, which is no way around."""
        options: dict[str, Any] = {"response_format": SCHEMA, "temperature": None, "top_k": 3}
        async with two(Abilities(), Abilities()) as (client, _, there):
            await client.probe()
            model = OpenAIChatModel(
                client=client, model_type="fast", stream=False, generate_kwargs=options
            )
            await model([UserMsg("u", "x")])
        assert there.requests[-1].keys() & options.keys() == {"top_k"}

    @pytest.mark.parametrize("model_type", ["standard", "fast"])
    async def test_an_image_for_an_agent(self, model_type: Any) -> None:
        """The model that sees is shown it; the one whose server refuses images is told of it."""
        png = DataBlock(source=Base64Source(data="iVBORw0KGgo=", media_type="image/png"))
        async with two(Abilities(images=True), Abilities()) as (client, here, there):
            await client.probe()
            agent = Agent("robot", "Look.", OpenAIChatModel(client=client, model_type=model_type))
            reply = await agent.reply(UserMsg("u", [TextBlock(text="Here:"), png]))
        assert reply.error is None
        request = (here if model_type == "standard" else there).requests[-1]
        assert images_in(request) == (model_type == "standard")
        assert (IMAGE_LEFT_OUT in str(request)) == (model_type == "fast")

    async def test_a_failure_names_the_server_and_hides_the_key(self) -> None:
        """Of the client that failed, not of the other."""
        async with two(Abilities(), Abilities()) as (client, _, there):
            there.replies = [failed(401, "no fast-key")]
            model = OpenAIChatModel(client=client, model_type="fast", stream=False)
            async with model:
                with pytest.raises(ModelError) as caught:
                    await model([UserMsg("u", "x")])
            assert there.url in caught.value.message
            assert "fast-key" not in caught.value.message
            assert not client.is_closed()

    async def test_a_key_that_is_none_is_not_looked_for(self) -> None:
        """Servers without keys are given `x`; a message is not full of holes for that."""
        model = OpenAIChatModel("m", client=client_of(key="a"), max_retries=0, stream=False)
        with pytest.raises(ModelError, match="All connection attempts failed"):
            await model([UserMsg("u", "x")])


class TestCompression:
    """The fast model writes the summaries of an agent."""

    @pytest.mark.parametrize("fails", [False, True])
    async def test_summaries(self, fails: bool) -> None:
        """It is asked first; where it fails, the standard model is. Both calls are observed."""
        summary = streamed(delta("stop", content="They greeted each other."))
        heard = Recorder()
        async with two(Abilities(), Abilities()) as (client, here, there):
            there.replies = [failed(400) if fails else summary]
            here.replies = [summary]
            agent = Agent(
                "robot",
                "Be kind.",
                OpenAIChatModel(client=client, context_size=200),
                middlewares=[TraceMiddleware(ObservabilityManager([heard]))],
                model_config=ModelConfig(
                    compression_model=OpenAIChatModel(client=client, model_type="fast")
                ),
            )
            await agent.observe([UserMsg("u", f"{n} " + "word " * 50) for n in range(4)])
            await agent.compress_context()
        assert "They greeted each other." in str(agent.state.summary)
        assert len(there.requests) == 1
        assert len(here.requests) == (1 if fails else 0)
        asked = [model for _, model, _ in heard.details("llm_start")]
        assert asked == (["small", "big"] if fails else ["small"])
        assert heard.names[-1] == "llm_end"
        heard.check_pairs()


def test_helpers_agree() -> None:
    """The image of the tests is one that the server counts."""
    assert images_in({"messages": [{"content": [image_part()]}]}) == 1
