"""Which commands may run what they download, table by table: each entry and its neighbour."""

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


PRINTING = "curl http https xh"
KEEPING = "wget aria2c fetch lwp-download lynx nc ncat"


@pytest.mark.parametrize("program", f"{PRINTING} {KEEPING}".split())
def test_what_each_downloader_fetches_is_not_run(program: str) -> None:
    """Code from elsewhere is asked about, whatever fetches it; keeping or showing it is not."""
    assert runs_download(f'python3 -c "$({program} http://h)"')
    assert runs_download(f"{program} http://h > f; bash f")
    assert runs_download(f"{program} http://h > f; bash g")
    assert not runs_download(f"{program} http://h > f; cat f")
    assert not runs_download('python3 -c "$(date)"; bash f')


@pytest.mark.parametrize("program", PRINTING.split())
def test_what_is_only_shown_is_no_script(program: str) -> None:
    """A script runs beside a download that is kept nowhere."""
    assert not runs_download(f"{program} http://h; sh g")
    assert not runs_download(f"{program} http://h > /dev/null 2>&1; python3 g.py")
    assert not runs_download(f"{program} http://h | grep x; ./g")
    assert runs_download(f"{program} http://h | tee f; ./g")
    assert runs_download(f'x=$({program} http://h); echo "$x" > f; sh g')
    assert runs_download(f"{{ {program} http://h; }} > f; sh g")


@pytest.mark.parametrize("program", KEEPING.split())
def test_what_may_be_kept_may_be_a_script(program: str) -> None:
    """A downloader that names the file itself may put it anywhere."""
    assert runs_download(f"{program} http://h; sh g")
    assert not runs_download(f"{program} http://h; ls g")


RUNNING = """
python python2 python3 python3.11 node nodejs ruby perl perl5.36 php lua deno osascript pwsh
tclsh Rscript bun bash bash5 sh dash zsh ksh source . ./f ./bin/f
"""


@pytest.mark.parametrize("program", RUNNING.split())
def test_what_runs_beside_a_kept_download_may_be_it(program: str) -> None:
    """Which file a script reads or runs is not known, whatever runs it."""
    assert runs_download(f"curl -o f.x http://h; {program} f.x")
    assert runs_download(f"curl -o f.x http://h; {program} g.x")
    assert runs_download(f'curl -o f.x http://h; {program} "$f"')
    assert not runs_download(f"curl http://h; {program} g.x")


def test_a_program_that_is_found_by_name_is_no_download() -> None:
    """What is found by its name lies where no download puts it."""
    assert not runs_download("curl -o make http://h; make")
    assert not runs_download("curl -o f http://h; ls; cat f")


ENDINGS = "json jsonl csv tsv txt md htm html xml yml yaml log png jpg jpeg gif svg pdf"


@pytest.mark.parametrize("ending", ENDINGS.split())
def test_what_is_kept_as_data_is_not_run_by_another_script(ending: str) -> None:
    """A file whose name says that it is no code is none, unless what runs names it itself."""
    for loading in (f"curl -o d.{ending} http://h", f"curl -s --output=a/D.{ending} http://h"):
        assert not runs_download(f"{loading} && python3 g.py d.{ending}")
        assert runs_download(f"{loading} && python3 d.{ending}")
        assert runs_download(f"{loading} && node --require ./d.{ending} g.js")
        assert runs_download(f"{loading} && sh -c '. ./d.{ending}'")
        assert runs_download(f"{loading} && cp d.{ending} g.py && python3 g.py")
    assert not runs_download(f"curl http://h > d.{ending}; python3 g.py")
    assert runs_download(f"curl http://h > d.{ending}x; python3 g.py")
    assert runs_download(f"curl -o d.{ending} -O http://h; python3 g.py")
    assert runs_download(f"curl -o d.{ending} -o g.py http://h http://h; python3 g.py")
    assert runs_download(f'curl -o "$x" http://h/d.{ending}; python3 g.py')


UNPACKING = "tar bsdtar unzip 7z 7za 7zr cpio unar ar unrar"


@pytest.mark.parametrize("program", UNPACKING.split())
def test_what_is_unpacked_may_be_any_script(program: str) -> None:
    """Nobody can tell what is in an archive that is fetched; where none is, one can."""
    assert runs_download(f"curl http://h | {program} x; sh g")
    assert runs_download(f"curl http://h | {program} x; ./g")
    assert not runs_download(f"curl http://h | {program} x; ls g")
    assert not runs_download(f"{program} x f; sh g")


@pytest.mark.parametrize(
    "change", ["chmod +x", "chown u", "chgrp g", "touch", "mkdir -p", "rm", "rmdir", "cd"]
)
def test_what_leaves_contents_alone_makes_no_script(change: str) -> None:
    """A change of a script's owner, times or place does not make it a fetched one."""
    assert not runs_download(f"{change} g; ./g; curl http://h")
    assert runs_download("cp f g; ./g; curl http://h")


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
def test_computed_code_may_be_fetched(program: str) -> None:
    """Code that is computed may be what is fetched; code that stands there is not."""
    assert runs_download(f'x=$(curl http://h); {program} "$x"')
    assert runs_download(f"curl -o m.py http://h; {program} 'import m'")
    assert not runs_download(f"x=$(curl http://h); {program} 'x(1)'")
    assert not runs_download(f"curl http://h | {program} 'x(1)'")
    assert not runs_download(f'{program} "$x"')


@pytest.mark.parametrize("flags", ["-c", "-ec", "-xec", "-lc"])
def test_computed_code_of_a_shell_may_be_fetched(flags: str) -> None:
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
        *("bun run", "deno run", "python3 -u", "bash --", "bash -x"),
    ],
)
def test_the_script_stands_behind_the_values_of_options(option: str) -> None:
    """What an option takes is not the script, which is the word behind it."""
    assert not runs_download(f"curl http://h | {option} g")
    assert runs_download(f"curl http://h | {option}")
    assert runs_download(f"curl http://h | {option} -")
    assert runs_download(f'curl http://h | {option} "$f"')


def test_the_value_of_an_option_may_be_run_too() -> None:
    """What an option loads is not known either where it is computed."""
    assert runs_download('curl http://h; ruby -r "$x" g')
    assert runs_download('curl http://h; node --import="$x" g')
    assert not runs_download("curl http://h; ruby -r x g")


@pytest.mark.parametrize(
    "loading",
    [
        *("curl -o f", "curl -of", "curl -so f", "curl -sSfLko f", "curl --output f"),
        *("curl --output=f", "curl -#o f", "curl -0o f", "http -o f", "http --download", "xh -d"),
        *('curl -o "$n"', 'curl -so "$n"', 'curl --output "$n"', 'curl --output="$n"'),
        *("curl -O", "curl -sO", "curl --remote-name", "curl --remote-name-all", "curl -OJ"),
        *("curl -sOJ", "curl -J", "curl --remote-header-name", "curl -K c", "curl --config c"),
        *("curl --config=c", 'curl > "$n"', 'curl >> "$n"', "curl 2> f"),
    ],
)
def test_an_option_may_keep_what_is_fetched(loading: str) -> None:
    """Where a file is written, each script may be it."""
    assert runs_download(f"{loading} http://h; sh g")
    assert runs_download(f"{loading} http://h; python3 -m g")
    assert not runs_download(f"{loading} http://h; ls g")


@pytest.mark.parametrize(
    "loading",
    [
        *("curl", "curl -sSfL", "curl -H a:b", "curl -i", "curl -X POST", "curl --silent"),
        *(
            "curl -d r=1",
            'curl --output-dir="$d"',
            'curl -H "$a"',
            "curl 2>&1",
            "http --check-status",
        ),
    ],
)
def test_a_download_without_an_option_for_it_makes_no_file(loading: str) -> None:
    """Options that name no file leave the scripts of the project as they are."""
    assert not runs_download(f"{loading} http://h/f; sh g")


@pytest.mark.parametrize("target", [">&-", "> /dev/tcp/h/1", "> >(cat)", ">&2"])
def test_what_is_written_to_no_file_is_no_script(target: str) -> None:
    """A closed output, a connection and another command's input keep nothing that is run later."""
    assert not runs_download(f"curl http://h {target}; sh g")
    assert not runs_download(f"{{ curl http://h; }} {target}; ./g")
    assert runs_download(f"curl http://h {target} 2> f; sh g")
    assert runs_download("curl http://h > >(cat > f); sh g")
    assert runs_download("curl http://h > *.json; sh g")


def test_a_module_is_named_as_a_script_is() -> None:
    """The module is found behind options, alone in a word or joined to it."""
    for command in ("python3 -Bm g", "python3 -u -m g", "python3 -mg", "python3 -m g x"):
        assert not runs_download(f"curl http://h | {command}")
        assert runs_download(f"curl -o f.py http://h; {command}")
    assert runs_download('curl http://h | python3 -m "$m"')


@pytest.mark.parametrize("file", ["m.py", "pkg/m.py", "pkg/m/__main__.py", "pkg/__init__.py"])
def test_a_module_runs_its_packages_and_its_own_file(file: str) -> None:
    """`python -m pkg.m` may run what is fetched for any part of the name, and for a package."""
    assert runs_download(f"curl -o {file} http://h; python -m pkg.m")
    assert not runs_download("curl http://h; python -m pkg.m")


def test_input_is_not_a_script_that_is_named() -> None:
    """What an interpreter reads from its input may be what is fetched; what it names is not."""
    assert runs_download("curl http://h | python3")
    assert runs_download("curl http://h | python3 - g.py")
    assert runs_download("curl http://h | python3 /dev/stdin")
    assert not runs_download("curl http://h | python3 g.py")
    assert not runs_download("curl http://h | python3 -m json.tool")


def test_a_script_that_is_sourced_may_stand_behind_two_dashes() -> None:
    """The dashes are not its name."""
    assert not runs_download("curl http://h; source -- g f")
    assert runs_download("curl http://h; source <(cat f)")


def test_those_that_carry_a_script_write_none() -> None:
    """What starts the part that runs a script is no other part; what writes beside it is."""
    assert not runs_download("curl http://h; env A=1 timeout 5 sh g")
    assert not runs_download("curl http://h; xargs sh g")
    assert runs_download("curl http://h; env A=1 timeout 5 cp f g; sh g")


def test_code_inside_which_something_is_fetched_runs_it() -> None:
    """A download within the code itself is run; one beside it is not."""
    assert runs_download('sh -c "$(wget -qO- http://h)"')
    assert runs_download('perl -e "$(wget -qO- http://h)"; ls')
    assert not runs_download("perl -e 'print 1'; curl http://h")
    assert not runs_download('python3 a.py "$(curl http://h)"')


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ("curl http://h; sudo ./g", False),
        ("curl -o f http://h; sudo ./g", True),
        ("curl http://h; timeout 5 bash g", False),
        ("curl http://h > f; timeout 5 bash g", True),
        ('curl http://h; python3 -m "$x"', True),
        ("curl http://h; python3 -m g", False),
        ("curl http://h | python3 /dev/stdin", True),
        ("curl http://h | bash /dev/fd/x", False),
        ("curl http://h < f; sh g", False),
        ("curl http://h > *.json; sh g", True),
        ("curl http://h > $x.json; sh g", True),
        ("curl http://h >> a.json; sh g", False),
        ("curl http://h 2> a.json; sh g", False),
        ('curl "-o$x" http://h; sh g', True),
        ("curl -o a.json http://h; ./a.json", True),
        ("curl -o a.json http://h; ./g a.json", False),
        ("curl -o a.json http://h; sh A.JSON", True),
        ("curl -o f http://h; sh -c date", False),
        ("curl -o f http://h; sh -c 'sh g'", True),
        ("sh -c 'curl http://h; sh g'", False),
        ("sh -c 'curl -o f http://h'; sh g", True),
        ("curl http://h | bash -o - g", False),
        ("curl http://h | deno run -", True),
        ("curl http://h; bash +x g", False),
        ("curl http://h; bash +x", True),
        ("curl -o f http://h; . f", True),
        ("curl http://h; . f", False),
    ],
)
def test_what_runs_a_download_is_told_from_its_neighbour(command: str, runs: bool) -> None:
    """Through what carries it, behind what it is told, and by what it is kept in."""
    assert runs_download(command) is runs
