//! What only the provider `toxiproxy` can run into: a server that somebody else changes, or that
//! is gone. Its client looks at no answer and panics, and nobody must notice.

use crate::support::edges::{LONG, Rig, counted, with_only};
use lockdrill::env::edge::probe::{Probe, probe};
use lockdrill::env::edge::{EdgeError, Injury, ServerProtocol, Way};

const CUT: Injury = Injury::Silence(Way::Both);
const TOXICS: &str = "/proxies/1-a-redis/toxics";

fn tell(rig: &Rig, method: &str, path: &str, body: &str) -> String {
    rig.edge_server.as_ref().unwrap().tell(method, path, body)
}

async fn is_well(rig: &Rig) -> bool {
    let seen = probe(rig.to_a, ServerProtocol::Redis, LONG).await;
    matches!(seen, Probe::Answered { .. })
}

#[test]
fn an_injury_that_somebody_took_away_is_counted_as_gone() {
    with_only("toxiproxy", async |mut rig: Rig| {
        assert_eq!(counted(&rig.injure(&CUT).await, "toxics"), 2);
        let path = format!("{TOXICS}/timeout_upstream");
        let answer = tell(&rig, "DELETE", &path, "");
        assert!(answer.contains(" 204 "), "{answer}");
        assert_eq!(rig.heal().await, [("toxics".to_owned(), 1)]);
        assert!(is_well(&rig).await);
    });
}

#[test]
fn a_proxy_that_somebody_disabled_is_enabled_by_the_heal() {
    with_only("toxiproxy", async |mut rig: Rig| {
        rig.injure(&CUT).await;
        tell(&rig, "POST", "/proxies/1-a-redis", r#"{"enabled":false}"#);
        assert_eq!(rig.heal().await, [("toxics".to_owned(), 2)]);
        assert!(is_well(&rig).await);
    });
}

#[test]
fn a_toxic_of_somebody_else_refuses_the_injury_and_leaves_none_of_it() {
    with_only("toxiproxy", async |mut rig: Rig| {
        let slow = r#"{"type":"latency","stream":"upstream","attributes":{"latency":1}}"#;
        let answer = tell(&rig, "POST", TOXICS, slow);
        assert!(answer.contains("latency_upstream"), "{answer}");
        let refused = rig.provider.injure(&rig.a, &CUT).await;
        assert!(matches!(refused, Err(EdgeError::Refused(_))), "{refused:?}");
        assert!(is_well(&rig).await);
        assert_eq!(rig.heal().await, []);
        rig.injure(&CUT).await;
        rig.heal().await;
        assert!(is_well(&rig).await);
    });
}

#[test]
fn a_server_that_is_gone_is_told_of_and_nobody_panics() {
    with_only("toxiproxy", async |mut rig: Rig| {
        rig.injure(&CUT).await;
        rig.edge_server.as_mut().unwrap().kill();
        let healed = rig.provider.heal(&rig.a).await;
        assert!(matches!(healed, Err(EdgeError::Refused(_))), "{healed:?}");
        let injured = rig.provider.injure(&rig.b, &CUT).await;
        assert!(matches!(injured, Err(EdgeError::Refused(_))), "{injured:?}");
        // What may still be there is not taken for healed.
        let again = rig.provider.injure(&rig.b, &CUT).await;
        assert!(matches!(again, Err(EdgeError::Injured(_))), "{again:?}");
        rig.provider.close().await;
        let upstream = lockdrill::env::edge::Upstream {
            address: rig.direct,
            protocol: ServerProtocol::Redis,
        };
        let opened = rig.provider.open(&rig.a, upstream).await;
        assert!(matches!(opened, Err(EdgeError::Refused(_))), "{opened:?}");
    });
}
