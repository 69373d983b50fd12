//! Where a lock is in a ZooKeeper and what the back end asks for. A lock is a folder. In it stands
//! `held` while somebody holds it, and beside it, made and deleted together with it, a node named
//! after its owner: who names that one in a request can neither give back nor renew another's.
//! Those who wait are there too, in the order of their arrival.

use crate::ids::OwnerToken;
use crate::lock::service::LockName;
use crate::zookeeper_link::{Request, Stat, Stays, got};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::time::Duration;

/// In front of the number of one who waits.
pub(super) const WAIT: &str = "wait-";
/// In front of what one owner is called.
pub(super) const OWN: &str = "own-";
const HELD: &str = "held";
/// What the server keeps for itself.
const RESERVED: &str = "zookeeper";

/// The folder of one lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder(String);

impl Folder {
    pub(super) fn of(name: &LockName) -> Folder {
        let mut folder = String::from("/");
        let whole = [name.prefix.as_str(), name.key.as_str()].concat();
        for (at, byte) in whole.bytes().enumerate() {
            let plain = byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
            if plain && !(at == 0 && whole == RESERVED) {
                folder.push(char::from(byte));
            } else {
                // To write into a text does not fail.
                let _ = write!(folder, "%{byte:02x}");
            }
        }
        Folder(folder)
    }

    pub(super) fn path(&self) -> &str {
        &self.0
    }

    pub(super) fn child(&self, name: &str) -> String {
        format!("{}/{name}", self.0)
    }

    pub(super) fn held(&self) -> String {
        self.child(HELD)
    }

    /// Of one owner.
    pub(super) fn own(&self, owner: &OwnerToken) -> String {
        let digest: [u8; 32] = Sha256::digest(owner.expose().as_bytes()).into();
        let digest = digest[..16].iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        self.child(&format!("{OWN}{digest}"))
    }

    /// The folder itself; it goes some time after its last child.
    pub(super) fn make(&self) -> Request {
        Request::create(&self.0, b"", Stays::WithChildren)
    }

    /// The lock is taken if nobody has it, which also mints the fencing token: the change that
    /// makes it. The first that is refused tells of an earlier send, the second of another owner;
    /// the third is there because its answer tells the number of that change.
    pub(super) fn take(&self, owner: &OwnerToken, lease: Duration) -> Request {
        let data = held_by(owner, lease);
        Request::several(&[
            Request::create(&self.own(owner), b"", Stays::WithSession),
            Request::create(&self.held(), &data, Stays::WithSession),
            Request::set(&self.own(owner), b""),
        ])
    }

    /// The lock goes if it is this owner's.
    pub(super) fn give_back(&self, owner: &OwnerToken) -> Request {
        let own = Request::delete(&self.own(owner));
        Request::several(&[own, Request::delete(&self.held())])
    }

    /// The lock is said again as it is, if it is this owner's.
    pub(super) fn say_again(&self, owner: &OwnerToken, lease: Duration) -> Request {
        let again = Request::set(&self.held(), &held_by(owner, lease));
        Request::several(&[Request::check(&self.own(owner)), again])
    }

    /// The flaw: the lock goes, whosever it is; these are the folder's children.
    pub(super) fn give_back_blindly(&self, children: &[String]) -> Request {
        let owners = children.iter().filter(|child| child.starts_with(OWN));
        let mut all: Vec<_> = owners
            .map(|own| Request::delete(&self.child(own)))
            .collect();
        all.insert(0, Request::delete(&self.held()));
        Request::several(&all)
    }
}

/// What stands in a lock that is held: the lease in milliseconds and the owner token.
fn held_by(owner: &OwnerToken, lease: Duration) -> Vec<u8> {
    format!("{} {}", lease.as_millis(), owner.expose()).into_bytes()
}

/// A lock that is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) owner: OwnerToken,
    pub(super) lease: Duration,
    pub(super) stat: Stat,
}

/// What was found in it; what we have not written is nobody's of ours, and has no lease.
pub(super) fn found(answer: &[u8]) -> Option<Found> {
    let (data, stat) = got(answer)?;
    let text = String::from_utf8_lossy(data);
    let (lease_ms, owner) = text.split_once(' ').unwrap_or(("", &text));
    Some(Found {
        owner: OwnerToken::new(owner),
        lease: Duration::from_millis(lease_ms.parse().unwrap_or(0)),
        stat,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(prefix: &str, key: &str) -> Folder {
        let (prefix, key) = (prefix.to_owned(), key.to_owned());
        Folder::of(&LockName { prefix, key })
    }

    #[test]
    fn every_name_has_a_folder_of_its_own_that_the_server_takes() {
        for (prefix, key, path) in [
            ("app:", "k", "/app:k"),
            ("a/", "b", "/a%2fb"),
            ("", "..", "/%2e%2e"),
            ("", "%2e", "/%252e"),
            ("zoo", "keeper", "/%7aookeeper"),
            ("", "ä", "/%c3%a4"),
        ] {
            assert_eq!(folder(prefix, key).path(), path);
        }
    }

    #[test]
    fn an_owner_has_one_name_and_another_has_another() {
        let place = folder("", "k");
        let [one, other] = ["a", "b"].map(|owner| place.own(&OwnerToken::new(owner)));
        assert_ne!(one, other);
        assert_eq!(one, place.own(&OwnerToken::new("a")));
        assert!(one.starts_with("/k/own-") && !one.contains("a "));
    }
}
