//! Slots of a Redis Cluster, pure: which one a key lives in, and what `CLUSTER NODES` says of who
//! has it.

use crate::lock::backends::redis_asked::address_of;
use std::ops::RangeInclusive;

/// How many slots there are.
const SLOTS: u16 = 16_384;

/// The slot of a key: of what stands in its first braces, if anything does.
pub fn slot_of(key: &str) -> u16 {
    let tag = key.split_once('{').and_then(|(_, rest)| {
        let (tag, _) = rest.split_once('}')?;
        (!tag.is_empty()).then_some(tag)
    });
    crc16(tag.unwrap_or(key).as_bytes()) % SLOTS
}

/// CRC-16/XMODEM.
fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |sum, byte| {
        (0..8).fold(sum ^ (u16::from(*byte) << 8), |sum, _| match sum & 0x8000 {
            0 => sum << 1,
            _ => (sum << 1) ^ 0x1021,
        })
    })
}

/// What a node of a cluster says of one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    /// `host:port` for clients; none if the teller does not know.
    pub(super) address: Option<String>,
    /// It tells of itself.
    pub(super) myself: bool,
    /// It is a primary.
    pub(super) primary: bool,
    /// Of a primary: rises with each failover that it won and each slot that it took over.
    pub(super) epoch: u64,
    /// The slots it has.
    pub(super) slots: Vec<RangeInclusive<u16>>,
}

impl Told {
    pub(super) fn has(&self, slot: u16) -> bool {
        self.primary && self.slots.iter().any(|range| range.contains(&slot))
    }
}

/// Reads an answer to `CLUSTER NODES`; lines that make no sense are left out.
pub(super) fn read(nodes: &str) -> Vec<Told> {
    nodes.lines().filter_map(told).collect()
}

/// `<id> <ip:port@bus[,name]> <flags> <primary> <ping> <pong> <epoch> <link> <slot> …`
fn told(line: &str) -> Option<Told> {
    let words: Vec<&str> = line.split(' ').collect();
    let [_, at, flags, _, _, _, epoch, _, slots @ ..] = words.as_slice() else {
        return None;
    };
    let flag = |name: &str| flags.split(',').any(|flag| flag == name);
    let (host, port) = at.split(['@', ',']).next()?.rsplit_once(':')?;
    let known = !host.is_empty() && port != "0" && !flag("noaddr");
    Some(Told {
        address: known.then(|| address_of(host, port)),
        myself: flag("myself"),
        primary: flag("master"),
        epoch: epoch.parse().ok()?,
        // What stands in brackets is on its way, and still where it was.
        slots: slots.iter().filter_map(|word| range(word)).collect(),
    })
}

fn range(word: &str) -> Option<RangeInclusive<u16>> {
    let (from, to) = word.split_once('-').unwrap_or((word, word));
    Some(from.parse().ok()?..=to.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_what_the_server_says() {
        // `CLUSTER KEYSLOT` of Redis 7.0.
        assert_eq!(slot_of("123456789"), 12_739);
        assert_eq!(slot_of("foo"), 12_182);
        assert_eq!(slot_of("app:{foo}:fence"), 12_182);
        assert_eq!(slot_of("a{}b{foo}"), crc16(b"a{}b{foo}") % SLOTS);
        assert_eq!(slot_of(""), 0);
    }

    #[test]
    fn a_node_tells_of_itself_and_of_others() {
        let told = read(
            "a1 127.0.0.1:7001@17001,name myself,master - 0 0 5 connected 0-9 12 [13->-b2]\n\
             b2 :7002@17002 slave a1 0 1 5 connected\n\
             c3 ::1:7003@17003 master,fail - 0 1 2 disconnected 10-11\nnonsense\n",
        );
        assert_eq!(told.len(), 3);
        assert_eq!(told[0].address.as_deref(), Some("127.0.0.1:7001"));
        assert!(told[0].myself && told[0].has(9) && told[0].has(12));
        assert!(!told[0].has(10) && !told[0].has(13));
        assert_eq!((told[1].address.as_deref(), told[1].primary), (None, false));
        assert_eq!(told[2].address.as_deref(), Some("[::1]:7003"));
        assert!(told[2].has(10) && !told[2].myself && told[2].epoch == 2);
    }
}
