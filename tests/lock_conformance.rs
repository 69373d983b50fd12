//! The contract of a lock back end, run over every back end.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use support::conformance;
use support::place::Place;

macro_rules! over_every_back_end {
    ($($contract:ident),+ $(,)?) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("memory").await).await;
            })+
        }

        mod redis {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("redis").await).await;
            })+
        }

        mod redis_on_valkey {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                if let Some(place) = super::Place::on_valkey().await {
                    super::conformance::$contract(place).await;
                }
            })+
        }

        mod redis_sentinel {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("redis-sentinel").await).await;
            })+
        }

        mod redis_cluster {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("redis-cluster").await).await;
            })+
        }

        mod redlock {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("redlock").await).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("postgres").await).await;
            })+
        }

        mod postgres_advisory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("postgres-advisory").await).await;
            })+
        }

        mod postgres_row {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("postgres-row").await).await;
            })+
        }

        mod etcd {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("etcd").await).await;
            })+
        }

        mod zookeeper {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $contract() {
                super::conformance::$contract(super::Place::of("zookeeper").await).await;
            })+
        }

        #[test]
        fn every_back_end_is_covered() {
            let covered = ["memory", "redis", "redis-sentinel", "redis-cluster", "redlock",
                "postgres", "postgres-advisory", "postgres-row", "etcd", "zookeeper"];
            for kind in lockdrill::lock::backends::ALL {
                assert!(covered.contains(&kind.name), "no conformance tests for {}", kind.name);
            }
        }
    };
}

over_every_back_end!(
    a_free_lock_is_granted,
    a_second_contender_is_busy,
    expiry_frees_the_lock,
    a_release_by_a_non_holder_is_refused_and_harmless,
    a_late_release_does_not_touch_the_successor,
    a_renewal_extends_only_the_owner,
    a_renewal_after_expiry_is_lost_and_creates_nothing,
    a_renewal_of_a_vanished_lock_is_lost_and_creates_nothing,
    a_renewal_of_somebody_elses_lock_is_lost,
    each_grant_has_an_owner_token_and_an_id_of_its_own,
    fencing_tokens_rise_across_release_expiry_and_reconnect,
    many_contenders_get_one_grant,
    a_dropped_acquire_leaves_at_most_a_lease_that_ends,
    a_release_wakes_a_waiter,
    keys_of_two_prefixes_do_not_meet,
    an_empty_key_is_refused_before_anything_is_sent,
);
