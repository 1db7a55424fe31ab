# Runs one command on the other host, and ends it with all that came of it when the connection does.
#
# Standard input brings, each ended by NUL: the mark, the directory, the command, and NAME=VALUE for
# each variable, then an empty text. Nothing comes after that; its end is the end of the connection,
# or of somebody's patience.

# what bash says about its jobs is nobody's
exec 3<&0 </dev/null 4>&2 2>/dev/null
IFS= read -r -d '' -u 3 mark || exit 255
IFS= read -r -d '' -u 3 directory || exit 255
IFS= read -r -d '' -u 3 command || exit 255
variables=()
while IFS= read -r -d '' -u 3 variable && [ -n "$variable" ]; do variables+=("$variable"); done

if ! cd -- "$directory"; then
  echo "$mark" >&4
  exit 254
fi
name=AGENTSCOPE_LIKE_COMMAND

# those that left the process group are known by what they started with, or by their parents as
# long as these live, where /proc says so
below() {
  local process
  for process in $(cat "/proc/$1/task/"*/children); do
    echo "$process"
    below "$process"
  done
}
end() {
  family="$family $(below "$child")"
  kill "-$1" -- "-$child"
  for environment in $(grep -lzxF -- "$name=$mark" /proc/[0-9]*/environ); do
    process=${environment#/proc/}
    kill "-$1" "${process%/environ}"
  done
  kill "-$1" $family
}

set -m
(
  export -- "${variables[@]}" "$name=$mark"
  exec bash --norc --noprofile -c -- "$command"
) 2>&4 3<&- 4>&- &
child=$!
ending=
trap 'ending=yes' USR1
{
  IFS= read -r -d '' -u 3 _
  kill -USR1 "$$"
  end TERM
  sleep 0.2
  end KILL
} >/dev/null 4>&- &
watcher=$!
exec 3<&-

while wait "$child"; status=$?; [ "$status" -gt 128 ] && kill -0 "$child"; do :; done
[ -z "$ending" ] || wait "$watcher"
kill -KILL -- "-$watcher"
end KILL
exit "$status"
