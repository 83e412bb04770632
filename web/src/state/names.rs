//! Short names and marks of formats: a table has no room for how a scale is stored.

use calc_core::quant_format::QuantFormat;
use chart::geometry::Spot;
use chart::mark::Shape;
use report::number_text::typed;

/// The name of a format in a table or a chart: `INT4 g128`.
pub fn short_name(format: &QuantFormat) -> String {
    let plain = format.name.split(" (").next().unwrap_or(format.name).replace("group ", "g");
    match format.key {
        "int4_g128_sym" => format!("{plain} symmetric"),
        "nf4" | "nf4_dq" | "int8" => {
            plain.split(" with").next().unwrap_or(&plain).replace(" per-channel", "")
                + if format.key == "nf4_dq" { " DQ" } else { "" }
        }
        _ => plain,
    }
}

/// Corners of a mark around the origin as SVG writes them; `None` for a circle.
pub fn mark_corners(shape: Shape) -> Option<String> {
    let corners = shape.corners(Spot { x: 0.0, y: 0.0 }, 1.0)?;
    let written: Vec<String> =
        corners.iter().map(|Spot { x, y }| format!("{},{}", typed(*x), typed(*y))).collect();
    Some(written.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::formats::FORMATS;

    #[test]
    fn short_names_are_short_and_tell_formats_apart() {
        let names: Vec<String> = FORMATS.iter().map(|format| short_name(format)).collect();
        for (index, name) in names.iter().enumerate() {
            assert!(name.len() <= 22, "{name}");
            assert!(!names[..index].contains(name), "{name} twice");
        }
        for (key, expected) in [
            ("int4_g128", "INT4 g128"),
            ("int4_g128_sym", "INT4 g128 symmetric"),
            ("nvfp4", "NVFP4"),
            ("int8", "INT8"),
            ("nf4_dq", "NF4 DQ"),
            ("fp8_e4m3", "FP8 E4M3"),
        ] {
            let format = calc_core::catalog::format(key).expect("catalog key");
            assert_eq!(short_name(format), expected);
        }
    }
}
