//! Which drills run on a lock of which a quorum has to agree, and why the others do not.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::shipped::{on, with};
use lockdrill::plan::Target;

#[test]
fn what_means_something_on_several_votes_is_taken() {
    for drill in ["pause", "kill", "partition", "outage", "herd", "renew"] {
        let taken = on("redlock", drill).unwrap();
        assert_eq!(taken.main.lock.voters, 3, "{drill}");
    }
    let five = with("redlock", "pause", &["lock.voters=5"]).unwrap();
    assert_eq!((five.main.lock.voters, five.main.lock.quorum()), (5, 3));
    assert_eq!(five.controls.len(), 3, "every control of it applies");
    // Each has a clock of its own, and can hang by itself.
    for (drill, servers) in [
        ("redlock-clock", &["redis-2", "redis-3"][..]),
        ("redlock-hung", &["redis-2"]),
    ] {
        let taken = on("redlock", drill).unwrap();
        let targets: Vec<_> = taken.main.faults.iter().map(|it| &it.target).collect();
        let named = servers
            .iter()
            .map(|name| Target::Member((*name).to_owned()));
        assert_eq!(
            targets,
            named.collect::<Vec<_>>().iter().collect::<Vec<_>>()
        );
    }
}

#[test]
fn what_means_nothing_there_are_refused_with_the_reason() {
    for (drill, set, why) in [
        ("restart", "", "no one server has the lock `redlock`"),
        ("flush", "", "no one server has the lock `redlock`"),
        ("clock-jump", "", "no one clock is that of `redlock`"),
        ("failover", "", "no one server has the lock `redlock`"),
        ("held-reply", "", "is as many requests as it has voters"),
        ("pause", "lock.voters=0", "voters"),
        ("pause", "lock.voters=10", "voters"),
        (
            "redlock-minority",
            "fault.loss.target=\"redis-4\"",
            "`redlock` has no redis-4",
        ),
        (
            "redlock-hung",
            "fault.hang.target=\"lock-server\"",
            "no one server has the lock `redlock`",
        ),
        (
            "redlock-clock",
            "fault.third.target=\"lock-server\"",
            "no one clock is that of `redlock`",
        ),
        (
            "redlock-clock",
            "fault.third.target=\"redis-4\"",
            "`redlock` has no redis-4",
        ),
    ] {
        let set: Vec<&str> = [set].into_iter().filter(|set| !set.is_empty()).collect();
        let told = with("redlock", drill, &set).unwrap_err();
        assert!(told.contains(why), "{drill}: {told}");
    }
    for drill in ["redlock-minority", "redlock-hung", "redlock-clock"] {
        let told = on("redis", drill).unwrap_err();
        let why = "the servers of `redis` have no votes";
        assert!(told.contains(why), "{drill}: {told}");
    }
}

/// Servers that copy each other are started without a clock that can be moved.
#[test]
fn a_named_server_has_a_clock_of_its_own_only_where_it_has_a_vote() {
    let named = &["fault.back.target=\"redis-2\""];
    assert!(with("redlock", "worker-clock", named).is_ok());
    for (lock, why) in [
        ("redis", "there is no redis-2"),
        ("postgres", "there is no redis-2"),
        ("redis-sentinel", "no one clock is that of `redis-sentinel`"),
    ] {
        let told = with(lock, "worker-clock", named).unwrap_err();
        assert!(told.contains(why), "{lock}: {told}");
    }
}
