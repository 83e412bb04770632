//! A small seeded random generator: a seed gives the same data and order on every machine.

/// SplitMix64: one 64-bit state, one output per step, every seed is valid.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A generator that starts from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Next 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in [0, 1).
    pub const fn uniform(&mut self) -> f64 {
        // An f64 has 53 significant bits.
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform boolean.
    pub const fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }

    /// Approximately normal with mean 0 and standard deviation 1: the sum of twelve uniform numbers minus 6.
    /// Bounded by ±6, and free of functions whose bits depend on the machine.
    pub fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_outputs_are_those_of_splitmix64() {
        // Computed by hand from the definition, modulo 2^64, for seed 0.
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
