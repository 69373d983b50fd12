# The lab with everything it needs: lockdrill, a Redis server, a Toxiproxy server. It runs as an
# ordinary user under the engine's default seccomp profile, which refuses namespaces, so that
# `--isolation auto` ends in guard mode; nothing is mounted, no capability is needed.
FROM ghcr.io/shopify/toxiproxy:2.12.0 AS toxiproxy

FROM rust:1.95.0-bookworm AS build
WORKDIR /src
COPY Cargo.toml Cargo.lock build.rs ./
COPY assets assets
COPY benches benches
COPY experiments experiments
COPY src src
COPY tests tests
# The repository stays outside: what commit this is has to be told (`--build-arg`).
ARG LOCKDRILL_REVISION
RUN cargo build --release --locked --bin lockdrill

FROM redis:7.0.15-bookworm
RUN apt-get update \
  && apt-get install --yes --no-install-recommends libssl3 \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home --uid 1000 lab \
  && install --directory --owner lab /lab /lab/reports
COPY --from=toxiproxy /toxiproxy /usr/local/bin/toxiproxy-server
COPY --from=build /src/target/release/lockdrill /usr/local/bin/lockdrill
USER lab
WORKDIR /lab
ENTRYPOINT ["lockdrill"]
CMD ["run", "--all"]
