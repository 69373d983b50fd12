//! Opens a SQLite file that several processes write at once.

use rusqlite::{Connection, OpenFlags, Result};
use std::time::Duration;

/// How long a write waits for another process's transaction before it is told as failed.
const BUSY: Duration = Duration::from_secs(5);

/// A connection to a file that exists, or with `SQLITE_OPEN_CREATE` to a new one.
pub(in crate::store) fn connect(location: &str, access: OpenFlags) -> Result<Connection> {
    // The location is a path as it stands: without SQLITE_OPEN_URI no part of it is an option.
    let flags = access | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(location, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    Ok(connection)
}
