#!/usr/bin/env bash
# What docker-compose.yml promises, tried on a real engine: the servers come up healthy, drills with
# their controls are played on a Redis server in a container and leave nothing there, and the lab
# itself drills in a container as an ordinary user. Takes a few minutes; no part of .ci/run, which
# has no engine. Where no image registry can be reached, tests/compose/images.sh comes first.
#
#   tests/compose/prove.sh
#   COMPOSE="docker compose"   or docker-compose
#   NEAR=""                    what brings a program into the engine's network, if it has another:
#                              "nsenter --net --target PID"
#   LOCKDRILL=FILE             the program (default: target/release/lockdrill)
#   DRILLS="pause"             what the lab in the container plays
set -euo pipefail
cd "$(dirname "$0")/../.."

read -ra compose <<<"${COMPOSE:-docker compose} --project-name lockdrill-proof"
read -ra near <<<"${NEAR-}"
lockdrill=${LOCKDRILL:-target/release/lockdrill}
work=$(mktemp -d /var/tmp/prove.XXXXXX)
chmod 755 "$work"

end() {
  "${compose[@]}" down --timeout 1 --volumes >"$work/down.log" 2>&1 || cat "$work/down.log"
  rm -rf "$work"
}
trap end EXIT

say() { printf '\n== %3d s  %s\n' "$SECONDS" "$*"; }
wrong() {
  printf 'not as promised: %s\n' "$*" >&2
  exit 1
}
# Ends with this exit code.
ends() {
  local wanted=$1 code=0
  shift
  "$@" || code=$?
  ((code == wanted)) || wrong "exit code $code, not $wanted: $*"
}
drill() { "${near[@]}" "$lockdrill" run --out "$work/reports" "$@" 2>"$work/progress"; }
redis() { "${compose[@]}" exec -T "$1" redis-cli "${@:2}"; }

say 'every server comes up healthy'
"${compose[@]}" up --detach 2>"$work/up.log" || wrong "$(cat "$work/up.log")"
# `--wait` does the same, but Compose v1 does not have it.
healthy() {
  local id
  for id in $("${compose[@]}" ps --quiet); do
    [[ $(docker inspect --format '{{.State.Health.Status}}' "$id") == healthy ]] || return 1
  done
}
until healthy; do
  ((SECONDS < 120)) || wrong "not healthy: $("${compose[@]}" ps)"
  sleep 0.5
done
agreed=$(redis sentinel-1 -p 26379 sentinel ckquorum lockdrill)
[[ $agreed == *'OK 3 usable Sentinels'* ]] || wrong "Sentinels: $agreed"

say 'drills with their controls on the Redis server in a container'
drill pause kill partition --target compose || wrong "$(tail -n 30 "$work/progress")"
[[ $(redis redis dbsize) == 0 ]] || wrong "keys are left: $(redis redis keys '*')"
stats=$(redis redis info commandstats)
for never in config flush debug monitor shutdown replicaof; do
  [[ $stats != *cmdstat_$never* ]] || wrong "the server was sent $never"
done

say 'what would be done to somebody else is refused'
ends 2 drill flush --target compose
ends 2 drill pause --target redis://198.51.100.10:6379
ends 4 drill pause --target redis://127.0.0.1:16381 # a replica
redis redis set cart:7 x >/dev/null
ends 4 drill pause --target compose
[[ $(redis redis get cart:7) == x ]] || wrong 'somebody else'\''s key is gone'
redis redis del cart:7 >/dev/null

say 'the same server by its address in the container network'
drill pause --no-controls --allow-remote --target redis://198.51.100.10:6379 ||
  wrong "$(tail -n 30 "$work/progress")"

say 'the lab in a container, as an ordinary user under the default seccomp profile'
mkdir "$work/inside"
chown 1000:1000 "$work/inside"
export LOCKDRILL_REPORTS=$work/inside LOCKDRILL_DRILLS=${DRILLS:-pause}
"${compose[@]}" --profile lab up --exit-code-from lab lab >"$work/lab.log" 2>&1 || wrong "$(tail -n 40 "$work/lab.log")"
grep --extended-regexp '(PASS|LIMIT|red, as required)' "$work/lab.log"
env=$(cat "$work"/inside/*/*/env.json)
[[ $env == *'"isolation": "guard"'* ]] || wrong "not in guard mode: $env"
grep --only-matching --no-filename '"isolation_fallback": .*' "$work"/inside/*/*/env.json | sort -u
[[ -z $(find "$work/inside" -user root) ]] || wrong 'it ran as root'

say 'everything is as promised'
