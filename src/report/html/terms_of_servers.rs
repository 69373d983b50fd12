//! The words of servers and machines that a report explains, and what each means: data alone.

use super::terms::{Term, common, term};

/// In the order in which a reader meets them.
pub(super) const TERMS: &[Term] = &[
    term(
        "primary, replica, failover",
        &["primary", "replica", "replicas", "failover", "promoted"],
        "The primary is the server that answers commands; a replica gets a copy of what it did, a little later. When the primary dies, a replica is promoted to be the next primary: a failover. What the replica had not got by then is lost.",
    ),
    common(
        "Sentinel",
        &["Sentinel", "Sentinels", "sentinel"],
        "A Redis Sentinel stands beside the servers: several of them watch the primary, agree that it is gone, choose the replica that is promoted, and tell whoever asks where the primary is.",
    ),
    common(
        "voter, vote, quorum",
        &[
            "voter",
            "voters",
            "vote",
            "votes",
            "quorum",
            "voting server",
            "voting servers",
        ],
        "A lock on several servers that know nothing of each other: each of them votes by keeping the key for one holder. The lock is granted, renewed and lost by a quorum, which is more than half of the votes.",
    ),
    term(
        "fencing counter, epoch",
        &["fencing counter", "epoch"],
        "The lock server counts fencing tokens in a counter of its own, beside the lock. The epoch is the number of a failover: put in front of the counter it keeps new tokens above old ones even if the counter itself was lost on the way.",
    ),
    term(
        "lock.persist",
        &["lock.persist"],
        "What the lock server keeps on disk, from which it comes back after a crash. always: each command before it is answered. everysec: about once a second, so the last second may be lost. none: nothing.",
    ),
    term(
        "Redis words: FLUSHALL, PEXPIRE, eviction, noeviction",
        &[
            "FLUSHALL",
            "FLUSHDB",
            "PEXPIRE",
            "pexpire",
            "evicts",
            "evicted",
            "noeviction",
        ],
        "FLUSHALL deletes every key of a server, FLUSHDB those of one database. PEXPIRE gives a key a lease in milliseconds. Eviction is what a server does with keys that it may drop when its memory is full; with noeviction it refuses new ones instead.",
    ),
    term(
        "Redis words: WAIT, min-replicas-to-write",
        &["WAIT", "min-replicas-to-write"],
        "WAIT asks how many replicas have got what was written so far, and waits for them; min-replicas-to-write refuses commands while too few replicas keep up. Neither says that the replica which is promoted is one of those.",
    ),
    term(
        "Redis words: scripts, NOSCRIPT",
        &["NOSCRIPT"],
        "A script is done by the server as one step. It is sent once and called by its hash; NOSCRIPT is the answer of a server that does not know it any more, and it must be sent again.",
    ),
    term(
        "isolation: guard, namespace",
        &["guard", "namespace"],
        "How an arm's processes are kept from outliving it. Namespace: the kernel ends all of them with their first one. Guard: a process that watches the lab ends them when it dies.",
    ),
    common(
        "late_us",
        &["late_us"],
        "How late a sleep of one millisecond was at most on this machine just before the run, in microseconds.",
    ),
    common(
        "load_1m",
        &["load_1m"],
        "The load of this machine over the last minute, as its kernel tells it: how many processes ran or waited for a processor, on average.",
    ),
    common(
        "lockdrill recheck, report, doctor",
        &["lockdrill recheck", "lockdrill report", "lockdrill doctor"],
        "Commands: recheck judges a recorded run again, report draws its page again, doctor says what this machine has and how noisy it is.",
    ),
];
