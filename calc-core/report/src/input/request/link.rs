//! The link that a request names, in place of the one that the catalog has for its devices.

use std::borrow::Cow;

use calc_core::catalog::links::{self, LINKS};
use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::parallel::Parallel;
use calc_core::provenance::Fact;
use calc_core::text::Text;

use super::{Fields, RequestError};
use crate::number_text as n;

/// The device with the link of the request, and what that link carries in words.
pub(super) fn device(
    fields: &mut Fields,
    device: Cow<'static, Device>,
    parallel: &Parallel,
) -> Result<(Cow<'static, Device>, Option<String>), RequestError> {
    let Some(name) = fields.text("link")? else { return Ok((device, None)) };
    let Some(preset) = links::find(&name) else {
        let allowed = LINKS.iter().map(|preset| preset.key).collect();
        return Err(RequestError::NotOneOf { key: "link", value: name, allowed });
    };
    if !parallel.exchanges() {
        let part =
            "devices that exchange nothing within a layer: one device, or a pipeline of them";
        return Err(Error::Inapplicable { input: "link", part }.into());
    }
    let mut device = device.into_owned();
    device.link = Some(Fact { value: preset.link, provenance: preset.provenance });
    device.interconnect = Text::Borrowed(preset.name);
    let said = format!(
        "link {}: {} per direction, {} per hop ({})",
        preset.name,
        n::bandwidth(preset.link.bandwidth),
        n::time(preset.link.latency),
        preset.source
    );
    Ok((Cow::Owned(device), Some(said)))
}
