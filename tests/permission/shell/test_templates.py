"""Go templates: one that only goes over its data is known to end, any other loop is not."""

from __future__ import annotations

import pytest

from tests.permission.kit import analyze

ENDING = [
    "{{.Names}}",
    r"table {{.Names}}\t{{.Status}}",
    '{{range .Mounts}}{{.Source}}{{"x"}}{{end}}',
    "{{ range $k, $v := .Networks }}{{$k}} {{$v.IPAddress}}{{end}}",
    "{{range $i, $e := .Args}}{{if $i}},{{end}}{{$e}}{{end}}",
    '{{range (index .Ports "80/tcp")}}{{.HostPort}}{{end}}',
    "{{- with .State -}}{{range .Health.Log}}{{.Output}}{{end}}{{end}}",
    "{{$all := .Mounts}}{{range $all}}{{.Name}}{{end}}",
    '{{range split .Names ","}}{{.}}{{end}}',
    "{{with 5}}{{.}}{{end}}",
    "port 50000 of {{range .X}}{{.}}{{else}}none{{end}}",
]
LOOPING = [
    "{{range 100000000000000}}{{end}}",
    "{{range 9}}{{range 9}}x{{end}}{{end}}",
    "{{- range\n( 0xfffffff )}}{{end}}",
    "{{range $i := 99999}}{{end}}",
    "{{range $i, $j = +99999}}{{end}}",
    "{{range 'a'}}{{end}}",
    "{{range .5}}{{end}}",
    "{{$n := 9999}}{{range $n}}{{end}}",
    "{{$n = or 9999 1}}{{range $n}}{{end}}",
    "{{with 9999}}{{range .}}{{end}}{{end}}",
    "{{with $n := 9999}}{{range $n}}{{end}}{{end}}",
    "{{if $n := 9999}}{{range $n}}{{end}}{{end}}",
    "{{if .X}}{{else with 9999}}{{range .}}{{end}}{{end}}",
    '{{range len (printf "%9999d" 1)}}{{end}}',
    '{{range (index "a}}" 0)}}{{end}}',
    "{{range .X | or 9999}}{{end}}",
    '{{range split (pad "" 9999 0) ""}}{{end}}',
    '{{define "x"}}{{template "x"}}{{end}}{{template "x"}}',
    '{{block "x" .}}{{template "x"}}{{end}}',
]


@pytest.mark.parametrize(
    "command",
    [
        "docker ps --format '{}'",
        "podman inspect --format='{}' web",
        "kubectl get pods -o go-template='{}'",
        "helm version --template '{}'",
        "go list -m -f '{}' x",
    ],
)
def test_a_template_is_proven_that_goes_over_its_data(command: str) -> None:
    """What makes a loop of its own may take for ever, in each program that takes a template."""
    proven = {
        template: analyze(
            command.replace("{}", template.replace("'", "'\\''")), directory="/ws"
        ).read_only
        for template in (*ENDING, *LOOPING)
    }
    assert proven == dict.fromkeys(ENDING, True) | dict.fromkeys(LOOPING, False)


@pytest.mark.parametrize(
    ("command", "is_proven"),
    [
        ('docker ps --format "$x"', False),
        ('docker ps --format "{{range 9$x}}{{end}}"', False),
        ('for f in .Names .ID; do docker ps --format "{{$f}}"; done', True),
        ('for f in .Names 9999; do docker ps --format "{{range $f}}{{end}}"; done', False),
        ('docker ps --format "$(wc -l < f)"', True),
    ],
)
def test_a_computed_template_is_proven_where_its_texts_are_known(
    command: str, is_proven: bool
) -> None:
    """All that it may be has to end."""
    assert analyze(command, directory="/ws").read_only is is_proven
