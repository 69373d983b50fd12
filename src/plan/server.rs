//! The lock's server of a plan, where it is not the lab's own.

use serde::{Deserialize, Serialize};

/// Which program the lock's servers are, and which settings they get beside the lab's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerPlan {
    /// The program as it was named; none = the one that the lab finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary: Option<String>,
    /// The file of settings as it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// Lines of that file which the server gets as they stand, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Settings of that file which the lab replaces.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overridden: Vec<Overridden>,
}

/// One setting of the user's that does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overridden {
    /// `file:line`.
    pub place: String,
    /// Its name.
    pub setting: String,
    /// The user's value; none if it may be a secret.
    pub yours: Option<String>,
    /// What holds instead.
    pub lab: String,
    /// Why, in one sentence.
    pub why: String,
}

impl ServerPlan {
    /// All of it is the lab's own.
    pub fn is_the_labs(&self) -> bool {
        *self == ServerPlan::default()
    }
}
