#!/usr/bin/env bash
# Stands in for an image registry: makes images of the names that docker-compose.yml and Dockerfile
# use, from Debian packages, Go's module proxy and the Rust toolchain of this machine. An image that
# the engine has already is left alone. Patch levels are those of Debian, whatever the tag says;
# `docker rmi` removes them again.
#
# Needs root, docker, debootstrap, Go and rustc; takes about five minutes. No part of .ci/run.
#
#   tests/compose/images.sh
#   LOCKDRILL_ROOTFS=DIR    a Debian 12 that debootstrap has made already
#   DOCKER="docker"         the client
set -euo pipefail

readonly DEBIAN=debian:bookworm-slim
readonly REDIS=redis:7.0.15-bookworm
readonly POSTGRES=postgres:15.18-bookworm
readonly TOXIPROXY=ghcr.io/shopify/toxiproxy:2.12.0
readonly RUST=rust:1.95.0-bookworm
readonly MODULE=github.com/Shopify/toxiproxy/v2/cmd
docker=${DOCKER:-docker}
export DOCKER_BUILDKIT=0

work=$(mktemp -d /var/tmp/images.XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT

is_here() { "$docker" image inspect "$1" >/dev/null 2>&1; }

debian() {
  local rootfs=${LOCKDRILL_ROOTFS:-$work/rootfs}
  if [[ ! -d $rootfs ]]; then
    debootstrap --variant=minbase --include=ca-certificates bookworm "$rootfs" \
      http://deb.debian.org/debian >"$work/debootstrap.log"
  fi
  # Where a proxy signs what comes from outside, its certificate is needed inside, too.
  cp --dereference /etc/ssl/certs/ca-certificates.crt "$rootfs/etc/ssl/certs/ca-certificates.crt"
  tar --directory "$rootfs" --create . | "$docker" import --change 'CMD ["bash"]' - "$DEBIAN"
}

# An image from the Dockerfile on stdin, in a folder of files for it.
from() {
  local name=$1 folder=$2
  cat >"$folder/Dockerfile"
  "$docker" build --quiet --tag "$name" "$folder"
}

redis() {
  mkdir "$work/redis"
  from "$REDIS" "$work/redis" <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends redis-tools \
  && rm -rf /var/lib/apt/lists/* \
  && for name in server sentinel cli; do \
    test -e /usr/bin/redis-$name && ln -s /usr/bin/redis-$name /usr/local/bin/ \
    || ln -s /usr/bin/redis-check-rdb /usr/local/bin/redis-$name; done \
  && { id redis || useradd --system redis; } && install --directory --owner redis /data
WORKDIR /data
VOLUME /data
CMD ["redis-server"]
DOCKERFILE
}

postgres() {
  mkdir "$work/postgres"
  cat >"$work/postgres/entrypoint" <<'ENTRYPOINT'
#!/bin/bash
# The part of the official image's entry that docker-compose.yml uses.
set -euo pipefail
if [[ ! -s $PGDATA/PG_VERSION ]]; then
  initdb --username "$POSTGRES_USER" --auth-host scram-sha-256 --pwfile <(echo "$POSTGRES_PASSWORD")
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  pg_ctl --wait --options '-c listen_addresses=' start
  createdb --username "$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl --wait stop
fi
exec postgres -c 'listen_addresses=*'
ENTRYPOINT
  chmod 755 "$work/postgres/entrypoint"
  from "$POSTGRES" "$work/postgres" <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN mkdir -p /etc/postgresql-common && echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.conf \
  && apt-get update && apt-get install --yes --no-install-recommends postgresql-15 \
  && rm -rf /var/lib/apt/lists/* \
  && install --directory --owner postgres /var/lib/postgresql/data /var/run/postgresql
COPY entrypoint /usr/local/bin/
ENV PATH=/usr/lib/postgresql/15/bin:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/data/here
USER postgres
VOLUME /var/lib/postgresql/data
ENTRYPOINT ["entrypoint"]
DOCKERFILE
}

toxiproxy() {
  mkdir "$work/toxiproxy"
  local version=${TOXIPROXY##*:} program
  for program in server cli; do
    GOBIN=$work/toxiproxy CGO_ENABLED=0 GOFLAGS=-mod=mod go install "$MODULE/$program@v$version"
  done
  from "$TOXIPROXY" "$work/toxiproxy" <<'DOCKERFILE'
FROM scratch
EXPOSE 8474
COPY server /toxiproxy
COPY cli /toxiproxy-cli
ENTRYPOINT ["/toxiproxy"]
CMD ["-host=0.0.0.0"]
DOCKERFILE
}

rust() {
  local sysroot
  sysroot=$(rustc --print sysroot)
  mkdir -p "$work/rust/bin" "$work/rust/lib/rustlib"
  cp --archive "$sysroot"/bin/{cargo,rustc} "$work/rust/bin/"
  cp --archive "$sysroot"/lib/*.so* "$work/rust/lib/"
  cp --archive "$sysroot"/lib/rustlib/*-linux-gnu "$work/rust/lib/rustlib/"
  from "$RUST" "$work/rust" <<'DOCKERFILE'
FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends \
  ca-certificates gcc git libc6-dev libssl-dev make pkg-config && rm -rf /var/lib/apt/lists/*
COPY bin /usr/local/bin
COPY lib /usr/local/lib
RUN ldconfig
ENV CARGO_HOME=/usr/local/cargo
DOCKERFILE
}

for maker in debian redis postgres toxiproxy rust; do
  name=${maker^^}
  if is_here "${!name}"; then
    echo "${!name} is here"
  else
    started=$SECONDS
    "$maker"
    echo "${!name} made in $((SECONDS - started)) s"
  fi
done
