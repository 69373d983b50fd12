//! Addresses of Postgres servers, as people write them.

use crate::address::{WrongAddress, host_and_port};
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Role and database where the address names none.
const DEFAULT: &str = "postgres";

pub(super) fn by_parts(address: &str) -> Result<(Config, String, u16), WrongAddress> {
    let wrong = |why: &str| WrongAddress::new(address, why);
    let (place, database) = address.split_once('/').unwrap_or((address, DEFAULT));
    let (host, port) = host_and_port(place).map_err(wrong)?;
    if database.is_empty() {
        return Err(wrong("it needs a database behind the slash"));
    }
    let mut config = Config::new();
    config.user(DEFAULT).dbname(database);
    Ok((config, host.to_owned(), port))
}

/// The address itself is not told: a password may stand in it.
pub(super) fn by_url(address: &str) -> Result<(Config, String, u16), WrongAddress> {
    let wrong = |why: &str| WrongAddress::new("postgres://…", why);
    let mut config: Config = address
        .parse()
        .map_err(|_| wrong("it cannot be understood"))?;
    let [Host::Tcp(host)] = config.get_hosts() else {
        return Err(wrong("it needs one host"));
    };
    let host = host.clone();
    let port = config.get_ports().first().copied().unwrap_or(5432);
    if config.get_user().is_none() {
        config.user(DEFAULT);
    }
    Ok((config, host, port))
}
