//! Expected times: roofline times corrected by factors, with an interval and an origin.

use crate::calibration::Factors;
use crate::math;
use crate::provenance::Provenance;
use crate::roofline::KernelTime;
use crate::units::Seconds;

/// The time expected in practice, with its interval and origin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Best estimate of the time.
    pub time: Seconds,
    /// Fast end of the interval.
    pub low: Seconds,
    /// Slow end of the interval.
    pub high: Seconds,
    /// Origin of the factors.
    pub provenance: Provenance,
}

impl Expected {
    /// Zero time, with a zero interval.
    pub const ZERO: Self = Self {
        time: Seconds::ZERO,
        low: Seconds::ZERO,
        high: Seconds::ZERO,
        provenance: Provenance::Assumed,
    };

    /// The expected time of work with the given roofline times.
    ///
    /// ```text
    /// t = max(t_mem / eta_mem, t_comp / eta_comp) + t_floor        t_floor only where bytes move
    /// ```
    /// Shares are capped at 1, so neither the time nor its fast end is faster than the roof, and neither are sums of such times.
    ///
    /// ```
    /// use calc_core::{calibration::Factors, expected::Expected, roofline::KernelTime, units::Seconds};
    /// let time = KernelTime { memory: Seconds::new(80e-6), compute: Seconds::new(6e-6) };
    /// let expected = Expected::of(time, &Factors::ASSUMED);
    /// assert!((expected.time.get() - 103e-6).abs() < 1e-12); // 80 / 0.8 + 3
    /// ```
    pub fn of(time: KernelTime, factors: &Factors) -> Self {
        let floor = if time.memory > Seconds::ZERO { factors.floor } else { Seconds::ZERO };
        let t = reached(time, factors).ideal() + floor;
        Self {
            time: t,
            low: (t * factors.low).max(time.ideal()).min(t),
            high: t * factors.high,
            provenance: factors.provenance,
        }
    }

    /// The expected time of the same work with half of its bytes.
    ///
    /// ```text
    /// t = longer · ((m/2)⁴ + c⁴)^(1/4) / (m⁴ + c⁴)^(1/4) + t_floor        m = t_mem / eta_mem, c = t_comp / eta_comp
    /// ```
    /// The norm is that of the fitted shares, in which memory and arithmetic overlap partly.
    ///
    /// ```
    /// use calc_core::{calibration::Factors, expected::Expected, roofline::KernelTime, units::Seconds};
    /// let time = KernelTime { memory: Seconds::new(80e-6), compute: Seconds::ZERO };
    /// let half = Expected::with_half_the_bytes(time, &Factors::ASSUMED);
    /// assert!((half.get() - 53e-6).abs() < 1e-12); // 40 / 0.8 + 3
    /// ```
    pub fn with_half_the_bytes(time: KernelTime, factors: &Factors) -> Seconds {
        let KernelTime { memory, compute } = reached(time, factors);
        if memory <= Seconds::ZERO {
            return compute;
        }
        let longer = memory.max(compute);
        let share = |memory: Seconds| {
            let (m, c) = (memory / longer, compute / longer);
            math::sqrt(math::sqrt(m * m * m * m + c * c * c * c))
        };
        longer * (share(memory / 2.0) / share(memory)) + factors.floor
    }

    /// A fixed time that does not depend on the work.
    pub fn fixed(factors: &Factors) -> Self {
        let time = factors.floor;
        Self {
            time,
            low: time * factors.low,
            high: time * factors.high,
            provenance: factors.provenance,
        }
    }

    /// A time with the assumed interval.
    pub fn assumed(time: Seconds) -> Self {
        let Factors { low, high, provenance, .. } = Factors::ASSUMED;
        Self { time, low: time * low, high: time * high, provenance }
    }

    /// The sum of two times that run one after the other.
    #[must_use]
    pub fn then(self, other: Self) -> Self {
        let provenance = match (self.time == Seconds::ZERO, other.time == Seconds::ZERO) {
            (true, _) => other.provenance,
            (false, true) => self.provenance,
            (false, false) if self.provenance == other.provenance => self.provenance,
            (false, false) => Provenance::Mixed,
        };
        Self {
            time: self.time + other.time,
            low: self.low + other.low,
            high: self.high + other.high,
            provenance,
        }
    }

    /// The time multiplied by a count or a fraction.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { time: self.time * count, low: self.low * count, high: self.high * count, ..self }
    }
}

/// The memory and compute times at the shares that kernels reach.
pub fn reached(time: KernelTime, factors: &Factors) -> KernelTime {
    let factors = factors.under_the_roof();
    KernelTime {
        memory: time.memory / factors.eta_memory,
        compute: time.compute / factors.eta_compute,
    }
}
