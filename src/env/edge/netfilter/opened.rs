//! One edge in the kernel: its rules go in, are read back, count, and come out again.

use super::programs::Programs;
use super::rules::{Rule, sockets, worker_ends};
use crate::env::edge::{EdgeError, Injury, Measured};
use std::net::SocketAddrV4;

/// How often sockets are ended until none is left: one may be in its handshake at the first.
const ROUNDS: usize = 5;

/// An edge and what was done to it.
#[derive(Debug)]
pub struct Opened {
    address: SocketAddrV4,
    /// The rules that are in the kernel now.
    rules: Vec<Rule>,
    /// What deleted rules had counted.
    past: Measured,
}

impl Opened {
    /// An edge to which nothing was done.
    pub fn new(address: SocketAddrV4) -> Opened {
        Opened {
            address,
            rules: Vec::new(),
            past: Measured::new(),
        }
    }

    /// Whether no rule of it is in the kernel.
    pub fn is_well(&self) -> bool {
        self.rules.is_empty()
    }

    /// What its rules have counted, those that are gone included.
    ///
    /// # Errors
    /// When the rules cannot be read.
    pub async fn measure(&self, programs: &Programs) -> Result<Measured, EdgeError> {
        if self.is_well() {
            return Ok(self.past.clone());
        }
        let now = self.counters(&programs.listing().await?);
        Ok(added(&self.past, &now))
    }

    /// Inserts the rules one after the other, and ends live connections if that is the injury.
    ///
    /// # Errors
    /// When a rule could not be inserted or a connection not be ended; rules may be left.
    pub async fn apply(
        &mut self,
        programs: &Programs,
        injury: &Injury,
    ) -> Result<Measured, EdgeError> {
        for rule in Rule::of(injury, self.address) {
            let insert = rule.arguments("-I");
            // Known before it is there: whoever stops waiting for us leaves no rule unknown.
            self.rules.push(rule);
            programs.iptables(&insert).await?;
        }
        let listing = programs.listing().await?;
        if let Some(rule) = self.rules.iter().find(|r| r.packets(&listing).is_none()) {
            let text = format!("a rule is not in the kernel after its insertion: {rule:?}");
            return Err(EdgeError::Refused(text));
        }
        let rules = u64::try_from(self.rules.len()).unwrap_or(u64::MAX);
        let mut measured = vec![("rules".to_owned(), rules)];
        if *injury == Injury::Reset {
            let ended = self.end_sockets(programs).await?;
            measured.push(("connections_reset".to_owned(), ended));
        }
        Ok(measured)
    }

    /// Ends both ends of every live connection: how many connections. No new one can come.
    async fn end_sockets(&self, programs: &Programs) -> Result<u64, EdgeError> {
        let live = programs.sockets(&worker_ends(self.address)).await?;
        let matching = sockets(self.address);
        for _ in 0..ROUNDS {
            programs.kill_sockets(&matching).await?;
            if programs.sockets(&matching).await? == 0 {
                return Ok(u64::try_from(live).unwrap_or(u64::MAX));
            }
        }
        let text = "live connections could not be ended: the kernel lacks INET_DIAG_DESTROY";
        Err(EdgeError::Refused(text.to_owned()))
    }

    /// Deletes every rule that is still there, and counts what they did.
    ///
    /// # Errors
    /// When one could not be deleted.
    pub async fn remove(&mut self, programs: &Programs) -> Result<Measured, EdgeError> {
        let listing = programs.listing().await?;
        let measured = self.counters(&listing);
        for rule in &self.rules {
            if rule.packets(&listing).is_some() {
                programs.iptables(&rule.arguments("-D")).await?;
            }
        }
        let listing = programs.listing().await?;
        if self.rules.iter().any(|r| r.packets(&listing).is_some()) {
            let text = "a rule is still in the kernel after its deletion".to_owned();
            return Err(EdgeError::Refused(text));
        }
        self.rules.clear();
        self.past = added(&self.past, &measured);
        Ok(measured)
    }

    fn counters(&self, listing: &str) -> Measured {
        let count = |rule: &Rule| (rule.counts.to_owned(), rule.packets(listing).unwrap_or(0));
        self.rules.iter().map(count).collect()
    }
}

/// Both, added up by name.
fn added(past: &Measured, now: &Measured) -> Measured {
    let mut sum = past.clone();
    for (name, count) in now {
        match sum.iter_mut().find(|(is, _)| is == name) {
            Some((_, before)) => *before += count,
            None => sum.push((name.clone(), *count)),
        }
    }
    sum
}
