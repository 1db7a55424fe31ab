"""Rules about commands: what they allow, what they forbid, and which are offered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentscope_like.exception import ConfigurationError
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionEngine,
    PermissionRule,
    RuleError,
)
from agentscope_like.tool.builtin.bash.bash_tool import Bash
from tests.tool.builtin.bash_kit import context_of, decide

DIGEST = re.compile(r"(= sha256:.{8}).{56} # (\w+).*")

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


def rows(table: str) -> list[str]:
    r"""Return the lines of a table; `\\n` in them stands for a newline."""
    return [line.replace("\\n", "\n") for line in table.strip().splitlines()]


ALLOWED_BY_NPM_RUN = r"""
npm run x
npm run x -- --watch
/usr/bin/npm run x
npm run 'a;b'
CI=1 npm run x
env CI=1 npm run x
timeout 5 npm run x
nohup npm run x
command npm run x
bash -c 'npm run x'
npm run x 2>&1 | tail -5
npm run x && git status
npm run x || true
(npm run x)
! npm run x
if npm run x; then ls; fi
for i in a b; do npm run $i; done
npm run a\nnpm run b
npm run x # and a comment
"""

NOT_ALLOWED_BY_NPM_RUN = r"""
npm run $X
npm run "$X" y
cd src && npm run x
npm run x > out.txt
npm run x >> src/log 2>&1
{ npm run x; } > out.txt
npm run x < input.txt
npm install
npm
./npm run x
/tmp/npm run x
'npm run' x
npm\ run x
npm run x; rm y
npm run x && rm y
npm run x | sh
npm run x | tee y
npm run $(rm x)
npm run `rm x`
npm run <(rm x)
npm run x > /tmp/y
npm run x > ../y
npm run x > out/y
npm run x > $F
{ npm run x; } > /tmp/y
npm run x > /dev/tcp/a/1
FOO=1 npm run x
NODE_OPTIONS=x npm run x
PATH=. npm run x
LD_PRELOAD=x npm run x
PATH=.; npm run x
export NODE_OPTIONS=x; npm run x
alias npm=rm; npm run x
hash -p /tmp/x npm; npm run x
npm() { rm x; }; npm run x
source x; npm run x
eval "$X"; npm run x
trap 'rm x' EXIT; npm run x
env FOO=1 npm run x
sudo npm run x
npm run x\nrm y
npm run x; ${x@P}
npm run x > .git/config
npm run x > ~/.bashrc
$NPM run x
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a workspace with a link that leads out."""
    work = tmp_path / "work"
    (work / "src").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (work / "out").symlink_to(tmp_path / "elsewhere")
    return work


@pytest.mark.parametrize("command", rows(ALLOWED_BY_NPM_RUN))
async def test_a_rule_allows_its_command_in_every_guise(work: Path, command: str) -> None:
    """`npm run:*` allows the command among reads, through wrappers, with output discarded."""
    assert (await decide(command, work)).behavior is ASK
    assert (await decide(command, work, ("allow npm run:*",))).behavior is ALLOW


@pytest.mark.parametrize("command", rows(NOT_ALLOWED_BY_NPM_RUN))
async def test_a_rule_allows_nothing_else(work: Path, command: str) -> None:
    """Whatever else a command does, or what changes what it does, is not allowed with it."""
    assert (await decide(command, work, ("allow npm run:*",))).behavior is ASK


@pytest.mark.parametrize(
    ("rules", "command", "behavior"),
    [
        (("allow git add:*", "allow git commit:*"), "git add . && git commit -m x", ALLOW),
        (("allow git add:*",), "git add . && git commit -m x", ASK),
        (("allow sudo:*",), "sudo apt install x", ASK),
        (("allow sudo:*", "allow apt install:*"), "sudo apt install x", ALLOW),
        (("allow make build",), "make build", ALLOW),
        (("allow make build",), "make build install", ASK),
        (("allow make build",), "make", ASK),
        (("allow pytest tests/*:*",), "pytest tests/unit -q", ALLOW),
        (("allow pytest tests/*:*",), "pytest src", ASK),
        (("allow git commit -m *",), "git commit -m 'any text'", ALLOW),
        (("allow git commit -m *",), "git commit -m x --no-verify", ASK),
        (("allow git commit:*",), "git commit --no-verify -m x", ASK),
        (("allow rm:*",), "rm -rf build", ALLOW),
        (("allow rm:*",), "rm -rf /", ASK),
        (("allow ./run.sh:*",), "./run.sh a", ALLOW),
        (("allow ./run.sh:*",), "run.sh a", ASK),
        (("allow ln:*", "allow npm run:*"), "ln -s /etc e; npm run x > e/y", ASK),
        (("allow ln:*", "allow npm run:*"), "ln -s /etc e; npm run x > y", ASK),
        (("allow ln:*", "allow npm run:*"), "ln -s /etc e; npm run x", ALLOW),
        (("allow ln:*", "allow npm run:*"), "npm run x > y; ln -s /etc e", ASK),
        (("allow = npm run x > y",), "npm run x > y", ALLOW),
        (("allow = npm run x > y",), "npm run x > z", ASK),
        (("deny rm:*", "allow rm:*"), "rm x", DENY),
        (("ask rm:*", "allow rm:*"), "rm x", ASK),
        (("deny git push:*", "allow git:*"), "git commit -m x", ALLOW),
        (("deny git push:*", "allow git:*"), "git $X", ASK),
        (("ask git push:*", "allow git:*"), "git $X", ASK),
        (("ask git push:*", "allow git:*"), "git commit $X", ASK),
        (("ask git push:*", "allow git:*"), 'git commit -m "$X"', ALLOW),
        (("deny git push --force:*", "allow git push:*"), "git push $X", ASK),
        (("allow git push:*",), "git push origin x", ALLOW),
        (("deny ls:*",), "ls", DENY),
        (("ask ls:*",), "ls", ASK),
    ],
)
async def test_rules_together(
    work: Path, rules: tuple[str, ...], command: str, behavior: PermissionBehavior
) -> None:
    """Each simple command needs a rule of its own, and the strictest rule wins."""
    assert (await decide(command, work, rules)).behavior is behavior


async def test_rules_and_edits_together(work: Path) -> None:
    """In ACCEPT_EDITS, edits inside and allowed commands may stand in one command line."""
    rules = ("allow npm run:*",)
    command = "mkdir -p build && npm run build && rm -rf build/tmp"
    assert (await decide(command, work, rules, mode="accept_edits")).behavior is ALLOW
    assert (await decide(command, work, rules)).behavior is ASK
    outside = "mkdir -p /tmp/build && npm run build"
    assert (await decide(outside, work, rules, mode="accept_edits")).behavior is ASK


DENIED_BY_RM = r"""
rm
rm x
/bin/rm x
./rm x
RM x
\rm x
r""m x
'rm' x
$'rm' x
$'\x72m' x
{rm,x}
RM=1 rm x
command rm x
builtin rm x
exec rm x
exec -a b rm x
env rm x
env -i A=b rm x
env -S "rm x"
nice -n 5 rm x
nohup rm x &
timeout 5 rm x
stdbuf -o0 rm x
setsid rm x
time rm x
! rm x
sudo rm x
sudo -u a rm x
doas rm x
su -c "rm x"
xargs rm
find . -exec rm {} \;
find . -execdir rm {} +
bash -c "rm x"
sh -c 'ls; rm x'
eval "rm x"
eval rm x
busybox rm x
strace -f rm x
ssh host rm x
ssh host "cd y; rm x"
watch rm x
flock lock rm x
parallel rm ::: a
echo $(rm x)
echo `rm x`
cat <(rm x)
cat <<E\n$(rm x)\nE
sh <<E\nrm x\nE
echo 'rm x' | sh
(rm x)
{ rm x; }
if true; then rm x; fi
while rm x; do :; done
for i in rm; do $i x; done
case a in a) rm x;; esac
f() { rm x; }; f
ls; rm x
ls && rm x
true | rm x
echo a\nrm x
x=rm; $x y
${x@P}; rm x
coproc rm x
function f { rm x; }
echo ${x@P} $(rm x)
xargs -I{} sh -c "rm {}"
env -S"rm x"
env -vS'rm x'
env --split-string='rm x'
env PAGER='rm x' git log
hash -p /bin/rm z; z x
mapfile -C 'rm x' -c1 a < f
compgen -C 'rm x'
bind -x '"a":rm x'
npx rm x
npx -y rm x
npx -c 'rm x'
npx env A=b rm x
npm exec -- rm x
npm exec --call='rm x'
uv run --with y rm x
poetry run rm x
bundle exec rm x
conda run -n base rm x
mise exec -- rm x
cross-env A=1 rm x
concurrently "npm run a" "rm x"
hyperfine -w 3 'rm x'
nix-shell --run 'rm x'
faketime now rm x
docker exec c rm x
docker run --rm -v a:b -it image rm x
docker exec c sh -c 'rm x'
docker compose exec -T web rm x
kubectl exec -n a pod -c b -- rm x
tar --to-command='rm x' -xf a
tar -I 'rm x' -cf a b
tar -cf a b --checkpoint-action=exec='rm x'
rsync -ae 'rm x' a h:b
ssh -o ProxyCommand='rm x' h
vim -c '!rm x'
vim +'!rm x'
tmux new -d 'rm x'
screen -dmS name rm x
make SHELL='rm x'
git bisect run rm x
git -C a submodule foreach 'rm x'
git rebase --exec='rm x' main
git -c alias.z='!rm x' z
git config alias.z '!rm x'
PAGER='rm x' git log
GIT_SSH_COMMAND='rm x' git fetch
export GIT_EDITOR='rm x'; git commit
at now <<< 'rm x'
echo 'rm x' | batch
"""

ASKED_FOR_RM = r"""
/lib64/ld-linux-x86-64.so.2 /bin/rm x
no-such-tool -v rm x
no-such-tool --exec='rm x'
./run.sh 'rm x'
wine rm x
docker run image timeout 5 rm x
vagrant ssh -c 'rm x'
awk 'BEGIN{system("rm x")}'
awk '{print | "rm x"}' f
sed '1e rm x' f
sed -i 's/a/rm x/e' f
python3 -c 'import os; os.system("rm x")'
perl -e 'system "rm", "x"'
make X='$(shell rm x)'
"""

NOT_DENIED_BY_RM = r"""
rmdir x
git rm x
npm run rm
git commit -m "rm x"
echo rm x
grep rm x
ls rm
docker rm x
cat rm/x
printf '%s' rm
printf 'rm x' > notes
grep -rn 'rm x' .
grep -e 'rm x' f > found
git commit --message='never rm x'
git switch -c rm
git clean -n -x rm
git -c core.abbrev=8 commit -m 'rm x'
gh pr create --title 'rm x' --body='git push'
awk '{print "rm x" > "f"}' f
sed -i 's/rm x/ls/' f
python3 tools/a.py 'rm x'
pytest -k 'rm x'
uv run pytest -k rm
poetry run pytest tests/rm
docker run --rm -it image ls
docker compose rm x
npm install rm
pip install rm
make MSG='rm x'
PAGER=cat git commit
MSG='rm x' git commit
curl -d 'rm x' http://h
"""


@pytest.mark.parametrize("command", rows(DENIED_BY_RM))
@pytest.mark.parametrize("mode", ["default", "bypass"])
async def test_a_deny_rule_sees_through_every_guise(work: Path, command: str, mode: str) -> None:
    """`rm:*` denies at any depth: wrappers, quotes, paths, prefixes, text that is not read."""
    rules = ("deny rm:*", "allow")
    assert (await decide(command, work, rules, mode=mode)).behavior is DENY


@pytest.mark.parametrize("command", rows(NOT_DENIED_BY_RM))
async def test_a_deny_rule_does_not_see_ghosts(work: Path, command: str) -> None:
    """Words that look like the command but are not one are no reason to deny."""
    assert (await decide(command, work, ("deny rm:*", "allow"))).behavior is ALLOW
    assert (await decide(command, work, ("deny rm:*",), mode="bypass")).behavior is ALLOW


@pytest.mark.parametrize("command", rows(ASKED_FOR_RM))
async def test_what_may_run_a_denied_command_is_asked_about(work: Path, command: str) -> None:
    """Nobody knows what the program does with its words; in BYPASS, where none is asked, denied."""
    asked = await decide(command, work, ("deny rm:*", "allow"))
    assert (asked.behavior, asked.bypass_immune) == (ASK, True)
    assert (await decide(command, work, ("deny rm:*",), mode="bypass")).behavior is DENY
    assert (await decide(command, work, ("ask rm:*", "allow"))).behavior is ASK


@pytest.mark.parametrize(
    "command",
    [
        *("git-push origin", "/usr/lib/git-core/git-push", "npx git push", "env -S'git push'"),
        *("docker run image git push", "git bisect run git -C a push", "sudo git-push"),
    ],
)
async def test_a_sub_command_is_found_by_each_of_its_names(work: Path, command: str) -> None:
    """`git-push` is `git push`, and both are found behind programs that run others."""
    assert (await decide(command, work, ("deny git push:*", "allow"))).behavior is DENY
    assert (await decide(command, work, ("deny git pull:*", "allow"))).behavior is ALLOW


@pytest.mark.parametrize(
    "command", ["git push", "git -C x push", "git -c a.b=c push", "git --git-dir x push y"]
)
async def test_a_deny_rule_finds_a_sub_command_behind_options(work: Path, command: str) -> None:
    """Options before a sub-command do not hide it."""
    assert (await decide(command, work, ("deny git push:*",))).behavior is DENY


@pytest.mark.parametrize("command", ["git $X", "$X push", "git pu$Y"])
async def test_unknown_words_are_not_a_way_around_a_deny_rule(work: Path, command: str) -> None:
    """What may turn out to be denied asks; in BYPASS, where nobody is asked, it is denied."""
    asked = await decide(command, work, ("deny git push:*", "allow"))
    assert (asked.behavior, asked.bypass_immune) == (ASK, True)
    denied = await decide(command, work, ("deny git push:*",), mode="bypass")
    assert denied.behavior is DENY


IN_FRONT = ["ls; ", "ls && ", "true | ", "cd src && ", "if true; then :; fi; ", "x=1\n", "! "]
OF_THE_SHELL = ["LANG=C ", "X=1 ", "command ", "builtin command ", "exec ", "time "]
AFTER = [" a", " -f", " 'b c'", " $X", " > out", " | cat", " ; ls"]
WRAPPERS = [
    *("sudo ", "env ", "env A=b ", "nohup ", "timeout 5 ", "nice ", "xargs ", "strace "),
    *("stdbuf -oL ", "watch ", "setsid ", "/usr/bin/env ", "doas ", "ionice -c 3 "),
]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from(IN_FRONT), max_size=2),
    st.sampled_from(["", *OF_THE_SHELL]),
    st.lists(st.sampled_from(WRAPPERS), max_size=3),
    st.sampled_from(["rm x", "/bin/rm -rf y", "rm", "git push origin", "git -C a push"]),
    st.lists(st.sampled_from(AFTER), max_size=3),
)
async def test_adding_words_never_undoes_a_denial(
    work: Path, front: list[str], shell: str, wrappers: list[str], command: str, after: list[str]
) -> None:
    """Wrappers in front and words behind never turn a denied command into another one."""
    rules = ("deny rm:*", "deny git push:*", "allow")
    text = "".join(front) + shell + "".join(wrappers) + command + "".join(after)
    assert (await decide(text, work, rules)).behavior is DENY


PRINTED = [
    *("printf %s r m | xargs sudo", "printf %s%s r m | xargs env", "echo rm | xargs sudo"),
    *("seq 3 | xargs sudo", "git-rm x", "xargs sudo", "npm run format", "npm run x; /bin/RM y"),
]
"""Commands of plain words; some run a program that no word of the text names."""

ABSENT = [f"deny absent-{number}:*" for number in range(65)]
"""So many rules that their first words are no longer sought in the text of a command."""


@pytest.mark.parametrize(
    "command",
    [*PRINTED, *rows(DENIED_BY_RM), *rows(NOT_DENIED_BY_RM), *rows(ASKED_FOR_RM)],
)
@pytest.mark.parametrize("mode", ["default", "bypass"])
async def test_few_deny_rules_decide_like_many(work: Path, command: str, mode: str) -> None:
    """Rules about programs that a text does not name are left out only where none can match."""
    few = await decide(command, work, ("deny rm:*", "allow"), mode=mode)
    many = await decide(command, work, ("deny rm:*", *ABSENT, "allow"), mode=mode)
    assert (few.behavior, few.bypass_immune) == (many.behavior, many.bypass_immune)


# Contents


@pytest.mark.parametrize("content", ["", ":*", "'a", "a\nb", "\\"])
async def test_contents_that_never_match_are_refused(content: str) -> None:
    """A rule that could do nothing is an error for whoever adds it."""
    bash = Bash()
    with pytest.raises(ConfigurationError):
        bash.validate_rule(content)
    with pytest.raises(RuleError):
        bash.compile_rules([content], PermissionBehavior.DENY)


@pytest.mark.parametrize(
    ("content", "nearest"),
    [
        ("install", "`install:*` or `npm install:*`"),
        ("push", "`git push:*`"),
        ("publish", "`npm publish:*`"),
        ("rm", "`rm:*`"),
        ("= rm -rf x", "a whole line"),
    ],
)
@pytest.mark.parametrize("behavior", [DENY, ASK])
async def test_a_rule_that_forbids_nothing_is_refused(
    content: str, nearest: str, behavior: PermissionBehavior
) -> None:
    """One word is the command without arguments; where that does nothing, more was meant."""
    with pytest.raises(RuleError, match=re.escape(nearest)):
        Bash().compile_rules([content], behavior)
    Bash().compile_rules([content], ALLOW)


@pytest.mark.parametrize("content", ["rm:*", "reboot", "make", "ls", "vim", "install -d x", "pu*"])
async def test_a_rule_that_forbids_something_is_taken(content: str) -> None:
    """A program that does something by itself, more words, and a glob."""
    Bash().compile_rules([content], DENY)


async def test_match_rule_follows_the_documents() -> None:
    """The table of seed 002, "Bash"."""
    bash = Bash()
    for content, command, matches in [
        ("npm run:*", "npm run build", True),
        ("npm run:*", "npm run test", True),
        ("npm run:*", "npm install", False),
        ("git commit:*", 'git commit -m "fix"', True),
        ("git commit:*", "git push", False),
        ("rm:*", "rm file.txt", True),
        ("rm:*", "rm -rf /tmp/x", True),
        ("rm:*", "ls", False),
        (None, "anything at all", True),
    ]:
        assert await bash.match_rule(content, {"command": command}) is matches, content


# Suggestions


@pytest.mark.parametrize(
    ("command", "suggested"),
    [
        ('git commit -m "fix"', ["git commit -m fix", "git commit -m *"]),
        ('git commit -m "$(date)"', ["git commit:*"]),
        ("npm run build --watch", ["npm run build --watch"]),
        ("npm run build $X", []),
        ("cd src && git add x", ["= cd src && git add x"]),
        ("git add a && git add b", ["= git add a && git add b"]),
        ("timeout 5 make all", ["make all"]),
        ("python x.py", ["python x.py"]),
        ("bash script.sh 'a b'", ["bash script.sh 'a b'"]),
        ("rm -rf build", ["rm -rf build"]),
        ("docker run x", ["docker run x"]),
        ("npm run x > out.txt", ["= npm run x > out.txt"]),
        ("python $X", []),
        ("npm run x > /tmp/y", []),
        ("FOO=1 make all", ["= FOO=1 make all"]),
        ("git add x && git commit -m y", ["= git add x && git commit -m y"]),
        ("git push --force", []),
        ("echo ${x@P}", []),
        ("mkdir " + "x" * 250, ["= sha256:b48683ac # mkdir"]),
        ("npm run x <<'E'\na\nE", ["= sha256:b0e47ddc # npm"]),
    ],
)
async def test_suggestions(work: Path, command: str, suggested: list[str]) -> None:
    """A question offers the narrowest rule that would have spared it, or none."""
    decision = await decide(command, work)
    assert decision.behavior is ASK
    offered = [rule.rule_content or "" for rule in decision.suggested_rules or ()]
    assert [DIGEST.sub(r"\1 # \2", each) for each in offered] == suggested
    for content in offered:
        assert (await decide(command, work, (f"allow {content}",))).behavior is ALLOW


async def test_a_suggestion_completes_the_rules_there_are(work: Path) -> None:
    """Where one rule is missing for a compound command, that one is offered."""
    decision = await decide("git add x && git commit -m y", work, ("allow git add:*",))
    offered = [rule.rule_content for rule in decision.suggested_rules or ()]
    assert offered == ["git commit -m y", "git commit -m *"]


async def test_rules_are_seen_at_once(work: Path) -> None:
    """A rule that is added or removed counts with the next decision."""
    context = context_of()
    engine, bash = PermissionEngine(context), Bash(cwd=work)
    call = {"command": "npm run x"}
    assert (await engine.check_permission(bash, call)).behavior is ASK
    engine.add_rule(PermissionRule(tool_name="Bash", rule_content="npm run:*", behavior=ALLOW))
    assert (await engine.check_permission(bash, call)).behavior is ALLOW
    context.allow_rules["Bash"].clear()
    assert (await engine.check_permission(bash, call)).behavior is ASK
