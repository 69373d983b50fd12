#!/usr/bin/env bash
# Installing what lockdrill needs opens no port, brings no service and enables none.
#
# Runs scripts/setup on this machine and compares what listens, what units exist and what starts
# at boot before and after. Where everything was there already, the packages are installed again
# (as root only), so that their own scripts really run under this test's eyes.
#
# A container's policy that forbids every service start (policy-rc.d) would hide a started
# service, not a new unit: that is why those are compared too.
set -euo pipefail
export LC_ALL=C # one order for sort and comm
cd "$(dirname "$0")/../.."

before=$(scripts/machine-state services)
said=$(scripts/setup 2>&1) || {
  code=$?
  printf '%s\n' "$said"
  exit "$code"
}
[[ -z $said ]] || printf '%s\n' "$said"

how="scripts/setup installed what was missing"
if [[ -z $said ]]; then
  how="nothing was missing"
  if [[ $(id -u) == 0 ]] && dpkg-query --show redis-tools >/dev/null 2>&1; then
    how="redis-tools was installed again"
    DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
      apt-get install --yes --no-install-recommends --reinstall redis-tools >/dev/null || {
      echo "no_service: redis-tools could not be installed again" >&2
      exit 1
    }
  fi
fi

# A service stays; what others on this machine open or close meanwhile is not looked at.
added() { comm -13 <(printf '%s\n' "$before") <(scripts/machine-state services); }

for ((try = 0; try < 20; try++)); do
  if [[ -z $(added) ]]; then
    echo "no_service: ok: no new listener, unit or boot entry ($how)"
    exit
  fi
  sleep 0.5
done
added
echo "no_service: FAILED: the installation brought what listens or starts (above)" >&2
exit 1
