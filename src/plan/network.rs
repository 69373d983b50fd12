//! The network of a plan.

use serde::{Deserialize, Serialize};

/// What stands between the workers and the servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkPlan {
    /// Name in the registry of providers, or [`AUTO`].
    pub proxy: String,
}

/// Whatever can do what the faults ask for: nothing where they ask for nothing.
pub const AUTO: &str = "auto";

impl Default for NetworkPlan {
    fn default() -> Self {
        NetworkPlan {
            proxy: AUTO.to_owned(),
        }
    }
}
