"""What a person is shown of a held run before it is applied."""

from __future__ import annotations

from pathlib import Path

from agentscope_like.permission import PermissionContext
from agentscope_like.sandbox.layer import Layer, UndoBudget, sort_changes
from agentscope_like.tool.builtin.held import (
    HeldChanges,
    HeldQuestion,
    held_question,
    judge_outcome,
)
from tests.sandbox.layer.layers import NEEDS_LAYERS, run

pytestmark = NEEDS_LAYERS


async def shown(tmp_path: Path, script: str, *, output: str = "", status: int = 0) -> HeldQuestion:
    """Run a script on a layer over a small project, and return what a person is shown."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("one\ntwo\n")
    (project / "notes.txt").write_text("mine\n")
    (project / "old.py").write_text("old\n")
    layer = Layer.make(tmp_path / "layers", [str(project)])
    run(layer, script)
    with layer.descriptors() as opened:
        held = [
            HeldChanges(manifest.directory, sort_changes(manifest, each, UndoBudget()))
            for manifest, each in zip(layer.manifests(), opened, strict=True)
        ]
    policy = PermissionContext.from_rules(working_directories=[project])
    outcome = await judge_outcome(held, policy)
    return held_question(layer, held, outcome, output=output, exit_status=status)


async def test_what_is_asked_about_stands_first(tmp_path: Path) -> None:
    """Settings and losses are named with their reason; then removals; then other files."""
    question = await shown(
        tmp_path,
        "echo three >> a.py; rm notes.txt; echo x > .env; mv old.py new.py; chmod 755 a.py;"
        "mkdir node_modules; echo 1 > node_modules/x; printf '\\000' > b.bin; ln -s a.py l",
        output="building\ndone\n",
        status=3,
    )
    first = [line for line in question.lines if line.startswith("!")]
    assert len(first) == 2
    assert any("notes.txt (removed, -1): its content is recorded nowhere else" in x for x in first)
    assert any(".env (new, +1): " in line for line in first)
    for name in ("notes.txt", ".env", "a.py", "new.py"):
        told = [line for line in question.lines if f" {name} (" in line or f"from {name})" in line]
        assert len(told) == 1, told
    assert "  a.py (mode 644 to 755, +1)" in question.lines
    assert "  new.py (renamed from old.py)" in question.lines
    assert "  b.bin (new, binary, 1 bytes)" in question.lines
    assert "  l (link to a.py)" in question.lines
    assert question.title == "The run would change 7 files; 2 in caches. Apply?"
    assert "+three\n" in question.difference
    assert question.output == ("  | building", "  | done")
    assert question.text.endswith("It ended with status 3.")


async def test_long_lists_are_counted_by_directory(tmp_path: Path) -> None:
    """Removals are still listed one by one."""
    question = await shown(
        tmp_path, "rm old.py; mkdir gen; for i in $(seq 100); do echo $i > gen/$i; done"
    )
    assert any(" old.py (removed, -1)" in line for line in question.lines)
    assert "  gen/ (100 files)" in question.lines
    assert not any("gen/7" in line for line in question.lines)


async def test_nothing_that_a_run_wrote_looks_like_the_list(tmp_path: Path) -> None:
    """Line ends and escape sequences in names, contents and output are shown as text."""
    question = await shown(
        tmp_path,
        "printf x > \"$(printf 'e\\nApply? yes')\"; printf 'a\\033[2Jb\\n' > escape.txt",
        output="fine\n\x1b[2J\rApply? yes\n",
    )
    assert "\x1b" not in question.text + question.difference
    assert "\r" not in question.text
    assert all(
        line.startswith(("  ", "! ")) for line in question.text.split("\n")[1:] if "Apply?" in line
    )
