"""Calling a model: what is tried again, and what never is."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import Msg, TextBlock
from agentscope_like.model import Answer, ChatModelBase, ChatResponse, ResponseStream
from agentscope_like.model.retry import TransientModelError
from agentscope_like.tool import ToolChoice
from agentscope_like.types import ErrorType

Step = str | Exception


class StepModel(ChatModelBase):
    """Goes through one list of steps a call: an exception is raised, a text is a piece."""

    def __init__(self, *calls: Sequence[Step], stream: bool = True, max_retries: int = 3) -> None:
        self.waits: list[float] = []
        self.closed = 0
        self.calls = list(calls)

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        super().__init__("steps", stream=stream, max_retries=max_retries, sleep=sleep)

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> Answer:
        steps = self.calls.pop(0)
        if self.stream:
            return self._steps(steps)
        for step in steps:
            if isinstance(step, Exception):
                raise step
        return ChatResponse([TextBlock(text=str(step)) for step in steps], is_last=True)

    async def _steps(self, steps: Sequence[Step]) -> ResponseStream:
        try:
            for step in steps:
                if isinstance(step, Exception):
                    raise step
                yield ChatResponse([TextBlock(text=step)], is_last=False)
        finally:
            self.closed += 1


async def texts(model: ChatModelBase) -> list[str]:
    answer = await model([])
    responses = [answer]
    if not isinstance(answer, ChatResponse):
        async with aclosing(answer):
            responses = [response async for response in answer]
    return [
        block.text
        for response in responses
        if isinstance(response, ChatResponse)
        for block in response.content
        if isinstance(block, TextBlock)
    ]


@pytest.mark.parametrize("stream", [True, False])
class TestRetrying:
    """Tried again is what may pass, as often as was agreed, after growing waits."""

    async def test_until_it_passes(self, stream: bool) -> None:
        """Failures that may pass are waited out, each time longer."""
        passing = [TransientModelError("busy")], [ConnectionError("reset")], [TimeoutError()]
        model = StepModel(*passing, ["ok"], stream=stream)
        assert await texts(model) == ["ok"]
        assert [0.5 * 2**n <= wait <= 2**n for n, wait in enumerate(model.waits)] == [True] * 3

    async def test_not_for_ever(self, stream: bool) -> None:
        """After `max_retries` the last failure is raised."""
        model = StepModel(
            *[[TransientModelError(str(n))] for n in range(9)], stream=stream, max_retries=2
        )
        with pytest.raises(ModelError, match="2"):
            await texts(model)
        assert len(model.waits) == 2

    async def test_not_where_it_is_of_no_use(self, stream: bool) -> None:
        """A failure that will not pass is raised at once."""
        wrong = ModelError("wrong key", type=ErrorType.AUTHENTICATION)
        model = StepModel([wrong], ["ok"], stream=stream)
        with pytest.raises(ModelError, match="wrong key"):
            await texts(model)
        assert model.waits == []

    async def test_the_server_names_the_wait(self, stream: bool) -> None:
        """A wait that the server names is kept to the letter, unless it is longer than a minute."""
        model = StepModel([TransientModelError("", retry_after=7.5)], ["ok"], stream=stream)
        assert await texts(model) == ["ok"]
        assert model.waits == [7.5]
        model = StepModel([TransientModelError("come back", retry_after=3600)], stream=stream)
        with pytest.raises(ModelError, match="come back"):
            await texts(model)
        assert model.waits == []

    async def test_every_failure_is_a_model_error(self, stream: bool) -> None:
        """What a model raises of its own is told as a failure of the model, with its cause."""
        model = StepModel([KeyError("choices")], stream=stream)
        with pytest.raises(ModelError, match="steps") as caught:
            await texts(model)
        assert isinstance(caught.value.__cause__, KeyError)


async def test_what_was_shown_is_never_given_twice() -> None:
    """A stream that fails after a piece was given out raises, and is not begun again."""
    model = StepModel(["a", ConnectionError("reset")], ["a", "b"])
    answer = await model([])
    assert not isinstance(answer, ChatResponse)
    async with aclosing(answer):
        await anext(answer)
        with pytest.raises(ModelError) as caught:
            await anext(answer)
    assert caught.value.type is ErrorType.CONNECTION
    assert model.waits == []
    assert len(model.calls) == 1


async def test_streams_are_closed() -> None:
    """Each stream is closed: one that failed, one that ended, and one that was left early."""
    model = StepModel([TransientModelError("")], ["a", "b"])
    await texts(model)
    assert model.closed == 2
    model = StepModel(["a", "b"])
    answer = await model([])
    assert not isinstance(answer, ChatResponse)
    async with aclosing(answer):
        await anext(answer)
    assert model.closed == 1


async def test_cancellation_is_passed_on() -> None:
    """A call that is cancelled while it waits ends at once and is not tried again."""
    model = StepModel([TransientModelError("", retry_after=30)], ["ok"])
    model._sleep = asyncio.sleep
    task = asyncio.create_task(texts(model))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(model.calls) == 1


@pytest.mark.parametrize("wrong", [{"max_retries": -1}, {"retry_delay": -1}, {"context_size": 0}])
def test_numbers_out_of_range(wrong: dict[str, int]) -> None:
    """A number that makes no sense is refused when the model is made."""

    class Silent(StepModel):
        def __init__(self) -> None:
            ChatModelBase.__init__(self, "m", **wrong)  # type: ignore[arg-type]

    with pytest.raises(ConfigurationError):
        Silent()


class TestToolChoice:
    """What the model is told about calling tools."""

    @pytest.mark.parametrize("mode", ["auto", "none", "required"])
    def test_modes(self, mode: str) -> None:
        """The three modes name no tool and may come with a list."""
        assert ToolChoice(mode=mode).tool_name is None
        assert ToolChoice(mode=mode, tools=["A", "B"]).tool_name is None

    def test_a_tool(self) -> None:
        """Any other mode is the name of the tool that must be called."""
        assert ToolChoice(mode="Bash", tools=["Bash", "Read"]).tool_name == "Bash"

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda: ToolChoice(mode=""),
            lambda: ToolChoice(mode=" auto"),
            lambda: ToolChoice(mode="auto", tools=[]),
            lambda: ToolChoice(mode="auto", tools=["A", "A"]),
            lambda: ToolChoice(mode="auto", tools=["A", ""]),
            lambda: ToolChoice(mode="Bash", tools=["Read"]),
            lambda: ToolChoice.model_validate({"mode": "auto", "tool": ["A"]}),
        ],
    )
    def test_contradictions(self, wrong: Callable[[], ToolChoice]) -> None:
        """Blank names, empty or doubled lists, and a demanded tool out of the list are refused."""
        with pytest.raises(ValidationError):
            wrong()


def test_importing_models_does_not_load_openai() -> None:
    """The `openai` library is loaded by the first call of a model that uses it, not before."""
    code = (
        "import sys, agentscope_like.model as m; m.OpenAIChatModel('gpt');"
        "sys.exit('openai' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
