"""Effects: what a command does, to which path, and where it stands in the text."""

from __future__ import annotations

import pytest

from tests.permission.kit import CommandAnalysis, Effect, EffectKind, analyze


def read(command: str) -> CommandAnalysis:
    """Return the analysis of a command that runs in /ws."""
    return analyze(command, directory="/ws", home="/home/u")


def effects(command: str, *kinds: EffectKind) -> set[tuple[str, str | None]]:
    """Return the kinds and paths of the effects of `command`, all but reads if none is named."""
    wanted = kinds or tuple(kind for kind in EffectKind if kind is not EffectKind.READ)
    return {(each.kind.value, each.path) for each in read(command).effects if each.kind in wanted}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("rm a", {("delete", "/ws/a")}),
        ("rm -rf src/../lib", {("delete", "/ws/lib")}),
        ("rm ~/x", {("delete", "/home/u/x")}),
        ("rm -f -- -x", {("delete", "/ws/-x")}),
        ("touch a /b", {("write", "/ws/a"), ("write", "/b")}),
        ("mkdir -p a/b", {("write", "/ws/a/b")}),
        ("cp a d", {("write", "/ws/d"), ("write", "/ws/d/a")}),
        ("cp -t d a", {("write", "/ws/d"), ("write", "/ws/d/a")}),
        ("cp --target-directory=d a", {("write", "/ws/d"), ("write", "/ws/d/a")}),
        ("mv a d", {("delete", "/ws/a"), ("write", "/ws/d"), ("write", "/ws/d/a")}),
        ("ln -s /etc l", {("write", "/ws/l"), ("write", "/ws/l/etc")}),
        ("sed -i s/a/b/ f g", {("write", "/ws/f"), ("write", "/ws/g")}),
        ("sed -i.bak -e s/a/b/ f", {("write", "/ws/f")}),
        ("chmod -R 777 d", {("write", "/ws/d")}),
        ("ls | tee a", {("write", "/ws/a")}),
        ("ls > a", {("write", "/ws/a")}),
        ("ls 2>> a", {("write", "/ws/a")}),
        ("sort -o a b", {("write", "/ws/a")}),
        ("uniq a b", {("write", "/ws/b")}),
        ("dd if=a of=/dev/sda", {("write", "/dev/sda")}),
        ("find a -delete", {("delete", "/ws/a")}),
        ("cd a && rm b", {("delete", "/ws/a/b")}),
        ("cd a; rm b", {("delete", "/ws/a/b"), ("delete", "/ws/b")}),
        ("(cd a && rm b); rm c", {("delete", "/ws/a/b"), ("delete", "/ws/c")}),
        ('cd "$x" && rm b', {("delete", None)}),
        ("x=a; rm $x", {("delete", "/ws/a")}),
        ("for f in a b; do rm $f; done", {("delete", "/ws/a"), ("delete", "/ws/b")}),
        ("rm src/*.o", {("delete", "/ws/src/*.o")}),
        ("bash -c 'rm a'", {("delete", "/ws/a")}),
        ("timeout 5 nice rm a", {("delete", "/ws/a")}),
        ("env -C d rm a", {("delete", None)}),
        ("./run", {("execute", "/ws/run")}),
        ("make", {("unknown", None)}),
        ("cat < /dev/tcp/h/1", {("network", None)}),
        ("$x a", {("execute", None)}),
        ("ls --no-such", {("unknown", None)}),
    ],
)
def test_effects_name_their_path(command: str, expected: set[tuple[str, str | None]]) -> None:
    """Each change names the absolute path that it reaches, in every directory it may run in."""
    assert effects(command) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat a ~/b", {("read", "/ws/a"), ("read", "/home/u/b")}),
        ("grep -f p x y", {("read", "/ws/p"), ("read", "/ws/x"), ("read", "/ws/y")}),
        ("grep p x", {("read", "/ws/x")}),
        ("wc -l < a", {("read", "/ws/a")}),
        ("cat *.py", {("read", "/ws/*.py")}),
        ("git -C d status", {("read", "/ws/d")}),
    ],
)
def test_reads_name_their_path(command: str, expected: set[tuple[str, str | None]]) -> None:
    """Reading is an effect too: credentials are judged by it."""
    assert effects(command, EffectKind.READ) == expected
    assert read(command).read_only


ALL = r"""
cat "src/$x" -> read ?/ws/src/...
cat "/etc/$x" -> read ?/etc/...
cat "~$x" -> read ?...
cat "$x" -> read ?...
cat "a$x" -> read ?/ws/a...
cat "/$x" -> read ?/...
cat "../$x" -> read ?/ws/../...
cat "src/$x/.env" -> read ?/ws/src/.../.env
cat ~/"$x" -> read ?/home/u/...
cat ~root/"$x" -> read ?...
cat ~+/"$x" -> read ?/...
cat ~+/x -> read ?/.../x
cat ~root/x -> read ?.../x
cat *"$q" -> read ?...
cat "$q"* -> read ?...*
cat a*"$q"b -> read ?/ws/a...b
cat * -> read /ws/* glob
cat <(ls)/x -> read ?/dev/fd/.../x; read /ws
cat '' -> read ?...
cat a''b -> read /ws/ab
cd a; cat "b/$x" -> read /ws/a; read ?/ws/a/b/...; read ?/ws/b/...
cd $d; cat "b/$x" -> read ?...; read ?...
cd $d; cat "/b/$x" -> read ?...; read ?/b/...
cd $d; cat b "c d" -> read ?...; read ?.../b; read ?.../c d
cd $d; cat /b b* -> read ?...; read /b; read ?.../b*
cd $d; cat '' -> read ?...; read ?...
cd a; cat b -> read /ws/a; read /ws/a/b; read /ws/b
cd a; cat /b -> read /ws/a; read /b
x=b; [ y ] && x=c; cat $x -> read /ws/c; read /ws/b
rm -r "src/$x" -> delete ?/ws/src/... all
ls > "src/$x" -> write ?/ws/src/...; read /ws
cp a/*.py d -> read /ws/a/*.py glob; write /ws/d; write /ws/d/*.py all glob as /ws/a/*.py
cp -r a/b/ d -> read /ws/a/b all; write /ws/d all; write /ws/d/b all
cp --parents a/b d -> read /ws/a/b; write /ws/d; write /ws/d/a/b all
cp --parents a* d -> read /ws/a* glob; write /ws/d; write ?... all
cp a . d -> read /ws/a; read /ws; write /ws/d; write /ws/d/a all; write /ws/d all
cp a .. d -> read /ws/a; read /; write /ws/d; write /ws/d/a all; write /ws all
cp "$x" d -> unknown ?...; read ?...; write /ws/d; write ?... all
cp a "$x" -> unknown ?...; read /ws/a; write ?...; write ?... all
cp a/*/ d -> read /ws/a/* glob; write /ws/d; write /ws/d/* all glob as /ws/a/*/
cp a* "$x" -> unknown ?...; read /ws/a* glob; write ?...; write ?... all
cp a b d -> read /ws/a; read /ws/b; write /ws/d; write /ws/d/a all; write /ws/d/b all
cp -t d a b -> write /ws/d; write /ws/d/a all; write /ws/d/b all; read /ws/a; read /ws/b
cp --suffix=x a d -> read /ws/a; write /ws/d; write /ws/d/a all
mv a/* d -> delete /ws/a/* all glob; write /ws/d all; write /ws/d/* all glob as /ws/a/*
mv a d -> delete /ws/a all; write /ws/d all; write /ws/d/a all
ln a d -> read /ws/a; write /ws/a; write /ws/d; write /ws/d/a all
ln -s a d -> read /ws/a; write /ws/d; write /ws/d/a all
install a d -> read /ws/a; write /ws/d; write /ws/d/a all
tee /dev/stdout a -> write /ws/a
tee /dev/null /dev/stderr ->
ls > /dev/null -> read /ws
ls > /dev/stdout 2> /dev/stderr -> read /ws
ls > /dev/full -> write /dev/full; read /ws
ls <> /dev/null -> write /dev/null; read /ws
ls > x$y -> write ?/ws/x...; read /ws
ls > *.py -> write /ws/*.py glob; read /ws
cat < f -> read /ws/f
cat <> f -> write /ws/f
cat < "$x" -> read ?...
cat < f* -> read /ws/f* glob
ls 2>&1 -> read /ws
ls >& f -> write /ws/f; read /ws
ls &>> f -> write /ws/f; read /ws
ls > >(cat) -> read /ws
cat < <(ls) -> read /ws
cat <<< f ->
ls > /dev/tcp/a/1 -> network ?...; read /ws
cat < /dev/udp/a/1 -> network ?...
cat < /dev/tcpx -> read /dev/tcpx
git -C a -C b status -> read /ws/a; read /ws/a/b
git -C a -C /b status -> read /ws/a; read /b
rg x -> read /ws all
rg x a -> read /ws/a all
ls | rg x -> read /ws
ls | rg x a -> read /ws; read /ws/a all
ls -R a -> read /ws/a all
gls -> execute ?...; read /ws all
no-such -> execute ?...
./gls2 -> execute /ws/gls2
ls a -> read /ws/a
find a -delete -> delete /ws/a all
find a -name b -> read /ws/a all
sort -o a b -> write /ws/a; read /ws/b
sort b -> read /ws/b
sh f -> execute ?...
sqlite3 f 'drop table a' -> write /ws/f; unknown ?...
sqlite3 -readonly f 'select 1' -> read /ws/f
sed -n '1w a' b -> unknown ?...; read /ws/b
sed -n 1p b -> read /ws/b
sed -i 1p b -> write /ws/b
xargs rm -> unknown ?...; delete ?...
env -C d ls a -> read /ws/d; read ?.../a
""".strip().splitlines()
"""Commands, and their effects: a path of which only the ends are known has dots between them."""


def told(effect: Effect) -> str:
    """Return an effect in words."""
    words = [effect.kind.value, effect.path or f"?{effect.start}...{effect.end}"]
    words += ["all"] * effect.recursive + ["glob"] * effect.glob
    return " ".join([*words, f"as {effect.named_after}"] if effect.named_after else words)


@pytest.mark.parametrize(("command", "expected"), [row.split(" ->") for row in ALL])
def test_each_effect_is_told_with_all_that_is_known_of_its_path(
    command: str, expected: str
) -> None:
    """In order: what is read, written, removed and run, how deep, and under which names."""
    assert "; ".join(map(told, read(command).effects)) == expected.strip()


def only(command: str, kind: EffectKind) -> Effect:
    """Return the only effect of `kind`."""
    (effect,) = (each for each in read(command).effects if each.kind is kind)
    return effect


def test_recursion_is_told() -> None:
    """`rm -r` reaches everything below, `rm` does not."""
    assert only("rm -r a", EffectKind.DELETE).recursive
    assert not only("rm a", EffectKind.DELETE).recursive


def test_globs_are_told_from_names() -> None:
    """A path with `*` from a glob is a pattern; the same characters quoted are a name."""
    assert only("rm a*", EffectKind.DELETE).glob
    assert not only("rm 'a*'", EffectKind.DELETE).glob


def test_spans_point_at_the_argument() -> None:
    """An effect and its doubt stand where the argument stands, also inside `sh -c`."""
    command = "ls && rm src/a"
    assert command[slice(*only(command, EffectKind.DELETE).span)] == "src/a"
    nested = "sh -c 'rm a'"
    assert nested[slice(*only(nested, EffectKind.DELETE).span)] == "'rm a'"


@pytest.mark.parametrize(
    ("command", "backups"),
    [
        ("cp -b -S .bak a b", (".bak",)),
        ("mv --suffix=rc a b", ("rc",)),
        ("ln -S~ a b", ("~",)),
        ("install -S .x a b", (".x",)),
        ("sed -i.bak s/a/b/ b", (".bak",)),
        ("x=rc; sed --in-place=$x s/a/b/ b", ("rc",)),
        ("sed -i s/a/b/ b", ()),
        ("cp -b a b", ()),
    ],
)
def test_writes_name_their_backups(command: str, backups: tuple[str, ...]) -> None:
    """What was in a file is kept under its name with the suffix that the command gives."""
    effects = [each for each in read(command).effects if each.kind is EffectKind.WRITE]
    written = [each for each in effects if each.path != "/ws/a"]
    assert written[0].path == "/ws/b"
    assert all(each.backups == backups for each in written)


@pytest.mark.parametrize("command", ["ln -S~ a b", "ln -S~ -t b a", "cp -l -S~ a b"])
def test_what_is_linked_is_not_renamed(command: str) -> None:
    """A hard link is a write of its source, of which no backup is kept; of its target one is."""
    written = {
        each.path: each.backups for each in read(command).effects if each.kind is EffectKind.WRITE
    }
    assert written["/ws/a"] == ()
    assert written["/ws/b/a"] == ("~",)


def test_a_copy_with_its_parents_is_written_below_the_target() -> None:
    """`cp --parents` makes the whole path of the source anew below the target."""
    assert effects("cp --parents a/b d") == {("write", "/ws/d"), ("write", "/ws/d/a/b")}
    assert effects("cp a/b d") == {("write", "/ws/d"), ("write", "/ws/d/b")}
    assert ("write", None) in effects("cp --parents a/* d")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("ls > out.txt", "`> out.txt` writes a file"),
        ("sort --frob a", "`sort --frob` is not a flag known to be harmless"),
        ("rm a", "`rm` removes `a`"),
        ("frobnicate", "`frobnicate` is an unknown program"),
        ("sed -n '1w x' f", "`1w x` in the sed script is not known to be harmless"),
        ("awk 'BEGIN{system(1)}'", "`system` of awk runs a command"),
        ("PATH=. ls", "`PATH=` may change what the program does"),
    ],
)
def test_doubts_are_fit_for_a_person(command: str, message: str) -> None:
    """A doubt says what was found in the words of the command."""
    assert message in [doubt.message for doubt in read(command).all_doubts]


DOUBTED = r"""
$x a -> $x: the program's name is computed at run time
ls; $x a -> $x: the program's name is computed at run time
x=ls; [ y ] && x=cat; $x src ->
x=ls; [ y ] && x=rm; $x a -> a: `rm` removes `a`
x=ls; [ y ] && x='rm a'; $x b -> $x: the program's name is computed at run time
x=ls; [ y ] && x='rm a'; "$x" b -> "$x": `rm a` is an unknown program
x=declare; $x a=b -> $x: `declare` splits its words differently when its name is computed
./run -> ./run: `./run` is a program outside the system directories
/usr/bin/ls ->
/usr/bin/foo -> /usr/bin/foo: `/usr/bin/foo` is an unknown program
foo -> foo: `foo` is an unknown program
env cd a -> cd: `cd` is a shell builtin, not a program that can be started here
nice local x=a -> local: `local` is a shell builtin, not a program that can be started here
command cd a ->
ls() { rm a; }; ls b -> a: `rm` removes `a`
f() { ls; }; f a ->
f() { ls; }; env f a -> f: `f` is an unknown program
[ y ] && f() { ls; }; f a -> f: `f` may call a function or a program
test -v 'a[0]' -> -v: this condition may run code in brackets
[ -v x ] ->
tail -f f -> tail -f f: `tail` never ends
timeout 5 tail -f f ->
x=b; local x=-a; git show "$x" -> "$x": this computed argument may be an option, or several
f() { x=b; local x=-a; git show "$x"; } ->
let x=1 y=x ->
let 'x=$(ls)' -> 'x=$(ls)': this arithmetic cannot be parsed
let "x=$y" -> "x=$y": this arithmetic cannot be parsed
let x=y -> x=y: `y` is not known to hold a number, and arithmetic runs what it holds
let PATH=1 -> PATH=1: `PATH=` may change what the program does
bash -c 'ls "$1"' n a ->
bash -c 'rm "$1"' n a -> 'rm "$1"': `rm` removes `a`
bash -c 'ls' ->
bash -lc 'ls' ->
sh -c "bash -c 'rm a'" -> "bash -c 'rm a'": `rm` removes `a`
eval ls a -> eval: `eval` runs a text that was put together
eval "ls; rm a" -> eval: `eval` runs a text that was put together; "ls; rm a": `rm` removes `a`
find a -exec rm {} + -> {}: `rm` removes `{}`
find a -exec rm {} ';' -> {}: `rm` removes `{}`
find a -exec ls ';' ->
find a -execdir ls ';' ->
fd x -x ls ->
xargs -n1 ls ->
time rm a -> a: `rm` removes `a`
nice -n5 rm a -> a: `rm` removes `a`
nice -n5 ls a ->
env A=b ls -> A=b: `A=` may change what the program does
env ls ->
A=b ls -> A=b: `A=` may change what the program does
A+=b ls -> A+=b: `A=` may change what the program does
TZ=b date ->
IFS=, read a ->
IFS=, ls -> IFS=,: `IFS=` may change what the program does
IFS=, -> IFS=,: `IFS=` may change what the program does
a=b ->
PATH=b -> PATH=b: `PATH=` may change what the program does
readonly x=a; x=b -> x=b: `x` is read-only, so bash skips the rest of the line
readonly x=a ->
export x-y -> x-y: this is not a plain variable name
export x -> x: `x=` may change what the program does
declare x ->
read x=a -> x=a: this is not a plain variable name
read x ->
ls > out -> > out: `> out` writes a file
ls <> f -> <> f: `<> f` writes a file
x=a; [ y ] && x=b; cat < $x ->
ls > /dev/tcp/a/1 -> > /dev/tcp/a/1: `> /dev/tcp/a/1` opens a network connection
ls > "/dev/tcp/a/1$x" -> > "/dev/tcp/a/1$x": `> "/dev/tcp/a/1$x"` writes a file
ls 1< f -> 1< f: an output opened for reading may be a file, which a program may truncate
ls 2< f -> 2< f: an output opened for reading may be a file, which a program may truncate
ls 3< f ->
ls 0>&1 ->
ls 1>&0 -> 1>&0: an output opened for reading may be a file, which a program may truncate
cat /dev/zero -> /dev/zero: reading the device `/dev/zero` may never end, or may disturb it
head -1 /dev/zero -> /dev/zero: reading the device `/dev/zero` may never end, or may disturb it
cat < /dev/zero -> < /dev/zero: reading the device `/dev/zero` may never end, or may disturb it
cd $d; ls ->
popd ->
cd ->
timeout 5 -> timeout: `timeout` lacks an operand
""".strip().splitlines()
"""Commands, and behind the arrow the places and messages of their doubts."""


@pytest.mark.parametrize(("command", "expected"), [row.split(" ->") for row in DOUBTED])
def test_each_doubt_stands_where_its_cause_does(command: str, expected: str) -> None:
    """Each is told once, at the word that it is about; what is harmless beside it has none."""
    doubts = read(command).all_doubts
    found = [f"{command[slice(*each.span)]}: {each.message}" for each in doubts]
    assert "; ".join(found) == expected.strip()


def test_a_command_of_several_names_is_a_part_for_each() -> None:
    """Each has the words that it would run with; a call of a function has its own."""
    parts = read("x=ls; [ y ] && x=cat; $x src a").parts
    assert [part.argv for part in parts[-2:]] == [("cat", "src", "a"), ("ls", "src", "a")]
    assert [part.argv for part in read("ls() { :; }; ls a").parts] == [(":",), ("ls", "a")]
    assert [part.argv for part in read("ls() { :; }; env ls a").parts][-1] == ("ls", "a")
    assert read("f() { cd a; }; f; ls").parts[-1].directories == ()
    assert read("f() { ls; }; f; ls").parts[-1].directories == ("/ws",)
