#!/usr/bin/env bash
# `make setup` on a Debian that has nothing but the base system, make, git and the Rust toolchain
# of this machine: a fresh system made by debootstrap in a folder of its own, which is removed.
#
# Needs root, debootstrap and a Debian mirror; takes a minute or two, so .ci/run leaves it out.
#
#   tests/setup/bare_machine.sh                 setup only
#   tests/setup/bare_machine.sh make drill-pause    and then this command, in a fresh clone
#   LOCKDRILL_BARE_SUITE=bookworm               which Debian (default: this machine's)
set -euo pipefail
cd "$(dirname "$0")/../.."

# The mounts and processes below live in namespaces of their own and vanish with them, whatever
# ends this script; the folder is removed from outside.
if [[ -z ${LOCKDRILL_BARE_ROOT-} ]]; then
  LOCKDRILL_BARE_ROOT=$(mktemp -d /var/tmp/bare_machine.XXXXXX)
  export LOCKDRILL_BARE_ROOT
  trap 'rm -rf --one-file-system "$LOCKDRILL_BARE_ROOT"' EXIT
  unshare --mount --pid --fork --kill-child --propagation private -- "$0" "$@" &
  inner=$!
  trap 'kill "$inner"; exit 130' INT TERM
  wait "$inner"
  exit
fi
root=$LOCKDRILL_BARE_ROOT

# shellcheck source=/dev/null
suite=${LOCKDRILL_BARE_SUITE:-$(. /etc/os-release && echo "$VERSION_CODENAME")}

# mktemp makes it private; the root of a system is not.
chmod 755 "$root"
echo "bare_machine: making a Debian $suite in $root"
debootstrap --variant=minbase --include=make,git,ca-certificates "$suite" "$root" >/dev/null

mkdir -p "$root"/{rust,cargo}
mount --bind -o ro "$(rustc --print sysroot)" "$root/rust"
# Downloaded crates are shared, so that the mirror of crates is not asked twice.
mount --bind "${CARGO_HOME:-$HOME/.cargo}" "$root/cargo"
mount -t proc proc "$root/proc"
mount --rbind --make-rslave /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
git clone --quiet . "$root/lockdrill"

# Runs a line of bash in the fresh system.
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb CARGO_HOME=/cargo \
    PATH=/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    bash -euc "cd /lockdrill; $1"
}

# shellcheck disable=SC2016 # the variables are those of the line that runs inside
setup_behaves() {
  echo "bare_machine: LOCKDRILL_NO_INSTALL=1 must refuse"
  inside 'code=0; LOCKDRILL_NO_INSTALL=1 scripts/setup || code=$?; [[ $code == 4 ]]'
  echo "bare_machine: make setup must install, without a service"
  inside 'tests/setup/no_service.sh'
  echo "bare_machine: once more, nothing must be left to do"
  inside '[[ -z $(make -s setup 2>&1) ]]'
}

setup_behaves
[[ $# == 0 ]] || inside "$*"
echo "bare_machine: ok"
