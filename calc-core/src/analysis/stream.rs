//! Kernels that stream and are no operator of a step: their times follow from their cost alone.

use crate::calibration::Calibration;
use crate::calibration::machine::{Kernel, Setting};
use crate::device::{Device, PowerMode};
use crate::error::Error;
use crate::expected::Expected;
use crate::op::{OpCost, OpKind, Shape};
use crate::quant_format::QuantFormat;
use crate::roofline::{Roofline, Roofs};
use crate::units::Seconds;

/// A kernel that streams and that no operator stands for: rotary positions, which engines fuse, and the look-up of embeddings.
#[derive(Debug, Clone, Copy)]
pub struct StreamRequest<'a> {
    pub device: &'a Device,
    /// `None` for the device's own peaks.
    pub mode: Option<&'a PowerMode>,
    pub kind: OpKind,
    pub cost: OpCost,
    /// Format of most of the data that it streams.
    pub format: &'static QuantFormat,
    /// Format between operators, on whose peak it computes.
    pub carrier: &'static QuantFormat,
    pub calibration: &'a Calibration,
}

/// Ideal and expected time of a kernel that streams.
///
/// ```
/// use calc_core::{analysis::{stream, StreamRequest}, calibration::Calibration, catalog};
/// use calc_core::{cost::elementwise::rotary, op::OpKind};
/// let fp16 = catalog::format("fp16").unwrap();
/// let (ideal, expected) = stream(&StreamRequest {
///     device: catalog::device("epyc_9654").unwrap(),
///     mode: None,
///     kind: OpKind::Rotary,
///     cost: rotary(512, 40 * 128, fp16),
///     format: fp16,
///     carrier: fp16,
///     calibration: &Calibration::FITTED,
/// }).unwrap();
/// assert!((ideal.get() - 22.755e-6).abs() < 1e-9); // 2 · 512 · 5,120 · 2 B at 460.8 GB/s
/// assert!(expected.low >= ideal && expected.time > ideal);
/// ```
///
/// # Errors
/// A carrier without a compute class, a power mode with unknown clocks.
pub fn stream(request: &StreamRequest<'_>) -> Result<(Seconds, Expected), Error> {
    let StreamRequest { device, mode, kind, cost, format, carrier, calibration } = request;
    let roofs = Roofs::new(device, *mode)?;
    let path = roofs.compute_path(carrier, carrier)?;
    let time = Roofline { peak: path.peak, bandwidth: roofs.bandwidth }.op_time(cost);
    let kernel =
        Kernel { shape: &Shape::Stream, cost, path: &path, time, format, setting: Setting::Alone };
    let factors = calibration.tuned(device, *mode, None, (format, format)).factors(*kind, &kernel);
    Ok((time.ideal(), Expected::of(time, &factors)))
}
