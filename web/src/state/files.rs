//! A custom device from a file: the same file as on the command line, read by the same code.

use calc_core::device::Device;
use report::device_file;

/// Reads a device file.
///
/// # Errors
/// A sentence that names the file, what is wrong and what is allowed.
pub fn open_device(name: &str, text: &str) -> Result<Device, String> {
    device_file::parse(text).map_err(|error| format!("{name}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../../docs/examples/custom-device.json");

    #[test]
    fn the_documented_file_opens_here_too() {
        assert_eq!(
            open_device("custom-device.json", EXAMPLE).expect("a device").key,
            "example_edge_asic"
        );
    }

    #[test]
    fn refusals_name_the_file() {
        for text in ["", "{}", "[]", "{\"bandwidth_gb_s\": -1}", "\u{0}"] {
            let error = open_device("mine.json", text).expect_err("refused");
            assert!(error.starts_with("mine.json: "), "{text}: {error}");
        }
    }
}
