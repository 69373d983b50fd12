//! The only source of seeded randomness: one stream per consumer, derived from seed and name.
//!
//! `ChaCha8` is used by name because `StdRng` may change between versions of `rand`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sha2::{Digest, Sha256};

/// A random stream that depends on the run's seed and the consumer's name alone, so that adding
/// a consumer never changes what another one draws.
pub fn stream(seed: u64, consumer: &str) -> ChaCha8Rng {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(consumer.as_bytes());
    ChaCha8Rng::from_seed(hash.finalize().into())
}
