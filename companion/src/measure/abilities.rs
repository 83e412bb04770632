//! The abilities of this daemon, as its hello tells them.

use kernels::backend::{DeviceId, Element, FormatSupport, GemvShape, Kernel};
use kernels::devices::Device;
use protocol::ability::{Abilities, DeviceAbility, KernelAbility};
use protocol::bench::BenchKind;
use protocol::job::JobSpec;

use crate::scopes::{GRANTED, Restriction};

/// The abilities of a daemon with these devices and this restriction of its scopes.
pub(crate) fn abilities(devices: &[Device], restriction: Restriction) -> Abilities {
    Abilities {
        devices: devices.iter().map(device).collect(),
        jobs: JobSpec::KINDS.map(str::to_owned).into(),
        engines: Vec::new(),
        off: restriction.all_off(),
        grants: GRANTED.to_vec(),
        own_state: false,
        lists_later: true,
    }
}

/// The abilities of one device.
pub(crate) fn device(device: &Device) -> DeviceAbility {
    let support = device.support();
    let kernel = |kind: BenchKind| {
        let kernels = parts(kind).iter().filter_map(|key| support.formats(key));
        let kernels: Vec<&[FormatSupport]> = kernels.collect();
        let formats = kernels.iter().copied().flatten();
        let formats = formats.map(|format| format.weights.to_owned()).collect();
        (!kernels.is_empty()).then(|| KernelAbility {
            kernel: kind.key().to_owned(),
            formats,
            most_tokens: (kind == BenchKind::Gemv).then_some(GemvShape::MAX_TOKENS),
        })
    };
    let kernels = BenchKind::ALL.into_iter().filter_map(kernel).collect();
    let DeviceId { backend, index } = device.id;
    DeviceAbility { backend: backend.key().to_owned(), index, kernels }
}

/// Keys of the products of matrices.
const MATRICES: [&str; Element::ALL.len()] = {
    let mut keys = [""; Element::ALL.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = Element::ALL[at].kernel_key();
        at += 1;
    }
    keys
};

/// Keys of the kernels that reach the peak of a compute class.
const PEAKS: [&str; Kernel::PEAKS.len()] = {
    let mut keys = [""; Kernel::PEAKS.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = Kernel::PEAKS[at].key();
        at += 1;
    }
    keys
};

/// Keys of the kernels that a kind of measurement times; a device has the kind if it has one of them.
const fn parts(kind: BenchKind) -> &'static [&'static str] {
    match kind {
        BenchKind::Gemv => &["gemv"],
        BenchKind::Gemm => &MATRICES,
        BenchKind::Bandwidth => &["read", "copy", "triad"],
        BenchKind::Flops => &PEAKS,
        BenchKind::Roofs => &["read"],
        BenchKind::Attention => &["attention"],
        BenchKind::Norm => &["norm"],
        BenchKind::Rope => &["rope"],
        BenchKind::Gate => &["gate"],
        BenchKind::Embedding => &["embedding"],
    }
}

#[cfg(test)]
mod tests {
    use kernels::backend::fake::Script;
    use kernels::devices::all;
    use protocol::job::{CalibrateSpec, JobSpec};

    use super::*;
    use crate::measure::layers;
    use crate::measure::products::Products;

    #[test]
    fn every_format_that_is_told_has_a_kernel() {
        let told = abilities(&all(None), Restriction::default());
        let own = Products(all(None)[0].support());
        for (kind, products) in [(BenchKind::Gemv, 1), (BenchKind::Gemm, 17)] {
            let formats = told.formats(kind);
            assert!(!formats.is_empty());
            for format in formats {
                assert!(own.kernel(products, 64, 64, format).is_ok(), "{format}");
            }
        }
        for kind in BenchKind::ALL.into_iter().filter(|kind| kind.has_sizes()) {
            assert!(!told.formats(kind).is_empty(), "{kind:?}");
            for format in told.formats(kind) {
                assert!(layers::format(kind, format).is_ok(), "{kind:?} {format}");
            }
        }
        assert_eq!(told.formats(BenchKind::Flops), [] as [String; 0]);
        let told: Vec<&str> = told.devices[0].kernels.iter().map(|it| &*it.kernel).collect();
        assert_eq!(told, BenchKind::ALL.map(BenchKind::key));
    }

    #[test]
    fn every_device_tells_its_own_kernels() {
        let told = abilities(&all(Some(Script::GOOD)), Restriction::default());
        let [cpu, fake] = &told.devices[..] else { panic!("{:?}", told.devices) };
        assert_eq!((cpu.id(), fake.id()), ("cpu:0".into(), "fake:0".into()));
        let kernels: Vec<&str> = fake.kernels.iter().map(|it| &*it.kernel).collect();
        assert_eq!(kernels, ["bandwidth", "flops", "roofs"]);
    }

    #[test]
    fn every_kind_of_job_is_told() {
        let told = abilities(&all(None), Restriction::default()).jobs;
        for spec in [
            JobSpec::Calibrate(CalibrateSpec { backend: None }),
            serde_json::from_str(r#"{"kind":"bench","what":"flops"}"#).unwrap(),
        ] {
            assert_eq!(serde_json::to_value(&spec).unwrap()["kind"], spec.kind());
            assert!(told.iter().any(|told| told == spec.kind()));
        }
    }
}
