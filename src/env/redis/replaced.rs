//! A user's own redis.conf: which of its settings the lab must set itself, and why. Every other
//! line is the server's.

use crate::plan::Persist;

/// One or several settings that the lab sets itself.
#[derive(Debug)]
pub struct Rule {
    /// Their names; one that ends in `*` stands for all that begin so.
    pub names: &'static [&'static str],
    /// What holds instead.
    pub lab: Instead,
    /// Why.
    pub why: &'static str,
    /// The user's value may be a secret, and is not repeated.
    pub secret: bool,
}

/// What holds instead of a user's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instead {
    /// This value.
    Value(&'static str),
    /// Nothing: the line is left out.
    Nothing,
    /// Whether the plan's persistence appends.
    Appends,
    /// How the plan's persistence brings what it appends to disk.
    Syncs,
}

impl Instead {
    /// As a value.
    pub fn value(self, persist: Persist) -> &'static str {
        match (self, persist) {
            (Instead::Value(value), _) => value,
            (Instead::Nothing, _) => "left out",
            (Instead::Appends, Persist::None) => "no",
            (Instead::Appends, Persist::Everysec | Persist::Always) => "yes",
            (Instead::Syncs, Persist::None | Persist::Everysec) => "everysec",
            (Instead::Syncs, Persist::Always) => "always",
        }
    }
}

const fn rule(names: &'static [&'static str], lab: Instead, why: &'static str) -> Rule {
    Rule {
        names,
        lab,
        why,
        secret: false,
    }
}

const fn secret(names: &'static [&'static str], why: &'static str) -> Rule {
    Rule {
        names,
        lab: Instead::Nothing,
        why,
        secret: true,
    }
}

const PERSIST: &str = "`persist` of the lock says what a restart leaves";
const ALONE: &str = "the server of this drill stands alone";
const CHILD: &str = "the lab is the parent of the server and collects what it logs";

/// Every rule; the first that fits counts.
pub const RULES: &[Rule] = &[
    rule(
        &["port"],
        Instead::Value("one of the lab's"),
        "nobody may get in before the lab follows every change",
    ),
    rule(
        &["bind", "bind-source-addr"],
        Instead::Value("loopback, or all of a network of its own"),
        "no drill is reachable from elsewhere",
    ),
    rule(
        &["protected-mode"],
        Instead::Value("no"),
        "each worker has an address of its own",
    ),
    rule(
        &["unixsocket", "unixsocketperm", "unixsocketgroup"],
        Instead::Value("one of the lab's"),
        "the lab watches the server through it, past every fault",
    ),
    rule(
        &["dir"],
        Instead::Value("a folder of this run"),
        "nothing of a drill outlives it",
    ),
    rule(&["appendonly"], Instead::Appends, PERSIST),
    rule(&["appendfsync"], Instead::Syncs, PERSIST),
    rule(&["save"], Instead::Value("\"\""), PERSIST),
    rule(
        &["hz"],
        Instead::Value("100"),
        "the end of a lease is seen by when the server drops the key",
    ),
    rule(
        &["shutdown-timeout"],
        Instead::Value("0"),
        "the lab's observer never acknowledges, so that waiting for it is in vain",
    ),
    rule(
        &["repl-diskless-sync"],
        Instead::Value("no"),
        "the lab's observer begins with a file",
    ),
    rule(&["daemonize", "supervised"], Instead::Value("no"), CHILD),
    rule(&["logfile", "pidfile", "syslog-*"], Instead::Nothing, CHILD),
    rule(
        &["cluster-enabled"],
        Instead::Value("no"),
        "a lock on a cluster is the back end `redis-cluster`",
    ),
    rule(
        &["replicaof", "slaveof", "sentinel"],
        Instead::Nothing,
        ALONE,
    ),
    rule(
        &["min-replicas-*", "min-slaves-*"],
        Instead::Nothing,
        "the server of this drill stands alone and would refuse every write",
    ),
    secret(
        &[
            "requirepass",
            "masterauth",
            "masteruser",
            "primaryauth",
            "primaryuser",
        ],
        "workers bring no password: only they reach the server",
    ),
    secret(
        &["user", "aclfile"],
        "workers and the lab are the default user",
    ),
    secret(
        &["rename-command"],
        "the lock and the lab call commands by their own names",
    ),
    secret(&["tls-*"], "workers speak without TLS"),
];

/// The rule for a setting, by its name in lower case; none if it is the user's to set.
pub fn rule_for(name: &str) -> Option<&'static Rule> {
    let fits = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(begin) => name.starts_with(begin),
        None => name == *pattern,
    };
    RULES.iter().find(|rule| rule.names.iter().any(&fits))
}

/// What the user's file says of persistence, by its last words on it; none if it says nothing, or
/// what the lab cannot keep.
pub fn persist(appendonly: Option<&str>, appendfsync: Option<&str>) -> Option<Persist> {
    match (appendonly?, appendfsync.unwrap_or("everysec")) {
        ("no", _) => Some(Persist::None),
        ("yes", "always") => Some(Persist::Always),
        ("yes", "everysec") => Some(Persist::Everysec),
        _other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::redis::server;
    use std::path::Path;

    #[test]
    fn whatever_the_lab_sets_on_the_command_line_has_a_rule() {
        let folder = Path::new("/x");
        let args = server::args([127, 0, 0, 1].into(), folder, folder, Persist::Always);
        for pair in args.chunks(2) {
            let name = pair[0].trim_start_matches("--");
            let rule = rule_for(name).unwrap_or_else(|| panic!("{name} has no rule"));
            let value = rule.lab.value(Persist::Always);
            let is_told = [pair[1].as_str(), "\"\"", "one of the lab's"].contains(&value);
            assert!(
                is_told || ["bind", "dir", "unixsocketperm"].contains(&name),
                "{name} {value}"
            );
        }
        assert!(rule_for("maxmemory").is_none());
        assert!(rule_for("tls-port").is_some_and(|rule| rule.secret));
    }

    #[test]
    fn persistence_is_read_from_both_settings() {
        assert_eq!(persist(Some("yes"), None), Some(Persist::Everysec));
        assert_eq!(persist(Some("yes"), Some("always")), Some(Persist::Always));
        assert_eq!(persist(Some("yes"), Some("no")), None);
        assert_eq!(persist(None, Some("always")), None);
    }
}
