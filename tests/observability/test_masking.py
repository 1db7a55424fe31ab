"""Secrets in what tools return, in what agents show, and in logs."""

from __future__ import annotations

import asyncio
import base64
import io
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import AnyUrl

from agentscope_like.exception import AgentOrientedException, ToolInterruptedError
from agentscope_like.message import (
    Base64Source,
    DataBlock,
    TextBlock,
    ToolChunk,
    ToolResponse,
    ToolResultState,
    URLSource,
)
from agentscope_like.observability import (
    MASK,
    MaskedProgressQueue,
    MaskSecretsMiddleware,
    SecretFilter,
    SecretMasker,
)
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionRule
from agentscope_like.progress import (
    emit_tool_progress,
    register_progress_queue,
    unregister_progress_queue,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash
from tests.agent.kit import agent_of, events_of, results_of, text_of
from tests.observability.kit import DONE, Tool, call

SECRET = "hunter2-hunter2"


class Given(Tool):
    """Yields the chunks that it was given."""

    def __init__(self, *given: ToolChunk | BaseException) -> None:
        masking = MaskSecretsMiddleware(SecretMasker([SECRET]))
        super().__init__("Given", middlewares=[masking])
        self.given = given

    async def call(self, /, **kwargs: Any) -> AsyncGenerator[ToolChunk, None]:
        for chunk in self.given:
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk


def text(piece: str, **fields: Any) -> ToolChunk:
    """Return a chunk of one text."""
    return ToolChunk(content=[TextBlock(text=piece)], **fields)


def data(source: Base64Source | URLSource, name: str | None = None) -> ToolChunk:
    """Return a chunk of one block of data."""
    return ToolChunk(content=[DataBlock(source=source, name=name)])


async def joined(*given: ToolChunk | BaseException) -> ToolResponse:
    """Return what the tool's chunks come to behind the middleware."""
    response = ToolResponse()
    async with aclosing(Given(*given)()) as stream:
        async for chunk in stream:
            response.append_chunk(chunk)
    return response


def texts(response: ToolResponse) -> str:
    """Return the response's text."""
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))


async def test_a_secret_in_one_chunk_is_masked() -> None:
    """The rest of the text stays, and so do state and other metadata."""
    response = await joined(
        text(f"it is {SECRET}.", state=ToolResultState.ERROR, metadata={"k": SECRET, "n": 1})
    )
    assert texts(response) == f"it is {MASK}."
    assert response.state is ToolResultState.ERROR
    assert response.metadata == {"k": MASK, "n": 1}


@pytest.mark.parametrize("border", range(1, len(SECRET)))
async def test_a_secret_cut_by_chunk_borders_is_masked(border: int) -> None:
    """Wherever the border is, even where data comes in between."""
    picture = data(Base64Source(data="AAAA", media_type="image/png"))
    head, tail = text(f"a {SECRET[:border]}"), text(f"{SECRET[border:]} b")
    assert texts(await joined(head, tail)) == f"a {MASK} b"
    assert SECRET[border:] not in texts(await joined(head, picture, tail))


async def test_a_beginning_that_was_none_is_shown_at_the_end() -> None:
    """Nothing of the text is lost."""
    assert texts(await joined(text("so we hunter"))) == "so we hunter"


async def test_the_rest_is_shown_before_a_failure() -> None:
    """What was kept back is no part of a secret once the tool has failed."""
    seen: list[ToolChunk] = []

    async def hear() -> None:
        async for chunk in Given(text("so we hunter"), ValueError("no"))():
            seen.append(chunk)  # noqa: PERF401 - an extension would lose what came before it failed

    with pytest.raises(ValueError, match="no"):
        await hear()
    whole = ToolResponse(content=[block for chunk in seen for block in chunk.content])
    assert texts(whole) == "so we hunter"


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError(f"bad {SECRET}"), AgentOrientedException),
        (FileNotFoundError(2, "none", f"/home/{SECRET}"), AgentOrientedException),
        (AgentOrientedException(f"bad {SECRET}"), AgentOrientedException),
        (ToolInterruptedError(f"bad {SECRET}"), ToolInterruptedError),
    ],
)
async def test_a_failure_that_tells_a_secret_is_masked(
    error: Exception, kind: type[Exception]
) -> None:
    """It is raised as one that the model may read."""
    with pytest.raises(kind) as raised:
        await joined(error)
    assert MASK in str(raised.value)
    assert SECRET not in str(raised.value)


async def test_a_failure_that_tells_none_stays_itself() -> None:
    """Layers outside see the exception that the tool raised."""
    error = ValueError("no")
    with pytest.raises(ValueError, match="no") as raised:
        await joined(error)
    assert raised.value is error


async def test_a_secret_in_data_becomes_asterisks() -> None:
    """The data stays data, as long as before; data without a secret is left alone."""
    source = Base64Source(
        data=base64.b64encode(f"\x00k={SECRET}".encode()).decode(), media_type="x/y"
    )
    innocent = Base64Source(data=base64.b64encode(b"\x00nothing").decode(), media_type="x/y")
    response = await joined(data(source, f"{SECRET}.txt"), data(innocent, "a.txt"))
    guilty, other = response.content
    assert isinstance(guilty, DataBlock)
    assert isinstance(guilty.source, Base64Source)
    assert base64.b64decode(guilty.source.data) == b"\x00k=" + b"*" * len(SECRET)
    assert guilty.name == f"{MASK}.txt"
    assert isinstance(other, DataBlock)
    assert other.source == innocent


async def test_a_secret_in_an_address_is_masked() -> None:
    """It stays an address."""
    source = URLSource(url=AnyUrl(f"https://x.test/?token={SECRET}&a=1"), media_type="x/y")
    (block,) = (await joined(data(source))).content
    assert isinstance(block, DataBlock)
    assert isinstance(block.source, URLSource)
    assert str(block.source.url) == "https://x.test/?token=%5Bmasked%5D&a=1"


async def test_a_shell_does_not_show_a_secret() -> None:
    """Neither plainly nor through `base64`, in the events and in the state alike."""
    masker = SecretMasker([SECRET])
    rule = PermissionRule(tool_name="Bash", behavior=PermissionBehavior.ALLOW)
    policy = PermissionContext(allow_rules={"Bash": [rule]})
    agent = agent_of(
        [Bash(middlewares=[MaskSecretsMiddleware(masker)])],
        [call("Bash", arguments=f'{{"command": "echo {SECRET}; echo {SECRET} | base64"}}')],
        DONE,
        state=AgentState(permission_context=policy),
    )
    events = await events_of(agent, "Tell me.")
    result = results_of(agent)["c1"]
    assert result.state is ToolResultState.SUCCESS
    assert text_of(result).startswith(f"{MASK}\n{MASK}")
    told = [e.model_dump_json() for e in events if e.type.value.startswith("TOOL_RESULT")]
    assert SECRET not in "".join(told)


async def test_given_to_an_agent_it_masks_every_tool() -> None:
    """Chunks, the whole, and the text that a failure becomes."""
    masking = MaskSecretsMiddleware(SecretMasker([SECRET]))
    agent = agent_of(
        [Tool("Says", SECRET[:5], SECRET[5:]), Tool("Fails", ValueError(SECRET))],
        [call("Says", "c1"), call("Fails", "c2")],
        DONE,
        middlewares=[masking],
    )
    events = await events_of(agent, "Tell me.")
    results = results_of(agent)
    assert text_of(results["c1"]) == MASK
    assert MASK in text_of(results["c2"])
    assert results["c2"].state is ToolResultState.ERROR
    assert SECRET not in "".join(e.model_dump_json() for e in events)


class Showing(Tool):
    """Shows a secret in two pieces while it runs, and the beginning of one at its end."""

    async def call(self, /, **kwargs: Any) -> AsyncGenerator[ToolChunk, None]:
        await emit_tool_progress(f"one {SECRET[:4]}")
        await emit_tool_progress(f"warning {SECRET[:4]}", "stderr")
        await emit_tool_progress(f"{SECRET[4:]} two {SECRET[:4]}")
        yield ToolChunk(content=[TextBlock(text="shown")])


async def test_progress_is_masked() -> None:
    """Each stream by itself; nothing else is lost."""
    queue = register_progress_queue(MaskedProgressQueue(SecretMasker([SECRET])))
    try:
        await events_of(agent_of([Showing()], [call()], DONE), "Show it.")
    finally:
        unregister_progress_queue(queue)
    shown = {"stdout": "", "stderr": "", "info": ""}
    async for event in queue:
        shown[event.stream] += event.text
    assert shown == {"stdout": f"one {MASK} two hunt", "stderr": "warning hunt", "info": ""}


@pytest.fixture
def log() -> Iterator[tuple[logging.Logger, io.StringIO]]:
    """Return a logger and what its handler, which masks, has written."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(message)s %(user)s", defaults={"user": "-"}))
    handler.addFilter(SecretFilter(SecretMasker([SECRET])))
    logger = logging.getLogger("tests.observability.masked")
    logger.addHandler(handler)
    logger.propagate = False
    yield logger, written
    logger.removeHandler(handler)
    logger.propagate = True


def test_a_log_masks_messages_and_fields(log: tuple[logging.Logger, io.StringIO]) -> None:
    """Arguments and extra fields too; what tells no secret stays."""
    logger, written = log
    logger.warning("token %s of %d", SECRET, 3, extra={"user": f"u-{SECRET}"})
    logger.warning("token %s of %d", "none", 3)
    assert written.getvalue() == f"token {MASK} of 3 u-{MASK}\ntoken none of 3 -\n"


def test_a_log_masks_tracebacks(log: tuple[logging.Logger, io.StringIO]) -> None:
    """And those that tell no secret are shown as ever."""
    logger, written = log
    for message in (f"bad {SECRET}", "just bad"):
        try:
            raise ValueError(message)
        except ValueError:
            logger.exception("failed", stack_info=True)
    assert f"ValueError: bad {MASK}" in written.getvalue()
    assert "ValueError: just bad" in written.getvalue()
    assert SECRET not in written.getvalue()


def test_a_log_record_that_does_not_fit_tells_nothing(
    log: tuple[logging.Logger, io.StringIO], capsys: pytest.CaptureFixture[str]
) -> None:
    """Logging itself would print its arguments as they are."""
    logger, written = log
    logger.warning("%s %s", SECRET)  # noqa: PLE1206 - that is what is tested
    assert "does not fit" in written.getvalue()
    assert SECRET not in written.getvalue() + "".join(capsys.readouterr())


async def test_a_cancelled_tool_is_closed() -> None:
    """The middleware adds nothing to a cancellation."""
    tool = Tool("Slow", "x", pause=60, middlewares=[MaskSecretsMiddleware(SecretMasker([SECRET]))])

    async def hear() -> None:
        async with aclosing(tool()) as stream:
            async for _ in stream:
                pass

    task = asyncio.create_task(hear())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
