//! Addresses of servers, as people write them.

/// An address that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongAddress {
    /// As it was given.
    pub(crate) address: String,
    /// What is wrong with it.
    pub(crate) why: String,
}

impl WrongAddress {
    pub(crate) fn new(address: &str, why: &str) -> WrongAddress {
        WrongAddress {
            address: address.to_owned(),
            why: why.to_owned(),
        }
    }
}

/// The parts of `host:port`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn host_and_port(place: &str) -> Result<(&str, u16), &'static str> {
    let (host, port) = place.rsplit_once(':').ok_or("it needs a port")?;
    if host.is_empty() {
        return Err("it needs a host");
    }
    let port = port.parse();
    Ok((
        host,
        port.map_err(|_| "its port is not a number up to 65535")?,
    ))
}
