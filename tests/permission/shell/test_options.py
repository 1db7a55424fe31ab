"""Options as `getopt_long` reads them: clusters, values, abbreviations, and computed ones."""

from __future__ import annotations

import pytest

from tests.permission.kit import EffectKind, analyze

READ = r"""
tar tvf a.tar
tar -tfv a.tar
tar tf ./*.tar
tar -tf ./*.tar
tar -t --file ./*.tar
tar -tf "./$x/a"
sort -rn f
sort -k2 f
sort -rk2 f
sort -k -2 f
sort -k"$y" f
sort "-k$y" f
sort --key="$y" f
sort --key "$y" f
sort -S="$y" f
git log -5
git log -n5
git log -n -5
git log -n "$(nproc)"
git log --max-count="$(nproc)"
git -C a log
head -qn5 f
head -qn 5 f
head --lin=5 f
ls --color=auto --recur
ls -I -x
ls --time=atime a
kubectl rollout status a --watch=false
grep -5 x f
grep -A -1x y f
grep --color auto x f
find . -exec cat {} f \;
find . -exec cat f {} \; -name x
find . -exec cat {} +
find . -name x -o -name -x
docker ps --format x
base64 -w0 f
base64 -w 0 f
base64 -dw0 f
base64 --wr=0 f
base64 -w "$(nproc)" f
gofmt -l f
gofmt --l f
clang-format -dry-run f
clang-format --dry-run f
""".strip().splitlines()

IN_DOUBT = r"""
tar tfv a.tar
tar tf *.tar
tar -tf a.tar b* -x
tar -tf ./*.tar x
tar -tf ./$x
tar -t --file=./*.tar
tar "$x"
tar -
sort -k ./*
base64 -w ./*
base64 -w0=5 f
base64 - f
sort -k -1x f
sort -k a* f
sort -k a*
sort -k $y f
sort --key=$y f
sort -rk"$y" f
sort "-$y" f
sort "--$y" f
sort "--key$y" f
sort --out"$y" f
sort --output="$y" f
sort -x f
sort -rx f
sort --key2 f
git log -n -x
git log -5x
git log --output="$y"
git log --oneline="$y"
git log --format="$y"
git log --no-such=5
git -C "$y" log
head -5n f
head -q5 f
ls --re
ls --tim=atime a
kubectl rollout status a --watch=true
ls --recursive=x
ls -5
grep -5x f
find . -exec cat {} f +
find . -exec cat {}
find . -exec cat "$@" \;
docker ps --format -x
base64 -wx f
base64 -w x f
base64 -w"$y" f
base64 -w="$(nproc)" f
base64 -w "$y" f
base64 --wrap="$y" f
base64 --w"$(nproc)" f
base64 --wrap="$(nproc)" f
gofmt ---l f
gofmt -ld f
clang-format -dry-ru f
clang-format ---n f
""".strip().splitlines()


@pytest.mark.parametrize("command", READ)
def test_options_are_read_as_the_program_reads_them(command: str) -> None:
    """Clusters, joined values, values that stand alone, and abbreviations only one can mean."""
    assert analyze(command, directory="/ws", home="/home/u").all_doubts == ()


@pytest.mark.parametrize("command", IN_DOUBT)
def test_what_could_be_read_in_two_ways_is_in_doubt(command: str) -> None:
    """Unknown letters and names, ambiguous beginnings, and values that look like an option."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    assert not analysis.read_only
    assert analysis.all_doubts


@pytest.mark.parametrize(
    ("command", "written"),
    [
        ("sort -o a f", {"/ws/a"}),
        ("sort -oa f", {"/ws/a"}),
        ("sort -ro a f", {"/ws/a"}),
        ("sort -roa f", {"/ws/a"}),
        ("sort --output a f", {"/ws/a"}),
        ("sort --output=a f", {"/ws/a"}),
        ("sort --outp=a f", {"/ws/a"}),
        ("sort f -o a", {"/ws/a"}),
        ('sort -o"$y" f', {None}),
        ('sort --output="$y" f', {None}),
        ("sort -- -o a", set()),
        ("sort -k o f", set()),
    ],
)
def test_the_value_of_an_option_is_found_wherever_it_stands(
    command: str, written: set[str | None]
) -> None:
    """Joined to a letter or a name, or in the next argument, it is the path that is written."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    assert {each.path for each in analysis.effects if each.kind is EffectKind.WRITE} == written
