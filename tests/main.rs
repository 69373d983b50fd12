//! Every test that needs no drill, in one program: linking thirty programs takes longer than
//! running them. A tidy rule refuses a test file that is in neither list.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod support;

mod checks_clock;
mod checks_damaged;
mod checks_edges;
mod checks_faults;
mod checks_injured;
mod checks_jobs;
mod checks_lock;
mod checks_oracle;
mod checks_record;
mod checks_unseen;
mod checks_verdict;
mod checks_work;
mod cli_validate;
mod edge_chosen;
mod edge_conformance;
mod edge_toxiproxy;
mod experiment_cast;
mod experiment_files;
mod experiment_plans;
mod experiment_property;
mod experiment_refusals;
mod faked_looks;
mod lock_cluster;
mod lock_conformance;
mod lock_deployments;
mod lock_flaws;
mod lock_handle;
mod lock_misuse;
mod lock_redis;
mod lock_redis_trouble;
mod lock_renewal;
mod lock_sentinel;
mod lock_waiter;
mod recorded_runs;
mod report_files;
mod report_golden;
mod report_keys;
mod report_page;
mod report_story;
mod setup;
mod store_contract;
mod store_jobs;
mod store_model;
mod store_redis;
mod store_sqlite;
mod worker_cast;
mod worker_contend;
mod worker_lab_gone;
mod worker_script;
mod worker_signals;
mod worker_stop;
