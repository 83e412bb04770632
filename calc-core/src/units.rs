//! Physical quantities in base units, and the few products and quotients that mean something.
//! Prefixes and text are in `report::number_text`.

use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $unit:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default)]
        pub struct $name(f64);

        impl $name {
            /// The unit symbol, as written after a number.
            pub const UNIT: &'static str = $unit;
            /// The zero value.
            pub const ZERO: Self = Self(0.0);

            /// Creates a value given in the base unit.
            pub const fn new(value: f64) -> Self {
                Self(value)
            }

            /// The value in the base unit.
            pub const fn get(self) -> f64 {
                self.0
            }

            /// The larger of the two values.
            #[must_use]
            pub fn max(self, other: Self) -> Self {
                if other.0 > self.0 { other } else { self }
            }

            /// The smaller of the two values.
            #[must_use]
            pub fn min(self, other: Self) -> Self {
                if other.0 < self.0 { other } else { self }
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl Mul<f64> for $name {
            type Output = Self;
            fn mul(self, factor: f64) -> Self {
                Self(self.0 * factor)
            }
        }

        impl Div<f64> for $name {
            type Output = Self;
            fn div(self, divisor: f64) -> Self {
                Self(self.0 / divisor)
            }
        }

        /// Dividing two values of the same unit gives a plain ratio.
        impl Div for $name {
            type Output = f64;
            fn div(self, other: Self) -> f64 {
                self.0 / other.0
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, Add::add)
            }
        }
    };
}

macro_rules! quotient {
    ($a:ident / $b:ident = $c:ident) => {
        impl Div<$b> for $a {
            type Output = $c;
            fn div(self, other: $b) -> $c {
                $c(self.0 / other.0)
            }
        }

        impl Mul<$b> for $c {
            type Output = $a;
            fn mul(self, other: $b) -> $a {
                $a(self.0 * other.0)
            }
        }
    };
}

quantity!(/** Floating-point work [FLOP]; a multiply-add counts 2. */ Flops, "FLOP");
quantity!(/** Data volume [B]. */ Bytes, "B");
quantity!(/** Time [s]. */ Seconds, "s");
quantity!(/** Compute rate [FLOP/s]. */ FlopsPerSec, "FLOP/s");
quantity!(/** Bandwidth [B/s]. */ BytesPerSec, "B/s");
quantity!(/** Arithmetic intensity [FLOP/B] over DRAM traffic. */ FlopsPerByte, "FLOP/B");
quantity!(/** Power [W]. */ Watts, "W");
quantity!(/** Energy [J]. */ Joules, "J");
quantity!(/** Clock [Hz]. */ Hertz, "Hz");
quantity!(/** Token rate [token/s]. */ TokensPerSec, "token/s");

quotient!(Bytes / BytesPerSec = Seconds);
quotient!(Flops / FlopsPerSec = Seconds);
quotient!(Flops / Bytes = FlopsPerByte);
quotient!(FlopsPerSec / BytesPerSec = FlopsPerByte);
quotient!(Joules / Seconds = Watts);
quotient!(Flops / Seconds = FlopsPerSec);
quotient!(Bytes / Seconds = BytesPerSec);

impl FlopsPerSec {
    /// Converts from TFLOP/s (or TOP/s), decimal.
    pub const fn from_tera(tera: f64) -> Self {
        Self(tera * 1e12)
    }
}

impl BytesPerSec {
    /// Converts from GB/s, decimal.
    pub const fn from_gb(gb: f64) -> Self {
        Self(gb * 1e9)
    }
}

impl Bytes {
    /// Converts from GB, decimal.
    pub const fn from_gb(gb: f64) -> Self {
        Self(gb * 1e9)
    }

    /// Converts from GiB = 2^30 bytes; only for capacities that are sold in GiB.
    pub const fn from_gib(gib: f64) -> Self {
        Self(gib * 1_073_741_824.0)
    }

    /// Converts from MiB = 2^20 bytes; only for caches.
    pub const fn from_mib(mib: f64) -> Self {
        Self(mib * 1_048_576.0)
    }

    /// Converts from KiB = 2^10 bytes; only for shared memory.
    pub const fn from_kib(kib: f64) -> Self {
        Self(kib * 1024.0)
    }

    /// Converts from bits, eight to the byte; fractions of a byte are kept.
    pub const fn from_bits(bits: f64) -> Self {
        Self(bits / 8.0)
    }
}

impl Hertz {
    /// Converts from MHz, decimal.
    pub const fn from_mhz(mhz: f64) -> Self {
        Self(mhz * 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_over_bandwidth_is_time() {
        let time: Seconds = Bytes::from_gb(68.3) / BytesPerSec::from_gb(68.3);
        assert!((time.get() - 1.0).abs() < 1e-15);
    }

    #[test]
    fn a_rate_over_a_bandwidth_is_an_intensity_and_back() {
        let ridge: FlopsPerByte = FlopsPerSec::from_tera(10.2) / BytesPerSec::from_gb(68.3);
        let peak: FlopsPerSec = ridge * BytesPerSec::from_gb(68.3);
        assert!((peak.get() - 10.2e12).abs() < 1.0);
    }
}
