//! A small seeded generator: the same seed gives the same data and the same order on every machine.

/// SplitMix64: one 64-bit state, one output per step, every seed is fine.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator that starts from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Evenly in [0, 1).
    pub const fn uniform(&mut self) -> f64 {
        // 53 bits are what an f64 holds.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Heads or tails.
    pub const fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }

    /// Near enough to a normal distribution of mean 0 and deviation 1: the sum of twelve uniform numbers less 6.
    /// It ends at ±6, and needs no function whose bits depend on the machine.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_outputs_are_those_of_splitmix64() {
        // By hand from the definition, in arithmetic modulo 2^64, for the seed 0.
        let mut random = Random::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn moments_are_those_of_the_distribution() {
        let mut random = Random::new(7);
        let draws: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let variance = draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
        let heads = (0..20_000).filter(|_| random.coin()).count();
        assert!((9_700..10_300).contains(&heads), "{heads}");
    }
}
