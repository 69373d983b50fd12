//! What becomes of a holder whose lock was given to somebody else, or to nobody, on a back end where
//! only the flaw that is built in tells a holder from its successor.

use super::place::Place;
use super::redis_lab::LONG;
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::{LockHandle, LockManager, LostReason, Release, Renewal};

/// A place, its second manager, and a lock from the first that an operator gave back.
async fn given_back(backend: &str, flaw: Option<Flaw>) -> (Place, LockManager, LockHandle) {
    let place = Place::flawed(backend, flaw).await;
    let (a, b) = (place.manager().await, place.manager().await);
    let source = place.identity();
    let held = place.granted(&a.with_source(source.clone()), LONG).await;
    assert_eq!(
        b.release(place.key(), &source.last()).await,
        Release::Released
    );
    (place, b, held)
}

/// A late holder renews, and gives back, what is no longer its own: what it is told at the first, and
/// whether its successor still has the lock.
pub async fn late(backend: &str, flaw: Option<Flaw>) -> (Renewal, bool) {
    let (place, b, held) = given_back(backend, flaw).await;
    let next = place.granted(&b, LONG).await;
    let renewed = held.renew().await;
    held.release().await;
    (renewed, next.renew().await == Renewal::Renewed)
}

/// The two flaws that a back end may have whatever it keeps locks in.
pub async fn each_flaw_shows_where_the_sound_code_holds(backend: &str) {
    let foreign = Renewal::Lost(LostReason::Foreign);
    assert_eq!(late(backend, None).await, (foreign.clone(), true));
    let blind = late(backend, Some(Flaw::BlindRelease)).await;
    assert_eq!(blind, (foreign, false), "the successor's lock is gone");
    for (flaw, renewal) in [
        (None, Renewal::Lost(LostReason::Absent)),
        (Some(Flaw::RenewRecreates), Renewal::Renewed),
    ] {
        let (_place, _b, held) = given_back(backend, flaw).await;
        assert_eq!(held.renew().await, renewal);
    }
}
