"""The texts of the hostile world: what lies in the project and in the home.

`@MARKS@` stands for the directory of the marks, `@HOME@` for the home.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

__all__ = ["HOME_FILES", "HOOKS", "ODD_NAMES", "PROJECT_FILES", "SHADOWED", "TEXTS"]

_LINES = "".join(f"line {number} foo TODO x{number}\n" for number in range(1, 41))

TEXTS: Mapping[str, str] = {
    **dict.fromkeys(("f", "a", "b", "c", "x", "log.txt", "app.log", "file.txt"), _LINES),
    "g": "one\ntwo\nthree\n",
    "README.md": "# Project\n\nfoo: see docs. TODO\n",
    "file with spaces.txt": "spaces\n",
    "data.csv": "id,name,n\n1,ann,3\n2,bob,4\n",
    "data.json": '[{"name": "ann", "n": 1}, {"name": "bob", "n": 2}]\n',
    "f.json": '{"a": {"b": [1, 2]}, "key": "value"}\n',
    "f.xml": "<r><a>1</a><a>2</a></r>\n",
    "f.yaml": "a:\n  b: 1\n",
    "config.yaml": "port: 80\n",
    "token.b64": "aGVsbG8K\n",
    "sums.txt": "e258d248fda94c63753607f7c4494ee0fcbe92f1a76bfdac795c9d84101eb317  g\n",
    "notes.md": "- [ ] todo\n",
    ".env": "SECRET=1\n",
    ".gitignore": "node_modules/\n*.log\nbuild/\n",
    ".gitattributes": "*.py diff=evil filter=evil merge=evil\n*.md diff=evil\n",
    ".mailmap": "Dev <dev@example.invalid>\n",
    "src/app.py": "import os\n\n\ndef foo(x):\n    return x\n\n\nclass Setup:\n    pass\n",
    "src/main.py": "from src.app import foo\n\nprint(foo(1))\n",
    "src/a.py": "x = 1\n",
    "src/b.py": "import app\n",
    "src/utils.py": "def helper():\n    '''TODO'''\n",
    "src/main.rs": 'fn main() {\n    println!("x");\n}\n',
    "src/lib.rs": "pub fn f() {}\n",
    "src/main.go": "package main\n\nfunc main() {}\n",
    "src/main.c": "int main(void) { return 0; }\n",
    "src/index.ts": "export default function x() {}\n",
    "src/app.js": "module.exports = 1;\n",
    "tests/test_app.py": "def test_foo():\n    assert True\n",
    "docs/guide.md": "# Guide\n\nfoo\n",
    "docs/api.md": "x | y\n",
    "scripts/run.sh": "#!/bin/sh\n: >@MARKS@/run.sh\n",
    ".github/workflows/ci.yml": "on: push\n",
    "bin/keep": "",
    "d/keep": "",
}
"""What the repository holds from its first commit on."""

_MARK = ": >@MARKS@"
_PYTHON = "open('@MARKS@/{0}', 'w').close()\n"
_JAVASCRIPT = "require('fs').writeFileSync('@MARKS@/{0}', '');\n"

PROJECT_FILES: Mapping[str, str] = {
    "evil.sh": f"#!/bin/sh\n{_MARK}/evil.sh\n",
    "evil.attributes": "*.txt diff=evil\n",
    "evil.gitconfig": f'[diff "evil2"]\n\ttextconv = "sh -c \'{_MARK}/git-textconv2\'"\n',
    **{
        f"{name}.py": _PYTHON.format(f"python-{name}")
        for name in ("json", "timeit", "platform", "site", "sitecustomize", "usercustomize", "ast")
    },
    **{
        f"{name}.py": _PYTHON.format(f"python-{name}")
        for name in ("conftest", "setup", "tokenize", "pip", "this", "base64", "runpy", "pytest")
    },
    **{
        name: _JAVASCRIPT.format(f"js-{name}")
        for name in (
            *(".eslintrc.js", ".prettierrc.js", "babel.config.js", "jest.config.js"),
            *("vite.config.js", "webpack.config.js", ".pnpmfile.cjs", ".yarn/evil.js"),
        )
    },
    ".yarnrc.yml": "yarnPath: .yarn/evil.js\n",
    ".yarnrc": 'yarn-path ".yarn/evil.js"\n',
    ".npmrc": "script-shell=@HOME@/project/evil.sh\nnode-options=--require ./.yarn/evil.js\n",
    "package.json": (
        '{"name": "p", "version": "1.0.0", "packageManager": "yarn@9.9.9", "scripts": {'
        '"test": ": >@MARKS@/npm-test", "prelist": ": >@MARKS@/npm-prelist", '
        '"preversion": ": >@MARKS@/npm-version", "postinstall": ": >@MARKS@/npm-install"},'
        '"dependencies": {"left-pad": "1.0.0"}}\n'
    ),
    "node_modules/left-pad/package.json": '{"name": "left-pad", "version": "1.0.0"}\n',
    "node_modules/.bin/eslint": f"#!/bin/sh\n{_MARK}/bin-eslint\n",
    "node_modules/.bin/tsc": f"#!/bin/sh\n{_MARK}/bin-tsc\n",
    "tsconfig.json": '{"compilerOptions": {}}\n',
    "pyproject.toml": (
        '[project]\nname = "p"\nversion = "1"\n[build-system]\nrequires = []\n'
        'build-backend = "evil"\nbackend-path = ["."]\n[tool.mypy]\nplugins = ["json"]\n'
        '[tool.pytest.ini_options]\naddopts = "-p json"\n'
    ),
    "requirements.txt": "requests\n",
    "Makefile": (
        f"A := $(shell {_MARK}/make-shell)\nall: gen\n\t+{_MARK}/make-plus\n"
        f"gen:\n\t@$(MAKE) -n x; {_MARK}/make-recursive\nx:\n\techo x\ntest:\n\techo test\n"
        f"include evil.mk\nevil.mk:\n\t{_MARK}/make-remake\n"
    ),
    "CMakeLists.txt": "execute_process(COMMAND touch @MARKS@/cmake)\n",
    "Cargo.toml": '[package]\nname = "p"\nversion = "0.1.0"\nbuild = "build.rs"\n',
    "build.rs": 'fn main() { std::fs::write("@MARKS@/cargo-build", "").unwrap(); }\n',
    ".cargo/config.toml": (
        '[build]\nrustc = "./evil.sh"\nrustc-wrapper = "./evil.sh"\n[alias]\nx = "run"\n'
        'tree = ["run"]\n[registry]\nglobal-credential-providers = ["./evil.sh"]\n'
    ),
    "rust-toolchain.toml": '[toolchain]\npath = "./d"\n',
    "go.mod": "module p\n\ngo 1.18\n",
    "go-env": "GOFLAGS=-toolexec=./evil.sh\n",
    "Gemfile": "File.write('@MARKS@/gemfile', '')\n",
    "Rakefile": "File.write('@MARKS@/rakefile', '')\n",
    "composer.json": '{"scripts": {"pre-status-cmd": "touch @MARKS@/composer"}}\n',
    "build.gradle": "new File('@MARKS@/gradle').text = ''\n",
    "gradlew": f"#!/bin/sh\n{_MARK}/gradlew\n",
    "main.tf": 'data "external" "x" { program = ["./evil.sh"] }\n',
    "Dockerfile": "FROM scratch\n",
    "docker-compose.yml": "services:\n  web:\n    image: x\n",
    ".envrc": f"{_MARK}/envrc\n",
    ".mise.toml": '[env]\n_.source = "./evil.sh"\n[hooks]\nenter = "./evil.sh"\n',
    ".tool-versions": "nodejs 20\n",
    ".python-version": "3.99\n",
    ".nvmrc": "99\n",
    ".ackrc": "--pager=./evil.sh\n--output=$`\n",
    ".ripgreprc": "--pre=./evil.sh\n",
    ".sqliterc": f".shell {_MARK}/sqliterc-project\n",
    ".gdbinit": f"shell {_MARK}/gdbinit-project\n",
    ".vimrc": f"call system('{_MARK}/vimrc-project')\n",
    ".exrc": f"!{_MARK}/exrc-project\n",
    ".inputrc": 'set editing-mode vi\n"a": "b"\n',
    ".shellcheckrc": "external-sources=true\nsource-path=/\n",
    ".ctags.d/evil.ctags": "--_echo=x\n-o@MARKS@/ctags\n",
    ".ctags": "-o @MARKS@/ctags\n",
    ".tigrc": f"bind generic a !{_MARK}/tig\n",
    ".perltidyrc": "-b\n",
    ".jq": 'def x: "y";\n',
    "evil.jq": "def x: input_filename;\n",
    "magic": "0 string line evil\n",
    "tags": "foo\tsrc/app.py\t/^def foo/;!touch @MARKS@/tags\n",
    "evil.1": f".TH EVIL 1\n.sy {_MARK}/man\n.pso {_MARK}/man-pso\n",
}
"""What lies in the project untracked: all of it wants to run something."""

_NAMES: Mapping[str, list[str]] = tomllib.loads(
    Path(__file__).with_name("world_names.toml").read_text("utf-8")
)
SHADOWED = tuple(_NAMES["shadowed"])
"""Names of executables that lie in the project, in its directories and in the home."""
ODD_NAMES = tuple(_NAMES["odd"])
"""Names of files in the project that look like options, patterns or commands."""
HOOKS = tuple(_NAMES["hooks"])
"""Names of git's hooks."""

_CONFIG = f"""\
[user]
    name = Dev
    email = dev@example.invalid
[core]
    pager = "sh -c '{_MARK}/home-pager; cat'"
    fsmonitor = "sh -c '{_MARK}/home-fsmonitor'"
    hooksPath = @HOME@/hooks
    editor = "{_MARK}/home-editor"
[alias]
    st = "!{_MARK}/home-alias"
[log]
    showSignature = true
[init]
    templateDir = @HOME@/templates
"""

HOME_FILES: Mapping[str, str] = {
    **{
        name: f"{_MARK}/home{name}\n"
        for name in (".bashrc", ".bash_profile", ".profile", ".bash_logout", ".bash_login")
    },
    **{name: f"{_MARK}/home{name}\n" for name in (".zshrc", ".zshenv", ".kshrc", ".cshrc")},
    "hooks/post-index-change": f"#!/bin/sh\n{_MARK}/home-hook\n",
    ".gitconfig": _CONFIG,
    ".inputrc": '"\\C-m": "touch @MARKS@/inputrc\\n"\n',
    ".lesshst": "",
    ".less": "",
    ".ripgreprc": "--pre=@HOME@/evil.sh\n",
    "evil.sh": f"#!/bin/sh\n{_MARK}/home-evil.sh\n",
    ".ackrc": "--pager=@HOME@/evil.sh\n",
    ".jq": 'def helper: "x";\n',
    ".npmrc": "script-shell=@HOME@/evil.sh\nupdate-notifier=true\n",
    ".vimrc": f"call system('{_MARK}/vimrc')\n",
    ".exrc": f"!{_MARK}/exrc\n",
    ".psqlrc": f"\\! {_MARK}/psqlrc\n",
    ".sqliterc": f".shell {_MARK}/sqliterc\n",
    ".gdbinit": f"shell {_MARK}/gdbinit\n",
    ".pythonrc": _PYTHON.format("pythonrc"),
    ".irbrc": "File.write('@MARKS@/irbrc', '')\n",
    ".perldb": f"`{_MARK}/perldb`;\n",
    ".curlrc": 'output = "@MARKS@/curlrc"\n',
    ".wgetrc": "output_document = @MARKS@/wgetrc\n",
    ".ssh/config": f'Match exec "{_MARK}/ssh-match"\n  ProxyCommand {_MARK}/ssh-proxy\n',
    ".ssh/id_rsa": "not a key\n",
    ".netrc": "machine evil.invalid login a password b\n",
    ".aws/config": "[default]\ncredential_process = @HOME@/evil.sh\n",
    ".kube/config": (
        "apiVersion: v1\nkind: Config\ncurrent-context: x\n"
        "contexts: [{name: x, context: {cluster: x, user: x}}]\n"
        "clusters: [{name: x, cluster: {server: 'https://127.0.0.1:1'}}]\n"
    ),
    ".docker/config.json": "{}\n",
    ".config/bat/config": "--style=plain\n",
    ".config/gh/config.yml": "git_protocol: https\npager: @HOME@/evil.sh\n",
    ".config/git/attributes": "*.txt diff=evil\n",
    ".config/git/ignore": "*.tmp\n",
    ".config/pip/pip.conf": "[list]\nformat = columns\n",
    ".config/fd/ignore": "x\n",
    ".config/htop/htoprc": "",
    ".tmux.conf": f"run-shell '{_MARK}/tmux'\n",
    ".screenrc": "",
    ".digrc": "+short\n",
    ".toprc": f"pipe\tx\t{_MARK}/toprc\n",
    ".hushlogin": "",
    ".cargo/config.toml": '[build]\nrustc-wrapper = "@HOME@/evil.sh"\n',
    ".gemrc": "gem: --no-document\n",
    ".mysql_history": "",
    ".bash_history": "ls\n",
    "notes.txt": "note\n",
}
"""What lies in the home."""
