"""Seed 002, "Skill", row by row."""

from __future__ import annotations

from pathlib import Path

from agentscope_like.message import TextBlock, ToolResultState
from agentscope_like.skill import LocalSkillLoader, Skill, SkillLoaderBase
from agentscope_like.tool import Toolkit
from tests.agent.kit import agent_of, events_of
from tests.seed.kit import DONE, Echo, call, call_of, said, shown
from tests.skill.kit import write_skill


async def test_002_skill_1_a_skill_is_a_directory_with_a_file(tmp_path: Path) -> None:
    """`SKILL.md` with name and description in front of the instructions; no code is needed.

    What a link leads to outside of the directory is not read.
    """
    write_skill(tmp_path / "pdf", "pdf", "Fill in forms.", "# Forms\n\nUse `forms.py`.")
    (skill,) = await LocalSkillLoader(str(tmp_path / "pdf")).list_skills()
    assert (skill.name, skill.description, skill.dir) == (
        "pdf",
        "Fill in forms.",
        str(tmp_path / "pdf"),
    )
    assert "Use `forms.py`." in skill.markdown
    (tmp_path / "pdf" / "SKILL.md").rename(tmp_path / "outside.md")
    (tmp_path / "pdf" / "SKILL.md").symlink_to(tmp_path / "outside.md")
    assert await LocalSkillLoader(str(tmp_path / "pdf")).list_skills() == []


async def test_002_skill_2_a_skill_is_no_tool(tmp_path: Path) -> None:
    """It is not told of as one, and a call by its name finds nothing."""
    write_skill(tmp_path / "pdf")
    toolkit = Toolkit(skills_or_loaders=[str(tmp_path)])
    assert await shown(toolkit) == ["Skill"]
    response = await call(toolkit, "pdf")
    assert response is not None
    assert response.state is ToolResultState.ERROR


async def test_002_skill_3_the_viewer_shows_the_instructions(tmp_path: Path) -> None:
    """The whole text of the file behind its front matter, and its place, without a question."""
    text = "# Forms\n\n1. Use `forms.py`.\n\n```python\nprint(1)\n```"
    write_skill(tmp_path / "pdf", text=text)
    toolkit = Toolkit(skills_or_loaders=[str(tmp_path)])
    shown_text = await said(toolkit, "Skill", skill="pdf")
    assert shown_text.endswith(text)
    assert str(tmp_path / "pdf") in shown_text
    assert "description:" not in shown_text


async def test_002_skill_4_directories_skills_and_loaders_are_taken(tmp_path: Path) -> None:
    """Each in the same list; so is a loader of one's own."""

    class Loader(SkillLoaderBase):
        async def list_skills(self) -> list[Skill]:
            return [Skill("own", "By a loader.", "/own", "Own text.", 0.0)]

    write_skill(tmp_path / "pdf")
    given = Skill("given", "As an object.", "/given", "Given text.", 0.0)
    toolkit = Toolkit(skills_or_loaders=[str(tmp_path), given, Loader()])
    told = await toolkit.get_skill_instructions() or ""
    assert [name in told for name in ("pdf", "given", "own")] == [True] * 3
    assert "Own text." in await said(toolkit, "Skill", skill="own")
    assert "Given text." in await said(toolkit, "Skill", skill="given")


async def test_002_skill_5_a_loader_can_look_below(tmp_path: Path) -> None:
    """At any depth with `scan_subdir`, in the directory and right below it without."""
    write_skill(tmp_path / "top", "top")
    write_skill(tmp_path / "a" / "b" / "deep", "deep")
    for scan, names in ((True, {"top", "deep"}), (False, {"top"})):
        loader = LocalSkillLoader(directory=str(tmp_path), scan_subdir=scan)
        assert {skill.name for skill in await loader.list_skills()} == names


async def test_002_skill_6_every_source_is_scanned(tmp_path: Path) -> None:
    """Name, description and directory of each skill; those that came later are seen as well."""
    for name in ("one", "two"):
        write_skill(tmp_path / name, name, f"About {name}.")
    toolkit = Toolkit(skills_or_loaders=[str(tmp_path / "one"), str(tmp_path / "two")])
    told = await toolkit.get_skill_instructions() or ""
    assert "- one: About one." in told
    assert "- two: About two." in told
    assert str(tmp_path / "two") in await said(toolkit, "Skill", skill="two")
    write_skill(tmp_path / "two", "two", "Changed.")
    assert "- two: Changed." in (await toolkit.get_skill_instructions() or "")


async def test_002_skill_7_the_viewer_registers_itself(tmp_path: Path) -> None:
    """With the first skill, and not without one."""
    write_skill(tmp_path / "pdf")
    assert await shown(Toolkit([Echo()], skills_or_loaders=[str(tmp_path)])) == ["Echo", "Skill"]
    assert await shown(Toolkit([Echo()])) == ["Echo"]


async def test_002_skill_8_the_system_prompt_lists_the_skills(tmp_path: Path) -> None:
    """Names and descriptions, no instructions; and that the viewer is to be called."""
    write_skill(tmp_path / "pdf", "pdf", "Fill in forms.", "Only the viewer shows this.")
    agent = agent_of([], [TextBlock(text="Hello.")])
    agent.toolkit = Toolkit(skills_or_loaders=[str(tmp_path)])
    await events_of(agent, "Hello.")
    prompt = agent.model.seen[0][0].get_text_content() or ""  # type: ignore[attr-defined]
    assert "- pdf: Fill in forms." in prompt
    assert "`Skill`" in prompt
    assert "Only the viewer shows this." not in prompt


async def test_002_skill_9_the_agent_reads_and_follows_a_skill(tmp_path: Path) -> None:
    """It calls the viewer by the skill's name, and the tools that it has thereafter."""
    write_skill(tmp_path / "pdf", text="Say: formed.")
    echo = Echo()
    view, speak = call_of("Skill", skill="pdf"), call_of("Echo", text="formed")
    speak.id = "c2"
    agent = agent_of([], [view], [speak], DONE)
    agent.toolkit = Toolkit([echo], skills_or_loaders=[str(tmp_path)])
    await events_of(agent, "Fill in the form.")
    assert "Say: formed." in str(agent.model.seen[1][-1])  # type: ignore[attr-defined]
    assert echo.heard == ["formed"]
