//! Any sequence of attempts against the store, compared with the rule written down a second time
//! in the plainest way. The model shares no code with the store.
#![allow(clippy::unwrap_used)]

use crate::support::stores::StorePlace;
use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{Attempt, AttemptKind, Fence, ProtectedStore, StoreAnswer};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

/// The rule, in memory: what the store's documentation promises and nothing more.
#[derive(Default)]
struct Model {
    once: bool,
    fenced: bool,
    highest: Option<u64>,
    holder: Option<String>,
    value: Option<String>,
}

impl Model {
    fn put(&mut self, put: &Put, id: &str) -> bool {
        let grant = put.grant.map(|n| format!("g.{n}"));
        let accepted = !self.fenced
            || match (put.fencing, self.highest) {
                (None, _) => false,
                (Some(_), None) => true,
                (Some(new), Some(old)) if new == old => {
                    !self.once && grant.is_some() && grant == self.holder
                }
                (Some(new), Some(old)) => new > old,
            };
        if accepted && put.fencing.is_some() && put.fencing > self.highest {
            self.highest = put.fencing;
            self.holder = grant;
        }
        if accepted && !put.seal {
            self.value = Some(id.to_owned());
        }
        accepted
    }
}

/// One attempt of a random sequence. Few numbers, so that equal tokens and grants are common; of
/// one digit and of two, so that a store which compares them as text is found out.
#[derive(Debug, Clone)]
struct Put {
    seal: bool,
    fencing: Option<u64>,
    grant: Option<u8>,
}

fn puts() -> impl Strategy<Value = Vec<Put>> {
    let put = (
        any::<bool>(),
        prop::option::weighted(0.9, 8_u64..13),
        prop::option::weighted(0.9, 0_u8..3),
    )
        .prop_map(|(seal, fencing, grant)| Put {
            seal,
            fencing,
            grant,
        });
    prop::collection::vec(put, 0..24)
}

fn fences() -> impl Strategy<Value = Fence> {
    prop_oneof![Just(Fence::Atomic), Just(Fence::Racy), Just(Fence::Off)]
}

/// The rule over random sequences, each on an empty store.
fn follows_the_rule(place: &StorePlace) {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(64)
    };
    let cases = (puts(), fences(), any::<bool>());
    let outcome = TestRunner::new(config).run(&cases, |(puts, fence, once)| {
        place.empty();
        let mut spec = place.spec(fence);
        spec.once = once;
        let mut model = Model {
            once,
            fenced: fence != Fence::Off,
            ..Model::default()
        };
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(async {
            let mut store = place.create(&spec).await;
            compare(&mut *store, &mut model, &puts).await;
        });
        Ok(())
    });
    outcome.unwrap();
}

#[test]
fn sqlite_follows_the_rule() {
    follows_the_rule(&StorePlace::of("sqlite"));
}

/// One server for all: the rule runs in its script.
#[test]
fn redis_follows_the_rule() {
    follows_the_rule(&StorePlace::of("redis"));
}

/// One database for all: the rule is a condition of its statement.
#[test]
fn postgres_follows_the_rule() {
    follows_the_rule(&StorePlace::of("postgres"));
}

/// One gateway for all, which decides before it passes on.
#[test]
fn http_follows_the_rule() {
    follows_the_rule(&StorePlace::of("http"));
}

async fn compare(store: &mut dyn ProtectedStore, model: &mut Model, puts: &[Put]) {
    for (i, put) in puts.iter().enumerate() {
        let attempt = Attempt {
            job: None,
            if_pending: false,
            resource: "account".to_owned(),
            write: format!("a.write.{i}"),
            based_on: model.value.clone(),
            grant: put.grant.map(|n| GrantId(format!("g.{n}"))),
            fencing: put.fencing.map(FencingToken),
        };
        let before = model.highest.map(FencingToken);
        let expected = model.put(put, &attempt.write);
        let answer = match put.seal {
            true => store.seal(&attempt).await,
            false => store.write(&attempt, &|| ()).await,
        };
        match expected {
            true => assert_eq!(answer, StoreAnswer::Accepted, "attempt {i}: {put:?}"),
            false => assert_eq!(
                answer,
                StoreAnswer::Rejected { highest: before },
                "attempt {i}: {put:?}"
            ),
        }
        let standing = store.read("account").await.unwrap();
        assert_eq!(standing.write, model.value);
        assert_eq!(standing.highest, model.highest.map(FencingToken));

        let log = store.log().await.unwrap();
        assert_eq!(log.len(), i + 1, "every attempt is logged");
        let last = log.last().unwrap();
        assert_eq!(last.n, i as u64 + 1);
        assert_eq!(last.attempt, attempt);
        assert_eq!(
            (last.kind == AttemptKind::Seal, last.accepted, last.highest),
            (put.seal, expected, before)
        );
    }
}
