//! The lock core: lease locks with fencing tokens, usable as a library on its own.

pub mod probe;
