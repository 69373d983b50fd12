//! The chance that a world is made by: the same for the same seed, everywhere.

#[derive(Debug, Clone)]
pub struct Dice(pub u64);

impl Dice {
    /// Worlds of different kinds have salts of their own.
    pub fn new(seed: u64, salt: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ salt)
    }

    /// A number below this one.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}
