"""Deny and ask rules of the file tools, held against what commands do to files."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.paths import KEPT_FOR_PATHS, MAX_EFFORT
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
    RuleError,
    check_rules,
)
from agentscope_like.tool import Bash, Write

STRICTNESS = {"allow": 0, "ask": 1, "deny": 2}

FILES = (
    *("secrets/a", "secrets/b/c", ".env", "README.md", "note.txt", "src/app.py", "src/deep/x.pem"),
    *("docs/x.txt", "lib/util.py"),
)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a small project with secrets."""
    for name in FILES:
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    (tmp_path / "work" / "way").symlink_to("secrets")
    return tmp_path / "work"


def rule(text: str) -> PermissionRule:
    """Return the rule that `deny Write(secrets/**)` stands for."""
    behavior, _, rest = text.partition(" ")
    name, _, content = rest.removesuffix(")").partition("(")
    return PermissionRule(
        tool_name=name, rule_content=content or None, behavior=PermissionBehavior(behavior)
    )


async def decide(command: str, work: Path, *rules: str, mode: str = "bypass") -> PermissionDecision:
    """Return what the engine says of the command under the rules."""
    context = PermissionContext(mode=PermissionMode(mode))
    for text in rules:
        one = rule(text)
        context.table(one.behavior).add(one)
    return await PermissionEngine(context).check_permission(Bash(cwd=work), {"command": command})


def rows(table: str) -> list[tuple[str, str, str]]:
    """Return the rows of a table of decision, rule and command; a rule is kept until the next."""
    found: list[tuple[str, str, str]] = []
    current = ""
    for line in filter(None, map(str.strip, table.splitlines())):
        if line.startswith("["):
            current = line.strip("[]")
        else:
            decision, _, command = line.partition(" ")
            found.append(
                (decision, current, command.strip().replace("\\n", "\n").replace("\\N", "\\n"))
            )
    return found


CHANGES = r"""
[deny Write(secrets/**)]
deny  echo x > secrets/a
deny  echo x >> secrets/new
deny  echo x 2> secrets/a
deny  { echo x; } &> secrets/a
deny  for i in 1 2; do echo $i; done > secrets/a
deny  cp note.txt secrets/b
deny  cp note.txt secrets
deny  cp -t secrets note.txt
deny  mv note.txt secrets/
deny  mv secrets/a note.txt
deny  sed -i s/a/b/ secrets/a
deny  tee secrets/a < note.txt
deny  echo x | tee -a secrets/a
deny  rm secrets/a
deny  rm -rf secrets
deny  rm secrets/*
deny  rm -rf .
deny  rm -rf ../work
deny  mv . ../other
deny  touch secrets/new
deny  mkdir -p secrets/deep
deny  chmod 600 secrets/a
deny  truncate -s 0 secrets/a
deny  dd if=note.txt of=secrets/a
deny  sort -o secrets/a note.txt
deny  ln -s note.txt secrets/l
deny  git rm secrets/a
deny  cd secrets && rm a
deny  cd src; echo x > ../secrets/a
deny  (cd secrets; echo x > a)
deny  sudo tee secrets/a
deny  timeout 5 env rm secrets/a
deny  bash -c 'echo x > secrets/a'
deny  F=secrets/a; rm $F
deny  rm "sec"rets/a
deny  rm SECRETS/a
deny  rm ./src/../secrets/a
deny  echo x > way/a
deny  git status && rm secrets/a | cat
deny  x=$(rm secrets/a)
ask   rm "$F"
ask   echo x > $OUT
ask   echo x > "out/$NAME"
ask   cd $X && rm a
ask   find . -name '*.pyc' -delete
ask   find . -name '*.o' | xargs rm -f
ask   echo secrets/a | xargs rm
ask   ln -s . q && echo x > q/secrets/a
ask   chmod -R 700 .
ask   curl -o secrets/a https://example.org
ask   python3 -c "open('secrets/a', 'w')"
ask   python3 - <<'END'\nopen('secrets/a', 'w')\nEND
ask   coproc cat; echo x > secrets/a
allow echo x > note.txt
allow echo x > /dev/null
allow npm test 2>&1 > /dev/null
allow cp note.txt docs
allow cp -r docs docs2
allow mv note.txt docs/
allow rm -rf src
allow rm docs/*
allow cd src && rm app.py
allow cat secrets/a
allow grep -r x .
allow cp secrets/a note.txt
allow ls secrets > note.txt
allow find src -name '*.pyc' -delete
allow find src -name '*.o' | xargs rm -f
allow find src -name '*.o' -exec rm {} +
ask   ln -s src q && echo x > note.txt
allow echo x > note.txt && ln -s src q
allow chmod -R 700 src
allow curl -o note.txt https://example.org
allow python3 -c "open('note.txt', 'w')"
allow a=(1); echo x > note.txt
allow npm test
allow make build
allow git show HEAD:secrets/a
allow mv note.txt docs/w && echo x > docs/w/a
ask   mv way docs/w && echo x > docs/w/a
ask   cp -P way docs/w && echo x > docs/w/a
ask   gln -s ../secrets docs/l && echo x > docs/l/a
ask   cp -s ../secrets docs/l && echo x > docs/l/a
ask   cp -l README.md docs/l && echo x > docs/l
allow cp README.md docs/l && echo x > docs/l
ask   ln -s ../secrets lib/l && cp -r lib docs/l && echo x > docs/l/l/a
allow cp -r lib docs/l && echo x > docs/l/l/a
allow mkdir new && cp -r src new
allow touch docs/y && cp -r docs/y z
allow git mv src lib2
deny  git mv secrets lib2
allow git checkout -- docs
ask   git checkout -- secrets
deny  rmdir secrets/b
allow rmdir docs
deny  unlink secrets/a
deny  shred secrets/a
deny  echo x | tee docs/a secrets/b
allow sed -i.bak s/x/y/ docs/x.txt
ask   sed -n w secrets/a note.txt
ask   chown -R me .
ask   find . -delete
allow find docs -delete
ask   gzip secrets/a
[deny Write(docs/src/**)]
deny  cp -r src docs
deny  cp -r src docs/src
deny  mv src docs
deny  ln -s src docs
ask   cp -r src/. docs
ask   cp -r "$X" docs
ask   cp "$X" docs
allow cp src/app.py docs
allow cp -r note.txt docs
allow mv src/app.py docs
[deny Write(docs/app.py)]
deny  cp src/app.py docs
deny  mv src/app.py docs
ask   cp -r src/. docs
ask   cp -rT src docs
ask   cp -r --no-target-directory src docs
ask   cp -r src/. lib docs
deny  cp src/*.py docs
deny  cp src/ap?.py docs
deny  mv src/*.py docs
deny  ln -s src/app.py docs
deny  ln -s src/*.py docs
deny  install src/app.py docs
deny  install src/*.py docs
deny  cp -t docs src/*.py
allow cp lib/*.py docs
allow install lib/*.py docs
allow cp -t docs lib/*.py
allow cp -r src docs
allow mv src docs
allow cp -r src lib docs
[deny Write(new/src/**)]
ask   cp -r src new
deny  mkdir new && cp -r src new
allow cp -r src docs
[deny Write(new/app.py)]
ask   cp -r src new
ask   mkdir new && cp -r src new
allow cp src/app.py new2
[deny Edit(secrets/a)]
deny  sed -i s/a/b/ secrets/a
allow sed -i s/a/b/ secrets/b/c
[deny Write(**/*.pem)]
deny  rm -rf src
deny  mv src lib2
ask   cp -r docs new
allow rm -rf docs
deny  rm -rf src way
allow rm -rf docs way
allow cp note.txt docs
allow sed s/a/b/ note.txt > tmp && mv tmp note.txt
[deny Write(**/x.txt)]
deny  cp docs/x.txt src
allow cp docs/x.txt y.txt
[deny Write]
deny  echo x > note.txt
deny  rm -rf docs
allow npm test > /dev/null
allow cat note.txt
allow curl -o note.txt https://example.org
[ask Write(secrets/**)]
ask   rm secrets/a
ask   echo x > $OUT
allow rm note.txt
[ask Edit(docs/**)]
ask   rm -rf docs
allow rm -rf lib
"""

READS = r"""
[deny Read(note.txt)]
deny  cat note.txt
deny  grep x note.txt
deny  head < note.txt
deny  wc -l *.txt
deny  cat *
deny  cat n???.txt
deny  for f in *; do cat "$f"; done
deny  echo "$(< note.txt)"
deny  while read l; do echo $l; done < note.txt
deny  cat <<< "$(cat note.txt)"
deny  diff README.md note.txt
deny  diff <(sort note.txt) README.md
deny  cp note.txt other
deny  ln note.txt other
deny  nl NOTE.TXT
deny  stat note.txt
ask   cat $F
ask   cat "src/$F"
ask   echo note.txt | xargs cat
ask   find . -name '*.md' | xargs -I{} cat sub/{}
ask   grep -r x .
ask   grep -r x
ask   mv note.txt other
ask   git show HEAD:note.txt
ask   git log -p -- note.txt
ask   cd src && git show HEAD:note.txt
ask   git grep x
ask   git --no-pager grep x
ask   git -C . grep x
ask   grep -d recurse x
allow cat README.md
allow cat *.md
allow cat src/*
allow echo note.txt
allow [ -f note.txt ]
allow ls
allow ls -R
allow ls -la src
allow find . -name '*.txt'
allow cd src && cat app.py
allow grep -rn x src
allow grep -n x README.md
allow git status
allow git diff
allow git log | grep x
allow git show HEAD:src/app.py
allow git grep x -- src
allow git -C src grep x
allow diff <(sort README.md) <(sort src/app.py)
allow find src -name '*.py' | xargs grep -n x
allow find src -name '*.py' -exec grep -l x {} +
allow find src -type f | sort | head -3 | xargs wc -l
allow grep -n x $(find src -name '*.py')
allow git ls-files -- src | xargs wc -l
allow cat < /dev/null
allow cat -
[deny Read(secrets/**)]
deny  ls secrets
deny  find secrets -name a
deny  cat secrets/b/c
deny  cat way/a
deny  cd docs < secrets/a
deny  ls < secrets/a
deny  ls docs < secrets/a
deny  git < secrets/a
ask   git show "$(git rev-parse HEAD):secrets/a"
ask   git show $(git rev-parse HEAD:secrets/a)
ask   for f in secrets/a; do git show "HEAD:$f"; done
ask   git log -p -- ':/secrets'
ask   git log -p -- ':(top,icase)SECRETS/a'
ask   git log -p -- 'secre*'
ask   git log -p -- 's?crets/a'
ask   git log -p -- '[s]ecrets/a'
ask   git log -p -- '*ecrets/a'
ask   git log -p -- 'secrets/*'
ask   git format-patch --stdout HEAD~1 -- secrets/a
allow git show "$(git rev-parse HEAD):src/app.py"
allow for c in $(git rev-list -5 HEAD); do git show --stat $c; done
allow git log -p -- ':/src' ':!*.lock'
allow git log -p -- 'src/*.py' '*.md'
allow git diff -- '**/*.py'
allow git diff -- '*'
allow cd docs < README.md
allow ls < README.md
allow git
allow git -C src
allow git < README.md
deny  cd secrets && cat a
deny  cd secrets && grep -r x
ask   grep -r x .
ask   grep -r --include=a x
ask   rg x
ask   timeout 5 rg x
ask   cp -r . /tmp/copy
ask   find . -type f | xargs cat
ask   find . -type f -exec cat {} +
ask   ln -s . q && cat q/secrets/a
ask   grep -R x src $X
allow git log | rg x
allow rg x src
allow cd secrets
allow cd src && grep -r x
allow ls
allow find . -name '*.py'
allow cp -r src /tmp/copy
allow cd docs && ls | xargs cat
ask   ls | xargs cat
ask   cd docs && ls .. | xargs cat
ask   ls docs | xargs cat
allow cd src && find . | xargs cat
ask   cd src && find .. | xargs cat
allow find docs -name x | xargs cat
allow find docs -name x | xargs -n 1 cat
ask   find docs -name x | xargs -n "$N" cat
ask   find docs -name "$X" | xargs cat
ask   find $X -name x | xargs cat
allow find docs src -name x | xargs cat
deny  find docs secrets -name x | xargs cat
deny  find docs; find secrets | xargs cat
allow find docs | cat | xargs cat
allow find docs | rg x | xargs cat
allow find docs | grep --color x | xargs cat
ask   find docs | grep -c x | xargs cat
deny  find secrets | cat | xargs cat
allow find docs | xargs -ix cat x
allow find docs | xargs --replace=@ cat @
deny  find secrets | xargs -ix cat x
allow find docs | xargs env cat
deny  find secrets | xargs env cat
allow if true; then find docs | xargs cat; fi
deny  if true; then find secrets | xargs cat; fi
allow { find docs; } | xargs cat
deny  { find secrets; } | xargs cat
allow (find docs) | xargs cat
allow find docs | (xargs cat)
deny  (cd secrets; find .) | xargs cat
ask   find . | (cd secrets; xargs cat)
allow find docs -print0 | xargs -0 cat
allow find docs | xargs -d '\n' cat
allow find docs | xargs -d'\n' cat
allow find docs | xargs --delimiter '\n' cat
allow find docs | xargs --delimiter='\n' cat
allow find docs | xargs -d '\N' cat
allow find docs | xargs -d'\N' cat
allow find docs | xargs --delimiter '\N' cat
allow find docs | xargs --delimiter='\N' cat
ask   find docs | xargs -d '\0' cat
ask   find docs | xargs -d : cat
ask   find docs | xargs --delimiter=: cat
ask   find docs | xargs -E e cat
allow find docs | xargs -I X cat X
allow find docs | xargs -IX cat X
ask   find docs | xargs -I X cat sub/X
deny  find docs | xargs cat secrets/a
ask   find docs -printf secrets/a | xargs cat
allow grep -l x docs/x.txt | xargs cat
allow grep -rL x docs | xargs cat
allow grep -r --files-with-matches x docs | xargs cat
allow grep -r --files-without-match x docs | xargs cat
ask   grep -rl --label=secrets/a x docs | xargs cat
ask   grep -r x docs | xargs cat
allow grep -r --file=README.md docs
allow grep -r --file README.md docs
ask   grep -r --file=README.md
ask   grep -r --file README.md
ask   grep -rf README.md
ask   grep -rnf README.md
ask   grep -r -fREADME.md
ask   grep -r --exclude-from README.md x
ask   grep -r --exclude-from=README.md x
ask   rg -f README.md
ask   rg --ignore-file README.md x
ask   ag -p README.md x
ask   ag --path-to-ignore README.md x
ask   ag x
ask   ack x
ask   ack-grep x
ask   egrep -r x
ask   fgrep -r x
ask   echo a || rg x
allow echo a |rg x
allow egrep -r x docs
allow fgrep -r x docs
allow ag x docs
allow ack x docs
allow ack-grep x docs
allow rg --files docs | xargs cat
ask   rg --files | xargs cat
ask   rg x docs | xargs cat
allow find docs | head -3 | xargs cat
allow find docs | tail -1 | xargs cat
allow find docs | sort | xargs cat
allow find docs | tac | xargs cat
allow find docs | shuf | xargs cat
allow find docs | uniq | xargs cat
allow find docs | grep -vE 'x|y' | xargs cat
allow find docs | egrep x | xargs cat
ask   find docs | uniq -c | xargs cat
ask   find docs | grep -o x | xargs cat
ask   find docs | grep -n x | xargs cat
ask   find docs | sed s/a/b/ | xargs cat
ask   find docs | sort list | xargs cat
ask   echo docs/x.txt | xargs cat
ask   cat docs/x.txt | xargs cat
allow git diff --name-only -- docs | xargs cat
ask   git diff --name-only | xargs cat
ask   git diff -- docs | xargs cat
allow cat $(find docs -name x)
allow cat "$(find docs -name x | head -1)"
allow cat $(grep -rl x docs)
ask   cat $(cat docs/list)
ask   cat x$(find docs -name x)
deny  cat $(cd secrets && ls)
allow find docs -exec cat {} \;
allow find docs -ok cat {} \;
ask   find . -exec cat {} \;
ask   find docs -exec cat secrets/{} \;
ask   find docs -execdir cat {} \;
allow fd x docs -X cat
allow fd x docs -x cat {}
ask   fd x -x cat
[deny Glob(secrets/**)]
deny  ls secrets
ask   find . -name '*.py'
ask   find
ask   ls -R .
ask   ls -R
ask   ls -RL
ask   tree
ask   tree -l
ask   du -a
ask   fd a
ask   fd --ignore-file README.md a
ask   eza -T
ask   git ls-files
ask   ls -R; ls src
ask   dir -R
ask   vdir -R
ask   gls -R
ask   exa -T
ask   lsd --tree
ask   fdfind a
ask   du -a -X README.md
ask   du -a --exclude-from README.md
ask   git ls-files -m
allow git ls-files docs
allow dir -R docs
allow exa -T docs
allow exa
allow lsd -l
allow ls -T 4
allow lsd --tree docs
allow fdfind a docs
allow find src -name '*.py'
allow ls
allow ls -la
allow cd src && ls -R
allow tree src
allow du -a src
allow fd a src
allow git ls-files -- src
allow git status
[deny Grep(secrets/**)]
deny  grep x secrets/a
allow grep x README.md
[deny Read]
deny  cat README.md
allow git status
[deny Grep]
allow grep x README.md
[deny Glob]
allow ls src
[ask Read(secrets/**)]
ask   cat secrets/a
ask   grep -r x .
allow cat README.md
"""


@pytest.mark.parametrize(("decision", "text", "command"), rows(CHANGES))
async def test_what_a_command_changes_is_held_against_write_and_edit(
    work: Path, decision: str, text: str, command: str
) -> None:
    """In BYPASS, where only rules stop it, the rule stops the command and spares its neighbours."""
    assert (await decide(command, work)).behavior == "allow"
    decided = await decide(command, work, text)
    assert decided.behavior == decision, decided.message
    assert (decided.rule is None) == (decision == "allow")


@pytest.mark.parametrize(("decision", "text", "command"), rows(READS))
async def test_what_a_command_reads_is_held_against_read_grep_and_glob(
    work: Path, decision: str, text: str, command: str
) -> None:
    """What would be allowed stays so, unless the rule speaks of it."""
    assert (await decide(command, work)).behavior == "allow"
    decided = await decide(command, work, text)
    assert decided.behavior == decision, decided.message


@pytest.mark.parametrize("mode", [mode.value for mode in PermissionMode])
@pytest.mark.slow
async def test_a_rule_for_files_never_loosens_a_decision(work: Path, mode: str) -> None:
    """In every mode a decision under such a rule is as strict as without it, or stricter."""
    for _, text, command in rows(CHANGES) + rows(READS):
        before = await decide(command, work, mode=mode)
        after = await decide(command, work, text, mode=mode)
        assert STRICTNESS[after.behavior] >= STRICTNESS[before.behavior], (text, command)
        if text.startswith("deny"):
            asked = await decide(command, work, text, text.replace("deny", "ask"), mode=mode)
            assert STRICTNESS[asked.behavior] >= STRICTNESS[after.behavior], (text, command)


@pytest.mark.parametrize(
    "command", ["cat README.md", "echo x > note.txt", "rm -rf docs", "cat $F", "make"]
)
@pytest.mark.parametrize("mode", [mode.value for mode in PermissionMode])
async def test_an_allow_rule_for_files_says_nothing_of_commands(
    work: Path, command: str, mode: str
) -> None:
    """`allow Write(**)` and `allow Read` leave every decision about a command as it is."""
    before = await decide(command, work, mode=mode)
    after = await decide(command, work, "allow Write(**)", "allow Read", mode=mode)
    assert (after.behavior, after.row) == (before.behavior, before.row)


async def test_the_decision_names_the_rule_and_the_command(work: Path) -> None:
    """A person and a model are told which part of the line does what to which path."""
    denied = await decide("git status; cd secrets && rm a", work, "deny Write(secrets/**)")
    assert denied.row == 1
    assert str(denied.rule) == "deny Write(secrets/**)"
    assert denied.message == (
        "The rule `deny Write(secrets/**)` from user denies this: `rm a` removes `secrets/a`."
    )
    asked = await decide("grep -r x .", work, "deny Read(secrets/b/*)", mode="default")
    assert asked.row == 5
    assert asked.message == (
        "The rule `deny Read(secrets/b/*)` from user may deny this: "
        "`grep -r x .` reads everything below `.`, including `secrets/b/c`."
    )
    unknown = await decide("cat $F", work, "deny Read(secrets/**)", mode="default")
    assert "the path that `cat $F` reads is only known at run time" in unknown.message


async def test_a_deny_that_is_certain_comes_before_one_in_doubt(work: Path) -> None:
    """The strictest of what a command does counts, in whatever order."""
    for command in ("cat $F secrets/a", "cat secrets/a $F", "rm $F; rm secrets/a"):
        decided = await decide(command, work, "deny Write(secrets/**)", "deny Read(secrets/**)")
        assert decided.behavior == "deny"


async def test_where_nobody_answers_a_doubt_is_a_denial(work: Path) -> None:
    """DONT_ASK denies what a deny rule may speak of."""
    denied = await decide("grep -r x .", work, "deny Read(secrets/**)", mode="dont_ask")
    assert denied.behavior == "deny"
    allowed = await decide("grep -r x src", work, "deny Read(secrets/**)", mode="dont_ask")
    assert allowed.behavior == "allow"


async def test_no_allow_rule_silences_a_deny_rule_for_files(work: Path) -> None:
    """A command that a rule for Bash allows is denied, or asked about, all the same."""
    rules = ("allow Bash(tee:*)", "deny Write(secrets/**)")
    assert (await decide("tee secrets/a", work, *rules, mode="default")).behavior == "deny"
    assert (await decide('tee "$F"', work, *rules, mode="default")).behavior == "ask"
    assert (await decide("tee note.txt", work, *rules, mode="default")).behavior == "allow"


async def test_naming_a_path_to_an_unknown_program_is_no_question_of_an_allow_rule(
    work: Path,
) -> None:
    """Outside BYPASS, the user's word on a program that may do anything stands."""
    rules = ("allow Bash(pytest:*)", "deny Write(src/**)")
    assert (await decide("pytest src", work, *rules, mode="default")).behavior == "allow"
    assert (await decide("pytest src", work, *rules, mode="bypass")).behavior == "ask"


async def test_a_pattern_counts_from_each_working_directory(work: Path) -> None:
    """A relative pattern is relative to the working directories, not to where a `cd` leads."""
    assert (await decide("cd src && rm deep/x.pem", work, "deny Write(deep/**)")).rule is None
    assert (await decide("cd src && rm deep/x.pem", work, "deny Write(src/deep/**)")).rule
    assert (await decide("rm ~/x", work, "deny Write(~/x)")).rule
    assert (await decide("rm ~/y", work, "deny Write(~/x)")).rule is None


LINKS = """
allow rm -rf lib
allow find lib -delete
allow chmod -R 700 lib
allow chown -R me lib
ask   chown -RL me lib
ask   chgrp -R me lib
allow cp -r lib /nowhere/new
ask   cp -rL lib /nowhere/new
allow grep -r x lib
ask   grep -R x lib
ask   grep --dereference-recursive x lib
ask   grep -r x lib/way
allow rg x lib
ask   rg -L x lib
ask   rg --follow x lib
allow ag x lib
ask   ag -f x lib
allow find lib -name c
ask   find -L lib -name c
ask   find lib -follow -name c
allow ls -R lib
ask   ls -RL lib
allow du -a lib
ask   du -aL lib
allow tree lib
ask   wc -l lib/*/b/*
"""


@pytest.mark.parametrize(("decision", "_", "command"), rows(LINKS))
async def test_a_link_below_a_path_counts_where_it_is_followed(
    work: Path, decision: str, _: str, command: str
) -> None:
    """A program that follows the links it comes upon reaches what they lead to; others do not."""
    (work / "lib" / "way").symlink_to("../secrets")
    rules = ("deny Write(secrets/b/**)", "deny Read(secrets/b/**)", "deny Glob(secrets/b/**)")
    asked = await decide(command, work, *rules, "deny Write(./**/*.zzz)", "deny Read(./**/*.zzz)")
    assert (asked.behavior == "allow") is (decision == "allow"), asked.message


async def test_so_many_entries_are_looked_at(work: Path) -> None:
    """Entries below a path are looked at up to a limit; beyond it nobody can say, so it asks."""
    command, text = "grep -r x docs", "deny Read(**/*.pem)"
    for number in range(MAX_EFFORT - KEPT_FOR_PATHS - 100):
        (work / "docs" / f"{number}").symlink_to("x")
    assert (await decide(command, work, text)).behavior == "allow"
    for number in range(100):
        (work / "docs" / f"more{number}").symlink_to("x")
    asked = await decide(command, work, text)
    assert asked.behavior == "ask"
    assert "too much to check" in asked.message


async def test_each_decision_looks_anew(work: Path) -> None:
    """What one decision has seen of the files, the next one does not go by."""
    engine = PermissionEngine(PermissionContext(mode=PermissionMode.ACCEPT_EDITS))
    engine.add_rule(rule("deny Read(secrets/**)"))
    bash = Bash(cwd=work)
    for command in ("cat docs/new", "touch docs/new"):
        tool_input = {"command": command}
        assert (await engine.check_permission(bash, tool_input)).behavior == "allow"
        (work / "docs" / "new").symlink_to("../secrets/b" if "cat" in command else "/etc/passwd")
        assert (await engine.check_permission(bash, tool_input)).behavior != "allow"
        (work / "docs" / "new").unlink()
        assert (await engine.check_permission(bash, tool_input)).behavior == "allow"


async def test_all_paths_of_a_command_share_one_limit(work: Path) -> None:
    """Where more files are named than are looked at, a rule may speak of one; of fewer, it asks."""
    for number in range(800):
        (work / "docs" / f"{number}").touch()
    text = "deny Read(**/*.pem)"
    assert (await decide("cat docs/*", work, text)).behavior == "allow"
    asked = await decide("cat docs/* docs/?* docs/??* docs/*[0-9]*", work, text)
    assert asked.behavior == "ask"
    assert "too many files to check each one" in asked.message


async def test_symlinks_count_where_they_are_followed(work: Path) -> None:
    """`grep -r` passes symlinks by, `grep -R` and what is fed their names do not."""
    (work / "src" / "link").symlink_to("../secrets")
    text = "deny Read(secrets/**)"
    assert (await decide("grep -r x src", work, text)).behavior == "allow"
    assert (await decide("grep -R x src", work, text)).behavior == "ask"
    assert (await decide("find src | xargs cat", work, text)).behavior == "ask"
    assert (await decide("rm -rf src", work, "deny Write(secrets/**)")).behavior == "allow"


def test_a_rule_for_a_file_tool_needs_only_bash() -> None:
    """A toolkit of Bash alone takes deny and ask rules for files; allow rules do nothing there."""
    for text in ("deny Write(secrets/**)", "ask Read(.env)"):
        context = PermissionContext()
        context.table(rule(text).behavior).add(rule(text))
        check_rules(context, {"Bash": Bash()})
    context = PermissionContext(allow_rules={"Write": [rule("allow Write(src/**)")]})
    with pytest.raises(RuleError, match="not a tool of this toolkit"):
        check_rules(context, {"Bash": Bash()})
    check_rules(context, {"Bash": Bash(), "Write": Write()})


async def test_a_rule_that_cannot_be_read_is_refused_and_asks(work: Path) -> None:
    """A pattern that could never match is an error when rules are checked, else a question."""
    context = PermissionContext(deny_rules={"Write": [rule("deny Write(../x)")]})
    with pytest.raises(RuleError, match=r"\.\."):
        check_rules(context, {"Bash": Bash()})
    assert (await decide("git status", work, "deny Write(../x)")).behavior == "ask"
