//! Memory fields of a request: installed memory and the limit on its use.

use std::borrow::Cow;

use calc_core::device::Device;
use calc_core::error::real_in_range;
use calc_core::units::Bytes;

use super::{Fields, Library, RequestError};

/// Range of the installed memory, as in device files [GiB].
pub(super) const INSTALLED: (f64, f64) = (1e-3, 1e6);
/// Range of the memory limit [GB].
pub(super) const LIMIT: (f64, f64) = (1e-6, 1e9);

/// The device of a request, with the installed memory that the request names.
///
/// `memory_gb` is in the GB in which memory is sold, 2^30 bytes: the capacity of the catalog changes nothing.
pub(super) fn device(
    fields: &mut Fields,
    library: &Library<'_>,
) -> Result<Cow<'static, Device>, RequestError> {
    let device = library.device(&fields.required_text("hardware")?)?;
    let Some(installed) = fields.real("memory_gb")? else { return Ok(device) };
    let installed = real_in_range("memory_gb", installed, INSTALLED.0, INSTALLED.1)?;
    Ok(Cow::Owned(device.into_owned().with_memory(Bytes::from_gib(installed))))
}

/// Upper limit of the memory in use, less what other programs take.
pub(super) fn limit_beside(
    limit: Option<Bytes>,
    reserve: Option<Bytes>,
    device: &Device,
) -> Option<Bytes> {
    let Some(reserve) = reserve else { return limit };
    let left = (device.usable_memory(None).bytes - reserve).max(Bytes::ZERO);
    Some(left.min(limit.unwrap_or(left)))
}

/// Upper limit of the memory in use, in decimal GB.
pub(super) fn limit(fields: &mut Fields) -> Result<Option<Bytes>, RequestError> {
    let Some(limit) = fields.real("memory_limit_gb")? else { return Ok(None) };
    Ok(Some(Bytes::from_gb(real_in_range("memory_limit_gb", limit, LIMIT.0, LIMIT.1)?)))
}
