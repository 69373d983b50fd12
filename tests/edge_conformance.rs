//! What every provider of edges does, over every provider that can do it, against a real server:
//! what flows when nothing is wrong, and what a worker and the server see of each injury.

use crate::support::edges::{LONG, Lost, Raw, Rig, counted, encode, with_each};
use lockdrill::env::edge::probe::{Canary, Crossing, Probe, probe};
use lockdrill::env::edge::{EdgeError, EdgeId, Injury, ServerProtocol, Upstream, Way};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const REDIS: ServerProtocol = ServerProtocol::Redis;
/// Resets nothing, counts nothing, knows no half-closed connections: as documented there.
const TOXIPROXY: &str = "toxiproxy";
const SHORT: Duration = Duration::from_millis(300);

#[test]
fn ten_megabytes_pass_intact_both_ways() {
    with_each(None, async |rig: Rig| {
        let mut client = Raw::connect(rig.to_a).await;
        let value: Vec<u8> = (0..10_000_000_u32)
            .map(|n| u8::try_from(n % 251).unwrap())
            .collect();
        let mut request = b"*3\r\n$3\r\nSET\r\n$3\r\nbig\r\n$10000000\r\n".to_vec();
        request.extend_from_slice(&value);
        request.extend_from_slice(b"\r\n");
        client.stream.write_all(&request).await.unwrap();
        assert_eq!(client.hear().await, "+OK\r\n");
        client.send("GET big").await;
        assert_eq!(client.hear_bytes(11).await, b"$10000000\r\n");
        let back = client.hear_bytes(value.len() + 2).await;
        assert!(
            back[..value.len()] == value[..],
            "the value came back other"
        );
    });
}

#[test]
fn pipelined_commands_keep_their_order() {
    with_each(None, async |rig: Rig| {
        let mut client = Raw::connect(rig.to_a).await;
        let numbers = 0..2_000;
        let requests: Vec<u8> = numbers
            .clone()
            .flat_map(|n| encode(&format!("ECHO {n:04}")))
            .collect();
        client.stream.write_all(&requests).await.unwrap();
        let wanted: String = numbers.map(|n| format!("$4\r\n{n:04}\r\n")).collect();
        let heard = client.hear_bytes(wanted.len()).await;
        assert_eq!(String::from_utf8(heard).unwrap(), wanted);
    });
}

#[test]
fn a_round_trip_waits_for_no_timer() {
    with_each(None, async |rig: Rig| {
        let mut client = Raw::connect(rig.to_a).await;
        let mut took = Vec::new();
        for _ in 0..1_000 {
            let began = Instant::now();
            client.ask("PING").await;
            took.push(began.elapsed());
        }
        took.sort();
        // A timer ticks once a millisecond.
        println!("{} median {:?}", rig.provider.name(), took[500]);
        assert!(took[500] < Duration::from_millis(1), "{:?}", took[500]);
    });
}

#[test]
fn a_half_closed_connection_still_gets_its_answer() {
    with_each(None, async |mut rig: Rig| {
        let halves = rig.provider.name() != TOXIPROXY;
        let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let edge = EdgeId::new("a", "plain");
        let upstream = Upstream {
            address: ([127, 0, 0, 1], port).into(),
            protocol: ServerProtocol::Plain,
        };
        let address = rig.provider.open(&edge, upstream).await.unwrap();
        let serve = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut question = Vec::new();
            stream.read_to_end(&mut question).await.unwrap();
            assert_eq!(question, b"all of it");
            let written = stream.write_all(&vec![b'x'; 50_000]).await;
            assert!(written.is_ok() || !halves, "{written:?}");
        };
        let ask = async {
            let mut client = Raw::connect(address).await;
            client.stream.write_all(b"all of it").await.unwrap();
            client.stream.shutdown().await.unwrap();
            let mut answer = Vec::new();
            client.stream.read_to_end(&mut answer).await.unwrap();
            // Toxiproxy takes the end of one direction for the end of both.
            assert_eq!(answer.len(), if halves { 50_000 } else { 0 });
        };
        tokio::time::timeout(LONG, async { tokio::join!(serve, ask) })
            .await
            .unwrap();
    });
}

#[test]
fn what_is_read_is_written_or_dropped() {
    with_each(Some(Injury::Stall(Way::Both)), async |mut rig: Rig| {
        let mut client = Raw::connect(rig.to_a).await;
        let sent = encode("ECHO hello").len();
        for _ in 0..10 {
            client.ask("ECHO hello").await;
        }
        let counts = rig.provider.measure(&rig.a).await.unwrap();
        if rig.provider.name() == TOXIPROXY {
            assert_eq!(counts, [], "it counts now: compare");
            return;
        }
        let count = |name: &str| counted(&counts, name);
        let sent = u64::try_from(10 * sent).unwrap();
        assert_eq!(count("to_server_bytes_in"), sent);
        assert_eq!(count("to_server_bytes_out"), sent);
        assert_eq!(count("to_client_bytes_out"), 10 * 11);
        assert_eq!((count("requests"), count("replies")), (10, 10));
        assert_eq!(count("connections"), 1);
        let other = rig.provider.measure(&rig.b).await.unwrap();
        assert_eq!(counted(&other, "to_server_bytes_in"), 0);
    });
}

#[test]
fn requests_that_are_silenced_are_not_executed() {
    with_each(
        Some(Injury::Silence(Way::ToServer)),
        async |mut rig: Rig| {
            let mut client = Raw::connect(rig.to_a).await;
            assert_eq!(client.ask("SET k before").await, "+OK\r\n");
            let canary = Canary::open(rig.to_a, REDIS, LONG).await.unwrap();
            rig.injure(&Injury::Silence(Way::ToServer)).await;
            client.send("SET k during").await;
            client.is_quiet().await;
            assert_eq!(rig.value("k"), "before");
            let (crossing, canary) = canary.ask(rig.direct, SHORT).await;
            assert_eq!(crossing, Crossing::NeverArrived);
            assert_eq!(probe(rig.to_a, REDIS, SHORT).await, Probe::Silent);
            rig.b_is_untouched().await;
            drop(canary);
            let measured = rig.heal().await;
            let dropped = counted(&measured, "to_server_bytes_dropped")
                + counted(&measured, "to_server_packets_dropped");
            if rig.provider.name() == TOXIPROXY {
                assert_eq!(measured, [("toxics".to_owned(), 1)]);
            } else {
                assert!(dropped > 0, "{measured:?}");
            }
            is_well_again(&rig).await;
            late_or_lost(&rig, &mut client, "+OK\r\n").await;
        },
    );
}

#[test]
fn replies_that_are_silenced_belong_to_executed_requests() {
    with_each(
        Some(Injury::Silence(Way::ToClient)),
        async |mut rig: Rig| {
            let mut client = Raw::connect(rig.to_a).await;
            assert_eq!(client.ask("SET k before").await, "+OK\r\n");
            let canary = Canary::open(rig.to_a, REDIS, LONG).await.unwrap();
            rig.injure(&Injury::Silence(Way::ToClient)).await;
            client.send("SET k during").await;
            rig.becomes("k", "during").await;
            client.is_quiet().await;
            let (crossing, canary) = canary.ask(rig.direct, SHORT).await;
            assert_eq!(crossing, Crossing::ReplyLost);
            drop(canary);
            assert_eq!(probe(rig.to_a, REDIS, SHORT).await, Probe::Silent);
            rig.b_is_untouched().await;
            rig.heal().await;
            is_well_again(&rig).await;
            late_or_lost(&rig, &mut client, "+OK\r\n").await;
        },
    );
}

#[test]
fn a_connection_that_is_idle_through_a_silence_goes_on() {
    with_each(Some(Injury::Silence(Way::Both)), async |mut rig: Rig| {
        let mut idle = Raw::connect(rig.to_a).await;
        idle.ask("PING").await;
        rig.injure(&Injury::Silence(Way::Both)).await;
        assert_eq!(probe(rig.to_a, REDIS, SHORT).await, Probe::Silent);
        rig.heal().await;
        if rig.provider.name() == TOXIPROXY {
            // It closes whatever lived under a silence.
            let lost = idle.hear_or_lose().await.unwrap_err();
            assert_eq!(lost, Lost::UnexpectedEof);
            return is_well_again(&rig).await;
        }
        assert_eq!(idle.ask("PING").await, "+PONG\r\n");
    });
}

#[test]
fn a_reset_ends_live_connections_and_refuses_new_ones() {
    with_each(Some(Injury::Reset), async |mut rig: Rig| {
        let mut clients = Vec::new();
        for _ in 0..3 {
            let mut client = Raw::connect(rig.to_a).await;
            client.ask("PING").await;
            clients.push(client);
        }
        let measured = rig.injure(&Injury::Reset).await;
        assert!(counted(&measured, "connections_reset") >= 3, "{measured:?}");
        for client in &mut clients {
            let lost = client.hear_or_lose().await.unwrap_err();
            assert!(
                [Lost::ConnectionReset, Lost::ConnectionAborted].contains(&lost),
                "{lost}"
            );
        }
        let seen = probe(rig.to_a, REDIS, LONG).await;
        assert!(
            matches!(seen, Probe::Refused | Probe::ResetByPeer),
            "{seen:?}"
        );
        rig.b_is_untouched().await;
        rig.heal().await;
        is_well_again(&rig).await;
    });
}

#[test]
fn what_is_stalled_arrives_late() {
    with_each(Some(Injury::Stall(Way::ToServer)), async |mut rig: Rig| {
        for way in [Way::ToServer, Way::ToClient, Way::Both] {
            let mut client = Raw::connect(rig.to_a).await;
            assert_eq!(client.ask("SET k before").await, "+OK\r\n");
            rig.injure(&Injury::Stall(way)).await;
            client.send("SET k during").await;
            client.send("INCR n").await;
            if way == Way::ToClient {
                rig.becomes("k", "during").await;
            }
            client.is_quiet().await;
            let is = rig.value("k");
            assert_eq!(
                is,
                if way == Way::ToClient {
                    "during"
                } else {
                    "before"
                }
            );
            rig.b_is_untouched().await;
            rig.heal().await;
            assert_eq!(client.hear_bytes(9).await, b"+OK\r\n:1\r\n");
            rig.server.tell::<()>("FLUSHALL");
        }
    });
}

#[test]
fn a_connection_made_during_a_stall_is_served_after_it() {
    with_each(Some(Injury::Stall(Way::Both)), async |mut rig: Rig| {
        rig.injure(&Injury::Stall(Way::Both)).await;
        let mut client = Raw::connect(rig.to_a).await;
        client.send("INCR n").await;
        client.is_quiet().await;
        assert_eq!(rig.value("n"), "-");
        rig.heal().await;
        assert_eq!(client.hear().await, ":1\r\n");
    });
}

#[test]
fn a_delay_is_as_long_as_it_says() {
    with_each(
        Some(Injury::Delay {
            way: Way::Both,
            ms: 150,
        }),
        async |mut rig: Rig| {
            for way in [Way::ToServer, Way::ToClient, Way::Both] {
                delays(&mut rig, way, 150).await;
            }
        },
    );
}

async fn delays(rig: &mut Rig, way: Way, ms: u64) {
    let mut client = Raw::connect(rig.to_a).await;
    client.ask("PING").await;
    rig.injure(&Injury::Delay { way, ms }).await;
    let wanted = Duration::from_millis(if way == Way::Both { 2 * ms } else { ms });
    let began = Instant::now();
    client.send("ECHO 1").await;
    client.send("ECHO 2").await;
    assert_eq!(client.hear_bytes(14).await, b"$1\r\n1\r\n$1\r\n2\r\n");
    let took = began.elapsed();
    // The second does not wait for the first: both are under way at once.
    assert!(took >= wanted, "{took:?}");
    assert!(took < wanted + Duration::from_millis(ms), "{took:?}");
    rig.b_is_untouched().await;
    client.send("ECHO 3").await;
    rig.heal().await;
    let healed = Instant::now();
    assert_eq!(client.hear().await, "$1\r\n3\r\n");
    assert!(healed.elapsed() < Duration::from_millis(ms));
}

#[test]
fn a_heal_without_an_injury_is_fine_and_a_second_injury_is_not() {
    with_each(Some(Injury::Silence(Way::Both)), async |mut rig: Rig| {
        let silence = Injury::Silence(Way::Both);
        assert_eq!(rig.heal().await, []);
        rig.injure(&silence).await;
        let other = Injury::Silence(Way::ToServer);
        let again = rig.provider.injure(&rig.a, &other).await;
        assert!(matches!(again, Err(EdgeError::Injured(_))), "{again:?}");
        assert_eq!(probe(rig.to_a, REDIS, SHORT).await, Probe::Silent);
        assert_ne!(rig.heal().await, []);
        assert_eq!(rig.heal().await, []);
        is_well_again(&rig).await;
        let nobody = EdgeId::new("nobody", "redis");
        let unknown = rig.provider.heal(&nobody).await;
        assert!(matches!(unknown, Err(EdgeError::Unknown(_))), "{unknown:?}");
    });
}

#[test]
fn closing_leaves_nothing_injured() {
    with_each(Some(Injury::Silence(Way::Both)), async |mut rig: Rig| {
        let mut client = Raw::connect(rig.to_a).await;
        client.ask("PING").await;
        let mut events = rig.provider.watch();
        rig.injure(&Injury::Silence(Way::Both)).await;
        rig.provider.close().await;
        assert_eq!(events.recv().await, None);
        let gone = rig.provider.measure(&rig.a).await;
        assert!(matches!(gone, Err(EdgeError::Unknown(_))), "{gone:?}");
        assert!(matches!(
            probe(rig.direct, REDIS, LONG).await,
            Probe::Answered { .. }
        ));
    });
}

/// New connections are served, and the other edge was never concerned.
async fn is_well_again(rig: &Rig) {
    let seen = probe(rig.to_a, REDIS, LONG).await;
    assert!(matches!(seen, Probe::Answered { .. }), "{seen:?}");
    rig.b_is_untouched().await;
}

/// TCP leaves no hole: the reply comes late, or the connection ends; no other reply ever.
async fn late_or_lost(rig: &Rig, client: &mut Raw, reply: &str) {
    let end = match rig.provider.name() {
        TOXIPROXY => Lost::UnexpectedEof,
        _ => Lost::ConnectionReset,
    };
    match client.hear_or_lose().await {
        Ok(heard) => assert_eq!(heard, reply),
        Err(lost) => assert_eq!(lost, end),
    }
}
