//! Instruction sets with kernels, and detection of those that this processor has.

use core::fmt;

/// An instruction set with kernels, ordered from narrow to wide within a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Plain Rust on any processor.
    Portable,
    /// x86-64 with AVX2, FMA and F16C: 256 bits; products of bytes by `maddubs`.
    Avx2,
    /// AVX2 with AVX-VNNI: dot products of bytes in 256 bits.
    AvxVnni,
    /// AVX-512 F, BW, DQ and VL with FMA: 512 bits; products of bytes by `maddubs`.
    Avx512,
    /// AVX-512 with VNNI: dot products of bytes in 512 bits.
    Avx512Vnni,
    /// aarch64 with NEON: 128 bits.
    Neon,
    /// NEON with `sdot` and `udot`.
    NeonDot,
}

impl Level {
    /// All levels, x86-64 before aarch64, narrow before wide.
    pub const ALL: [Self; 7] = [
        Self::Portable,
        Self::Avx2,
        Self::AvxVnni,
        Self::Avx512,
        Self::Avx512Vnni,
        Self::Neon,
        Self::NeonDot,
    ];

    /// Key in flags and records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::AvxVnni => "avx_vnni",
            Self::Avx512 => "avx512",
            Self::Avx512Vnni => "avx512_vnni",
            Self::Neon => "neon",
            Self::NeonDot => "neon_dotprod",
        }
    }

    /// The level with a key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.key() == key)
    }

    /// Bits of a vector register; 64 for portable code.
    pub const fn vector_bits(self) -> u32 {
        match self {
            Self::Portable => 64,
            Self::Avx2 | Self::AvxVnni => 256,
            Self::Avx512 | Self::Avx512Vnni => 512,
            Self::Neon | Self::NeonDot => 128,
        }
    }

    fn is_here(self) -> bool {
        match self {
            Self::Portable => true,
            Self::Avx2 | Self::AvxVnni | Self::Avx512 | Self::Avx512Vnni => x86(self),
            Self::Neon | Self::NeonDot => aarch64(self),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

/// A level that this processor has. Only [`Isa::of`] creates one, so a value is proof that the instructions may be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Isa(Level);

impl Isa {
    /// Runs on every processor.
    pub const PORTABLE: Self = Self(Level::Portable);

    /// The widest level of this processor.
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::PORTABLE)
    }

    /// All levels of this processor, [`Isa::PORTABLE`] first and the widest last.
    pub fn available() -> impl Iterator<Item = Self> {
        Level::ALL.into_iter().filter_map(Self::of)
    }

    /// The level, if this processor has it.
    pub fn of(level: Level) -> Option<Self> {
        level.is_here().then_some(Self(level))
    }

    /// The level that was detected.
    pub const fn level(self) -> Level {
        self.0
    }
}

#[cfg(target_arch = "x86_64")]
fn x86(level: Level) -> bool {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl");
    match level {
        Level::Avx2 => avx2,
        Level::AvxVnni => avx2 && is_x86_feature_detected!("avxvnni"),
        Level::Avx512 => avx512,
        Level::Avx512Vnni => avx512 && is_x86_feature_detected!("avx512vnni"),
        Level::Portable | Level::Neon | Level::NeonDot => false,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn x86(_: Level) -> bool {
    false
}

#[cfg(target_arch = "aarch64")]
fn aarch64(level: Level) -> bool {
    let neon = std::arch::is_aarch64_feature_detected!("neon");
    match level {
        Level::Neon => neon,
        Level::NeonDot => neon && std::arch::is_aarch64_feature_detected!("dotprod"),
        Level::Portable | Level::Avx2 | Level::AvxVnni | Level::Avx512 | Level::Avx512Vnni => false,
    }
}

#[cfg(not(target_arch = "aarch64"))]
fn aarch64(_: Level) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_code_runs_anywhere_and_comes_first() {
        assert_eq!(Isa::available().next(), Some(Isa::PORTABLE));
    }

    #[test]
    fn the_best_is_the_widest_of_what_is_here() {
        let widest = Isa::available().map(|isa| isa.level().vector_bits()).max();
        assert_eq!(Some(Isa::best().level().vector_bits()), widest);
    }

    #[test]
    fn a_processor_has_levels_of_its_own_family_only() {
        let foreign: &[Level] = if cfg!(target_arch = "x86_64") {
            &[Level::Neon, Level::NeonDot]
        } else {
            &[Level::Avx2, Level::AvxVnni, Level::Avx512, Level::Avx512Vnni]
        };
        for level in foreign {
            assert_eq!(Isa::of(*level), None, "{level}");
        }
    }

    #[test]
    fn every_level_has_a_word_of_its_own() {
        for level in Level::ALL {
            assert_eq!(Level::of_key(level.key()), Some(level));
        }
        assert_eq!(Level::of_key("avx1024"), None);
    }
}
