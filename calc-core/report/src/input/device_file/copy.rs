//! Device files that are edited copies of a catalog device: unchanged values keep their value to the last bit and their
//! provenance; changed ones are the user's statement.

use calc_core::device::{Device, MeasuredRates, MemoryPlatform, Peaks};
use calc_core::provenance::Fact;
use calc_core::quant_format::ComputeClass;
use calc_core::text::Text;
use calc_core::units::{Bytes, BytesPerSec, FlopsPerSec, Hertz, Watts};

/// Restores the provenance of every fact that equals that of `base`.
pub(super) fn inherit(device: Device, base: &Device) -> Device {
    let peaks = ComputeClass::ALL.into_iter().fold(Peaks::NONE, |peaks, class| {
        match same(device.peaks.get(class), base.peaks.get(class), FlopsPerSec::get) {
            Some(peak) => peaks.with(class, peak),
            None => peaks,
        }
    });
    let memory = same(Some(device.memory), Some(base.memory), Bytes::get).unwrap_or(device.memory);
    Device {
        // Device files have no key for it, and expected times depend on the kind of memory.
        memory_type: base.memory_type.clone(),
        memory,
        memory_platform: platform(&device, base, memory == base.memory),
        bandwidth: same(Some(device.bandwidth), Some(base.bandwidth), BytesPerSec::get)
            .unwrap_or(device.bandwidth),
        peaks,
        sm_count: same(device.sm_count, base.sm_count, f64::from),
        tensor_clock: same(device.tensor_clock, base.tensor_clock, Hertz::get),
        l2: same(device.l2, base.l2, Bytes::get),
        measured: MeasuredRates {
            l2_bandwidth: same(
                device.measured.l2_bandwidth,
                base.measured.l2_bandwidth,
                BytesPerSec::get,
            ),
            copy_of: match base.key {
                Text::Borrowed(key) => Some(key),
                Text::Owned(_) => None,
            },
            disturbed: device.measured.disturbed,
        },
        shared_memory_per_sm: same(
            device.shared_memory_per_sm,
            base.shared_memory_per_sm,
            Bytes::get,
        ),
        tdp: same(device.tdp, base.tdp, Watts::get),
        ..device
    }
}

/// The platform of `base` unless the file changes it: another capacity in sockets means other installed modules.
fn platform(device: &Device, base: &Device, same_memory: bool) -> MemoryPlatform {
    match (device.memory_platform, base.memory_platform) {
        (MemoryPlatform::Shared, MemoryPlatform::Sockets) if same_memory => MemoryPlatform::Sockets,
        (MemoryPlatform::Shared, MemoryPlatform::Metal) => MemoryPlatform::Metal,
        (own, _) => own,
    }
}

/// The fact of `base` if the values agree up to rounding, else the file's own.
fn same<T: Copy>(
    own: Option<Fact<T>>,
    base: Option<Fact<T>>,
    number: impl Fn(T) -> f64,
) -> Option<Fact<T>> {
    match (own, base) {
        (Some(own), Some(base)) => {
            let (mine, theirs) = (number(own.value), number(base.value));
            let is_equal = (mine - theirs).abs() <= 1e-9 * theirs.abs();
            Some(if is_equal { base } else { own })
        }
        (own, _) => own,
    }
}
