//! The variables of the daemon's environment that reach a worker; it gets no other.

use std::ffi::OsString;
use std::path::Path;

use kernels::cuda::libraries::VARIABLE;

use crate::measure::gpus;

/// The values that a variable may have.
#[derive(Debug, Clone, Copy)]
enum Values {
    /// Folders between colons; those that are not absolute are left out.
    Folders,
    /// An absolute folder.
    Folder,
    /// Letters, digits and the marks of indices and identifiers.
    Devices,
}

/// There is no `HOME`: with it libraries would look for settings that change a measurement, and cache folders have variables of their own.
const PASSED: [(&str, Values); 8] = [
    ("LD_LIBRARY_PATH", Values::Folders),
    ("CUDA_VISIBLE_DEVICES", Values::Devices),
    // The order that the indices of the visible devices follow.
    ("CUDA_DEVICE_ORDER", Values::Devices),
    ("NVIDIA_VISIBLE_DEVICES", Values::Devices),
    ("HIP_VISIBLE_DEVICES", Values::Devices),
    ("ROCR_VISIBLE_DEVICES", Values::Devices),
    ("CUDA_CACHE_PATH", Values::Folder),
    ("XDG_CACHE_HOME", Values::Folder),
];
/// Longest value of devices, in bytes.
const LONGEST: usize = 1024;

/// The variables for a worker, from those of this process.
pub(super) fn passed() -> Vec<(&'static str, String)> {
    passed_of(|name| std::env::var_os(name))
}

/// The variable with the folders of CUDA's libraries, if any are known.
pub(super) fn libraries() -> Option<(&'static str, String)> {
    let folders = std::env::join_paths(gpus::folders()).ok()?.into_string().ok()?;
    Some((VARIABLE, allowed(Values::Folders, &folders)?))
}

fn passed_of(get: impl Fn(&str) -> Option<OsString>) -> Vec<(&'static str, String)> {
    let passed = PASSED.iter().filter_map(|(name, values)| {
        let value = get(name)?.into_string().ok()?;
        Some((*name, allowed(*values, &value)?))
    });
    passed.collect()
}

/// The part of a value that may be passed on, if there is one.
fn allowed(values: Values, value: &str) -> Option<String> {
    let is_absolute = |folder: &&str| Path::new(folder).is_absolute();
    let kept = match values {
        Values::Folders => {
            let folders: Vec<&str> = value.split(':').filter(is_absolute).collect();
            Some(folders.join(":")).filter(|folders| !folders.is_empty())
        }
        Values::Folder => Some(value.to_owned()).filter(|folder| is_absolute(&folder.as_str())),
        // An empty list means no device.
        Values::Devices => {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b",-_/:".contains(&byte);
            let plain = value.len() <= LONGEST && value.bytes().all(is_plain);
            plain.then(|| value.to_owned())
        }
    };
    kept.filter(|text| !text.contains(char::is_control))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listed_variables_with_sane_values_are_passed() {
        for (name, value, expected) in [
            ("LD_LIBRARY_PATH", "/opt/cuda/lib64", Some("/opt/cuda/lib64")),
            ("LD_LIBRARY_PATH", "/a:lib::./b:/c", Some("/a:/c")),
            ("LD_LIBRARY_PATH", ":.", None),
            ("CUDA_VISIBLE_DEVICES", "0,2", Some("0,2")),
            ("CUDA_VISIBLE_DEVICES", "", Some("")),
            ("NVIDIA_VISIBLE_DEVICES", "MIG-GPU-b08e/1/2", Some("MIG-GPU-b08e/1/2")),
            ("ROCR_VISIBLE_DEVICES", "0;$(reboot)", None),
            ("CUDA_CACHE_PATH", "/var/cache/cuda", Some("/var/cache/cuda")),
            ("CUDA_CACHE_PATH", "cache", None),
            ("XDG_CACHE_HOME", "/a\nb", None),
            ("HOME", "/root", None),
            ("LD_PRELOAD", "/tmp/evil.so", None),
            ("AWS_SECRET_ACCESS_KEY", "x", None),
        ] {
            let get = |asked: &str| (asked == name).then(|| value.into());
            let expected: Vec<(&str, String)> =
                expected.into_iter().map(|value| (name, value.to_owned())).collect();
            assert_eq!(passed_of(get), expected, "{name}={value}");
        }
    }
}
