//! The roofline: one compute roof, one bandwidth roof and the ridge where they meet; and the roofs of a device in a
//! power mode. Derivation: `docs/theory/roofline.md`.

use crate::catalog::formats;
use crate::device::{Device, PowerMode};
use crate::error::Error;
use crate::op::OpCost;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::text::Text;
use crate::units::{Bytes, BytesPerSec, Flops, FlopsPerByte, FlopsPerSec, Seconds};

/// The resource that limits an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Bound {
    /// DRAM traffic takes longer than arithmetic.
    Memory,
    /// Arithmetic takes at least as long as DRAM traffic.
    Compute,
}

/// One compute roof and one bandwidth roof.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roofline {
    /// Compute roof: the dense peak.
    pub peak: FlopsPerSec,
    /// Bandwidth roof: the DRAM bandwidth.
    pub bandwidth: BytesPerSec,
}

/// Lower bounds on the time of a piece of work, one per resource.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KernelTime {
    /// Time for the DRAM traffic.
    pub memory: Seconds,
    /// Time for the arithmetic.
    pub compute: Seconds,
}

impl KernelTime {
    /// Zero time for both resources.
    pub const ZERO: Self = Self { memory: Seconds::ZERO, compute: Seconds::ZERO };

    /// The sum of two times that run one after the other.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { memory: self.memory + other.memory, compute: self.compute + other.compute }
    }

    /// The time of `count` repetitions.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { memory: self.memory * count, compute: self.compute * count }
    }

    /// The longer of the two: the lower bound on the time.
    pub fn ideal(self) -> Seconds {
        self.memory.max(self.compute)
    }

    /// Memory-bound if DRAM traffic takes longer than arithmetic.
    pub fn bound(self) -> Bound {
        if self.compute < self.memory { Bound::Memory } else { Bound::Compute }
    }
}

impl Roofline {
    /// Intensity where the roofs meet [FLOP/B].
    ///
    /// ```text
    /// ridge = peak / bandwidth
    /// ```
    ///
    /// ```
    /// use calc_core::{roofline::Roofline, units::{BytesPerSec, FlopsPerSec}};
    /// let t4 = Roofline { peak: FlopsPerSec::from_tera(65.0), bandwidth: BytesPerSec::from_gb(320.0) };
    /// assert_eq!(t4.ridge().get(), 203.125);
    /// ```
    pub fn ridge(&self) -> FlopsPerByte {
        self.peak / self.bandwidth
    }

    /// Highest compute rate at an intensity [FLOP/s].
    ///
    /// ```text
    /// attainable = min(peak, intensity * bandwidth)
    /// ```
    pub fn attainable(&self, intensity: FlopsPerByte) -> FlopsPerSec {
        self.peak.min(intensity * self.bandwidth)
    }

    /// Lower bound on time: `t = max(bytes / bandwidth, flops / peak)`.
    pub fn time(&self, flops: Flops, bytes: Bytes) -> KernelTime {
        KernelTime { memory: bytes / self.bandwidth, compute: flops / self.peak }
    }

    /// [`Roofline::time`] of an operator's cost.
    pub fn op_time(&self, cost: &OpCost) -> KernelTime {
        self.time(cost.flops, cost.traffic.total())
    }
}

/// The peak a matmul runs on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComputePath {
    /// Class requested by the formats.
    pub wanted: ComputeClass,
    /// Class used on this device; differs from `wanted` after a fallback.
    pub class: ComputeClass,
    /// Dense peak of `class`.
    pub peak: FlopsPerSec,
}

/// The roofs of a device in a power mode.
#[derive(Debug, Clone, PartialEq)]
pub struct Roofs {
    /// Key of the device, for error messages.
    pub device: Text,
    /// Dense peaks, indexed by [`ComputeClass::index`].
    pub peaks: [Option<FlopsPerSec>; 10],
    /// DRAM bandwidth.
    pub bandwidth: BytesPerSec,
    /// Number of active SMs.
    pub active_sm: Option<u32>,
}

impl Roofs {
    /// The roofs of a device at its own peaks, or in a power mode.
    ///
    /// ```text
    /// peak(mode)      = peak * (active_sm * gpu_clock) / (sm_count * tensor_clock)
    /// bandwidth(mode) = bandwidth at the mode's memory clock, never scaled by the GPU clock
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownModeClock`] if no clock, SM count or bandwidth is published for the mode.
    pub fn new(device: &Device, mode: Option<&PowerMode>) -> Result<Self, Error> {
        let own = device.peaks.0.map(|peak| peak.map(|fact| fact.value));
        let Some(mode) = mode else {
            return Ok(Self {
                device: device.key.clone(),
                peaks: own,
                bandwidth: device.bandwidth.value,
                active_sm: device.sm_count.map(|fact| fact.value),
            });
        };
        let unknown =
            || Error::UnknownModeClock { device: device.key.clone(), mode: mode.name.clone() };
        let active_sm = mode.active_sm.ok_or_else(unknown)?;
        let all_sm = device.sm_count.ok_or_else(unknown)?.value;
        let full_clock = device.tensor_clock.ok_or_else(unknown)?.value;
        let clock = mode.gpu_clock.ok_or_else(unknown)?;
        let bandwidth = mode.bandwidth.ok_or_else(unknown)?;
        let share = (f64::from(active_sm) * clock.get()) / (f64::from(all_sm) * full_clock.get());
        Ok(Self {
            device: device.key.clone(),
            peaks: own.map(|peak| peak.map(|peak| peak * share)),
            bandwidth,
            active_sm: Some(active_sm),
        })
    }

    /// The peak of a class, if the device has one.
    pub fn peak(&self, class: ComputeClass) -> Option<FlopsPerSec> {
        self.peaks[class.index()]
    }

    /// The faster of FP16 and BF16; FP16 on a tie.
    pub fn half(&self) -> &'static QuantFormat {
        let rate = |class| self.peak(class).map_or(0.0, FlopsPerSec::get);
        if rate(ComputeClass::Bf16) > rate(ComputeClass::Fp16) {
            &formats::BF16
        } else {
            &formats::FP16
        }
    }

    /// Format of everything between matmuls: the activation format if it has 16 bits or more, else half.
    pub fn carrier(&self, activations: &'static QuantFormat) -> &'static QuantFormat {
        match activations.class {
            Some(class) if class.is_carrier() => activations,
            _ => self.half(),
        }
    }

    /// The peak that a matmul with these weights and activations runs on, after fallbacks.
    ///
    /// # Errors
    /// [`Error::StorageOnly`] for activations without a compute class; [`Error::NoComputePath`] if the device has no peak
    /// left to fall back to.
    pub fn compute_path(
        &self,
        weights: &QuantFormat,
        activations: &QuantFormat,
    ) -> Result<ComputePath, Error> {
        let Some(a) = activations.class else {
            return Err(Error::StorageOnly { format: Text::Borrowed(activations.key) });
        };
        let wanted = self.wanted_class(weights, a);
        let mut class = Some(wanted);
        while let Some(tried) = class {
            if let Some(peak) = self.peak(tried) {
                return Ok(ComputePath { wanted, class: tried, peak });
            }
            class = self.fallback(tried);
        }
        Err(Error::NoComputePath { class: wanted, device: self.device.clone() })
    }

    /// Weight-only formats compute in the activations' class; of two widths the wider operand decides.
    fn wanted_class(&self, weights: &QuantFormat, a: ComputeClass) -> ComputeClass {
        match weights.class {
            None => a,
            Some(w) if w == a || w.width() < a.width() => a,
            Some(w) if w.width() > a.width() => w,
            Some(_) if a.width() >= 16 => a,
            // Equal width below 16 bits but different classes (INT8 with FP8): no hardware multiplies the two natively.
            Some(_) => self.half_class(),
        }
    }

    fn half_class(&self) -> ComputeClass {
        self.half().class.unwrap_or(ComputeClass::Fp16)
    }

    /// The next class to try if the device has no peak: narrow formats widen, wide ones end at FP32.
    fn fallback(&self, class: ComputeClass) -> Option<ComputeClass> {
        use ComputeClass::{Bf16, Fp4, Fp6, Fp8, Fp16, Fp32, Fp64, Int4, Int8, Tf32};
        match class {
            Fp4 | Fp6 => Some(Fp8),
            Int4 => Some(Int8),
            Fp8 | Int8 => Some(self.half_class()),
            Tf32 | Fp16 | Bf16 => Some(Fp32),
            Fp32 | Fp64 => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn roofs(key: &str) -> Roofs {
        Roofs::new(catalog::device(key).expect("catalog key"), None).expect("no mode")
    }

    fn class(device: &str, weights: &str, activations: &str) -> ComputeClass {
        let format = |key| catalog::format(key).expect("catalog key");
        roofs(device).compute_path(format(weights), format(activations)).expect("a path").class
    }

    #[test]
    fn the_compute_path_follows_the_table() {
        use ComputeClass::{Bf16, Fp4, Fp8, Fp16, Fp32, Int4, Int8};
        for (device, weights, activations, expected) in [
            ("h100_sxm", "int4_g128", "fp16", Fp16),
            ("h100_sxm", "fp8_e4m3", "fp8_e4m3", Fp8),
            ("h100_sxm", "nvfp4", "nvfp4", Fp8),
            ("h100_sxm", "int8", "fp8_e4m3", Fp16),
            ("h100_sxm", "bf16", "fp8_e4m3", Bf16),
            ("h100_sxm", "gguf_q4_k", "bf16", Bf16),
            ("b200", "nvfp4", "nvfp4", Fp4),
            ("a100_80gb_sxm", "nvfp4", "nvfp4", Fp16),
            ("a100_80gb_sxm", "int4_g128", "int4_g128", Int4),
            ("h100_sxm", "int4_g128", "int4_g128", Int8),
            ("t4", "bf16", "bf16", Fp32),
            ("rtx_4090", "int8", "int8", Int8),
        ] {
            assert_eq!(
                class(device, weights, activations),
                expected,
                "{device} {weights} {activations}"
            );
        }
    }

    #[test]
    fn a_mode_scales_peaks_by_its_clock_and_never_bandwidth() {
        let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
        let mode = device.power_mode("7w").expect("a mode");
        let roofs = Roofs::new(device, Some(mode)).expect("known clocks");
        let share = (4.0 * 408.0) / (8.0 * 1020.0);
        let peak = roofs.peak(ComputeClass::Fp16).expect("fp16").get();
        assert!((peak / (16.7e12 * share) - 1.0).abs() < 1e-12);
        assert!((roofs.bandwidth.get() - 68.3e9).abs() < 1.0);
    }

    #[test]
    fn the_ridge_is_where_the_bounds_meet() {
        let roof =
            Roofline { peak: FlopsPerSec::from_tera(65.0), bandwidth: BytesPerSec::from_gb(320.0) };
        let below = roof.time(Flops::new(203.0), Bytes::new(1.0));
        let above = roof.time(Flops::new(204.0), Bytes::new(1.0));
        assert_eq!((below.bound(), above.bound()), (Bound::Memory, Bound::Compute));
    }
}
