"""Managed skills in an agent: its system prompt, its viewer, and a tool of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agentscope_like.agent import Agent
from agentscope_like.message import TextBlock, ToolResultState, UserMsg
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.sandbox import SandboxHandle
from agentscope_like.skill import SandboxSkillManager, SkillManager, SkillProxy, SkillSchema
from agentscope_like.state import AgentState
from agentscope_like.tool import LoadSkill, Toolkit
from tests.agent.kit import DictatedModel, results_of
from tests.agent.kit import text_of as result_text
from tests.seed.kit import call, said, shown
from tests.skill.kit import write_package, write_skill
from tests.tool.kit import call_of, outcome, text_of


async def test_sage_s_09_a_proxy_is_given_to_the_agent(tmp_path: Path) -> None:
    """Its toolkit takes the view as a source of skills; others cannot be read."""
    write_package(tmp_path / "my_skill")
    write_skill(tmp_path / "b", "secret", text="Secret.")
    proxy = SkillProxy(SkillManager([tmp_path]), available_skills=["my_skill"])
    toolkit = Toolkit(skills_or_loaders=[proxy])
    assert "1. Run the script." in await said(toolkit, "Skill", skill="my_skill")
    answer = await said(toolkit, "Skill", skill="secret")
    assert answer == "There is no skill named 'secret'. Skills: my_skill."


async def test_sage_s_14_the_description_is_in_the_system_prompt(tmp_path: Path) -> None:
    """With when to use it; the instructions are not, until the model asks for them."""
    package = write_package(tmp_path / "my_skill")
    (package / "skill.yaml").write_text("activation_scenarios: [filling in forms]\n")
    proxy = SkillProxy(SkillManager([tmp_path]), ["my_skill"])
    model = DictatedModel(
        [call_of("Skill", '{"skill": "my_skill"}', "c1")], [TextBlock(text="Done.")]
    )
    agent = Agent("robot", "Be helpful.", model, Toolkit(skills_or_loaders=[proxy]))
    await agent.reply(UserMsg("user", "go"))
    prompt = model.seen[0][0].get_text_content() or ""
    assert (
        "- my_skill: What problem this skill solves, when to use it. "
        "Use it for: filling in forms\n" in prompt
    )
    assert "Run the script" not in prompt
    assert "1. Run the script." in result_text(results_of(agent)["c1"])


async def test_sage_s_15_a_skill_can_be_called_as_a_tool(tmp_path: Path) -> None:
    """`load_skill` shows a skill by its name, and of an unknown name those that there are."""
    write_package(tmp_path / "my_skill")
    write_skill(tmp_path / "b", "secret")
    toolkit = Toolkit([LoadSkill(SkillProxy(SkillManager([tmp_path]), ["my_skill"]))])
    assert await shown(toolkit) == ["load_skill"]
    answer = await said(toolkit, "load_skill", skill_name="my_skill")
    assert answer.startswith(f"The files of this skill are in {tmp_path / 'my_skill'}\n\n# Skill:")
    response = await call(toolkit, "load_skill", skill_name="secret")
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert text_of(response) == "There is no skill named 'secret'. Skills: my_skill."


@pytest.mark.parametrize("mode", list(PermissionMode))
async def test_loading_a_skill_is_never_asked_about(tmp_path: Path, mode: PermissionMode) -> None:
    """It only shows what the developer gave, a directory or several sources."""
    write_skill(tmp_path / "pdf", text="Use forms.")
    manager = SkillManager()
    manager.register_skill(SkillSchema("own", "For work.", instructions="Own text."))
    state = AgentState(permission_context=PermissionContext(mode=mode))
    for tool, name, text in (
        (LoadSkill(tmp_path), "pdf", "Use forms."),
        (LoadSkill(str(tmp_path)), "pdf", "Use forms."),
        (LoadSkill([manager, tmp_path]), "own", "Own text."),
    ):
        block = call_of("load_skill", f'{{"skill_name": "{name}"}}')
        assert text in text_of(await outcome(Toolkit([tool]), block, state))


async def test_the_agent_is_told_of_the_path_in_the_sandbox(
    tmp_path: Path, quick: SandboxHandle
) -> None:
    """A toolkit that has the sandbox's manager puts the skills there before it tells of them."""
    write_package(tmp_path / "skills" / "my_skill")
    proxy = SkillProxy(SkillManager([tmp_path / "skills"]), ["my_skill"])
    toolkit = Toolkit(skills_or_loaders=[SandboxSkillManager(proxy, quick)])
    assert "- my_skill: What problem" in (await toolkit.get_skill_instructions() or "")
    place = f"{quick.workspace_path}/skills/my_skill"
    assert f"files of this skill are in {place}\n" in await said(toolkit, "Skill", skill="my_skill")
    assert (await quick.execute_command("scripts/run.sh", workdir=place)).stdout == "hello\n"
    tool = LoadSkill(SandboxSkillManager(proxy, quick))
    assert place in await said(Toolkit([tool]), "load_skill", skill_name="my_skill")


async def test_a_manager_serves_many_at_a_time(tmp_path: Path) -> None:
    """Sessions that list skills side by side each see all of them."""
    for number in range(5):
        write_skill(tmp_path / str(number), f"skill-{number}")
    manager = SkillManager([tmp_path])
    lists = await asyncio.gather(*(SkillProxy(manager).list_skills() for _ in range(20)))
    assert {tuple(skill.name for skill in one) for one in lists} == {
        tuple(f"skill-{number}" for number in range(5))
    }
