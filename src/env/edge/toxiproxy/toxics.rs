//! Injuries as toxics, and whether a proxy has exactly those.

use crate::env::edge::{Injury, Way};
use toxiproxy_rust::proxy::{Proxy, ProxyPack};
use toxiproxy_rust::toxic::ToxicPack;

/// The longest delay, ms: ten minutes.
const LONGEST_DELAY_MS: u64 = 600_000;

/// On every connection and everything that flows on it.
const ALWAYS: f32 = 1.0;

/// One toxic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Toxic {
    stream: &'static str,
    effect: Effect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Throws away; the connection is closed when it goes.
    Drop,
    /// Holds: no bytes a second.
    Hold,
    /// Lets pass so many ms later.
    Delay(u32),
}

/// Whether Toxiproxy, as far as its client reaches, can do this.
pub fn can(injury: &Injury) -> Result<(), &'static str> {
    of(injury).map(drop)
}

/// The toxics that do it, one for each direction.
pub fn of(injury: &Injury) -> Result<Vec<Toxic>, &'static str> {
    let (way, effect) = match injury {
        Injury::Silence(way) => (*way, Effect::Drop),
        Injury::Stall(way) => (*way, Effect::Hold),
        Injury::Delay { way, ms } => (*way, Effect::Delay(delay(*ms)?)),
        Injury::Reset => return Err("Toxiproxy closes live connections, it does not reset them"),
        Injury::HoldRequest(_)
        | Injury::HoldReply(_)
        | Injury::LoseRequest(_)
        | Injury::LoseReply(_) => return Err("Toxiproxy sees bytes, not commands"),
    };
    let streams: &[&str] = match way {
        Way::ToServer => &["upstream"],
        Way::ToClient => &["downstream"],
        Way::Both => &["upstream", "downstream"],
    };
    Ok(streams
        .iter()
        .map(|stream| Toxic { stream, effect })
        .collect())
}

fn delay(ms: u64) -> Result<u32, &'static str> {
    let sound = (1..=LONGEST_DELAY_MS).contains(&ms);
    let ms = u32::try_from(ms).ok().filter(|_| sound);
    ms.ok_or("a delay is 1 ms to 10 min long")
}

impl Toxic {
    /// Asks for it; whether it came to be is not known then. Panics when the server is not reached.
    pub fn add(self, proxy: &Proxy) {
        let stream = self.stream.to_owned();
        match self.effect {
            Effect::Drop => proxy.with_timeout(stream, 0, ALWAYS),
            Effect::Hold => proxy.with_bandwidth(stream, 0, ALWAYS),
            Effect::Delay(ms) => proxy.with_latency(stream, ms, 0, ALWAYS),
        };
    }

    fn is(self, pack: &ToxicPack) -> bool {
        let (kind, attributes): (_, &[_]) = match self.effect {
            Effect::Drop => ("timeout", &[("timeout", 0)]),
            Effect::Hold => ("bandwidth", &[("rate", 0)]),
            Effect::Delay(ms) => ("latency", &[("latency", ms), ("jitter", 0)]),
        };
        pack.r#type == kind
            && pack.stream == self.stream
            && pack.toxicity >= ALWAYS
            && pack.attributes.len() == attributes.len()
            && attributes
                .iter()
                .all(|(name, value)| pack.attributes.get(*name) == Some(value))
    }
}

/// How many of these the proxy has.
pub fn present(pack: &ProxyPack, wanted: &[Toxic]) -> usize {
    let there = |toxic: &&Toxic| pack.toxics.iter().any(|pack| toxic.is(pack));
    wanted.iter().filter(there).count()
}

/// The proxy is enabled and has these toxics and no other; else what it has.
pub fn exactly(pack: &ProxyPack, wanted: &[Toxic]) -> Result<(), String> {
    let right =
        pack.enabled && pack.toxics.len() == wanted.len() && present(pack, wanted) == wanted.len();
    if right {
        return Ok(());
    }
    Err(format!("instead of {wanted:?} Toxiproxy has {pack:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(injury: &Injury) -> ProxyPack {
        let mut pack = ProxyPack::new("p".into(), "l".into(), "u".into());
        for Toxic { stream, effect } in of(injury).unwrap() {
            let (kind, attributes) = match effect {
                Effect::Drop => ("timeout", vec![("timeout".to_owned(), 0)]),
                Effect::Hold => ("bandwidth", vec![("rate".to_owned(), 0)]),
                Effect::Delay(ms) => (
                    "latency",
                    vec![("latency".to_owned(), ms), ("jitter".to_owned(), 0)],
                ),
            };
            pack.toxics.push(ToxicPack {
                name: format!("{kind}_{stream}"),
                r#type: kind.to_owned(),
                stream: stream.to_owned(),
                toxicity: 1.0,
                attributes: attributes.into_iter().collect(),
            });
        }
        pack
    }

    #[test]
    fn only_the_very_same_toxics_will_do() {
        let injury = Injury::Delay {
            way: Way::Both,
            ms: 150,
        };
        let wanted = of(&injury).unwrap();
        exactly(&pack(&injury), &wanted).unwrap();
        let changes: [fn(&mut ProxyPack); 6] = [
            |pack| pack.enabled = false,
            |pack| drop(pack.toxics.pop()),
            |pack| pack.toxics[1].stream = "upstream".into(),
            |pack| pack.toxics[1].toxicity = 0.5,
            |pack| pack.toxics[0].attributes.extend([("latency".into(), 149)]),
            |pack| pack.toxics[0].r#type = "slicer".into(),
        ];
        for change in changes {
            let mut changed = pack(&injury);
            change(&mut changed);
            assert!(exactly(&changed, &wanted).is_err(), "{changed:?}");
        }
        let other = pack(&Injury::Silence(Way::Both));
        assert!(exactly(&other, &wanted).is_err());
        assert!(exactly(&other, &[]).is_err());
    }
}
