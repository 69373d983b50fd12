//! Which drills run on a lock of which a quorum has to agree, and why the others do not.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::shipped::{on, with};

#[test]
fn what_means_something_on_several_votes_is_taken() {
    for drill in ["pause", "kill", "partition", "outage", "herd", "renew"] {
        let taken = on("redlock", drill).unwrap();
        assert_eq!(taken.main.lock.voters, 3, "{drill}");
    }
    let five = with("redlock", "pause", &["lock.voters=5"]).unwrap();
    assert_eq!((five.main.lock.voters, five.main.lock.quorum()), (5, 3));
    assert_eq!(five.controls.len(), 3, "every control of it applies");
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
    ] {
        let set: Vec<&str> = [set].into_iter().filter(|set| !set.is_empty()).collect();
        let told = with("redlock", drill, &set).unwrap_err();
        assert!(told.contains(why), "{drill}: {told}");
    }
    let told = on("redis", "redlock-minority").unwrap_err();
    assert!(
        told.contains("the servers of `redis` have no votes"),
        "{told}"
    );
}
