//! Ceilings that others measured on a device, as shares of its datasheet: where one is known it stands in for the class's.

/// Measured shares of a device; `None` where nobody measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sustained {
    /// Read bandwidth.
    pub read: Option<f64>,
    /// Matrix products of 16 bits.
    pub half: Option<f64>,
    /// Of 8 bits.
    pub eight: Option<f64>,
    /// Of 4 bits.
    pub four: Option<f64>,
}

/// Which figure of a row it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ceiling {
    Read,
    Half,
    Eight,
    Four,
}

/// Device, ceiling, measured value and datasheet value in the same unit. The measured ones stand with source and conditions
/// in `catalog::devices::MEASURED` and `ALTERNATES`, or in the device's notes.
static CEILINGS: [(&str, Ceiling, f64, f64); 24] = [
    ("gb10", Ceiling::Read, 232.5, 273.0),
    ("jetson_t5000", Ceiling::Read, 259.7, 273.0),
    ("jetson_orin_nano_8gb", Ceiling::Read, 62.26, 68.3),
    ("jetson_orin_nano_8gb_super", Ceiling::Read, 99.2, 102.4),
    ("strix_halo", Ceiling::Read, 215.0, 256.0),
    ("h100_pcie", Ceiling::Read, 1942.0, 2039.0),
    ("gb10", Ceiling::Half, 92.0, 213.0),
    ("a100_80gb_sxm", Ceiling::Half, 271.2, 312.0),
    ("a100_80gb_pcie", Ceiling::Half, 252.9, 312.0),
    ("h100_sxm", Ceiling::Half, 794.5, 989.4),
    ("rtx_5090", Ceiling::Half, 178.9, 209.5),
    ("gh200_144gb", Ceiling::Half, 828.6, 989.4),
    ("b200", Ceiling::Half, 1745.0, 2250.0),
    ("gb200", Ceiling::Half, 1822.0, 2500.0),
    ("b300", Ceiling::Half, 1769.0, 2250.0),
    ("mi300x", Ceiling::Half, 668.4, 1307.4),
    ("mi325x", Ceiling::Half, 784.9, 1307.4),
    ("mi355x", Ceiling::Half, 1565.0, 2516.6),
    ("gaudi2", Ceiling::Half, 418.7, 432.0),
    ("gaudi3", Ceiling::Half, 1243.0, 1677.0),
    ("jetson_orin_nano_8gb_super", Ceiling::Half, 11.66, 16.7),
    ("h100_sxm", Ceiling::Eight, 1402.6, 1978.9),
    ("b200", Ceiling::Eight, 3432.5, 4500.0),
    ("gb10", Ceiling::Four, 427.0, 500.0),
];

/// What others measured on a device.
pub fn sustained(key: &str) -> Sustained {
    let mut found = Sustained::default();
    for (_, ceiling, measured, datasheet) in CEILINGS.iter().filter(|row| row.0 == key) {
        let share = Some(measured / datasheet);
        match ceiling {
            Ceiling::Read => found.read = share,
            Ceiling::Half => found.half = share,
            Ceiling::Eight => found.eight = share,
            Ceiling::Four => found.four = share,
        }
    }
    found
}

/// Device and measured value of every ceiling.
#[cfg(test)]
pub fn measured() -> impl Iterator<Item = (&'static str, f64)> {
    CEILINGS.iter().map(|(device, _, measured, _)| (*device, *measured))
}
