"""The pieces that the generator puts together: texts by their role, syntax, hostile pieces."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "BODIES", "BUILTINS", "CLAUSE_ENDS", "COMMON", "COMPUTED", "DIRECTORIES", "FILES", "FILTERS",
    "FORMATS", "GLOBS", "HOSTILE_PREFIXES", "INJECTIONS", "NUMBERS", "OPTIONS", "PREFIXES", "READS",
    "REDIRECTS", "TESTS", "TEXTS", "USES", "VALUES", "WRAPPERS",
]  # fmt: skip

BUILTINS = frozenset(
    "alias builtin cd command declare dirs echo export false getopts hash help history jobs let "
    "local printf pwd read readonly return set shift shopt test times true type typeset ulimit "
    "umask unalias unset wait [ : break continue exit enable bind complete compgen trap eval exec "
    "source . pushd popd mapfile readarray fc bg fg disown kill caller".split()
)

COMMON = tuple(
    "ls cat grep find git git git git sed awk head tail wc sort uniq cut tr rg jq echo printf test "
    "stat file diff xargs env date du df ps tree less basename dirname realpath readlink tee "
    "python3 npm cargo go make tar unzip sqlite3 column nl od xxd sha256sum which type command "
    "fdfind ag ack man dpkg apt apt-cache ip ss lsof openssl gpg perl ruby node gh".split()
)

FILES = tuple(
    """f g a b README.md src/app.py data.csv data.json f.json f.yaml f.xml . src docs .. ./f ~ ~/notes.txt
    /etc/passwd link dirlink dangling abs x.tar a.tar.gz a.zip f.gz data.bin app.db app.log d sub
    bare.git .env .git/config "file with spaces.txt" ./-rf ./--output=x -rf --output=x -exec -o '-o PWNED'
    './$(touch PWNED)' '*' '[x]' ';touch PWNED;' nosuch src/main.c sums.txt token.b64 /dev/null - -- '' /tmp
    /dev/stdin evil.1 evil.jq tags magic Makefile package.json $HOME/notes.txt "$PWD/f" {f,g} src/*.py
    'a\\b' %s @f +x =x a:b host:f HEAD HEAD~1 main src/main.go""".replace(
        '"file with spaces.txt"', "'file\x00with\x00spaces.txt'"
    )
    .replace("'-o PWNED'", "'-o\x00PWNED'")
    .replace("'./$(touch PWNED)'", "'./$(touch\x00PWNED)'")
    .replace("';touch PWNED;'", "';touch\x00PWNED;'")
    .split()
)
FILES = tuple(name.replace("\0", " ") for name in FILES)

_BARE_FILES = tuple(
    name for name in FILES if not any(mark in name for mark in "'\"$*{~\\")
) + (
    "file with spaces.txt", "-o PWNED", "$(touch PWNED)", "*", "new\nline", "x=$(touch PWNED)",
    "f", "g", "f", "README.md", "src/app.py", "src", ".", "data.json",
)  # fmt: skip

GLOBS = ("*", "*.py", "src/*", "?", "-*", "[-]*", "./*", "**", "*/*", "~/.*", "$x*", "{f,-o}", "--*")

NUMBERS = ("1", "3", "10", "0", "-1", "1k", "5M", "2.5", "100", "+2", "1d")

TEXTS = (
    *("foo", "TODO", "x", "def foo", "a.b", ".", "*", "^line", "x|y", "(a|b)+", "name", "%s", "%d\n"),
    *("1,3", "1-3", "-", ":", ",", "\t", "", "a b", "it's", 'say "x"', "$HOME", "$(touch PWNED)"),
    *("`touch PWNED`", "; touch PWNED", "é", "never", "always", "auto", "utf-8", "HEAD", "main", "HEAD~1"),
    *("main..feature", "v1.0", "origin/main", "HEAD:f", "--output=PWNED", "-o", "user.name", "refs/heads"),
    *("iso", "short", "%Y-%m-%d", "1", "5", "json", "yaml", "text", "size", "py", "*.py", "src/", ".a", "."),
    *("PWNED", "/tmp/PWNED", "bash", "ls", "root", "dev", "1 day ago", "@{u}", "stash@{0}", "a=b"),
)

FORMATS = (
    *("oneline", "short", "%h %s", "format:%an %ad", "tformat:%H", "%Cred%h%Creset", "%G?", "%GK", "% GK"),
    *("format:%-G?", "%(trailers)", "%(signature)", "%(contents)", "%(refname)", "%(objectname)", "%+GS"),
    *("{{.Names}}", "{{json .}}", "table", "custom-columns=A:.a", "%w(80)%GG", "%<(20)%s", "%%G?", "%d"),
    *("evil", "medium", "fuller", "raw", "email", "format:%x00", "%C(auto)%h", "%(if)x%(then)y%(end)"),
)

COMPUTED = (
    *('"$x"', "$x", "$HOME", '"$HOME"', "$(pwd)", '"$(pwd)"', "$1", '"$@"', "$*", "$?", "$#", "$RANDOM"),
    *("${x:-f}", "${x:--o}", "$(echo f)", "$((1+2))", "~", "~root", "{f,g}", "{1..3}", "<(echo f)", "$x$y"),
    *("$(git rev-parse HEAD)", "$(ls)", "$(find . -name '-*')", "$(printf '%s' -o)", "${HOME##*/}", "$_"),
)

DIRECTORIES = (
    *("src", "docs", "..", ".", "/tmp", "~", "d", "sub", "bare.git", "dirlink", "nosuch", '"$HOME"'),
    *("$(git rev-parse --show-toplevel)", "-", "$x", "src/..", "/", "up", "empty", "-- src", "-P src", ".git"),
)

OPTIONS = (
    *("-o", "-oPWNED", "--output=PWNED", "--output", "--outp=PWNED", "-o PWNED", "-i", "-i.bak", "--in-place"),
    *("-exec touch PWNED \\;", "-delete", "-fprint PWNED", "-fls PWNED", "-ok touch PWNED \\;", "-execdir ./evil.sh {} +"),
    *("--pre=./evil.sh", "--pre ./evil.sh", "--ext-diff", "--textconv", "--output-directory=PWNED", "-w PWNED"),
    *("--open-files-in-pager=./evil.sh", "-O./evil.sh", "--compress-program=./evil.sh", "--files0-from=f"),
    *("-I ./evil.sh", "--to-command=./evil.sh", "--checkpoint-action=exec=./evil.sh", "--use-compress-program=./evil.sh"),
    *("-c core.pager=./evil.sh", "-c alias.x=!./evil.sh", "-p", "--paginate", "--exec-path=.", "--upload-pack=./evil.sh"),
    *("--pager=./evil.sh", "-e 'system(\"touch PWNED\")'", "-f evil.jq", "-x ./evil.sh", "-X ./evil.sh", "-S"),
    *("--eval=1", "-C d", "--git-dir=bare.git", "--work-tree=d", "-d", "-D", "-f", "--force", "-m x", "-a", "-u"),
    *("--set=x", "--edit", "-v PWNED", "-t", "-rf", "-R", "--recursive", "--follow", "-L", "--debug", "--log-file=PWNED"),
    *("--show-signature", "--format=%G?", "--pretty=evil", "--submodule=diff", "--recurse-submodules", "--ignore-submodules=none"),
    *("--magic-file=magic", "-k x", "--version", "--help", "-h", "-V", "--config=evil.yaml", "-q", "--", "-", "+x"),
)  # fmt: skip

INJECTIONS = (
    *("; touch PWNED", "&& touch PWNED", "| tee PWNED", "> PWNED", ">> PWNED", "$(touch PWNED)", "`touch PWNED`"),
    *("& touch PWNED", "|| touch PWNED", "\ntouch PWNED\n", "<(touch PWNED)", ">(touch PWNED)", "2> PWNED", "&> PWNED"),
    *(">| PWNED", "<> PWNED", ">& PWNED", "{x}>PWNED", "| sh", "| xargs touch", "| sed 'w PWNED'", "; ./evil.sh"),
    *("${x:=$(touch PWNED)}", "$((a[$(touch PWNED)]))", "${x@P}", "| awk '{print > \"PWNED\"}'", "; eval 'touch PWNED'"),
    *("| xargs -I% sh -c %", "; . ./evil.sh", "; ls() { touch PWNED; }; ls", "; PATH=.:$PATH; ls", "; alias ls=./evil.sh"),
    *("; exec ./ls", "; cd d; ./git status", "# comment\ntouch PWNED", "\\\n; touch PWNED", "<<< $(touch PWNED)"),
    *("; trap 'touch PWNED' EXIT", "; cd src && ls", "; git status", "; x=-o; sort $x PWNED f", "; set -- -o PWNED; sort $@ f"),
)  # fmt: skip

PREFIXES = (
    *("LC_ALL=C", "LANG=C", "TZ=UTC", "NO_COLOR=1", "GIT_PAGER=cat", "PAGER=cat", "x=1", "TERM=dumb"),
    *("FORCE_COLOR=1", "LC_COLLATE=C", "CI=1", "COLUMNS=80", "LC_ALL=C.UTF-8 TZ=", "DEBUG=1", "NODE_ENV=test"),
)

HOSTILE_PREFIXES = (
    *("PATH=.:$PATH", "LD_PRELOAD=./x.so", "GIT_EXTERNAL_DIFF=./evil.sh", "PAGER=./evil.sh", "GIT_DIR=bare.git"),
    *("LESSOPEN='|./evil.sh %s'", "BASH_ENV=evil.sh", "GIT_SSH_COMMAND=./evil.sh", "EDITOR=./evil.sh", "HOME=d"),
    *("TAR_OPTIONS=--to-command=./evil.sh", "RIPGREP_CONFIG_PATH=.ripgreprc", "PYTHONPATH=.", "NODE_OPTIONS='-r ./x'"),
    *("GIT_CONFIG_COUNT=0", "GIT_TRACE=$PWD/PWNED", "GREP_OPTIONS=-o", "IFS=x", "LS_COLORS=$(touch PWNED)", "PS4=x"),
    *("MANPAGER=./evil.sh", "GIT_PAGER=./evil.sh", "LC_ALL=$(touch PWNED)", "TZ=:../x", "COLUMNS=x", "SHELLOPTS=xtrace"),
)

REDIRECTS = (
    *("2>/dev/null", "2>&1", ">/dev/null", "</dev/null", "&>/dev/null", "< f", ">/dev/null 2>&1", "<<< x"),
    *("2>&-", "1>&2", ">>/dev/null", "<<< $x", "< 'file with spaces.txt'", "3>&1", "> /dev/stderr", ">| /dev/null"),
)

FILTERS = (
    *("head -5", "tail -n 3", "wc -l", "sort", "sort -u", "uniq -c", "grep -v foo", "cut -d: -f1", "tr a b"),
    *("awk '{print $1}'", "sed -n 1,5p", "sed 's/a/b/'", "xargs", "xargs -n1 echo", "xargs -0 cat", "nl", "rev"),
    *("cat -A", "xargs wc -l", "xargs grep foo", "tee /dev/null", "column -t", "jq .", "less", "more", "cat"),
    *("xargs -I{} cat {}", "xargs ls -la", "xargs git log -1 --", "xargs file", "xargs sort", "awk -F, '{s+=$2} END {print s}'"),
)  # fmt: skip

CLAUSE_ENDS = ("{} \\;", "{} +", "\\;", "{} ';'", "{} {} \\;", "-- {} +")

TESTS = (
    *("test -f f", "[ -d src ]", "[[ -n $x ]]", "[[ f == f* ]]", "true", "false", "grep -q foo f", "[ 1 -lt 2 ]"),
    *("command -v ls >/dev/null", "[[ $x =~ ^a ]]", "! test -e nosuch", "[[ -f f && -d src ]]", "test -n \"$x\""),
    *("[[ $(ls) ]]", "git diff --quiet", "[[ f -nt g ]]", "(( 1 < 2 ))", "[ -x ./ls ]", "type git >/dev/null 2>&1"),
)  # fmt: skip

USES = (
    *("echo {0}", "cat {0}", "ls {0}", "grep foo {0}", "head -1 -- {0}", "git log -1 -- {0}", "sort {0}", "find {0}"),
    *("find . -name {0}", "wc -l {0}", "[ -f {0} ] && echo y", "printf '%s\\n' {0}", "git show {0}", "test -e {0}"),
    *("sed -n 1p {0}", "cat -- {0} | sort", "awk '{{print}}' {0}", "tar -tf {0}", "cd {0} && ls", "{0}", "rg x {0}"),
)

BODIES = (
    *("plain", "$HOME and $x", "$(ls)", "$(touch PWNED)", "`touch PWNED`", '{"a": 1}', "\\$(touch PWNED)", "a\n b"),
    *("${x:-f}", "$((1+1))", "$((a[$(touch PWNED)]))", "EOF x", "\tEOF", "it's", "f\ng", "'$(touch PWNED)'"),
)

WRAPPERS = (
    *("env", "nice", "timeout 5", "nohup", "stdbuf -oL", "time", "command", "builtin", "env -i", "env X=1", "nice -n 5"),
    *("xargs", "xargs -r", "env LC_ALL=C", "timeout -k 1 2", "command -p", "exec", "ionice -c3", "setsid", "chrt -i 0"),
    *("echo f | xargs", "ls | xargs -n 1", "env -u X", "time -p", "find . -name f -exec {} \\;", "sudo", "env --", "!"),
    *("env -C src", "watch -n1", "script -c", "flock f", "strace", "git ls-files | xargs", "printf 'f\\0' | xargs -0", "busybox"),
)  # fmt: skip

_SED = (
    *("1,5p", "s/a/b/", "s/a/b/g", "/foo/p", "$!d", "/x/d;s/^/> /", "y/ab/ba/", "1~2p", "w PWNED", "s/a/b/w PWNED"),
    *("1e touch PWNED", "s/.*/touch PWNED/e", "r f", "1r/etc/passwd", "$=", "/a/,/b/p", "s|x|y|;w PWNED", "q", "1{p;q}"),
    *("s/\\n/ /", ":a;N;$!ba;s/\\n/,/g", "/a/I,+3p", "s/a/w PWNED/", "s/e/&e/ge", "5!{d}", "l", "F", "n;d", "R f", "W PWNED"),
    *("s/x/\\\nw PWNED/", "a\\\nw PWNED", "i text", "c x", "s,a,b,2gI", "v", "z", "# w PWNED", "{;;}", "s/[/]/x/", "M;w x"),
)  # fmt: skip

_AWK = (
    *("{print}", "{print $1}", "NR>2", "/foo/{n++} END{print n}", '{printf "%s\\n", $2}', "BEGIN{FS=\":\"} {print $1}"),
    *('{print > "PWNED"}', 'BEGIN{system("touch PWNED")}', '{print | "sh"}', '"date" | getline x', "{print $1 > $2}"),
    *("length > 10", "NF", "!seen[$0]++", "{gsub(/a/,\"b\")} 1", "END{print NR}", "{$1=\"\"; print}", "substr($0,1,3)"),
    *("{print $1 \" > \" $2}", "$1>3", "($1 > 3)", "{print ($1>2)}", "{print $1, $2 > \"/dev/stderr\"}", "1;/x|y/", "a[$1]>1"),
    *("@load \"x\"", "function f(x){return x} {print f(1)}", "{print length()}", "BEGIN{getline < \"f\"; print}", "{print -1 \" \"}"),
)  # fmt: skip

_SQLITE = (
    *("SELECT * FROM users", ".tables", ".schema", "select count(*) from users;", ".mode csv", "PRAGMA table_info(users)"),
    *("DELETE FROM users", ".shell touch PWNED", ".output PWNED", "CREATE TABLE x(a)", "ATTACH 'PWNED' AS p", ".dump"),
    *("WITH x AS (SELECT 1) SELECT * FROM x", "EXPLAIN SELECT 1", "VACUUM", ".once PWNED", "select writefile('PWNED','x')"),
    *("PRAGMA journal_mode=WAL", "SELECT load_extension('./x')", "select edit('x','./evil.sh')", ".read f", ".headers on"),
)  # fmt: skip

_ASSIGNMENTS = ("x=1", "LC_ALL=C", "X=y", "PATH=.", "GIT_DIR=d", "LANG=C", "PAGER=cat", "EDITOR=vi", "LD_PRELOAD=x", "_=1")

VALUES: Mapping[str, tuple[str, ...]] = {
    "text": TEXTS,
    "number": NUMBERS,
    "list": _BARE_FILES,
    "read": _BARE_FILES,
    "write": ("PWNED", "/dev/null", "f", "/tmp/x", "-", "/dev/stdout"),
    "delete": ("f", "PWNED"),
    "move": ("f",),
    "into": ("PWNED", "d"),
    "host": ("example.invalid", "localhost", "origin", "."),
    "directory": ("src", ".", "..", "d", "bare.git", "sub", "/tmp", "nosuch"),
    "cd": ("src", ".", "..", "d", "-", "/tmp", "bare.git"),
    "assignment": _ASSIGNMENTS,
    "local": ("x", "x=1", "x=f", "PATH=.", "a[0]=1", "IFS=,"),
    "variable": ("x", "line", "PATH", "a[0]", "IFS", "REPLY"),
    "placeholder": ("{}", "%", "-o", "f"),
    "sed": _SED,
    "awk": _AWK,
    "sqlite": _SQLITE,
}
"""What the arguments of each role may be, as the program sees them."""

READS = (
    *("ls -la", "git status", "git log --oneline -5", "git diff", "cat f", "pwd", "echo hi", "grep -rn foo src"),
    *("find . -name '*.py'", "rg TODO", "git branch -a", "git show --stat", "wc -l f", "head -20 f", "date", "id"),
    *("git log -p -2", "git blame src/app.py", "git stash list", "git diff --cached", "git ls-files", "ps aux", "env"),
    *("git log --graph --all", "git describe --tags", "git remote -v", "git config --list", "git show HEAD:f", "uname -a"),
    *("find . -type f -exec wc -l {} +", "sed -n '1,5p' f", "awk '{print $1}' f", "jq . data.json", "tree -L 2", "du -sh ."),
    *("ls *", "cat ./*", "git status --porcelain", "git -C d status", "git -C sub log", "git grep foo", "git submodule status"),
)  # fmt: skip
