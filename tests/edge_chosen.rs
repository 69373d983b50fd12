//! Injuries of one chosen command: its request or its reply is held or lost, with what follows it
//! on its connection, while every other connection goes on. Over every provider that can do it.

use crate::support::edges::{LONG, Lost, Raw, Rig, counted, with_each};
use lockdrill::env::edge::{Chosen, EdgeEvent, Happening, Injury, Way};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::timeout;

/// Three connections, a script that counts, and the injury of its second call.
struct Scene {
    rig: Rig,
    call: String,
    first: Raw,
    second: Raw,
    third: Raw,
    events: UnboundedReceiver<EdgeEvent>,
}

impl Scene {
    /// The first call has passed, the second has been sent with another command behind it.
    async fn set(mut rig: Rig, injury: fn(Chosen) -> Injury) -> Scene {
        let load = "SCRIPT LOAD return(redis.call('incr',KEYS[1]))";
        let hash: String = rig.server.tell(load);
        let mut connections = Vec::new();
        for _ in 0..3 {
            let mut raw = Raw::connect(rig.to_a).await;
            assert_eq!(raw.ask("PING").await, "+PONG\r\n");
            connections.push(raw);
        }
        let mut connections = connections.into_iter();
        let mut next = || connections.next().unwrap();
        let (first, second, third) = (next(), next(), next());
        let events = rig.provider.watch();
        let chosen = Chosen {
            marks: vec!["no such thing".to_owned(), hash.clone()],
            nth: 2,
        };
        rig.injure(&injury(chosen)).await;
        let mut scene = Scene {
            rig,
            call: format!("EVALSHA {hash} 1 n"),
            first,
            second,
            third,
            events,
        };
        assert_eq!(scene.first.ask(&scene.call).await, ":1\r\n");
        scene.second.send(&scene.call).await;
        scene.second.send("SET behind it").await;
        scene
    }

    async fn event(&mut self) -> Happening {
        let event = timeout(LONG, self.events.recv()).await.unwrap().unwrap();
        assert_eq!(event.edge, self.rig.a);
        event.what
    }

    /// Every other connection, of this edge and of the other, goes on; `n` is 1 higher then.
    async fn others_flow(&mut self, n: u64) {
        assert_eq!(self.third.ask("ECHO x").await, "$1\r\nx\r\n");
        assert_eq!(self.third.ask(&self.call).await, format!(":{n}\r\n"));
        assert_eq!(self.first.ask("ECHO y").await, "$1\r\ny\r\n");
        self.rig.b_is_untouched().await;
        self.second.is_quiet().await;
    }

    /// Counters since the onset.
    async fn healed(&mut self, matching: u64, held: u64, lost: u64) {
        let measured = self.rig.heal().await;
        let count = |name| counted(&measured, name);
        assert_eq!(count("matching"), matching, "{measured:?}");
        assert_eq!((count("held"), count("lost")), (held, lost), "{measured:?}");
        assert_eq!(count("connections_reset"), lost, "{measured:?}");
        assert_eq!(self.first.ask("ECHO z").await, "$1\r\nz\r\n");
        assert_eq!(self.third.ask("ECHO z").await, "$1\r\nz\r\n");
    }
}

/// The second call was the second request of the second connection.
const CONNECTION: u64 = 2;
const FRAME: u64 = 2;

fn anything() -> Chosen {
    Chosen {
        marks: vec!["x".to_owned()],
        nth: 1,
    }
}

#[test]
fn a_held_request_is_executed_after_the_heal() {
    with_each(Some(Injury::HoldRequest(anything())), async |rig: Rig| {
        let mut scene = Scene::set(rig, Injury::HoldRequest).await;
        let (way, connection, frame) = (Way::ToServer, CONNECTION, FRAME);
        let held = Happening::Held {
            way,
            connection,
            frame,
        };
        assert_eq!(scene.event().await, held);
        scene.others_flow(2).await;
        assert_eq!(scene.rig.value("behind"), "-");
        scene.healed(3, 1, 0).await;
        assert_eq!(scene.second.hear_bytes(9).await, b":3\r\n+OK\r\n");
        let delivered = Happening::Delivered {
            way,
            connection,
            frame,
        };
        assert_eq!(scene.event().await, delivered);
        assert_eq!(scene.rig.value("behind"), "it");
    });
}

#[test]
fn a_held_reply_belongs_to_an_executed_request_and_comes_after_the_heal() {
    with_each(Some(Injury::HoldReply(anything())), async |rig: Rig| {
        let mut scene = Scene::set(rig, Injury::HoldReply).await;
        let (way, connection, frame) = (Way::ToClient, CONNECTION, FRAME);
        let held = Happening::Held {
            way,
            connection,
            frame,
        };
        assert_eq!(scene.event().await, held);
        scene.rig.becomes("behind", "it").await;
        assert_eq!(scene.rig.value("n"), "2");
        scene.others_flow(3).await;
        scene.healed(3, 1, 0).await;
        assert_eq!(scene.second.hear_bytes(9).await, b":2\r\n+OK\r\n");
        let delivered = Happening::Delivered {
            way,
            connection,
            frame,
        };
        assert_eq!(scene.event().await, delivered);
    });
}

#[test]
fn a_lost_request_is_never_executed() {
    with_each(Some(Injury::LoseRequest(anything())), async |rig: Rig| {
        let mut scene = Scene::set(rig, Injury::LoseRequest).await;
        let dropped = Happening::Dropped {
            way: Way::ToServer,
            connection: CONNECTION,
            frame: FRAME,
        };
        assert_eq!(scene.event().await, dropped);
        scene.others_flow(2).await;
        scene.healed(3, 0, 1).await;
        let end = scene.second.hear_or_lose().await;
        assert_eq!(end, Err(Lost::ConnectionReset));
        assert_eq!(scene.rig.value("n"), "2");
        assert_eq!(scene.rig.value("behind"), "-");
    });
}

#[test]
fn a_lost_reply_belongs_to_an_executed_request() {
    with_each(Some(Injury::LoseReply(anything())), async |rig: Rig| {
        let mut scene = Scene::set(rig, Injury::LoseReply).await;
        let dropped = Happening::Dropped {
            way: Way::ToClient,
            connection: CONNECTION,
            frame: FRAME,
        };
        assert_eq!(scene.event().await, dropped);
        assert_eq!(scene.rig.value("n"), "2");
        scene.rig.becomes("behind", "it").await;
        scene.others_flow(3).await;
        scene.healed(3, 0, 1).await;
        // No later reply is ever taken for the lost one.
        let end = scene.second.hear_or_lose().await;
        assert_eq!(end, Err(Lost::ConnectionReset));
    });
}

#[test]
fn a_message_is_not_taken_for_the_reply() {
    with_each(Some(Injury::HoldReply(anything())), async |mut rig: Rig| {
        let mut client = Raw::connect(rig.to_a).await;
        client.ask("HELLO 3").await;
        client.ask("SUBSCRIBE channel").await;
        let mut events = rig.provider.watch();
        let chosen = Chosen {
            marks: vec!["BLPOP".to_owned()],
            nth: 1,
        };
        rig.injure(&Injury::HoldReply(chosen)).await;
        // Its reply is still to come when the message arrives.
        client.send("BLPOP list 0").await;
        while rig
            .server
            .tell::<String>("INFO clients")
            .contains("blocked_clients:0")
        {
            tokio::task::yield_now().await;
        }
        rig.server.tell::<()>("PUBLISH channel hello");
        assert!(client.hear().await.starts_with(">3\r\n"));
        rig.server.tell::<()>("RPUSH list element");
        let event = timeout(LONG, events.recv()).await.unwrap().unwrap();
        assert!(
            matches!(event.what, Happening::Held { frame: 2, .. }),
            "{event:?}"
        );
        client.is_quiet().await;
        rig.heal().await;
        assert!(client.hear().await.contains("element"));
    });
}

#[test]
fn a_connection_that_is_not_understood_still_flows_and_says_so() {
    with_each(Some(Injury::HoldReply(anything())), async |mut rig: Rig| {
        use tokio::io::AsyncWriteExt;
        let mut events = rig.provider.watch();
        let chosen = Chosen {
            marks: vec!["PING".to_owned()],
            nth: 1,
        };
        rig.injure(&Injury::HoldReply(chosen)).await;
        let mut client = Raw::connect(rig.to_a).await;
        client.stream.write_all(b"PING\r\n").await.unwrap();
        assert_eq!(client.hear().await, "+PONG\r\n");
        let event = timeout(LONG, events.recv()).await.unwrap().unwrap();
        assert!(
            matches!(event.what, Happening::Plain { connection: 1, .. }),
            "{event:?}"
        );
        let measured = rig.heal().await;
        assert_eq!(counted(&measured, "plain"), 1);
    });
}
