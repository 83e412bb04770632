//! The link between devices in JSON answers.

use calc_core::device::Device;
use calc_core::provenance::Fact;
use calc_core::workload::Workload;
use serde_json::{Value, json};

/// The link between several devices, null where nobody published it; `None` for one device.
pub(super) fn between(device: &Device, workload: &Workload) -> Option<Value> {
    (workload.parallel.devices() > 1).then(|| {
        device.link.as_ref().map_or(Value::Null, |Fact { value, provenance }| {
            json!({
                "name": device.interconnect,
                "bandwidth_byte_per_s": value.bandwidth.get(),
                "latency_s": value.latency.get(),
                "basis": provenance.key(),
            })
        })
    })
}
