//! A number of devices in the name of the hardware: `8 H200`, `2 x DGX Spark`.

use calc_core::catalog;
use calc_core::error::in_range;
use calc_core::parallel::Parallel;

use super::{Fields, RequestError};

/// The fields that say how devices share a model.
const SPLITS: [&str; 3] = ["tensor_parallel", "pipeline_parallel", "expert_parallel"];

/// A number of devices that the name of the hardware states.
#[derive(Debug)]
pub(super) struct CountedDevices {
    count: u64,
    /// True if the request does not say how they share the model.
    is_split_open: bool,
}

/// Takes the number out of the name: `8 H200` becomes the fields `hardware` and, where the request names no split,
/// `tensor_parallel`.
pub(super) fn from_device_name(fields: &mut Fields) -> Option<CountedDevices> {
    let name = fields.peek_text("hardware")?.to_owned();
    let (count, one) = catalog::counted(&name)?;
    if catalog::device(&name).is_ok() || catalog::device(one).is_err() {
        return None;
    }
    fields.replace_text("hardware", one);
    let is_split_open = !SPLITS.iter().any(|key| fields.has(key));
    if is_split_open && count > 1 {
        fields.replace_text("tensor_parallel", &count.to_string());
    }
    (count > 1).then_some(CountedDevices { count, is_split_open })
}

impl CountedDevices {
    /// The note on what was taken.
    ///
    /// # Errors
    /// A split over another number of devices.
    pub(super) fn said(&self, parallel: &Parallel) -> Result<String, RequestError> {
        let what = "tensor_parallel × pipeline_parallel × expert_parallel of the devices that hardware counts";
        in_range(what, parallel.devices(), self.count, self.count)?;
        Ok(if self.is_split_open {
            format!(
                "hardware counts {0} devices, taken as tensor_parallel {0}, which splits every matrix; pipeline_parallel splits layers",
                self.count
            )
        } else {
            format!("hardware counts {} devices", self.count)
        })
    }
}
