//! A connection without sockets: what comes out is what went in, whatever it was and however it
//! was cut; and each injury bites where it should and nowhere else.

use super::*;
use crate::env::edge::{Chosen, Injury};
use proptest::prelude::*;

const BOTH: [Sender; 2] = [Sender::Client, Sender::Server];
const PING: &[u8] = b"*1\r\n$4\r\nPING\r\n";

fn link() -> (Link, Arc<Tally>) {
    let tally = Arc::<Tally>::default();
    let link = Link::new(1, ServerProtocol::Redis, Arc::clone(&tally));
    (link, tally)
}

/// Writes what may be written at this time, at most `step` bytes at once.
fn drain(link: &mut Link, sender: Sender, now_ns: u64, step: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while let Next::Bytes(bytes) = link.next(sender, now_ns) {
        let part = bytes[..bytes.len().min(step)].to_vec();
        link.wrote(sender, part.len());
        out.extend_from_slice(&part);
    }
    out
}

fn chosen(nth: u64) -> Chosen {
    Chosen {
        marks: vec!["PING".to_owned()],
        nth,
    }
}

/// Injuries that lose nothing, then those that do.
fn injuries() -> Vec<Injury> {
    vec![
        Injury::Stall(Way::ToServer),
        Injury::Stall(Way::Both),
        Injury::Delay {
            way: Way::Both,
            ms: 1,
        },
        Injury::HoldRequest(chosen(1)),
        Injury::HoldReply(chosen(2)),
        Injury::Silence(Way::ToClient),
        Injury::Silence(Way::Both),
        Injury::LoseRequest(chosen(2)),
        Injury::LoseReply(chosen(1)),
    ]
}
const HARMLESS: usize = 5;

fn chunk() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => Just(PING.to_vec()),
        1 => Just(b"*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n".to_vec()),
        1 => Just(b"*2\r\n$4\r\nPI".to_vec()),
        3 => Just(b"+PONG\r\n".to_vec()),
        2 => Just(b"*2\r\n:1\r\n$3\r\nabc\r\n>1\r\n+push\r\n".to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..30),
    ]
}

proptest! {
    #[test]
    fn what_goes_in_comes_out(
        steps in prop::collection::vec((0_usize..2, chunk(), 1_usize..20), 1..60),
        injury in 0_usize..9,
        onset in 0_usize..30,
        heal in 0_usize..60,
    ) {
        let injury_is = &injuries()[injury];
        let (mut link, tally) = link();
        let (mut went_in, mut came_out) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
        let mut lives = true;
        for (at, (who, bytes, step)) in steps.iter().enumerate() {
            let now_ns = 300_000 * u64::try_from(at).unwrap();
            if at == onset {
                link.injure(&Rule::from(injury_is));
            }
            if at == heal && heal > onset {
                lives = link.heal(now_ns);
                if !lives {
                    break;
                }
            }
            went_in[*who].extend_from_slice(bytes);
            link.arrived(BOTH[*who], bytes, now_ns);
            for sender in BOTH {
                came_out[sender as usize].extend(drain(&mut link, sender, now_ns, *step));
            }
        }
        let end_ns = u64::MAX - 1;
        lives = link.heal(end_ns) && lives;
        for sender in BOTH {
            let (gone, out) = (&went_in[sender as usize], &mut came_out[sender as usize]);
            if lives {
                out.extend(drain(&mut link, sender, end_ns, 7));
                prop_assert_eq!(&*out, gone);
            } else {
                // A hole is never followed by anything.
                prop_assert!(gone.starts_with(out), "{:?} is no beginning", out);
            }
        }
        prop_assert!(lives || injury >= HARMLESS);
        link.abandon();
        let counts = tally.since(&Vec::new());
        let count = |name: &str| counts.iter().find(|(is, _)| is == name).unwrap().1;
        for way in ["to_server", "to_client"] {
            let [read, written, dropped] =
                ["in", "out", "dropped"].map(|what| count(&format!("{way}_bytes_{what}")));
            prop_assert_eq!(read, written + dropped, "{}", way);
        }
    }
}

#[test]
fn a_request_that_had_begun_is_not_the_chosen_one() {
    let (mut link, _) = link();
    link.arrived(Sender::Client, &PING[..5], 1);
    link.injure(&Rule::from(&Injury::HoldRequest(chosen(1))));
    link.arrived(Sender::Client, &PING[5..], 2);
    assert_eq!(drain(&mut link, Sender::Client, 2, 100), PING);
    link.arrived(Sender::Client, PING, 3);
    assert_eq!(link.next(Sender::Client, 3), Next::Nothing);
    let [Happening::Held { frame: 2, .. }] = link.take_events()[..] else {
        panic!("the second request is held");
    };
}

#[test]
fn only_the_reply_to_the_chosen_request_is_held() {
    let (mut link, _) = link();
    link.arrived(Sender::Client, b"*1\r\n$4\r\nINFO\r\n", 1);
    link.injure(&Rule::from(&Injury::HoldReply(chosen(1))));
    link.arrived(Sender::Client, &PING.repeat(2), 2);
    link.arrived(Sender::Server, b"$-1\r\n+PO", 3);
    assert_eq!(drain(&mut link, Sender::Server, 3, 100), b"$-1\r\n");
    assert_eq!(link.take_events(), []);
    link.arrived(Sender::Server, b"NG\r\n:1\r\n", 4);
    assert_eq!(link.next(Sender::Server, 4), Next::Nothing);
    assert!(matches!(
        link.take_events()[..],
        [Happening::Held { frame: 2, .. }]
    ));
    assert!(link.heal(5));
    assert_eq!(drain(&mut link, Sender::Server, 5, 3), b"+PONG\r\n:1\r\n");
    assert!(matches!(
        link.take_events()[..],
        [Happening::Delivered { frame: 2, .. }]
    ));
}

/// Two calls of a script that the server does not know, and the third, which it does.
#[test]
fn an_error_is_not_the_chosen_reply_but_the_next_reply_that_is_none() {
    for (lose, nth) in [(false, 1), (true, 2)] {
        let (mut link, _) = link();
        let what = if lose {
            Injury::LoseReply
        } else {
            Injury::HoldReply
        };
        link.injure(&Rule::from(&what(chosen(nth))));
        link.arrived(Sender::Client, &PING.repeat(3), 1);
        let refused = b"-NOSCRIPT No matching script.\r\n";
        for frame in [1, 2] {
            link.arrived(Sender::Server, refused, 2);
            assert_eq!(drain(&mut link, Sender::Server, 2, 100), refused, "{frame}");
        }
        // The third was asked for before anybody knew that the others would be refused.
        link.arrived(Sender::Server, b"+PONG\r\n", 3);
        assert_eq!(drain(&mut link, Sender::Server, 3, 100), b"+PONG\r\n");
        link.arrived(Sender::Client, PING, 4);
        link.arrived(Sender::Server, b"+PONG\r\n", 5);
        assert_eq!(link.next(Sender::Server, 5), Next::Nothing);
        let [
            Happening::Refused {
                way: Way::ToClient,
                frame,
                ..
            },
            Happening::Held { frame: 4, .. } | Happening::Dropped { frame: 4, .. },
        ] = link.take_events()[..]
        else {
            panic!("the fourth is chosen");
        };
        assert_eq!(frame, nth);
    }
}

#[test]
fn a_held_request_that_the_server_refuses_is_told() {
    for (answer, refused) in [(&b"-NOSCRIPT x\r\n"[..], true), (b":1\r\n", false)] {
        let (mut link, _) = link();
        link.arrived(Sender::Client, b"*1\r\n$4\r\nINFO\r\n", 1);
        link.injure(&Rule::from(&Injury::HoldRequest(chosen(1))));
        link.arrived(Sender::Client, &PING.repeat(2), 2);
        link.arrived(Sender::Server, b"-ERR no\r\n", 3);
        assert!(link.heal(4));
        drain(&mut link, Sender::Client, 4, 100);
        link.arrived(Sender::Server, answer, 5);
        link.arrived(Sender::Server, b"-ERR behind it\r\n", 6);
        let told = link.take_events();
        let told = told.iter().filter(|event| {
            matches!(
                event,
                Happening::Refused {
                    way: Way::ToServer,
                    frame: 2,
                    ..
                }
            )
        });
        assert_eq!(told.count(), usize::from(refused));
        drain(&mut link, Sender::Server, 7, 100);
        let rest = link.take_events();
        assert!(
            rest.iter()
                .all(|event| !matches!(event, Happening::Refused { .. })),
            "{rest:?}"
        );
    }
}

#[test]
fn an_end_that_falls_into_a_silence_arrives_at_the_heal() {
    let (mut link, _) = link();
    link.injure(&Rule::from(&Injury::Silence(Way::ToServer)));
    link.source_ended(Sender::Client, false, 1);
    assert_eq!(link.next(Sender::Client, 1), Next::Nothing);
    assert!(link.heal(2));
    assert_eq!(link.next(Sender::Client, 2), Next::End);
}

#[test]
fn a_reset_comes_behind_what_was_sent_before_it() {
    let (mut link, _) = link();
    link.arrived(Sender::Server, b":1\r\n", 1);
    link.source_ended(Sender::Server, true, 1);
    assert_eq!(link.next(Sender::Server, 1), Next::Bytes(b":1\r\n"));
    link.wrote(Sender::Server, 4);
    assert_eq!(link.next(Sender::Server, 1), Next::Reset);
}

#[test]
fn who_cannot_be_written_to_makes_the_other_side_be_reset() {
    let (mut link, _) = link();
    link.arrived(Sender::Client, PING, 1);
    link.cannot_write(Sender::Client, 1);
    assert_eq!(link.next(Sender::Client, 1), Next::Nothing);
    assert_eq!(link.next(Sender::Server, 1), Next::Reset);
}
