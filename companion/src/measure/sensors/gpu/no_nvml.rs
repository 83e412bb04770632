//! Cards of NVIDIA's driver on a system other than Linux: their library is not asked there.

use super::super::{PowerMeter, Reading, Sensors};
use super::{CardSample, Computing, Gpu, GpuReading, NvidiaCard};

const WHY: &str = "NVML is read on Linux alone";

/// Opens nothing.
pub(super) const fn open() {}

/// No reading.
pub(super) fn readings(_: &Gpu, _: &Sensors) -> (Vec<GpuReading>, String) {
    (Vec::new(), WHY.into())
}

/// No meter.
///
/// # Errors
/// Always.
pub(super) fn meters(_: &Gpu) -> Reading<Vec<PowerMeter>> {
    Err(WHY.into())
}

/// No card.
///
/// # Errors
/// Always.
pub(super) fn cards() -> Reading<Vec<NvidiaCard>> {
    Err(WHY.into())
}

/// No version of CUDA.
///
/// # Errors
/// Always.
pub(super) fn cuda_version() -> Reading<(u32, u32)> {
    Err(WHY.into())
}

/// No version.
///
/// # Errors
/// Always.
pub(super) fn driver_version() -> Reading<String> {
    Err(WHY.into())
}

/// Nothing.
///
/// # Errors
/// Always.
pub(super) fn sample(_: &Gpu) -> Reading<CardSample> {
    Err(WHY.into())
}

/// No counter.
///
/// # Errors
/// Always.
pub(super) fn counter(_: &Gpu) -> Reading<f64> {
    Err(WHY.into())
}

/// No process.
///
/// # Errors
/// Always.
pub(super) fn used(_: &Gpu, _: impl Fn(u32) -> bool) -> Reading<Computing> {
    Err(WHY.into())
}
