//! Rules as the kernel's packet filter prints them, so that what was inserted can be found again
//! word by word.

use crate::env::edge::{Injury, Way};
use std::net::SocketAddrV4;

/// One rule of the chain `INPUT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Which counter its packets belong to.
    pub counts: &'static str,
    /// What follows `-I INPUT`, in the words and the order of `iptables -S`.
    words: Vec<String>,
}

impl Rule {
    /// The rules of an injury that `can` allows on an edge with this address.
    pub fn of(injury: &Injury, edge: SocketAddrV4) -> Vec<Rule> {
        match injury {
            Injury::Silence(way) => {
                let to_server = way
                    .to_server()
                    .then(|| Rule::new(edge, Way::ToServer, DROP));
                let to_client = way
                    .to_client()
                    .then(|| Rule::new(edge, Way::ToClient, DROP));
                to_server.into_iter().chain(to_client).collect()
            }
            Injury::Reset => vec![Rule::new(edge, Way::ToServer, REJECT)],
            _ => Vec::new(),
        }
    }

    fn new(edge: SocketAddrV4, way: Way, target: &str) -> Rule {
        let (address, port) = match way {
            Way::ToClient => ("-s", "--sport"),
            Way::ToServer | Way::Both => ("-d", "--dport"),
        };
        let text = format!(
            "{address} {}/32 -p tcp -m tcp {port} {} -j {target}",
            edge.ip(),
            edge.port()
        );
        Rule {
            counts: match (way, target) {
                (_, REJECT) => "packets_rejected",
                (Way::ToClient, _) => "to_client_packets_dropped",
                (Way::ToServer | Way::Both, _) => "to_server_packets_dropped",
            },
            words: text.split(' ').map(str::to_owned).collect(),
        }
    }

    /// Arguments that do something with it: `-I` inserts, `-D` deletes exactly it.
    pub fn arguments(&self, what: &str) -> Vec<String> {
        let head = ["-w", what, "INPUT"].map(str::to_owned);
        head.into_iter().chain(self.words.iter().cloned()).collect()
    }

    /// How many packets it has matched, in a listing of `iptables -v -S INPUT`; nothing if it is
    /// not there.
    pub fn packets(&self, listing: &str) -> Option<u64> {
        listing.lines().find_map(|line| {
            let mut words: Vec<&str> = line.strip_prefix("-A INPUT ")?.split(' ').collect();
            let at = words.iter().position(|word| *word == "-c")?;
            let packets = words.get(at + 1)?.parse().ok()?;
            words.drain(at..words.len().min(at + 3));
            (words == self.words).then_some(packets)
        })
    }
}

const DROP: &str = "DROP";
const REJECT: &str = "REJECT --reject-with tcp-reset";

/// Both ends of an edge's connections, for `ss`.
pub fn sockets(edge: SocketAddrV4) -> String {
    let (ip, port) = (edge.ip(), edge.port());
    let worker_ends = worker_ends(edge);
    format!("( {worker_ends} ) or ( src {ip} and sport = {port} )")
}

/// The workers' ends of an edge's connections, for `ss`.
pub fn worker_ends(edge: SocketAddrV4) -> String {
    format!("dst {} and dport = {}", edge.ip(), edge.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EDGE: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::new(127, 0, 1, 2), 6379);

    fn words(injury: &Injury) -> Vec<String> {
        let rules = Rule::of(injury, EDGE);
        rules.iter().map(|r| r.arguments("-I").join(" ")).collect()
    }

    #[test]
    fn each_way_has_its_rule() {
        let to_server = "-w -I INPUT -d 127.0.1.2/32 -p tcp -m tcp --dport 6379 -j DROP";
        let to_client = "-w -I INPUT -s 127.0.1.2/32 -p tcp -m tcp --sport 6379 -j DROP";
        assert_eq!(words(&Injury::Silence(Way::ToServer)), [to_server]);
        assert_eq!(words(&Injury::Silence(Way::ToClient)), [to_client]);
        assert_eq!(words(&Injury::Silence(Way::Both)), [to_server, to_client]);
        assert_eq!(
            words(&Injury::Reset),
            ["-w -I INPUT -d 127.0.1.2/32 -p tcp -m tcp --dport 6379 \
              -j REJECT --reject-with tcp-reset"]
        );
    }

    #[test]
    fn a_rule_is_found_among_others_and_only_if_it_is_the_same() {
        let listing = "-P INPUT ACCEPT -c 0 0\n\
            -A INPUT -d 127.0.1.2/32 -p tcp -m tcp --dport 6380 -c 9 90 -j DROP\n\
            -A INPUT -d 127.0.1.2/32 -p tcp -m tcp --dport 6379 -c 12 720 -j DROP\n\
            -A INPUT -d 127.0.1.2/32 -p tcp -m tcp --dport 6379 -c 3 180 \
            -j REJECT --reject-with tcp-reset\n";
        let found = |injury| Rule::of(&injury, EDGE)[0].packets(listing);
        assert_eq!(found(Injury::Silence(Way::ToServer)), Some(12));
        assert_eq!(found(Injury::Reset), Some(3));
        assert_eq!(found(Injury::Silence(Way::ToClient)), None);
    }
}
