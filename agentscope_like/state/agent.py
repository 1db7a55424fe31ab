"""Everything that is needed to take up a session where it was left, its child tasks included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, Self, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationError,
    field_serializer,
)
from typing_extensions import override

from agentscope_like.message import (
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.message.block import new_id, now
from agentscope_like.permission import PermissionContext
from agentscope_like.permission.text import Facts, Text, writable
from agentscope_like.state.consistency import refuse_unapproved
from agentscope_like.state.read import ToolContext
from agentscope_like.state.task import TaskContext
from agentscope_like.strict_json import read_json

__all__ = ["AgentState", "ChildContext", "ChildStatus", "ChildTask", "ReplyContext"]

ChildStatus: TypeAlias = Literal["running", "waiting", "completed", "failed", "cancelled"]
"""`waiting` is for an answer from outside; the last three are final."""

_FINAL = ("completed", "failed", "cancelled")
_AWAITING = (ToolCallState.ASKING, ToolCallState.SUBMITTED)


class ReplyContext(BaseModel):
    """The reply under way, or the last one.

    Attributes:
        cur_iter: Rounds of reasoning taken so far.
        structured_schema: The schema that the final answer must fit, a model class or JSON Schema.
        final_answer: The text with which a tool ended the reply; None while none did.
        suggested_tools: The tools that the model is told of in this reply, whichever it may call;
            None for all.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    reply_id: str = Field(default_factory=new_id)
    cur_iter: int = 0
    structured_schema: type[BaseModel] | dict[str, Any] | None = None
    structured_output: Facts | None = None
    final_answer: Text | None = None
    suggested_tools: list[Text] | None = None

    @field_serializer("structured_schema")
    def _schema_as_json(self, schema: type[BaseModel] | dict[str, Any] | None) -> object:
        return writable(schema.model_json_schema() if isinstance(schema, type) else schema)


class ChildTask(BaseModel):
    """Work that an agent gave to another one.

    Attributes:
        agent: The profile of the agent that does it.
        reply_id: The reply of the parent that it belongs to, and ends with.
        brief: What it is to do: `objective`, and perhaps `title`, `context`, `expectedOutput`.
        max_rounds: The rounds that it may take.
        max_calls: The tool calls that it may make, its own children's included.
        calls: Those that it has made, by tool.
        status: Where it stands.
        result: What it returned, or what became of it; None while it works.
        is_reported: Whether the parent was told of the result.
        state: The agent's state; None once the task has ended.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    id: str = Field(default_factory=lambda: f"task_{new_id()[:16]}")
    agent: Text
    reply_id: str
    brief: Facts
    max_rounds: int = Field(ge=1)
    max_calls: int = Field(ge=0)
    calls: dict[str, int] = Field(default_factory=dict)
    status: ChildStatus = "running"
    result: Facts | None = None
    is_reported: bool = False
    created_at: str = Field(default_factory=now)
    state: AgentState | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the task has ended."""
        return self.status in _FINAL

    def owns(self, reply_id: str) -> bool:
        """Return whether this is a reply of the child, or of a child below it."""
        if self.state is None:
            return False
        return self.state.reply_id == reply_id or self.state.children.owner(reply_id) is not None


class ChildContext(BaseModel):
    """The child tasks that an agent has started, in order."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    tasks: list[ChildTask] = Field(default_factory=list)

    def of_reply(self, reply_id: str) -> list[ChildTask]:
        """Return the tasks that were started in a reply of the parent."""
        return [task for task in self.tasks if task.reply_id == reply_id]

    def open(self) -> Iterator[ChildTask]:
        """Yield the tasks that have not ended."""
        return (task for task in self.tasks if not task.is_over)

    def owner(self, reply_id: str) -> ChildTask | None:
        """Return the task whose agent, or a child below it, is in this reply."""
        return next((task for task in self.open() if task.owns(reply_id)), None)


class _Turn:
    """Whether a reply is under way on a state: never saved, never copied, never compared."""

    __slots__ = ("is_taken",)

    def __init__(self) -> None:
        self.is_taken = False

    def __deepcopy__(self, memo: dict[int, Any]) -> _Turn:
        return _Turn()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Turn, ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Turn)

    __hash__ = None  # type: ignore[assignment]


class AgentState(BaseModel):
    """The state of one agent's session; it round-trips through JSON at any moment.

    Attributes:
        summary: What was compressed out of `context`.
        context: The messages, oldest first.
        permission_context: What is permitted; changes count from the next decision on.
        children: The tasks that it gave to other agents, with the states of those at work.
        middle_context: Room for middlewares, by their key.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    session_id: str = Field(default_factory=new_id)
    summary: Text | list[TextBlock | DataBlock] = ""
    context: list[Msg] = Field(default_factory=list)
    reply_context: ReplyContext = Field(default_factory=ReplyContext)
    permission_context: PermissionContext = Field(default_factory=PermissionContext)
    tool_context: ToolContext = Field(default_factory=ToolContext)
    tasks_context: TaskContext = Field(default_factory=TaskContext)
    children: ChildContext = Field(default_factory=ChildContext)
    middle_context: Facts = Field(default_factory=dict)

    _turn: _Turn = PrivateAttr(default_factory=_Turn)

    @classmethod
    @override
    def model_validate_json(cls, json_data: str | bytes | bytearray, **options: Any) -> Self:
        """Return the state that was stored as JSON.

        Two processes that load one text may each answer its calls, and both run them: keep a
        state that several processes take up in a `SessionStorage`, which lets one of them win.

        Args:
            json_data: What `model_dump_json` gave.
            options: As for pydantic's models; types are not converted unless `strict=False`.

        Raises:
            ValueError: The text is not a state, or one that says two things: a key is given twice,
                a number is none, text stands for a boolean, or a call is allowed that neither a
                decision nor a person allowed.
        """
        data = read_json(json_data)
        options.setdefault("strict", True)
        try:
            state = super().model_validate_json(json_data, **options)
        except ValidationError:
            if not _has_surrogates(json_data):
                raise
            state = cls.model_validate(data)  # pydantic's parser refuses halves of pairs
        for one in state.with_children():
            refuse_unapproved(one.context)
        return state

    def with_children(self) -> Iterator[AgentState]:
        """Yield this state and those of all child tasks at work below it."""
        yield self
        for task in self.children.tasks:
            if task.state is not None:
                yield from task.state.with_children()

    def take_turn(self) -> bool:
        """Claim the state for one reply; return whether no other is under way on it."""
        was_free, self._turn.is_taken = not self._turn.is_taken, True
        return was_free

    def end_turn(self) -> None:
        """Give up the claim."""
        self._turn.is_taken = False

    @property
    def reply_id(self) -> str:
        """Return the id of the reply under way, or of the last one."""
        return self.reply_context.reply_id

    @property
    def cur_iter(self) -> int:
        """Return how many rounds the reply has taken."""
        return self.reply_context.cur_iter

    def reply_message(self, name: str) -> Msg | None:
        """Return the message that the agent `name` is writing or wrote in this reply, or None."""
        for message in reversed(self.context):
            if message.role == "assistant" and message.name == name:
                return message if message.id == self.reply_id else None
        return None

    def append_context(
        self,
        name: str,
        blocks: list[TextBlock | DataBlock | HintBlock | ToolCallBlock | ToolResultBlock],
    ) -> None:
        """Add blocks to the reply's message of the agent `name`, which is begun where missing."""
        message = self.reply_message(name)
        if message is None:
            message = Msg(name=name, role="assistant", content=[], id=self.reply_id)
            self.context.append(message)
        message.content.extend(blocks)

    def has_awaiting_tool_calls(self, name: str) -> bool:
        """Return whether a call of the agent `name` waits for a person or a system outside."""
        return bool(self.get_awaiting_tool_calls(name))

    def get_awaiting_tool_calls(self, name: str) -> list[ToolCallBlock]:
        """Return the calls of the agent `name` that wait for a person or a system outside."""
        return [call for call in self._calls(name) if call.state in _AWAITING]

    def get_unfinished_tool_calls(self, name: str) -> list[ToolCallBlock]:
        """Return the calls of the agent `name` that have no final result yet."""
        ended = {
            block.id
            for block in self._blocks(name)
            if isinstance(block, ToolResultBlock) and block.state is not ToolResultState.RUNNING
        }
        return [call for call in self._calls(name) if call.id not in ended]

    def _blocks(self, name: str) -> list[ContentBlock]:
        message = self.reply_message(name)
        return list(message.content) if message is not None else []

    def _calls(self, name: str) -> list[ToolCallBlock]:
        return [block for block in self._blocks(name) if isinstance(block, ToolCallBlock)]


ChildTask.model_rebuild(_types_namespace={"AgentState": AgentState})


def _has_surrogates(text: str | bytes | bytearray) -> bool:
    """Return whether the JSON may hold an escaped surrogate."""
    return "\\ud" in text if isinstance(text, str) else b"\\ud" in text
