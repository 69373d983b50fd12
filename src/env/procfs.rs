//! What `/proc` says of processes and listening sockets.
//!
//! Readings only, each of one moment. A process that ends while it is read is left out: absence
//! here proves that it was absent, presence only that it was there.

use nix::libc;
use std::fs;
use std::io;

/// What `/proc/PID/stat` says, as far as it is needed here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Process id.
    pub pid: i32,
    /// Name of the program, cut to 15 bytes by the kernel. Only for showing.
    pub name: String,
    /// State letter: `R`, `S`, `D`, `T` stopped, `Z` zombie, …
    pub state: char,
    /// Parent.
    pub parent: i32,
    /// Process group.
    pub group: i32,
    /// Session.
    pub session: i32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
}

impl Stat {
    /// It will never run again.
    pub const fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X' | 'x')
    }

    /// A child of this process that has not ended.
    pub const fn is_living_child_of(&self, parent: i32) -> bool {
        self.parent == parent && !self.is_dead()
    }

    /// Fields after the name are counted from the last `)`: a name may hold spaces and brackets.
    /// Reads the text of a `stat` file, of a process or of one of its threads. The program's name
    /// may itself hold spaces and brackets.
    pub fn parse(text: &str) -> Option<Stat> {
        let open = text.find('(')?;
        let close = text.rfind(')')?;
        let rest: Vec<&str> = text.get(close + 1..)?.split_whitespace().collect();
        Some(Stat {
            pid: text.get(..open)?.trim().parse().ok()?,
            name: text.get(open + 1..close)?.to_owned(),
            state: rest.first()?.chars().next()?,
            parent: rest.get(1)?.parse().ok()?,
            group: rest.get(2)?.parse().ok()?,
            session: rest.get(3)?.parse().ok()?,
            start_ticks: rest.get(19)?.parse().ok()?,
        })
    }
}

/// `/proc/PID/stat` of one process.
///
/// # Errors
/// `NotFound` when there is no such process.
pub fn stat(pid: i32) -> io::Result<Stat> {
    let text = match fs::read(format!("/proc/{pid}/stat")) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        // The process ended between open and read.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {
            return Err(io::ErrorKind::NotFound.into());
        }
        Err(error) => return Err(error),
    };
    Stat::parse(&text).ok_or_else(|| {
        let message = format!("/proc/{pid}/stat is not understood: {text:?}");
        io::Error::new(io::ErrorKind::InvalidData, message)
    })
}

/// Every process that can be seen, zombies included; those that end meanwhile are left out.
///
/// # Errors
/// When `/proc` cannot be listed.
pub fn all() -> io::Result<Vec<Stat>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        if let Some(pid) = name.to_str().and_then(|name| name.parse().ok()) {
            found.extend(stat(pid).ok());
        }
    }
    Ok(found)
}

/// The process was started with exactly this `KEY=value` in its environment. False when that
/// cannot be read, when the program has overwritten it (redis-server does), and for an instant
/// while a process becomes another program.
pub fn started_with(pid: i32, variable: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
        environ
            .split(|byte| *byte == 0)
            .any(|entry| entry == variable.as_bytes())
    })
}

/// Ports of this network namespace on which somebody listens by TCP, of either family.
///
/// # Errors
/// When `/proc/net/tcp` cannot be read.
pub fn listening_ports() -> io::Result<Vec<u16>> {
    let mut ports = Vec::new();
    for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
        match fs::read_to_string(table) {
            Ok(text) => ports.extend(text.lines().skip(1).filter_map(listening_port)),
            // A kernel without IPv6 has no such table.
            Err(error) if error.kind() == io::ErrorKind::NotFound && table.ends_with('6') => {}
            Err(error) => return Err(error),
        }
    }
    ports.sort_unstable();
    ports.dedup();
    Ok(ports)
}

/// Whether this process itself has a listener on this port.
///
/// # Errors
/// When `/proc` cannot be read, or the process is gone.
pub fn listens(pid: i32, port: u16) -> io::Result<bool> {
    let mut inodes = Vec::new();
    for line in fs::read_to_string("/proc/net/tcp")?.lines() {
        if listening_port(line) == Some(port)
            && let Some(inode) = line.split_whitespace().nth(9)
        {
            inodes.push(format!("socket:[{inode}]"));
        }
    }
    for entry in fs::read_dir(format!("/proc/{pid}/fd"))? {
        // A descriptor may be closed meanwhile.
        if let Ok(target) = fs::read_link(entry?.path())
            && inodes
                .iter()
                .any(|inode| target.as_os_str() == inode.as_str())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The port of a line like `0: 0100007F:18EB 00000000:0000 0A …`; 0A is LISTEN.
fn listening_port(line: &str) -> Option<u16> {
    let mut fields = line.split_whitespace();
    let local = fields.nth(1)?;
    if fields.nth(1)? != "0A" {
        return None;
    }
    u16::from_str_radix(local.rsplit(':').next()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_is_known_by_its_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let us = i32::try_from(std::process::id()).unwrap();
        assert!(listens(us, port).unwrap());
        let mut other = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        let others = listens(i32::try_from(other.id()).unwrap(), port);
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(!others.unwrap());
        drop(listener);
        assert!(!listens(us, port).unwrap());
    }

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let text = "42 (a) b (c)) T 1 42 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 0 0";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.pid, stat.name.as_str()), (42, "a) b (c)"));
        assert_eq!((stat.state, stat.parent, stat.group), ('T', 1, 42));
        assert_eq!((stat.session, stat.start_ticks), (7, 99));
        assert_eq!(Stat::parse("42 (cut"), None);
    }

    #[test]
    fn a_listener_is_seen_and_a_connection_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listening_ports().unwrap().contains(&port));
        let connected = "0: 0100007F:18EB 0100007F:C350 01 00000000:00000000 00:00000000";
        assert_eq!(listening_port(connected), None);
        assert_eq!(
            listening_port(&connected.replace(" 01 ", " 0A ")),
            Some(6379)
        );
    }
}
