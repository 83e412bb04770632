//! What can be saved of an answer, and how the files are called. What is in them is in `export`, which the page does not have.

use super::inputs::Inputs;

/// Ending of the file, and name in the menu.
pub const KINDS: [(&str, &str); 5] =
    [("png", "PNG"), ("svg", "SVG"), ("csv", "CSV"), ("md", "Markdown"), ("json", "JSON")];

/// The name of a file.
pub fn file_name(inputs: &Inputs, kind: &str) -> String {
    format!("ridgepoint-{}-{}.{kind}", inputs.device.key, inputs.op.key())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_device_and_operator() {
        let name = file_name(&Inputs::default(), "csv");
        assert_eq!(name, "ridgepoint-jetson_orin_nano_8gb_super-gemm.csv");
    }
}
