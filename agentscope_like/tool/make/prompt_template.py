"""Compiles the user's Jinja templates for texts to a model."""

from __future__ import annotations

from collections.abc import Callable

from agentscope_like.exception import ConfigurationError

__all__ = ["compiled_template"]


def compiled_template(argument: str, template: str) -> Callable[..., str]:
    """Return a function that renders the template with variables given by name.

    Templates run in Jinja's sandbox: they read their variables and change nothing.

    Args:
        argument: The name of its argument, for messages.
        template: The template.

    Raises:
        ConfigurationError: Jinja is not installed, or the template is invalid. The returned
            function raises it if the template uses an undefined variable.
    """
    try:
        from jinja2 import StrictUndefined, TemplateError
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ConfigurationError(
            f"`{argument}` needs Jinja: install `agentscope_like[templates]`, or leave it out"
        ) from None
    # what is rendered is text for a model: escaping for HTML would only garble it
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    try:
        read = environment.from_string(template)
    except TemplateError as error:
        raise ConfigurationError(f"`{argument}` is not a valid Jinja template: {error}") from error

    def render(**variables: object) -> str:
        try:
            return read.render(**variables).strip()
        except Exception as error:
            raise ConfigurationError(f"`{argument}` cannot be rendered: {error}") from error

    return render
