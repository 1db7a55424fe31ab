"""The strict reader takes what it surely reads as bash does, and refuses the rest."""

from __future__ import annotations

import contextlib
import re
import time

import pytest

from tests.permission.shell import syntax
from tests.permission.shell.syntax import (
    Assignment,
    Heredoc,
    Literal,
    ReadError,
    Redirect,
    Script,
    SimpleCommand,
    Span,
    Word,
    read,
)
from tests.permission.shell.tree_text import script_text

_TAKEN = [
    ("ls -la src", "ls -la src"),
    (" ls\tx  y ", "ls x y"),
    ("echo 'a b' \"c d\" e\\ f '' \"\"", "echo 'a b' 'c d' 'e f' '' ''"),
    ("echo a'b'\"c\"\\d", "echo abcd"),
    ('echo "\\$x \\" \\\\ \\` \\n \'q\' !"', "echo '$x \" \\\\ ` \\\\n \\'q\\' !'"),
    ('echo "a\\\nb" c\\\nd', "echo ab cd"),
    ("echo $'a\\tb\\x41\\101\\u0042\\'\\\\\\e[0m'", 'echo "a\\tbAAB\'\\\\\\x1b[0m"'),
    ('echo $"hi $x"', "echo 'hi '\"$x\""),
    ("echo a#b # note $(evil)", "echo a#b"),
    ("a; b & c && d || e", "a ; b & c && d || e"),
    ("a | b |& c 2>x", "a | b 2>&1 | c 2>x"),
    ("! a | b", "! a | b"),
    ("time -p ! a", "time ! a"),
    ("A=1 B+='x y' C= cmd D=2", "(A=1) (B+='x y') (C='') cmd D=2"),
    ("A=~/x:~root B={a,b} C=*", "(A=<~>/x:<~root>) (B={a,b}) (C='*')"),
    ("x=$(ls) y=`pwd`", "(x=$(ls)) (y=`pwd))"),
    (
        'echo $x ${x} "$x" $? $# $@ "$*" $1 ${10} $$ $!',
        'echo $x $x "$x" $? $# $@ "$*" $1 $10 $$ $!',
    ),
    (
        'echo ${x:-a b} ${x-} ${x:=y} ${x:+"$y"} ${x:?no}',
        "echo ${x :- 'a b'} ${x - ''} ${x := y} ${x :+ \"$y\"} ${x :? no}",
    ),
    (
        "echo ${#x} ${x#*/} ${x##a} ${x%.*} ${x%%b} ${x/a/b} ${x//a}",
        "echo ${x length } ${x # «*»/} ${x ## a} ${x % .«*»} ${x %% b} ${x / a/b} ${x // a}",
    ),
    (
        "echo ${x:1} ${x:0:3} ${x: -2} ${x^^} ${x,}",
        "echo ${x : 1} ${x : 0:3} ${x : ' -2'} ${x ^^ } ${x , }",
    ),
    ('echo "${x:-$(a "b")}" ${x:-`c`}', 'echo "${x :- $(a b)}" ${x :- `c)}'),
    ("echo ${x:-'ab'} ${x#'a b'c}", "echo ${x :- ab} ${x # 'a bc'}"),
    ("echo ${x:-'a'\"b\"c} ${x:-}", "echo ${x :- abc} ${x :- ''}"),
    ("echo ${x%$} ${x:-$ b} $x$", "echo ${x % '$'} ${x :- '$ b'} $x$"),
    ("echo ${x:-\\}} ${x//$'\\t'/ }", "echo ${x :- }} ${x // '\\t/ '}"),
    ("[[ x = a[0] && x == a[0] ]]", "[[ x = a«[0]» '&&' x == a«[0]» ]]"),
    ("[[ ! a =~ ()() || x != a[0] ]]", "[[ ! a '=~' '()()' '||' x != a«[0]» ]]"),
    *((f"[[ -{letter} a ]]", f"[[ -{letter} a ]]") for letter in "abcdefghknoprstuvwxzGLNOS"),
    *(
        (f"[[ 1 -{name} 2 ]]", f"[[ 1 -{name} 2 ]]")
        for name in ["eq", "ne", "lt", "le", "gt", "ge", "nt", "ot", "ef"]
    ),
    ('echo $(a | b) "$(c)" $(d $(e)) $()', "echo $(a | b) $(c) $(d $(e)) $()"),
    ("echo `a \\`b\\` '\\\\'`", "echo `a `b) '\\\\')"),
    ("diff <(a) <(b 1)", "diff <(a) <(b 1)"),
    ("a > >(b)", "a >>(b)"),
    ("echo $(( $(a) - x ))", "echo $(( $(a) - x ))<x>{a}"),
    ('echo "$(( ($(a | b)) * 2 ))"', "echo $(( ($(a | b)) * 2 ))<>{a | b}"),
    ("echo $(($(a)+$(b; c)))", "echo $(($(a)+$(b; c)))<>{a}{b ; c}"),
    ("echo ${a[0]:-x} ${a[@]:1:2} ${a[-1]%.py}", "echo ${a[0] :- x} ${a[@] : 1:2} ${a[-1] % .py}"),
    ('echo $((1 + 2 * (x - $y))) "$(($# % 3))"', "echo $((1 + 2 * (x - $y)))<x,y> $(($# % 3))<#>"),
    ("a >f >>g <h 2>i >|j <>k &>l &>>m", "a >f >>g <h 2>i >|j <>k &>l &>>m"),
    ("a 2>&1 >&2 <&3 >&- 2<&- 12>/dev/null", "a 2>&1 >&2 <&3 >&- 2<&- 12>/dev/null"),
    ("a >&file", "a &>file"),
    (">f", ">f"),
    ('a=(x "y z" $w *.py {b,c}) b+=()', "(a=[x 'y z' $w «*».py b c]) (b+=[])"),
    ("a=(\n x # (\n y\n); b", "(a=[x y]) ; b"),
    ('echo ${a[0]} "${a[@]}" ${#a[*]} ${a[-1]}', 'echo $a[0] "$a[@]" ${a[*] length } $a[-1]'),
    ("<f >g a", "a <f >g"),
    ('cat <<E\nx $y `z` \\$w "q"\nE', "cat <<'x '\"$y\"' '`z)' $w \"q\"\\n' ¶"),
    ("cat <<'E' | b\nx $y\nE", "cat <<''x $y\\n'' | b ¶"),
    ('cat <<-"E" && b\n\tx\n\tE', "cat <<-''x\\n'' && b ¶"),
    ("cat <<A <<\\B; c\n1\nA\n2\nB\nd", "cat <<'1\\n' <<''2\\n'' ; c ¶ d"),
    ('cat <<< "x $y"', "cat <<<'x '\"$y\""),
    ("{ a; b; } >f", "{a ; b ;} >f"),
    ("( a; (b) ) 2>&1", "(a ; (b)) 2>&1"),
    ("if a; then b; elif c; then d; else e; fi", "if a ; then b ; elif c ; then d ; else e ; fi"),
    ("while a; do b; done <f", "while a ; do b ; done <f"),
    ("until a\ndo\nb\ndone", "until a ¶ do b ¶ done"),
    (
        'for i in a "b c" *.py {1..2}; do e "$i"; done',
        "for i in a 'b c' «*».py 1 2 do e \"$i\" ; done",
    ),
    ("for i; do a; done", "for i do a ; done"),
    ("for ((i=0;i<3;i++)); do a $i; done", "for ((i=0; i<3; i++)) do a $i ; done"),
    ("for (( ; x > 1 ; --x, y=x+1 ))\ndo a\ndone", "for ((; x > 1; --x, y=x+1)) do a ¶ done"),
    ("((i++)) && a", "((i++)) && a"),
    ("(( $(a | b) > 1, x=$(c)+2 )) && a", "(($(a | b) > 1, x=$(c)+2)){a | b}{c} && a"),
    ("while (( i < $n )); do ((i += 2)); done >f", "while ((i < $n)) ; do ((i += 2)) ; done >f"),
    ("[[ -v HOME ]]", "[[ -v HOME ]]"),
    ("[[ $x -gt 5 ]]", "[[ $x -gt 5 ]]"),
    ("echo ${x//:/$'\\n'}", "echo ${x // ':/\\n'}"),
    ("echo ${x/:/$'\\n'}", "echo ${x / ':/\\n'}"),
    ("for i\nin x\ndo a\ndone", "for i in x do a ¶ done"),
    ("for i do a; done", "for i do a ; done"),
    (
        "case $x in a|b) c;; (*.py) d; e;; '*') ;& [yn]) f;;& *) g; esac",
        "case $x in a|b) c;; «*».py) d ; e;; '*') ;; «[yn]») f;; «*») g ;;; esac",
    ),
    ("case x in\nesac", "case x in  esac"),
    (
        '[[ -f $x && ! ( a == b* || "c" != d ) ]]',
        "[[ -f $x '&&' ! '(' a == b«*» '||' c != d ')' ]]",
    ),
    ("[[ $x =~ ^(a|b)+\\.c$ ]] >f", "[[ $x '=~' '^(a|b)+\\\\.c$' ]] >f"),
    ("[[ $# -gt 1 && ${#x} -eq 3 ]]", "[[ $# -gt 1 '&&' ${x length } -eq 3 ]]"),
    ("f() { a; }; f", "f() {a ;} ; f"),
    ("f ()\n( a ) >g", "f() (a) >g"),
    ("echo *.py a?b [ab]c [!x]* x[ '*' \\*", "echo «*».py a«?»b «[ab]»c «[!x]»«*» x[ '*' '*'"),
    ("[ -f x ]", "[ -f x ]"),
    ("echo --include=*.py", "echo --include=«*».py"),
    ('echo a["b"]c a[$x]', "echo a«[»'b']c a«[»$x]"),
    ("echo ~ ~/x ~user/y a~b x=~/z --p=~", "echo <~> <~>/x <~user>/y 'a~b' x=<~>/z '--p=~'"),
    (
        'echo {a,b}{1,2} x{,y} {1..3} {c..a} {01..10..4} {a,"b c"}',
        "echo a1 a2 b1 b2 x xy 1 2 3 c b a 01 05 09 a 'b c'",
    ),
    ("find . -exec ls {} \\;", "find . -exec ls {} ';'"),
    ("git show HEAD@{1} v1^{} stash@{0}", "git show HEAD@{1} v1^{} stash@{0}"),
    ("echo {a,~} {*.py,x} {1..$n}", "echo a <~> «*».py x {1..$n}"),
    ("echo {a,b a,b} {a}", "echo {a,b a,b} {a}"),
    ("{ls,-l}", "ls -l"),
    ("echo if then { } ! [[ ]] time", "echo if then { } ! [[ ]] time"),
    ("a &&\n# why\nb |\nc", "a && b | c"),
    ("a\n\n# x\n\nb", "a ¶ b"),
    ("ls \\\n  -l \\\n  x", "ls -l x"),
    ("echo é $x", "echo 'é' $x"),
    ("cd x && (b; c) | d &", "cd x && (b ; c) | d &"),
    (
        'git commit -m "$(cat <<\'EOF\'\nit\'s "done" `now`\nEOF\n)"',
        "git commit -m $(cat <<''it\\'s \"done\" `now`\\n'' ¶)",
    ),
    ("a |\\\n b", "a | b"),
    *(
        (f"{form} &>f", f"{read_as} &>f")
        for form, read_as in {
            "f() { a; }": "f() {a ;}",
            "function f { a; }": "f() {a ;}",
            "((1))": "((1))",
            "[[ a ]]": "[[ a ]]",
            "{ a; }": "{a ;}",
            "( a ) \\\n": "(a)",
            "for i in a; do b; done": "for i in a do b ; done",
            "while a; do b; done": "while a ; do b ; done",
            "if a; then b; fi": "if a ; then b ; fi",
            "case x in a) b;; esac": "case x in a) b;; esac",
        }.items()
    ),
    ("a &>>f & b", "a &>>f & b"),
    *((f"[[ {word} ]]", f"[[ {word} ]]") for word in ("-fx", "-f]]", "a == ]]b", "!a")),
    ("[[ a ]]&&b", "[[ a ]] && b"),
    ("[[ ! (a) ]]", "[[ ! '(' a ')' ]]"),
    ("for i;do a;done", "for i do a ; done"),
    ("é; a é=1", "'é' ; a 'é=1'"),
    ("[[ .a[0] == x ]]", "[[ .a«[0]» == x ]]"),
    ("echo []'x'] [!]'x'] [^]'x'] a", "echo «[»]'x'] «[»!]'x'] «[»^]'x'] a"),
    ("echo []x] [!]x] [^]x]", "echo «[]x]» «[!]x]» «[^]x]»"),
    ("LC_ALL=C\necho e", "(LC_ALL=C) ¶ echo e"),
]


@pytest.mark.parametrize(("command", "text"), _TAKEN)
def test_a_construct_is_read(command: str, text: str) -> None:
    """Each construct is taken, and its tree shows the cooked words and the structure."""
    assert script_text(read(command)) == text


_REFUSED = [
    # quotes
    ("echo 'a", "single quote"),
    ('echo "a', "double quote"),
    ("echo \\", "backslash"),
    ("echo $'a", "$'"),
    ("echo $'\\0'", "$'"),
    ("echo $'\\x80'", "$'"),
    ("echo $'\\u00e9'", "$'"),
    ("echo $'\\cA'", "$'"),
    ("echo $'\\q'", "$'"),
    ("echo $'\\x'", "$'"),
    *((f"echo $'\\{digits}'", "$'") for digits in ("1", "177", "200", "400", "9", "U", "u", "U0")),
    *((f"echo $'\\{digits}'", "$'") for digits in ("x1", "x7f", "u0001", "u7f", "U7F", "u80")),
    ('TEXTDOMAIN=x; echo $"hi"', "translated"),
    ("echo `a\\\nb`", "backticks"),
    # expansions
    ('echo ${x#$"y"}', "before a quote"),
    ("echo ${x#$'y'}", "before a quote"),
    ("echo ${x#$'\\n'}", "before a quote"),
    ("echo ${a[x]}", "${"),
    ("echo ${a[$x]}", "${"),
    ("echo ${a[$(evil)]}", "${"),
    ("echo ${a[x]:-x}", "${"),
    ("echo ${a[$(evil)]%x}", "${"),
    ("echo ${a[@]:x}", "${"),
    ("echo ${a[@]@P}", "${"),
    ("echo ${!a[@]}", "${"),
    ("echo ${!x@}", "${"),
    ("echo ${!x[0]}", "${"),
    ("echo ${!1}", "${"),
    ("echo ${!x:-y}", "${"),
    ("echo ${!x*}", "${"),
    ("echo ${x@P}", "${"),
    ("echo ${x@P}", "${"),
    ("echo ${x@}", "${"),
    ("echo ${x@QQ}", "${"),
    ("echo ${x@Qx}", "${"),
    ("echo ${x@$y}", "${"),
    ("echo ${ evil; }", "${"),
    ("echo ${| evil; }", "${"),
    ("echo ${x:y}", "${"),
    ("echo ${x:$(evil)}", "${"),
    ("echo ${#x:-y}", "${"),
    ("echo ${?:-y}", "${"),
    ("echo ${x", "${"),
    ("echo ${x:-", "never closed"),
    ("echo ${x:-<(evil)}", "inside `${...}`"),
    ("echo ${x:-{a}", "inside `${...}`"),
    ("echo ${x:-a\nb}", "inside `${...}`"),
    ("echo \"${x:-'a'}\"", "inside `${...}`"),
    ('echo "${x:-"a"}"', "inside `${...}`"),
    ("echo ${!x@} ${y:-z}", "form of `${"),
    ("echo ${!x@} ${y}", "form of `${"),
    ("echo ${!x@} ${#y}", "form of `${"),
    ("echo $<f", "after a `$`"),
    ("echo $>f", "after a `$`"),
    ("echo $`a`", "after a `$`"),
    ("echo $[1+1]", "old form"),
    ("echo $((@1))", "arithmetic"),
    ("echo $((1 @+ 2))", "arithmetic"),
    ("echo $((1 + @2))", "arithmetic"),
    ("echo $(( $(evil)~1 ))", "arithmetic"),
    ("echo $(( $(evil)(1) ))", "arithmetic"),
    ("((@x=1))", "`((`"),
    ("((@x++))", "`((`"),
    ("((x=@1))", "`((`"),
    ("echo $((a[0]))", "arithmetic"),
    ("echo $((@16#f[0]))", "arithmetic"),
    ("echo $((@65#a))", "arithmetic"),
    ("echo $((@1#a))", "arithmetic"),
    ("echo $((@x#a))", "arithmetic"),
    ("echo $((@16#f#1))", "arithmetic"),
    ("echo $((@16#$(ls)))", "arithmetic"),
    ("echo $((x=1))", "arithmetic"),
    ("echo $((x++))", "arithmetic"),
    ("echo $((x+=1))", "arithmetic"),
    ("echo $(( $(evil)x ))", "arithmetic"),
    ("echo $(( x$(evil) ))", "arithmetic"),
    ("echo $((1$(evil)))", "arithmetic"),
    ("echo $(( a[$(evil)] ))", "arithmetic"),
    ("echo $(( $(evil)[0] ))", "arithmetic"),
    ("echo $(( $(evil)$(evil) ))", "arithmetic"),
    ("echo $(( `evil` ))", "arithmetic"),
    ("echo $(( '$(evil)' ))", "arithmetic"),
    ("echo $(( $(evil", "$("),
    ("(( $(evil)x ))", "(("),
    ("(( x$(evil) ))", "(("),
    ("(( a[$(evil)] ))", "(("),
    ("(( $(evil)[0] ))", "(("),
    ("(( $(evil) = 1 ))", "(("),
    ("(( `evil` ))", "(("),
    ("(( $(evil) ); evil )", "(("),
    ("for ((i=$(evil); i<3; i++)); do a; done", "for"),
    ("echo $((1) + 2)", "arithmetic"),
    ("echo $((evil) )", "arithmetic"),
    ("echo $((1)", "arithmetic"),
    ("echo $(( $((1)) ))", "arithmetic"),
    ("echo $x\\\ny", "continued line"),
    ("echo $\\\n(evil)", "continued line"),
    ("echo $é", "after a `$`"),
    ("echo $(evil", "never closed"),
    ("echo $( (evil)", "never closed"),
    ("echo `evil", "backtick"),
    ('echo "`echo "a"`"', "backticks"),
    ('echo "`echo \\`a\\``"', "backticks"),
    ("echo `cat <<E\nE\n`", "backticks"),
    ("echo `a)`", "backticks"),
    ("echo a<(b)", "process substitution"),
    ("echo <((b))", "in a row"),
    # braces and tildes
    ("echo {a,{b}}", "Braces"),
    ("echo {1}{a,b}", "Braces"),
    ("echo {a,b}}", "Braces"),
    ("echo {a..Z}", "range"),
    ("echo {1..a}", "range"),
    ("echo {+1..2}", "range"),
    ("echo {1..101}", "more than 100"),
    ("echo {1..11}{1..11}", "more than 100"),
    ("echo {$,x}y", "with braces"),
    ("echo $x{a,b}", "with braces"),
    ("echo {a,`b`}", "with braces"),
    ("echo {1..$((2))}", "range"),
    ("echo ~$x", "`~`"),
    ("echo ~'x'", "`~`"),
    # assignments
    ("a[0]=1", "subscript"),
    ("a[$(evil)]=1 ls", "subscript"),
    ("a=([0]=1)", "array"),
    ("a=(x [$(evil)]=1)", "array"),
    ("a=(x)y", "follows this array"),
    ("a=(x)(y)", "follows this array"),
    ("a=(x) evil", "before a command"),
    ("a=(x > f)", "array"),
    ("a=(x 2>f)", "redirection"),
    ("a=(x; evil)", "array"),
    ("a=(x & evil)", "array"),
    ("a=(x", "array"),
    ("a=((x))", "array"),
    ("a=\\\n(x)", "array"),
    *(
        (f"{name}(x)", "array")
        for name in ("a=''", "a\\\n=", "a=$y", "a=$'b'", "a=~", "a\\\n+=", "a=b")
    ),
    ("cat <<E; a=(x\ny)\nE\n)", "array"),
    ("declare a=(x)", "bracket"),
    ("declare -A m=([x]=1)", "bracket"),
    *((word, "subscript") for word in ("é=1", "é+=1", "é[0]=1")),
    ("LC_ALL=zh_CN.GBK\necho é", "locale"),
    ("LANG=zh_CN.GBK\necho é", "locale"),
    # redirections
    ("a >", "without a target"),
    ("a > ;", "without a target"),
    ("a >#f", "without a target"),
    ("a <<<#x", "without a target"),
    ("a {fd}>f", "in braces"),
    ("a 1234>f", "descriptor"),
    ("a 2\\\n>f", "descriptor"),
    ("a > 2>f", "descriptor"),
    ("a >&-x", "`>&`"),
    ("a >&2-", "`>&`"),
    ("a 2>&f", "`>&`"),
    ("a >&$x", "`>&`"),
    ("a <&f", "`<&`"),
    ("a >{x,y}", "several files"),
    ("a >(b) >>(c)", "without a target"),
    ("a <\\\n(b)", "continued line"),
    ("cat <<E", "without a body"),
    ("cat <<E\nx", "never closed"),
    ("cat <<$'E'\nE", "delimiter"),
    ("cat <<E$x\nE", "delimiter"),
    ("cat <<'E' \\\n; a\nE", "goes on"),
    ("cat <<E 'a\nE\n'", "goes on"),
    ("cat <<E $(a\nb)\nE", "goes on"),
    ("echo $(cat <<E)\nE", "outlives"),
    ("cat <<E\n\\\nE\nE", "delimiter"),
    ("echo $(cat <<E\nx\nE)", "delimiter"),
    ("cat <<E\n$(evil\nE", "never closed"),
    ("cat <<E\n${x[y]}\nE", "${"),
    # lists and pipelines
    ("&& a", "missing"),
    ("a &&", "without a command"),
    ("a | ", "missing"),
    ("a ;; b", "not understood here"),
    ("a ; ; b", "missing"),
    ("a & && b", "missing"),
    ("a &&& b", "missing"),
    ("a &; b", "missing"),
    ("a ;& b", "not understood here"),
    ("a |\\\n| b", "continued line"),
    ("a &\\\n& b", "continued line"),
    ("a )", "not understood here"),
    ("a (b)", "bracket"),
    ("echo a?(b)", "bracket"),
    ("! ! a", "`!`"),
    ("!(a)", "`!`"),
    ("a | ! b", "`!`"),
    ("a | time b", "`time`"),
    ("time -x a", "`time`"),
    ("time", "`time`"),
    ("time -- a", "`time`"),
    # compound commands
    ("((1) )", "`((`"),
    ("((a); b)", "`((`"),
    ("coproc a", "`coproc`"),
    ("select x in a; do b; done", "`select`"),
    ("function f a; b", "`function`"),
    ("function f\n{ a; }", "`function`"),
    ("function f ( a )", "`function`"),
    ("function if { a; }", "`function`"),
    ("function 'f' { a; }", "`function`"),
    ("then a", "`then`"),
    ("a; done", "`done`"),
    (">f if", "`if`"),
    ("x=1 while", "`while`"),
    ("{ a }", "`}`"),
    ("{ }", "without a command"),
    ("()", "without a command"),
    ("(a", "never closed"),
    ("{ a; } b", "`b`"),
    ("(a) b", "`b`"),
    ("if a; then fi", "without a command"),
    ("if a; b; fi", "`then`"),
    ("while a; b; done", "`do`"),
    ("for i in a; { b; }", "`do`"),
    ("for ((;;)); do a; done", "`for`"),
    ("for 1 in a; do b; done", "`for`"),
    ("for i-j in a; do b; done", "This form of `for`"),
    ("for i.b in a; do b; done", "This form of `for`"),
    ("for i&", "This form of `for`"),
    ("for i", "`do`"),
    ("for i in a & do b; done", "`for`"),
    ("for i in a >f; do b; done", "`for`"),
    ("case x in a) b;; ", "case"),
    ("case x in a b) c;; esac", "pattern"),
    ("case x in (esac) a;; esac", "pattern"),
    ("case x in @(a)) b;; esac", "pattern"),
    ("case #x in a) b;; esac", "subject"),
    ("[[ -v $x ]]", "computed or quoted"),
    ("[[ -v 'x[0]' ]]", "computed or quoted"),
    ("((a) + (b))", "`((`"),
    ("((a b))", "`((`"),
    ("((a[0]))", "`((`"),
    ("(($x = 1))", "`((`"),
    ("((x$y))", "`((`"),
    ("((x)) y", "`y`"),
    ("((x)", "`((`"),
    ("(( 'x' ))", "`((`"),
    ("(( '$(a)' ))", "`((`"),
    ("echo $((i$x))", "arithmetic"),
    ("echo $((1$x))", "arithmetic"),
    ("echo $((${x}y))", "arithmetic"),
    ("echo $((i++))", "arithmetic"),
    ("for ((i=0;i<3)); do a; done", "`for`"),
    ("for ((i=0;i<3;i++)) { a; }", "`do`"),
    ("for ((i=0;i=3;i++)); do a; done", "`for`"),
    ("for ((i=a[0];i<3;i++)); do a; done", "`for`"),
    ("for ((i=0;i<$(a);i++)); do a; done", "`for`"),
    ("[[ -v ]]", "`[[ ]]`"),
    ("[[ -R x ]]", "`[[ ]]`"),
    ("[[ x -eq 1 ]]", "Arithmetic"),
    ("[[ 1 -eq x ]]", "Arithmetic"),
    ("[[ a[0] -eq 1 ]]", "subscript"),
    ("[[ a[0] == b ]]", "subscript"),
    ("[[ a == @(b) ]]", "`[[ ]]`"),
    ("[[ a == !(b) ]]", "`[[ ]]`"),
    ("[[ a ", "`[[ ]]`"),
    ("[[ a ]]b ]]", "`[[ ]]`"),
    ("[[ !(a) ]]", "`[[ ]]`"),
    ("[[ ]]", "`[[ ]]`"),
    ("[[ a\n]]", "`[[ ]]`"),
    ("[[ a == #b ]]", "`[[ ]]`"),
    ("[[ a =~ (b ]]", "`[[ ]]`"),
    ("[[ a =~ )( ]]", "`[[ ]]`"),
    ("[[ -v x-y ]]", "computed or quoted"),
    ("[[ -v x[0] ]]", "subscript"),
    ("[[ x < a[0] ]]", "subscript"),
    ("[[ a[0] ]]", "subscript"),
    ("[[ a == ! ]]", "`[[ ]]`"),
    ("[[ a == ]] ]]", "`[[ ]]`"),
    ("[[ -q ]]", "`[[ ]]`"),
    ("[[ 2>f ]]", "`[[ ]]`"),
    ("[[ a 2>f ]]", "`[[ ]]`"),
    ("[[ 1 -le $ ]]", "Arithmetic"),
    ("[[ 1$x -eq 1 ]]", "Arithmetic"),
    *((f"[[ 1 {operator} x ]]", "Arithmetic") for operator in ("-ne", "-lt", "-le", "-gt", "-ge")),
    *((f"f() {body}", "brackets") for body in ("a", "{}", "{a,b", "{{a \\\\&>x !", "iff", "[[a")),
    ("f(x) { a; }", "bracket"),
    ("f g() { a; }", "bracket"),
    ("x=1 f() { a; }", "bracket"),
    ("'f'() { a; }", "bracket"),
    ("f() { a; } |& b", "function"),
    # the gate
    ("ls\r", "carriage return"),
    ("ls\0", "a NUL character"),
    ("ls\x1b[0m", "an escape character"),
    ("ls\x01", "a control character"),
    ("-n ls", "`-`"),
]


@pytest.mark.parametrize(("command", "reason"), _REFUSED)
def test_a_neighbour_is_refused(command: str, reason: str) -> None:
    """What bash may read otherwise is refused, with a place and a sentence that says what it is."""
    with pytest.raises(ReadError) as caught:
        read(command)
    assert reason in caught.value.message
    assert 0 <= caught.value.span.start <= caught.value.span.end <= len(command)


@pytest.mark.parametrize("command", ["", "  ", "\n\n", "# only a note", " \\\n "])
def test_blank_text_has_no_statements(command: str) -> None:
    """Text without a command is an empty script, which proves nothing."""
    assert read(command).statements == ()


def _words(script: Script) -> tuple[Word, ...]:
    command = script.statements[0].command
    assert isinstance(command, SimpleCommand)
    return command.words


def test_the_plain_way_reads_as_the_full_way() -> None:
    """A plain line gives the same tree as when a trailing newline sends it the longer way."""
    command = "git log --oneline -20 a/b.c:1,2 x=y 3"
    assert _words(read(command)) == _words(read(command + "\n"))


def test_a_literal_knows_whether_it_was_quoted() -> None:
    """Quotes and escapes mark a literal as quoted, so that options and globs can be told."""
    segments = [each.segments for each in _words(read("a 'b' \"c\" \\d $'e' ''"))]
    assert [[s.quoted for s in row if isinstance(s, Literal)] for row in segments] == [
        [False],
        *[[True]] * 5,
    ]
    assert all(segments)


def test_spans_point_into_the_text() -> None:
    """Words, redirections and comments know the characters that they were read from."""
    command = "A=1 ls 'a b' $x >out # note"
    script = read(command)
    simple = script.statements[0].command
    assert isinstance(simple, SimpleCommand)
    spans = [each.span for each in simple.assignments]
    spans += [each.span for each in simple.words]
    spans += [each.span for each in simple.redirects]
    assert [command[slice(*span)] for span in spans] == ["A=1", "ls", "'a b'", "$x", ">out"]
    assert [command[slice(*span)] for span in script.comments] == ["# note"]
    assert command[slice(*simple.span)] == "A=1 ls 'a b' $x >out"


def test_a_heredoc_body_has_its_own_place() -> None:
    """A heredoc's body points at its lines, not at its operator."""
    command = "cat <<E\nx $y\nE\n"
    simple = read(command).statements[0].command
    assert isinstance(simple, SimpleCommand)
    (redirect,) = simple.redirects
    assert isinstance(redirect.target, Heredoc)
    assert command[slice(*redirect.span)] == "<<E"
    assert command[slice(*redirect.target.body.span)] == "x $y\n"


def test_an_error_points_at_its_cause() -> None:
    """The span of a refusal is where the doubt lies."""
    with pytest.raises(ReadError) as caught:
        read("ls; echo ${x@P}")
    assert caught.value.span == Span(9, 11)


_SYNTAX = re.compile(
    r"(?:W|\s|\\\n|&&|\|\||;;&|;;|;&|\|&|[;&|(){}!]"
    r"|\b(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|in|time(?: -p)?|function)\b"
    r"|\b[fi]\b)*"
)


def _spans(node: object) -> list[Span]:
    """Return the places of all words, assignments, redirections and comments of a tree."""
    if isinstance(node, Word | Assignment | Redirect):
        return [node.span]
    if isinstance(node, syntax.Test | syntax.ArithmeticCommand | syntax.Arithmetic):
        return [node.span]
    if isinstance(node, Script):
        return [*node.comments, *_spans(node.statements)]
    if isinstance(node, tuple):
        return [span for each in node for span in _spans(each)]
    return [
        span
        for name in getattr(type(node), "__slots__", ())
        if name not in {"span", "comments"}
        for span in _spans(getattr(node, name))
    ]


@pytest.mark.parametrize(
    "command", [command for command, _ in _TAKEN if "<<" not in command and "'E'" not in command]
)
def test_every_character_is_accounted_for(command: str) -> None:
    """What lies outside of words, redirections and comments is nothing but shell syntax."""
    characters = list(command)
    for start, end in set(_spans(read(command))):
        characters[start:end] = ["W", *[" "] * (end - start - 1)]
    assert _SYNTAX.fullmatch("".join(characters)), "".join(characters)


_FLOODS = {
    "quotes": "'\"" * 5_000,
    "empty quotes": '""' * 5_000,
    "substitutions": "$(" * 3_000,
    "quoted substitutions": '"$(' * 3_000,
    "expansions": "${x:-" * 2_000,
    "open braces": "{a,{b,{c" * 1_250,
    "brace pairs": "a {a,b}" + "{a,b}" * 1_900,
    "ranges": "a " + "{1..9}" * 1_600,
    "dots in braces": "a {" + "..@" * 3_300 + "}",
    "backslashes": "\\" * 10_000,
    "continued lines": "a\\\n" * 3_333,
    "heredocs on a line": "<<a " * 2_500,
    "heredocs": "cat <<a\na\n" * 1_000,
    "continued heredoc": "cat <<a\n" + "b\\\n" * 3_300,
    "brackets": "(" * 10_000,
    "globs": "a " + "*a" * 4_900,
    "bracket globs": "a " + "[" * 9_000,
    "tildes": "a=" + ":~" * 4_900,
    "words": "a " * 5_000,
    "quoted words": "'a' " * 2_500,
    "escaped words": "\\a " * 3_333,
    "lists": "a;" * 5_000,
    "pipes": "a|" * 5_000,
    "newlines": "\n" * 10_000,
    "comments": "#\n" * 5_000,
    "keywords": "if " * 3_333,
    "groups": "{ " * 5_000,
    "functions": "f()" * 3_333,
    "backticks": "`" * 10_000,
    "escaped backticks": "`\\`" * 3_333,
    "arithmetic": "a $((" + "(" * 9_000,
    "sums": "a $((" + "1+" * 4_900 + "1))",
    "redirections": ">a " * 3_333,
    "patterns": "case x in " + "a|" * 4_900,
    "expression": "[[ a =~ " + "(" * 4_900 + "a" + ")" * 4_900 + " ]]",
    "dollars": '"' + "$" * 9_998 + '"',
}


@pytest.mark.parametrize("command", _FLOODS.values(), ids=_FLOODS)
def test_floods_are_answered_at_once(command: str) -> None:
    """No text of 10,000 characters takes long, however it nests; a hang would fail here."""
    start = time.process_time()
    with contextlib.suppress(ReadError):
        read(command[:10_000])
    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    ("taken", "refused"),
    [
        ("$(" * 40 + "a" + ")" * 40, "$(" * 41 + "a" + ")" * 41),
        ("{ " * 40 + "a" + "; }" * 40, "{ " * 41 + "a" + "; }" * 41),
        ("a;" * 300, "a;" * 301),
        ("a " + "\\b " * 1_000, "a " + "\\b " * 1_001),
        ("a {1..100}", "a {1..101}"),
        ("a " + "{b," * 8 + "c" + "}" * 8, "a " + "{b," * 9 + "c" + "}" * 9),
        ("a {b}" + "," * 294 + "{b}", "a {b}" + "," * 295 + "{b}"),
        ("a {001..100}" + "x" * 97, "a {01..73}" + "x" * 135),
        ("a" + f" {{001..100}}{'x' * 60}" * 2, "a" + f" {{001..100}}{'x' * 61}" * 2),
    ],
    ids=[
        *("substitutions", "groups", "commands", "pieces", "braces"),
        *("nested braces", "pieces of braces", "characters of braces", "long braces"),
    ],
)
def test_budgets_end_where_they_say(taken: str, refused: str) -> None:
    """A command at the edge of a budget is read; one step beyond it is refused."""
    read(taken)
    with pytest.raises(ReadError):
        read(refused)
