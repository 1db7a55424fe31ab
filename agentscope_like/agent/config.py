"""Defines the settings of an agent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from agentscope_like.exception import ConfigurationError
from agentscope_like.model import ChatModelBase
from agentscope_like.nearest import refuse_unknown_fields

__all__ = ["ContextConfig", "InjectionConfig", "ModelConfig", "ReActConfig"]

RUNTIME_TEMPLATE = """\
<system-reminder>Treat the following as the ground truth from here on; it takes the place of what \
was said of it before.
{runtime_state}
</system-reminder>"""

COMPRESSION_PROMPT = """\
<system-hint>The conversation is about to exceed what you can read at once. Everything above this \
hint will be removed and replaced with a summary that you write now: it is all that you will know \
of it. Keep what the work cannot go on without, exact names, paths, numbers and wording included; \
leave out what can be looked up again.</system-hint>"""

SUMMARY_TEMPLATE = """\
<system-info>Here is a summary of your previous work; the conversation that it stands for was \
removed.
# Task
{task_overview}

# State of the work
{current_state}

# Findings
{important_discoveries}

# Next steps
{next_steps}

# To be kept in mind
{context_to_preserve}</system-info>"""

_SUMMARY_FIELDS = {
    "task_overview": "What the user wants, by what it will be judged, and what they made clear.",
    "current_state": "What is done: files made, changed or read, with their paths; results so far.",
    "important_discoveries": "Constraints, decisions with their reasons, errors and what mended "
    "them, and what was tried in vain.",
    "next_steps": "What remains to be done, in order, and what stands in the way.",
    "context_to_preserve": "The user's preferences, promises made to them, and facts of the "
    "subject that are not obvious.",
}


def _summary_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "description": text} for name, text in _SUMMARY_FIELDS.items()
        },
        "required": list(_SUMMARY_FIELDS),
    }


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        refuse_unknown_fields(data, cls.model_fields, why="a typo does not go unnoticed")
        return data


class ReActConfig(_Strict):
    """Limits on the rounds of a reply, and what happens on interruption.

    Attributes:
        max_iters: The maximum number of rounds in one reply (default 50).
        structured_output_grace_iters: Further rounds for the model to give the structured output if
            it has used all rounds or answered in plain text (default 5).
        stop_on_reject: Whether a rejection by the user also refuses the later calls of the same
            response (default no).
        interruption_message: The agent's message after an interruption.
        interruption_raise_cancelled_error: Whether a cancelled reply raises `CancelledError` after
            its last event; by default it ends like any other interrupted reply.
    """

    max_iters: int = Field(default=50, ge=1)
    structured_output_grace_iters: int = Field(default=5, ge=0)
    stop_on_reject: bool = False
    interruption_message: str = "I notice the interruption. How can I help you?"
    interruption_raise_cancelled_error: bool = False


class InjectionConfig(_Strict):
    """How the model is told what surrounds it: time, directory, state of git, open tasks.

    Attributes:
        inject_runtime_state: Whether it is told at all.
        timezone: The time zone, by its IANA name.
        time_format: The form of the time, for `strftime`.
        time_interval: Hours after which the time is told again (default 0.5).
        context_buffer_ratio: How far below the trigger of compression the model is told that its
            context is nearly full, as a share of its `context_size` (default 0.2).
        template: The text, in which `{runtime_state}` stands for what is told.
        injection_source: The `source` of the hint, by which earlier ones are known.
        task_tool_names: Tools whose calls show the tasks, so that they are not told of.
        extra_fields: Further things to tell, by name.
        emit_hint_event: Whether the hint is an event as well.

    Raises:
        pydantic.ValidationError: A number is out of range, there is no such time zone, or the
            template has no place for the state.
    """

    inject_runtime_state: bool = True
    timezone: str = "UTC"
    time_format: str = "%Y-%m-%dT%H:%M:%S"
    time_interval: float = Field(default=0.5, ge=0)
    context_buffer_ratio: float = Field(default=0.2, ge=0, lt=1)
    template: str = RUNTIME_TEMPLATE
    injection_source: str = '{"label": "System", "sublabel": "Runtime State"}'
    task_tool_names: list[str] = Field(
        default_factory=lambda: ["TaskCreate", "TaskGet", "TaskList", "TaskUpdate"]
    )
    extra_fields: dict[str, str] = Field(default_factory=dict)
    emit_hint_event: bool = True

    @property
    def zone(self) -> tzinfo:
        """Return the time zone."""
        return UTC if self.timezone == "UTC" else ZoneInfo(self.timezone)

    @field_validator("timezone")
    @classmethod
    def _refuse_unknown_zones(cls, name: str) -> str:
        try:
            ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            if name != "UTC":
                raise ValueError(
                    f"there is no time zone {name!r}: give its IANA name, such as Europe/Paris"
                ) from None
        return name

    @field_validator("template")
    @classmethod
    def _refuse_a_template_without_place(cls, template: str) -> str:
        if "{runtime_state}" not in template:
            raise ValueError("the template has no `{runtime_state}`: say where the state goes")
        return template


class ContextConfig(_Strict):
    """How the agent keeps its context within the model's token limit.

    Attributes:
        trigger_ratio: The share of the model's `context_size` above which older history is replaced
            with a summary before the next round (default 0.8).
        reserve_ratio: The share of `context_size` for the history kept beside the summary (default
            0.1).
        compression_prompt: The prompt that asks the model for the summary.
        summary_template: The text that presents the summary to the model; `{name}` stands for the
            property of that name in the schema.
        summary_schema: JSON Schema of the summary, an object.
        tool_result_limit: The maximum number of tokens of one tool result (default 50,000); a
            toolkit's own `result_limit` applies as well.
        max_image_num: The maximum number of images in the context; the latest are kept (default 5).

    Raises:
        pydantic.ValidationError: A number is out of range.
    """

    trigger_ratio: float = Field(default=0.8, gt=0, lt=1)
    reserve_ratio: float = Field(default=0.1, gt=0, lt=1)
    compression_prompt: str = COMPRESSION_PROMPT
    summary_template: str = SUMMARY_TEMPLATE
    summary_schema: dict[str, Any] = Field(default_factory=_summary_schema)
    tool_result_limit: int = Field(default=50_000, ge=1)
    max_image_num: int = Field(default=5, ge=0)

    @model_validator(mode="after")
    def _refuse_a_reserve_beyond_the_trigger(self) -> Self:
        if self.reserve_ratio >= self.trigger_ratio:
            raise ValueError(
                f"`reserve_ratio` {self.reserve_ratio} is not below `trigger_ratio` "
                f"{self.trigger_ratio}: compressing would never be done"
            )
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """How the agent calls its model.

    Attributes:
        max_retries: How often a failed model call is retried if it has yielded nothing, in addition
            to the model's own retries (default 0).
        fallback_model: The model to call if the first one fails.
        compression_model: The model that writes summaries, such as a fast one; if there is none or
            it fails, the models that answer are called.

    Raises:
        ConfigurationError: `max_retries` is negative.
    """

    max_retries: int = 0
    fallback_model: ChatModelBase | None = None
    compression_model: ChatModelBase | None = None

    def __post_init__(self) -> None:
        if self.max_retries < 0:
            raise ConfigurationError(
                f"`max_retries` is {self.max_retries}: give 0 for none, or how many"
            )
