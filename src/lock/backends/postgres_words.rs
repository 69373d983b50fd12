//! What the Postgres back end says to the server: one statement an operation, each a transaction
//! of its own, every time from the database's clock (`clock_timestamp()`, because `now()` stands
//! still while a statement waits for a row).
//!
//! One row a lock, which stays: the fencing token in it rises for ever. A lock that is free has no
//! owner in its row.

use crate::lock::flaws::Flaw;
use crate::lock::service::LockName;
use sha2::{Digest, Sha256};

/// What every connection is told first: how long to wait for a row, that a row is read as it is
/// now, and that a grant is on disk before it is told.
const GREETING: &str = "
SELECT set_config(name, value, false) FROM (VALUES
  ('application_name', 'lockdrill'),
  ('lock_timeout', '2s'),
  ('statement_timeout', '10s'),
  ('default_transaction_isolation', 'read committed')
) AS wanted (name, value);
SELECT set_config('synchronous_commit', 'on', false)
  WHERE current_setting('synchronous_commit') IN ('off', 'local')";

/// What the server shows of the sessions of a client.
pub fn shown(client: &str) -> String {
    format!("lockdrill {client}")
}

/// What the connections of a client are told first.
pub(super) fn greeting(client: Option<&str>) -> String {
    let Some(client) = client else {
        return GREETING.to_owned();
    };
    let named = format!("'{}'", shown(client).replace('\'', "''"));
    GREETING.replacen("'lockdrill'", &named, 1)
}

/// The table, if there is none yet. Two who make it at once do not disturb each other.
pub const TABLE: &str = "
DO $$ BEGIN
  IF to_regclass('lockdrill_lock') IS NULL THEN
    PERFORM pg_advisory_xact_lock(7308332046317941601);
    CREATE TABLE IF NOT EXISTS lockdrill_lock (
      prefix text NOT NULL,
      key text NOT NULL,
      owner text,
      fencing bigint NOT NULL,
      ends_at timestamptz,
      PRIMARY KEY (prefix, key),
      CHECK ((owner IS NULL) = (ends_at IS NULL))
    ) WITH (fillfactor = 50);
  END IF;
END $$";

/// Prefix, key, owner, lease in ms. A row with a token: granted. A row without: busy, and for so
/// many ms yet. No row: busy.
///
/// An owner whose lease runs gets what it was granted, unchanged. The clock is read once for the
/// whole decision, and under the row's lock.
pub(super) const ACQUIRE: &str = "
WITH taken AS (
  INSERT INTO lockdrill_lock AS held (prefix, key, owner, fencing, ends_at)
  VALUES ($1, $2, $3, 1, clock_timestamp() + $4 * interval '1 millisecond')
  ON CONFLICT (prefix, key) DO UPDATE SET (owner, fencing, ends_at) = (
    SELECT excluded.owner,
      CASE WHEN held.owner = excluded.owner AND held.ends_at > clock.now
        THEN held.fencing ELSE held.fencing + 1 END,
      CASE WHEN held.owner = excluded.owner AND held.ends_at > clock.now
        THEN held.ends_at ELSE clock.now + $4 * interval '1 millisecond' END
    FROM (SELECT clock_timestamp() AS now) AS clock
  )
  WHERE held.owner IS NULL OR held.ends_at <= clock_timestamp() OR held.owner = $3
  RETURNING held.fencing
)
SELECT taken.fencing, NULL::bigint FROM taken
UNION ALL
SELECT NULL::bigint, floor(extract(epoch FROM held.ends_at - clock_timestamp()) * 1000)::bigint
FROM lockdrill_lock AS held
WHERE held.prefix = $1 AND held.key = $2 AND held.owner IS NOT NULL
  AND NOT EXISTS (SELECT FROM taken)";

/// Prefix, key, owner, lease in ms. One row: whether it was renewed, and whether another holds it.
pub(super) const RENEW: &str = "
WITH renewed AS (
  UPDATE lockdrill_lock AS held
  SET ends_at = clock_timestamp() + $4 * interval '1 millisecond'
  WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.ends_at > clock_timestamp()
  RETURNING held.fencing
)
SELECT EXISTS (SELECT FROM renewed), EXISTS (
  SELECT FROM lockdrill_lock AS held
  WHERE held.prefix = $1 AND held.key = $2 AND held.owner <> $3 AND held.ends_at > clock_timestamp()
)";

/// The flaw: a lock that is gone is taken again by whoever renews it. Parameters as above.
const RENEW_RECREATES: &str = "
WITH renewed AS (
  UPDATE lockdrill_lock AS held
  SET owner = $3, ends_at = clock_timestamp() + $4 * interval '1 millisecond'
  WHERE held.prefix = $1 AND held.key = $2
    AND (held.owner = $3 OR held.owner IS NULL OR held.ends_at <= clock_timestamp())
  RETURNING held.fencing
)
SELECT EXISTS (SELECT FROM renewed), NOT EXISTS (SELECT FROM renewed)";

/// Prefix, key, owner, channel of those who wait, who are told which grant is over. A row: it was
/// ours and is free now.
pub(super) const RELEASE: &str = "
WITH freed AS (
  UPDATE lockdrill_lock AS held SET owner = NULL, ends_at = NULL
  WHERE held.prefix = $1 AND held.key = $2 AND held.owner = $3 AND held.ends_at > clock_timestamp()
  RETURNING held.fencing
)
SELECT freed.fencing, pg_notify($4, freed.fencing::text) FROM freed";

/// Prefix, key. A row: for so many ms yet.
pub(super) const REMAINING: &str = "
SELECT floor(extract(epoch FROM held.ends_at - clock_timestamp()) * 1000)::bigint
FROM lockdrill_lock AS held
WHERE held.prefix = $1 AND held.key = $2 AND held.ends_at > clock_timestamp()";

/// Prefix, key. A row of that table: the first fencing token whose end would be news to somebody who
/// has found the lock as it is now, and whether it is free.
pub(super) fn news(table: &str) -> String {
    format!(
        "SELECT held.fencing + CASE WHEN busy.now THEN 0 ELSE 1 END, NOT busy.now
         FROM {table} AS held,
           LATERAL (SELECT COALESCE(held.ends_at > clock_timestamp(), false) AS now) AS busy
         WHERE held.prefix = $1 AND held.key = $2"
    )
}

/// Prefix, key. One row: the next token, drawn without the lock.
pub(super) const DRAW: &str = "
INSERT INTO lockdrill_lock AS held (prefix, key, fencing) VALUES ($1, $2, 1)
ON CONFLICT (prefix, key) DO UPDATE SET fencing = held.fencing + 1
RETURNING held.fencing";

/// The comparison of the owner, in a renewal and in a release.
const IS_OURS: &str = "held.owner = $3 AND held.ends_at >";
/// What is left of it: the parameter has to stand somewhere.
const IS_ANYBODYS: &str = "$3 IS NOT NULL AND held.ends_at >";

/// The statements of one back end, with its flaw if it has one.
pub(super) struct Words {
    pub(super) acquire: String,
    pub(super) renew: String,
    pub(super) release: String,
}

impl Words {
    pub(super) fn new(flaw: Option<Flaw>) -> Words {
        let renew = match flaw {
            Some(Flaw::BlindRenew) => RENEW.replace(IS_OURS, IS_ANYBODYS),
            Some(Flaw::RenewRecreates) => RENEW_RECREATES.to_owned(),
            Some(_) | None => RENEW.to_owned(),
        };
        let release = match flaw {
            Some(Flaw::BlindRelease) => RELEASE.replace(IS_OURS, IS_ANYBODYS),
            Some(_) | None => RELEASE.to_owned(),
        };
        Words {
            acquire: ACQUIRE.to_owned(),
            renew,
            release,
        }
    }
}

/// A lock's name in as few bytes as the server has room for.
pub(super) struct Digested([u8; 32]);

impl Digested {
    pub(super) fn of(name: &LockName) -> Digested {
        let mut sha = Sha256::new();
        // Its length in front: two names never run into one.
        sha.update(name.prefix.len().to_be_bytes());
        sha.update(&name.prefix);
        sha.update(&name.key);
        Digested(sha.finalize().into())
    }

    /// The channel of those who wait; fewer than 64 bytes, and nothing that would need quoting.
    pub(super) fn channel(&self) -> String {
        let mut channel = "lockdrill_".to_owned();
        for byte in &self.0[..16] {
            channel.push_str(&format!("{byte:02x}"));
        }
        channel
    }

    /// The advisory lock for which those who wait queue.
    pub(super) fn turn(&self) -> i64 {
        self.number(16)
    }

    /// The advisory lock that is the lock itself, where sessions hold it.
    pub(super) fn lock(&self) -> i64 {
        self.number(24)
    }

    fn number(&self, from: usize) -> i64 {
        let mut eight = [0; 8];
        eight.copy_from_slice(&self.0[from..from + 8]);
        i64::from_be_bytes(eight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_flaw_changes_one_place() {
        assert_eq!(RENEW.matches(IS_OURS).count(), 1);
        assert_eq!(RELEASE.matches(IS_OURS).count(), 1);
        let sound = Words::new(None);
        let blind = Words::new(Some(Flaw::BlindRelease));
        assert_ne!(sound.release, blind.release);
        assert_eq!((sound.acquire, sound.renew), (blind.acquire, blind.renew));
    }

    #[test]
    fn a_client_is_shown_by_its_name_and_no_name_is_a_statement() {
        assert_eq!(greeting(None), GREETING);
        assert!(greeting(Some("a")).contains("('application_name', 'lockdrill a')"));
        assert!(greeting(Some("a', 'b")).contains("'lockdrill a'', ''b')"));
    }

    #[test]
    fn names_that_look_alike_have_channels_and_turns_of_their_own() {
        let of = |prefix: &str, key: &str| {
            let (prefix, key) = (prefix.to_owned(), key.to_owned());
            let digested = Digested::of(&LockName { prefix, key });
            (digested.channel(), digested.turn())
        };
        assert_eq!(of("a:", "b"), of("a:", "b"));
        assert_ne!(of("a:", "b").0, of("a", ":b").0);
        assert_ne!(of("a:", "b").1, of("a", ":b").1);
        assert!(of("a:", "b").0.len() < 64);
    }
}
