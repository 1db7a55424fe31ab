"""Matches the rules of WebFetch against the hosts that an action reaches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentscope_like.permission import PermissionRule, PreparedCall, RuleMatch
from agentscope_like.typed.judging.prepared_action import PreparedAction

__all__ = ["HostRules"]

_HOST = re.compile(r"[\w.-]+(:\d{1,5})?|\[[0-9a-fA-F:.]+\](:\d{1,5})?", re.ASCII)


class HostRules:
    """Deny or ask rules of WebFetch.

    Args:
        rules: The rules; all of one behaviour.

    Raises:
        RuleError: A content is no domain.
    """

    def __init__(self, rules: Sequence[PermissionRule]) -> None:
        from agentscope_like.tool.builtin.web import WebFetch  # most need none

        self._whole = next((rule for rule in rules if rule.rule_content is None), None)
        self._rules = [rule for rule in rules if rule.rule_content is not None]
        contents = [str(rule.rule_content) for rule in self._rules]
        self._domains = WebFetch().compile_rules(contents, rules[0].behavior)

    def found(self, call: PreparedAction) -> Iterator[RuleMatch]:
        """Yield the rules that match a host; one may, if the host cannot be read."""
        for host in () if call.effects is None else call.effects.hosts:
            told = f"it reaches {host}"
            if self._whole is not None:
                yield RuleMatch(self._whole, told=told)
            elif _HOST.fullmatch(host) is None:
                yield RuleMatch(self._rules[0], certain=False, told=told)
            else:
                page = PreparedCall(call.tool, {"url": f"https://{host}/"}, call.context)
                position = self._domains.match(page)
                if position is not None:
                    yield RuleMatch(self._rules[position], told=told)
