"""Lists and changes the rules remembered for a project."""

from __future__ import annotations

from agentscope_like.cli.check import check_rule
from agentscope_like.cli.options import parse_rule
from agentscope_like.cli.project.project_rules import PROJECT_SOURCE, ProjectRules
from agentscope_like.permission.explain import visible

__all__ = ["add_rule", "list_rules", "remove_rule"]


def list_rules(project: ProjectRules) -> None:
    """Print the rules with their numbers."""
    stored = project.stored()
    if not stored:
        print(visible(f"No rules are remembered for {project.directory}.", layout=""))
        return
    print(visible(f"Rules for {project.directory} (in {project.path}):", layout=""))
    for number, (rule, kept) in enumerate(zip(project.load(), stored, strict=True), start=1):
        print(visible(f"{number:>4}  {rule}  (since {kept.added_at})", layout=""))


def add_rule(project: ProjectRules, text: str) -> None:
    """Parse and remember a rule, if its tool can read it."""
    rule = parse_rule(text, source=PROJECT_SOURCE)
    check_rule(rule, project.directory)
    project.add(rule)
    print(visible(f"Remembered for {project.directory}: {rule}", layout=""))


def remove_rule(project: ProjectRules, number: int) -> None:
    """Forget the rule of this number, counted from 1."""
    removed = project.remove(number)
    content = "" if removed.rule_content is None else f"({removed.rule_content})"
    rule = f"{removed.behavior} {removed.tool_name}{content}"
    print(visible(f"Forgotten for {project.directory}: {rule}", layout=""))
