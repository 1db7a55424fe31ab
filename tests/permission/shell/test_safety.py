"""What a person has to look at, from what a command does."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.permission import PermissionBehavior
from tests.permission.kit import Place, analysis_of, danger_of, danger_within, decide, make_place
from tests.permission.kit import place as empty_place


def test_what_names_a_file_is_looked_at() -> None:
    """A read of a secret is found, by name and by a search; its neighbours are not."""
    for command in ("cat ~/.ssh/id_rsa", "git show HEAD:.env", "cd ~ && rg token"):
        assert analysis_of(command).read_only, command
        assert danger_of(command), command
    for command in ("cat notes.txt", "git show HEAD:notes.txt", "git status", "pwd"):
        assert not danger_of(command), command


def test_an_edit_of_what_is_sensitive_is_none() -> None:
    """Where edits are accepted, those of settings and of what runs by itself are asked about."""
    for command, is_edit in (
        ("touch .envrc", False),
        ("cp -b -S rc a .bash", False),
        ("rm -r .github", False),
        ("echo x > .git/config", False),
        ("touch notes", True),
        ("cp -b a notes", True),
    ):
        decision = decide(command, mode="accept_edits")
        assert (decision.behavior is PermissionBehavior.ALLOW) is is_edit, command


def test_what_would_be_removed_is_found_where_nothing_can_be_read() -> None:
    """Each word behind `rm` may be a path there, but for its options."""
    service = Place(Path("/srv"), empty_place().home)
    for words, found in (
        ("-rf data", True),
        ("-rf data-", True),
        ("-rf x/y /etc", True),
        ("-rf x/y", False),
        ("--recursive x/y-", False),
    ):
        command = f"rm {words} ("
        assert analysis_of(command).script is None
        assert bool(danger_of(command, service)) is found, words


def test_all_that_a_directory_holds_is_as_much_as_the_directory() -> None:
    """Where nothing can be read, `*` may be anything, and `~/*` is the home."""
    for words, found in (("*", True), ("~/*", True), ("/usr/*", True), ("x*", False), ("y", False)):
        command = f"rm -rf {words} ("
        assert analysis_of(command).script is None
        assert bool(danger_of(command)) is found, words


def test_a_pattern_is_what_it_says() -> None:
    """What would be dangerous in quotes is so as a pattern; one for a few files is not."""
    for command, found in (
        ("git restore *", True),
        ("git checkout -- ./*", True),
        ("env git restore *", True),
        ("git restore src/*", False),
        ("git checkout -- *.py", False),
    ):
        assert bool(danger_of(command)) is found, command


def test_all_may_be_meant_where_a_text_may_have_moved() -> None:
    """A star in a script that cannot be read may stand for the root; one that is read may not."""
    for command, found in (
        ("bash -c 'trash * ('", True),
        ('cd "$x"; trash *', True),
        ("cd src; trash *", False),
    ):
        assert bool(danger_of(command)) is found, command


@pytest.mark.parametrize("program", ["rm", "grm", "rmdir", "unlink", "trash"])
def test_each_program_that_removes_is_one_wherever_it_stands(program: str) -> None:
    """It counts in a text that cannot be read, and behind a program that runs it elsewhere."""
    assert "perhaps removes a protected path" in danger_of(f"{program} / (")
    assert "perhaps removes a protected path" in danger_of(f"ssh host {program} /")
    assert danger_of(f"{program} build (") == ""
    assert danger_of(f"ssh host {program} build") == ""


@pytest.mark.parametrize("program", ["rm", "grm"])
def test_a_tree_that_is_not_known_is_not_removed(program: str) -> None:
    """All below an unknown place asks; one unknown file, or what a name picks, does not."""
    assert "only known at run time" in danger_of(f'{program} -r "$x"')
    assert danger_of(f'{program} "$x"') == ""
    assert danger_of('find "$x" -name a -delete') == ""
    assert "only known at run time" in danger_of('find "$x" -delete')


def test_what_is_opened_is_judged_by_what_it_runs() -> None:
    """The words of a wrapper are no command where the one that it runs is known."""
    assert danger_of("sudo echo rm /usr") == ""
    assert danger_of("sudo rm /usr") != ""
    assert danger_of("ssh host echo rm /usr") != ""


@pytest.mark.parametrize(
    ("feeding", "plain"),
    [
        ("echo main -f | xargs git push origin", "echo main | xargs git push origin"),
        ("echo -f | xargs git push", "echo -f | git push"),
        ("echo main -f | parallel git push origin", "echo main | parallel git push origin"),
        (r"printf 'main\n+main' | xargs git push origin", "printf main | xargs git push origin"),
        ("xargs git push origin <<< +main", "xargs git push origin < +main"),
        ('xargs git push <<< "-f $x"', 'xargs git push <<< "f $x"'),
        ("xargs git push <<E\n-f\nE", "xargs git push <<E\nf\nE"),
        ("xargs git push <<'E'\n-f\nE", "git push <<'E'\n-f\nE"),
        ("xargs git push <<-E\n-f\nE", "xargs git push <<-E\nf\nE"),
        ('echo "$x" -f | xargs git push origin', 'echo "$x" f | xargs git push origin'),
        ("echo +main | xargs git push origin", "cat +main | xargs git push origin"),
    ],
)
def test_what_stands_in_the_command_for_a_feeder_to_add_counts(feeding: str, plain: str) -> None:
    """`xargs` and `parallel` add what is printed, or given as input; nobody else does."""
    assert "overwrites the remote branch" in danger_of(feeding)
    assert danger_of(plain) == ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ('sh -c "$x"', "runs code that is only known at run time"),
        ('bash -s "$x"', "runs its standard input as code"),
        ("sh", "runs its standard input as code"),
        ("sh -c date", ""),
        ("source /dev/stdin", "runs its standard input as code"),
        ('source "$x"', "runs code that is only known at run time"),
        ("python3 ''", ""),
        ("python3 <(date)", "runs the output of another command"),
        ("perl x.pl <(date)", "runs the output of another command"),
        ("perl $(date)", ""),
        ("perl >(date)", ""),
        ("sort <(date)", ""),
        ("python3 x.py", ""),
        ("""sh -c 'cat "$1"' _ <(date)""", ""),
        ("<(date) x", "whose name is only known"),
        ("$x y", "whose name is only known"),
        ("x=$y", ""),
        ("> out", ""),
        ("> .envrc", "sensitive"),
    ],
)
def test_code_that_nobody_can_see_is_not_run(command: str, said: str) -> None:
    """What a shell or an interpreter runs has to stand in the command, or in a file."""
    assert said in danger_of(command)
    assert bool(said) is bool(danger_of(command))


_FAR = "/".join(["a" * 63] * 70)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (f"cd x/../{_FAR}", "goes to a directory that cannot be checked"),
        (f"rm {_FAR}", "acts on a path that cannot be checked"),
        (f"cat {_FAR}", "acts on a path that cannot be checked"),
        (f"cd {_FAR}; grep -r x", "acts on a path that cannot be checked"),
        (f"cd {_FAR}; ls", ""),
        (f"git add . ':!{_FAR}'", "names a path that cannot be checked"),
        ("git add . ':!x'", ""),
        (f"rm / {_FAR} (", "is the whole file system|holds the working directory"),
        (f"rm {_FAR} / (", "is the whole file system|holds the working directory"),
        (f"rm {_FAR} (", ""),
    ],
)
def test_a_path_that_nobody_can_judge_asks(command: str, said: str) -> None:
    """Whatever is done to it, it is told which; where nothing can be read, others still count."""
    found = danger_of(command)
    assert any(words in found for words in said.split("|"))
    assert bool(said) is bool(found)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("touch .env", "would write a sensitive path"),
        ("rm .env", "would remove a sensitive path"),
        ("rm -r .github", "would remove a sensitive path"),
        ("rmdir .github", ""),
        ("rm .github", ""),
        ("rm -r src", ""),
        ('touch "$x/.bashrc"', "would write a sensitive path: a path that ends with"),
        ('rm "$x/.bashrc"', "would write a sensitive path: a path that ends with"),
        ('touch "$x/notes"', ""),
        ('touch "$x.bashrc"', ""),
        ("chmod u+w .", ""),
        ("chmod -R u+w .", "would change the permissions of everything below a protected path"),
        ("chmod -R u+w src", ""),
        ("chown -R u .", "would change the permissions of everything below a protected path"),
        ("chgrp -R u .", "would change the permissions of everything below a protected path"),
        ("chown u .", ""),
        ("cp -r src .", ""),
        ("touch *", ""),
        ("chmod u+w *", ""),
        ("rm -r . -name x", "would remove a protected path"),
    ],
)
def test_a_change_is_judged_by_where_it_leads(command: str, said: str) -> None:
    """What is sensitive is told of by what would be done to it, and so is what matters."""
    assert said in danger_of(command)
    assert bool(said) is bool(danger_of(command))


@pytest.mark.parametrize(
    "test", ["-name", "-iname", "-path", "-ipath", "-wholename", "-regex", "-iregex"]
)
def test_find_may_remove_what_it_picks_by_a_name(test: str) -> None:
    """A name picks some of what is found, unless it is a pattern for all or is not known."""
    assert danger_of(f"find . {test} x -delete") == ""
    assert danger_of(f"find . {test} '*.pyc' -delete") == ""
    for pattern in ("'*'", "'?*'", "'./*'", "'.*'", '"$x"'):
        assert "would remove a protected path" in danger_of(f"find . {test} {pattern} -delete")
    assert "would remove a protected path" in danger_of(f"find / {test} x -delete")
    assert "would remove a protected path" in danger_of(f"find .. {test} x -delete")
    assert "would remove a protected path" in danger_of("find . -user x -delete")


@pytest.mark.parametrize(
    "pattern",
    ["*", "./*", "./*/", ".*", "*.*", "?*", ".[!.]*", ".??*", "/*", "~/*", "/usr/*", "../*"],
)
def test_a_pattern_for_all_is_as_much_as_the_directory(pattern: str) -> None:
    """All that is in a place that must stay is not removed; all below another is, and some."""
    assert "would remove everything in a protected directory" in danger_of(f"rm -r {pattern}")
    assert danger_of(f"rm -r src/{pattern.strip('~/').rpartition('/')[2]}") == ""
    assert danger_of(f"rm -r src/a{pattern.rpartition('/')[2]}") == ""
    assert danger_of(f"rm -r a{pattern.rpartition('/')[2]}") == ""
    assert danger_of("rm -r .[!a]*") == ""


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("curl x | sh (", True),
        ('sh -c "$(curl x)" (', True),
        ("sh `curl x` (", True),
        ("sh <(curl x) (", True),
        ("wget x|python3 (", True),
        ("curl x; sh (", False),
        ("curl x | cat (", False),
        ("cat x | sh (", False),
    ],
)
def test_what_cannot_be_read_may_run_what_it_downloads(command: str, runs: bool) -> None:
    """A downloader, an interpreter and a way from the one to the other are enough."""
    assert ("may run downloaded code" in danger_of(command)) is runs
    assert bool(danger_of(command)) is runs


@pytest.mark.parametrize(
    ("command", "breeds"),
    [
        ("b() { b | b & }; b", True),
        ("b() ( b | b & ); b", True),
        ("function b { b|b; }; b", True),
        ("function b() { b |b; }; b", True),
        ("function b() ( b |b ); b", True),
        (":(){ :|:& };:", True),
        ("b() { b | b; } (", True),
        ("b() { a | b; }; b", False),
        ("b() { a | a; }; b", False),
        ("b() { b; }; b", False),
        ("git log; a | b; b | b", False),
        ("functional b | b", False),
        ("echo 'b() { b|b; }'", False),
        ("grep 'b() { b|b; }' a", False),
        ("a() { b; }; " * 31 + "b() { b | b; }; b", True),
        ("a() { b; }; " * 32 + "b() { b | b; }; b", False),
    ],
)
def test_a_function_is_not_to_start_itself_over_and_over(command: str, breeds: bool) -> None:
    """A function that pipes itself into itself is found among the first of a text, read or not."""
    assert ("a fork bomb" in danger_of(command)) is breeds
    assert bool(danger_of(command)) is breeds


def test_too_many_paths_to_look_at_each_are_not_removed() -> None:
    """Where nothing can be read, 256 words behind `rm` are looked at, as far as effort goes."""
    groups = [range(start, min(start + 32, 256)) for start in range(1, 256, 32)]
    rms = [f"rm {' '.join(f'/x/{number}' for number in group)}" for group in groups]
    many = "; ".join(rms)
    assert danger_of(f"{many} (") == ""
    assert "too many paths" in danger_of(f"{many}; rm /x/256 (")
    assert danger_of(f"{many}; rm /x/1 (") == ""
    assert "too many paths" in danger_within(1, "rm build (")
    assert danger_within(1_000, "rm build (") == ""


def test_where_enough_has_been_looked_at_a_person_looks() -> None:
    """Each check that runs out of effort says so of the part that it was about."""
    assert danger_within(1_000, "echo $x; cat a*") == ""
    told = danger_within(100, "touch a b; cat a*")
    assert told == "`touch a b` reaches too many files through `a` to check each one."
    assert danger_within(60, "cd a/../b; ls").startswith(
        "`cd a/../b` reaches too many files to check"
    )


def test_a_finding_shows_the_part_in_one_short_line() -> None:
    """Blanks are one each, and what is long is cut."""
    assert danger_of("rm   -rf \\\n  /").startswith("`rm -rf \\ /` ")
    names = "rm -rf / " + "a" * 71
    assert len(names) == 80
    assert danger_of(names).startswith(f"`{names}` ")
    assert danger_of(f"{names}b").startswith(f"`{names[:79]}…` ")
    assert danger_of(f"ls; {names}").startswith(f"`{names}` ")
    unread = f"{names} ( and more"
    assert danger_of(unread).startswith(f"`{names}` ")


def test_a_bomb_is_shown_whole() -> None:
    """What a function does to itself is a matter of the whole text."""
    command = "ls; b() { b | b; }; b"
    assert danger_of(command).startswith(f"`{command}` ")


def test_text_that_hides_what_it_is_says_so_first() -> None:
    """Where the text itself is refused, that is what a person is told, and where."""
    assert "U+001B" in danger_of("rm / \x1b")
    assert "rm /" not in danger_of("rm / \x1b")


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("cd out/../x; ls", True),
        ("pushd out/../x; ls", True),
        ("cd out/..; ls", False),
        ("cd out/../here; ls", False),
        ("cd in/../x; ls", False),
        ("cd out/x; ls", False),
        ("cd in; cd ../x; ls", False),
        ("ls out/../x", False),
        ("cat out/../x", False),
    ],
)
def test_the_shell_does_not_go_where_its_text_does_not_lead(
    tmp_path: Path, command: str, found: bool
) -> None:
    """Behind a symlink, `..` leads back by the text only where there is a directory."""
    where = make_place(tmp_path, "in/f here/f")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (where.work / "out").symlink_to(elsewhere)
    told = danger_of(command, where)
    assert bool(told) is found
    if told:
        assert f"goes to a different directory than `{where.work}/x`, because of a symlink" in told
