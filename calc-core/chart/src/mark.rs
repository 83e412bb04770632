//! Which mark stands for which format: hue and shape together, the same in chart, table and buttons.

use calc_core::quant_format::ComputeClass;

use crate::geometry::Spot;
use crate::theme::Hue;

/// Outline of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    Circle,
    Pentagon,
    Triangle,
    Square,
    Diamond,
    Wedge,
    Hexagon,
    Star,
    Plus,
    Bar,
}

/// The mark of a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    pub shape: Shape,
    pub hue: Hue,
}

/// The mark of formats that have none of their own, such as one from a newer catalog.
const UNKNOWN: Mark = Mark { shape: Shape::Plus, hue: Hue::Gray };

/// The mark of a format.
///
/// ```
/// use chart::{mark::{mark, Shape}, theme::Hue};
/// assert_eq!((mark("nvfp4").shape, mark("nvfp4").hue), (Shape::Triangle, Hue::Purple));
/// ```
pub fn mark(format: &str) -> Mark {
    MARKS
        .iter()
        .find(|(key, ..)| *key == format)
        .map_or(UNKNOWN, |&(_, shape, hue)| Mark { shape, hue })
}

/// The hue of a compute roof.
pub const fn hue_of_class(class: ComputeClass) -> Hue {
    match class {
        ComputeClass::Fp64 | ComputeClass::Fp32 | ComputeClass::Tf32 => Hue::Gray,
        ComputeClass::Fp16 | ComputeClass::Bf16 => Hue::Orange,
        ComputeClass::Fp8 => Hue::Green,
        ComputeClass::Fp6 | ComputeClass::Fp4 => Hue::Purple,
        ComputeClass::Int8 => Hue::Cyan,
        ComputeClass::Int4 => Hue::Blue,
    }
}

static MARKS: [(&str, Shape, Hue); 45] = [
    ("fp64", Shape::Hexagon, Hue::Gray),
    ("fp32", Shape::Circle, Hue::Gray),
    ("tf32", Shape::Diamond, Hue::Gray),
    ("fp16", Shape::Circle, Hue::Orange),
    ("bf16", Shape::Hexagon, Hue::Orange),
    ("fp8_e4m3", Shape::Pentagon, Hue::Green),
    ("fp8_e5m2", Shape::Wedge, Hue::Green),
    ("fp8_block128", Shape::Square, Hue::Green),
    ("mxfp8", Shape::Hexagon, Hue::Green),
    ("mxfp6_e3m2", Shape::Plus, Hue::Purple),
    ("mxfp6_e2m3", Shape::Star, Hue::Purple),
    ("mxfp4", Shape::Wedge, Hue::Purple),
    ("nvfp4", Shape::Triangle, Hue::Purple),
    ("int8", Shape::Square, Hue::Cyan),
    ("int8_g128", Shape::Bar, Hue::Cyan),
    ("int4_g128", Shape::Diamond, Hue::Blue),
    ("int4_g128_sym", Shape::Square, Hue::Blue),
    ("int4_gptq_g128", Shape::Star, Hue::Blue),
    ("int4_g32", Shape::Plus, Hue::Blue),
    ("int4_g32_sym", Shape::Pentagon, Hue::Blue),
    ("int3_g128", Shape::Triangle, Hue::Blue),
    ("int2_g64", Shape::Wedge, Hue::Blue),
    ("nf4", Shape::Diamond, Hue::Rose),
    ("nf4_dq", Shape::Star, Hue::Rose),
    ("gguf_q8_0", Shape::Square, Hue::Brown),
    ("gguf_q6_k", Shape::Hexagon, Hue::Brown),
    ("gguf_q5_k", Shape::Pentagon, Hue::Brown),
    ("gguf_q5_k_s", Shape::Pentagon, Hue::Rose),
    ("gguf_q5_0", Shape::Star, Hue::Brown),
    ("gguf_q5_1", Shape::Plus, Hue::Brown),
    ("gguf_q4_k", Shape::Diamond, Hue::Brown),
    ("gguf_q4_k_s", Shape::Plus, Hue::Rose),
    ("gguf_q4_0", Shape::Circle, Hue::Brown),
    ("gguf_q4_1", Shape::Bar, Hue::Brown),
    ("gguf_q3_k", Shape::Triangle, Hue::Brown),
    ("gguf_q3_k_s", Shape::Hexagon, Hue::Rose),
    ("gguf_q3_k_l", Shape::Circle, Hue::Rose),
    ("gguf_q2_k", Shape::Wedge, Hue::Brown),
    ("gguf_iq4_nl", Shape::Square, Hue::Rose),
    ("gguf_iq4_xs", Shape::Bar, Hue::Rose),
    ("gguf_mxfp4", Shape::Wedge, Hue::Rose),
    ("gguf_nvfp4", Shape::Triangle, Hue::Rose),
    ("gguf_tq1_0", Shape::Triangle, Hue::Olive),
    ("gguf_tq2_0", Shape::Wedge, Hue::Olive),
    ("bitnet_1.58", Shape::Circle, Hue::Olive),
];

/// Corners as (x, y) in units of the radius, y downwards.
type Corners = &'static [(f64, f64)];

const PENTAGON: Corners =
    &[(0.0, -1.1), (1.046, -0.34), (0.647, 0.89), (-0.647, 0.89), (-1.046, -0.34)];
const TRIANGLE: Corners = &[(0.0, -1.15), (1.1, 0.8), (-1.1, 0.8)];
const SQUARE: Corners = &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)];
const DIAMOND: Corners = &[(0.0, -1.2), (1.2, 0.0), (0.0, 1.2), (-1.2, 0.0)];
const WEDGE: Corners = &[(-1.1, -0.8), (1.1, -0.8), (0.0, 1.15)];
const HEXAGON: Corners =
    &[(0.55, -0.95), (1.1, 0.0), (0.55, 0.95), (-0.55, 0.95), (-1.1, 0.0), (-0.55, -0.95)];
const STAR: Corners = &[
    (0.0, -1.3),
    (0.4, -0.4),
    (1.3, 0.0),
    (0.4, 0.4),
    (0.0, 1.3),
    (-0.4, 0.4),
    (-1.3, 0.0),
    (-0.4, -0.4),
];
const PLUS: Corners = &[
    (-0.4, -1.1),
    (0.4, -1.1),
    (0.4, -0.4),
    (1.1, -0.4),
    (1.1, 0.4),
    (0.4, 0.4),
    (0.4, 1.1),
    (-0.4, 1.1),
    (-0.4, 0.4),
    (-1.1, 0.4),
    (-1.1, -0.4),
    (-0.4, -0.4),
];
const BAR: Corners = &[(-1.2, -0.6), (1.2, -0.6), (1.2, 0.6), (-1.2, 0.6)];

impl Shape {
    /// Corners of the shape around a center; `None` for a circle. All shapes look equally large at one radius.
    pub fn corners(self, center: Spot, radius: f64) -> Option<Vec<Spot>> {
        let corners = match self {
            Self::Circle => return None,
            Self::Pentagon => PENTAGON,
            Self::Triangle => TRIANGLE,
            Self::Square => SQUARE,
            Self::Diamond => DIAMOND,
            Self::Wedge => WEDGE,
            Self::Hexagon => HEXAGON,
            Self::Star => STAR,
            Self::Plus => PLUS,
            Self::Bar => BAR,
        };
        let place =
            |&(x, y): &(f64, f64)| Spot { x: center.x + x * radius, y: center.y + y * radius };
        Some(corners.iter().map(place).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::formats::FORMATS;

    #[test]
    fn every_format_has_a_mark_of_its_own() {
        for (index, format) in FORMATS.iter().enumerate() {
            assert_ne!(mark(format.key), UNKNOWN, "{}", format.key);
            for other in &FORMATS[..index] {
                assert_ne!(mark(format.key), mark(other.key), "{} {}", format.key, other.key);
            }
        }
        assert_eq!(FORMATS.len(), MARKS.len());
        assert_eq!(mark("fp3"), UNKNOWN);
    }

    #[test]
    fn a_format_has_the_hue_of_the_roof_it_computes_on() {
        for format in FORMATS {
            if let Some(class) = format.class {
                assert_eq!(mark(format.key).hue, hue_of_class(class), "{}", format.key);
            }
        }
    }
}
