//! Questions about a server itself, over the observer's own connection: what it is set to, and what
//! it has counted.

use super::observe::Control;
use crate::env::error::EnvError;
use std::collections::HashMap;

impl Control {
    /// What a setting is now; none if the server has no such setting.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn setting(&self, name: &str) -> Result<Option<String>, EnvError> {
        let mut command = redis::cmd("CONFIG");
        let mut found: HashMap<String, String> = self.ask(command.arg("GET").arg(name)).await?;
        Ok(found.remove(name))
    }

    /// How often the server has answered that it does not know a script, since it was started.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn unknown_scripts(&self) -> Result<u64, EnvError> {
        let mut command = redis::cmd("INFO");
        let counts: String = self.ask(command.arg("errorstats")).await?;
        Ok(counted(&counts, "NOSCRIPT"))
    }
}

/// The count of one error in `INFO errorstats`; 0 if it has never been given.
fn counted(counts: &str, error: &str) -> u64 {
    let of_error = |line: &str| {
        let rest = line.strip_prefix("errorstat_")?.strip_prefix(error)?;
        rest.strip_prefix(":count=")?.trim().parse().ok()
    };
    counts.lines().find_map(of_error).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn an_error_that_was_never_given_counts_nothing() {
        let counts = "# Errorstats\r\nerrorstat_ERR:count=2\r\nerrorstat_NOSCRIPT:count=7\r\n";
        assert_eq!(counted(counts, "NOSCRIPT"), 7);
        assert_eq!(counted(counts, "ERR"), 2);
        assert_eq!(counted(counts, "NO"), 0);
        assert_eq!(counted("", "NOSCRIPT"), 0);
    }
}
