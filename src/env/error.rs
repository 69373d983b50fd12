//! This machine is not ready: what is wrong and what to do about it. Exit code 4.

/// Something outside of us that is missing, broken or refused.
#[derive(Debug, thiserror::Error)]
#[error("{what}; {todo}")]
pub struct EnvError {
    /// What is wrong, a lower-case fragment.
    pub what: String,
    /// What to do about it.
    pub todo: String,
}

impl EnvError {
    /// What is wrong and what to do about it.
    pub fn new(what: impl Into<String>, todo: impl Into<String>) -> Self {
        EnvError {
            what: what.into(),
            todo: todo.into(),
        }
    }
}
