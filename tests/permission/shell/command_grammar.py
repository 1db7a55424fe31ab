"""Composes command lines from fragments of shell syntax, for the oracles.

A `Chooser` picks one of several options; hypothesis and a plain random generator both serve.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

__all__ = ["Chooser", "compose", "jumble"]

Chooser: TypeAlias = Callable[[Sequence[str]], str]

# fmt: off
_NAMES = [
    "a", "b", "c", "a", "b", "evil", "no", "12", "a", "b", "c", "a", "b", "in", "'a'", '"b"', "\\a",
    "$'\\x61'", "$u",
]
_PLAIN = [
    "x", "y1", "-f", "--k=v", "1", "12", "@", "%", "+", "p:q", "é", "]", "}", "!", ",", "..", "=",
    "^", "#", "x#y", "a=b", "if", "done", "in", "/", ".", "{", "~x", "}x", "$", "[", "-", "--", ":",
]
_SINGLE = [
    "'q r'", "''", "'$x'", '\'"\'', "'\\'", "'a;b|c&d'", "'#'", "'x\ny'", "'*'", "'{s,t}'", "'~'",
]
# fmt: on
_DOUBLE = [
    *('"d q"', '""', '"\\$x"', '"\\""', '"a\'b"', '"d\\e"', '"x\\\ny"', '"$u"', '"${u}"', '"$"'),
    *('"!"', '"x\ny"', '"\\\\"', '"a$u b"', '"#"', '"$(a \\"1\\")"', '"`b 2`"', '"$(a "1 2")"'),
    *('"{s,t}"', '"~"', '"$ x"', '"a$"', '"${u:-x y}"', '"${u:-$(c)}"', '"${#u}"', '"${u%x}"'),
    *("\"$'x'\"", '"${u/\\//x}"', '$"tr"', '"$((3))"', '"\\`"', '"\\x"', '"*"', '"\\\n"'),
]
_ESCAPED = [
    *("\\ ", '\\"', "\\'", "\\$", "\\\\", "\\k", "\\\n", "\\;", "\\|", "\\#", "\\*", "\\{", "\\,"),
    *("\\~", "\\=", "\\&", "\\(", "\\}", "\\!", "\\`", "\\>", "\\[", "\\é", "\\\\\\\n"),
]
# fmt: off
_ANSI = [
    "$'a'", "$'\\n'", "$'\\x41'", "$'\\''", "$'\\\\'", "$'\\101'", "$'\\u0041'", "$'a b'", "$''",
    "$'\\e'", "$'\\x4g'", "$'\\1012'", '$\'"\'', "$'\\t;'", "$'\\?'", "$'x\\\ny'", "$'$u'", "$'é'",
]
_BRACES = [
    "{x,y}", "{x,}", "{1..3}", "{01..03}", "{c..a}", "{x,{y,z}}", "{}", "{x}", "{1..}", "{x,'y z'}",
    "{,}", "{${u},x}", "{\\,,x}", "@{1}", "{1..9..3}", "{-1..1}", "{x,,y}", '{x,"}"}',
    "{x..y}{s,t}", "{s,t}{1,2}", "{$u,x}", "{x,\\}}", "{1..$u}", "{~,x}", "{a..C}", "{x,$(b)}",
    "{3..1..2}", "{0..0}", "{z*,z?}", "{'x,y'..z}", "{x,y", "x,y}", "{-01..2}", "{a..e..2}",
    "{x,`b`}", "{x,<y}", "{$,x}u",
]
_VARIABLES = [
    "$u", "${u}", "${u:-x}", "${u-x}", "${u:+x}", "${#u}", "${u%x}", "${u//x/y}", "${u:-$(a v)}",
    "${u:1}", "${u:0:2}", "${u: -1}", "${u:-}", "${u#'x}'}", "${u:-\\}}", "${u^^}", "${u:-`b`}",
    '${u:-"x"}', "${u:+a b}", "${u##*/}", "${u%%.*}", "${u:=x}", "$((3))", "$(( 12 ))", "$@", "$*",
    "${u:-a # b}", "${u:-a;evil}", "${u:-a|b}", "${u/a/'}'}", "${u:-~}", "${u:-z*}", "$((1+2*(3)))",
    "$((u))", "$(( $u + 1 ))", "${u:?x}", "$#", "$?", "${1}", "$1x", "${#}", "${u+$(evil)}", "$12",
    "${u:-{x}", "${u:-'a b'}", "${u:-\\'}", "${u:-a&b}", "$((1<2))", "$((1 ? 2 : 3))", "${u,,}",
    "${u@Q}", '"${u@A}"', "${u@U}x", "${u@P}", "${u@Qx}", "${!u}", "${!u*}", '"${u@}"',
]
_SUBSTITUTIONS = [
    "$(a)", "$(b 1; c 2)", "`a`", "`b \\`c\\``", "$(a $(b))", "$()", "$( # )\n)", "$(a; )",
    "$(a\n)", "$(a 'x)')", '$(a ")")', "$( (a) )", "$(a \\))", "`a '\\\\'`", "`a \\$u`", "$(a | b)",
    "$(no)", "$(case x in x) a;; esac)", "$(case x in (x) b;; esac)", "$(a <<E\nx)\nE\n)",
    "$(<out/none)", "$(evil)", "`evil`", "$(if a; then b; fi)", "$(a # x\n)", "$({ a; })", "$(! a)",
]
_GLOBS = [
    "z*", "z?", "z[ab]", "z[", "z]", "z[!a]", "z[]", "z['a']", "*z", "z**", "z[[:alpha:]]", "z[a",
]
# fmt: on
_TILDES = ["~", "~/x", "v=~", "v=~:~/b", "x~", "v=x:~", "~/'x y'", "--v=~", ":~"]
_PIECES = [
    _PLAIN, _PLAIN, _PLAIN, _SINGLE, _DOUBLE, _DOUBLE, _ESCAPED, _ANSI, _BRACES, _VARIABLES,
    _SUBSTITUTIONS, _GLOBS, _TILDES,
]  # fmt: skip

# fmt: off
_FILES = [
    "out/f", "/dev/null", "'out/g'", 'out/"h i"', "out/{k,}", "out/k$u", "out/\\j", "out/$'l'",
]
# fmt: on
_OPERATORS = [">", ">>", ">|", "<>", "2>", "12>", "5<>", "&>", "&>>", ">&", "3>>", "0<>", "1>"]
_DUPLICATES = ["2>&1", ">&2", "1>&2", ">&-", "2>&-", "12>&1", "<&-", ">& 2", "12>&-"]
_BLANKS = [" ", " ", " ", " ", "  ", "\t", " \\\n", " \\\n "]
# fmt: off
_SEPARATORS = [
    "; ", "\n", " && ", " || ", " & ", ";", "\n\n", " ;\n", " # note\n", "&&\n", "; # 'x\n",
]
# fmt: on
_PIPES = [" | ", "|", " |& ", " |\n", "| \\\n"]


def _word(choose: Chooser) -> str:
    count = int(choose(["1", "1", "1", "2", "2", "3"]))
    text = ""
    for _ in range(count):
        pieces = _PIECES[int(choose([str(index) for index in range(len(_PIECES))]))]
        text += choose(pieces)
    return text


def _redirect(choose: Chooser) -> str:
    kind = choose(["file", "file", "duplicate", "string", "null", "process"])
    if kind == "process":
        return choose(["< <(a)", "> >(b)", "<(a)", "2> >(no)", ">(c; b)"])
    if kind == "duplicate":
        return choose(_DUPLICATES)
    if kind == "string":
        return "<<<" + choose(["", " "]) + _word(choose)
    if kind == "null":
        return choose(["2>/dev/null", "</dev/null", ">/dev/null", "12</dev/null", "&>/dev/null"])
    return choose(_OPERATORS) + choose(["", " "]) + choose(_FILES)


def _assignment(choose: Chooser) -> str:
    value = choose(
        ["", "1", "'x y'", '"$u"', "{x,y}", "~", "$(a)", "x:~", "z*", "`b`", "a=b", "\\ "]
    )
    return choose(["v", "w_1", "V"]) + choose(["=", "=", "+="]) + value


def _simple(choose: Chooser) -> str:
    parts = [
        choose([_assignment(choose), _redirect(choose)])
        for _ in range(int(choose(["0", "0", "0", "0", "1", "2"])))
    ]
    parts.append(choose(_NAMES))
    parts.extend(_word(choose) for _ in range(int(choose(["0", "1", "1", "2", "3"]))))
    if choose(["no", "no", "yes"]) == "yes":
        parts.append(_redirect(choose))
    text = parts[0]
    for part in parts[1:]:
        text += choose(_BLANKS) + part
    return text


_BODIES = [
    *("x\n", "", "$u\n", "$(b in)\n", "it's\n", '"\n', "`c`\n", "x\\\ny\n", "\\$(a)\n", "E x\n"),
    *("${u:-x}\n", "$((1))\n", "a\\\\\n", "\\\nE\n", "$(a\nb)\n", "E\\\n", " E\n", "\tE\n"),
    "$(a <<F\nq\nF\n)\n",
]
_DELIMITERS = ["<<E|E", "<<'E'|E", '<<"E"|E', "<<\\E|E", "<< E|E", "<<-E|E", "<<-E|\tE"]
_AFTER_HEREDOC = ["", "", " x", " | b", "; b y", " && c", " >out/f", " 2>&1", " # n", " <<<z"]


def _heredoc(choose: Chooser) -> str:
    opener, close = choose(_DELIMITERS).split("|")
    return f"a {opener}{choose(_AFTER_HEREDOC)}\n{choose(_BODIES)}{close}\n"


def _ended(text: str, end: str) -> str:
    """Add a separator, unless a heredoc's last newline already is one."""
    return text if text.endswith("\n") and not text.endswith("\\\n") else text + end


# fmt: off
_HEREDOC_FORMS = [
    "a <<E <<F\n1\nE\n$(b)\nF\n", "a <<E | b <<'F'\n$(c)\nE\n$(c)\nF\n", "(a <<E)\n$(b)\nE\n",
    "{ a <<E; }\nx\nE\n", "if a <<E; then\nx\nE\nb; fi", "{ a <<E; b\nx\nE\nc; }",
    "a $(b <<E\nq\nE\n) <<F\nz\nF\n", "while no <<E; do\nx\nE\nb; done",
    "case x in x) a <<E;;\nx\nE\nesac", "g() { a; } <<E\nx\nE\ng",
    'a "$(b <<\'E\'\nit\'s "q"\nE\n)"', "a <<E # <<F\nx\nE\n", "a <<E && b\nx\nE\n",
    "a <<E &\nx\nE\nb", "a <<-E <<F\n\tx\n\tE\ny\nF\n",
]
_OPERANDS = [
    "x", "'q r'", '"$u"', "$u", "~", "z*", "\\x", "{x,y}", "$(a)", "a=b", "-x", "12", "''", "[",
    "if",
]
_EXPRESSIONS = [
    "^(x|y)$", "x+", "^[0-9]+\\.[0-9]*$", "(a(b))", "[[:space:]]", "$u", "'q r'", "x{2,3}", "\\(",
]
# fmt: on
_COMPARISONS = ["==", "=", "!=", "<", ">", "-nt", "-ef"]
_NUMBERS = ["1", "$#", "$?", "${#u}", "-1"]


def _test(choose: Chooser, depth: int = 1) -> str:
    left = choose(_OPERANDS)
    options: dict[str, Callable[[], str]] = {
        "unary": lambda: choose(["-f", "-z", "-n", "-d", "-o", "-t"]) + " " + left,
        "binary": lambda: f"{left} {choose(_COMPARISONS)} {choose(_OPERANDS)}",
        "number": lambda: f"{choose(_NUMBERS)} {choose(['-eq', '-lt'])} {choose(_NUMBERS)}",
        "match": lambda: f"{left} =~ {choose(_EXPRESSIONS)}",
        "bare": lambda: left,
        "both": lambda: f"{_test(choose, 0)} {choose(['&&', '||'])} {left}",
        "group": lambda: f"( {_test(choose, 0)} )",
        "not": lambda: f"! {_test(choose, 0)}",
    }
    return options[choose(list(options)[: None if depth else 5])]()


def _list(choose: Chooser, depth: int) -> str:
    text = _pipeline(choose, depth)
    for _ in range(int(choose(["0", "0", "1", "2"]))):
        text = _ended(text, choose(_SEPARATORS)) + _pipeline(choose, depth)
    return text


def _pipeline(choose: Chooser, depth: int) -> str:
    text = choose(["", "", "", "", "! ", "time ", "time -p ", "! time "]) + _command(choose, depth)
    if choose(["no", "no", "no", "yes"]) == "yes":
        text = _ended(text, choose(_PIPES)) + _command(choose, depth)
    return text


def _command(choose: Chooser, depth: int) -> str:
    form = choose(["simple"] * 12 + ["compound"] * 4 + ["heredoc"] * 3 + ["heredocs"])
    if form == "heredocs":
        return choose(_HEREDOC_FORMS)
    if form == "heredoc":
        return _heredoc(choose)
    if form == "simple" or depth <= 0:
        return _simple(choose)
    text = _compound(choose, depth - 1)
    if choose(["no", "no", "no", "yes"]) == "yes":
        text += choose([" ", ""]) + _redirect(choose)
    return text


def _compound(choose: Chooser, depth: int) -> str:
    end = choose(["; ", "\n", ";", " # n\n"])
    inner = _list(choose, depth)
    body = _ended(inner, end)
    forms: dict[str, Callable[[], str]] = {
        "group": lambda: "{ " + body + "}",
        "subshell": lambda: "(" + _ended(inner, choose(["", " ", "; ", "\n"])) + ")",
        "for": lambda: f"for i in {_words(choose)}{end}do {body}done",
        "if": lambda: _branches(choose, body, end),
        "while": lambda: f"while no{end}do {body}done",
        "until": lambda: f"until a{end}do {body}done",
        "case": lambda: _case(choose, inner, end),
        "function": lambda: _function(choose, end),
        "test": lambda: f"[[ {_test(choose)} ]]",
        "arithmetic": lambda: f"(({_number(choose)}))",
        "counting": lambda: f"for ((i=0; i<{_number(choose)}; i++)){end}do {body}done",
    }
    return forms[choose([*forms, "test"])]()


def _number(choose: Chooser) -> str:
    return choose(
        [
            "2",
            " 1 ",
            "i < 3",
            "i++",
            "j=2",
            "u",
            "$u",
            "x$u",
            "(1)",
            "i+=1",
            "z[0]",
            "--i",
            "$(a)",
            "1 + $(b 1)",
            "$(a)1",
        ]
    )


def _words(choose: Chooser) -> str:
    return " ".join(_word(choose) for _ in range(int(choose(["0", "1", "2"]))))


def _branches(choose: Chooser, body: str, end: str) -> str:
    condition = _ended(_list(choose, 0), end)
    rest = choose(["", f"else {body}", f"elif no{end}then a{end}else b 5{end}"])
    return f"if {condition}then {body}{rest}fi"


def _case(choose: Chooser, inner: str, end: str) -> str:
    pattern = choose(["x", "*", "'x'", "y|x", "(x", "\\x", "x*", "y", "[x]", '"x"y', "x | y"])
    arm = _ended(inner, choose([";;", ";;\n", "\n;;", end]))
    subject = choose(["x", "'x'", "$u", "x*", "{x,y}", "~"])
    return f"case {subject} in {pattern}) {arm}{choose([' ', ''])}esac"


def _function(choose: Chooser, end: str) -> str:
    body = _list(choose, 0)  # no function inside, so that none calls itself
    group = choose(["{ " + _ended(body, end) + "}", "(" + body + ")"])
    return choose(["f() ", "f () ", "f()\n"]) + group + choose(["; f", "\nf", ""])


def compose(choose: Chooser) -> str:
    """Compose a command line that mostly is valid shell."""
    return _list(choose, 2)


# fmt: off
_FRAGMENTS = [
    " ", " ", " ", " ", "\n", ";", "&", "|", "&&", "||", ">", "<", ">>", "<<", "<<<", ">&", "<&",
    "2>", "(", ")", "((", "))", "{", "}", "{ ", " }", "[[", "]]", "[", "]", "$", "$(", "$((", "${",
    "`", "'", '"', "\\", "\\\n", "#", "!", "~", "*", "=", ",", ";;", "|&", "&>", "<(", ">(", "$'",
    '$"', "\t", "evil", "evil ", " evil", "evil;", ";evil", "evil)", "`evil`", "$(evil)", "a", "b",
    "x", "E", "1", "if ", "then ", "fi", "for i in ", "do ", "done", "while ", "case x in ", "esac",
    "x) ", "f() ", "time ", "! ", "function ", "coproc ", "select ", "<<E\n", "\nE\n", "u:-", "x=",
    "a[", "-eq", " in ", "12>out/f", "${u:-", "out/f", "{a,", "..", "else ", "elif ", "until ",
    "<<'E'\n", "-", "@", "^", "%",
]
# fmt: on


def jumble(choose: Chooser) -> str:
    """Join fragments of shell syntax without regard to grammar."""
    count = int(choose([str(number) for number in range(2, 14)]))
    return "".join(choose(_FRAGMENTS) for _ in range(count))
