//! Packed layouts: the key and catalog format of each, and the bytes of a row in each plane.
//! The facts of a layout are one row of [`super::table`].

use calc_core::quant_format::QuantFormat;

use super::table::{LayoutSpec, TABLE};

pub use super::table::{CodeKind, Layout};

/// Catalog formats that have a packed layout and so can be measured by a GEMV kernel, widest first. Lists of measurable
/// formats elsewhere are this one.
pub fn formats() -> impl Iterator<Item = &'static QuantFormat> {
    Layout::ALL.into_iter().map(Layout::format)
}

impl Layout {
    /// All layouts, widest first: the order of the table.
    pub const ALL: [Self; TABLE.len()] = {
        let mut all = [Self::Fp32; TABLE.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = TABLE[index].layout;
            assert!(all[index] as usize == index, "the table has the order of the enum");
            index += 1;
        }
        all
    };

    pub(crate) const fn spec(self) -> &'static LayoutSpec {
        &TABLE[self as usize]
    }

    /// Key in flags and records: the key of the catalog format.
    pub const fn key(self) -> &'static str {
        self.format().key
    }

    /// The layout with a key.
    pub fn by_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|layout| layout.key() == key)
    }

    /// Catalog format that the layout stores.
    pub const fn format(self) -> &'static QuantFormat {
        self.spec().format
    }

    /// How GEMV kernels read the codes.
    pub const fn code_kind(self) -> CodeKind {
        self.spec().code_kind
    }

    /// Whether GEMV kernels multiply by an input that is quantized to INT8.
    pub const fn quantizes_input(self) -> bool {
        !matches!(self.code_kind(), CodeKind::Floats)
    }

    /// Elements along K that share a scale; 1 where no scale is shared along K.
    pub const fn block(self) -> usize {
        self.spec().block
    }

    /// Bytes of codes per block; GGUF layouts include the scale.
    pub const fn block_code_bytes(self) -> usize {
        self.spec().code_bytes
    }

    /// Bytes of scales per block in the plane of scales.
    pub const fn block_scale_bytes(self) -> usize {
        self.spec().scale_bytes
    }

    /// Bytes of zero points per block.
    pub const fn block_zero_bytes(self) -> usize {
        self.spec().zero_bytes
    }

    /// Blocks in a row of `cols` elements; the last one is stored whole.
    pub const fn blocks(self, cols: usize) -> usize {
        cols.div_ceil(self.block())
    }

    /// Bytes of codes per row.
    pub const fn row_code_bytes(self, cols: usize) -> usize {
        self.blocks(cols) * self.block_code_bytes()
    }

    /// Bytes of scales per row, of the blocks or of the whole row.
    pub const fn row_scale_bytes(self, cols: usize) -> usize {
        self.blocks(cols) * self.block_scale_bytes() + self.spec().row_scale_bytes
    }

    /// Bytes of zero points per row.
    pub const fn row_zero_bytes(self, cols: usize) -> usize {
        self.blocks(cols) * self.block_zero_bytes()
    }

    /// Bytes per tensor beside its rows: an FP32 scale, or nothing.
    pub const fn tensor_bytes(self) -> usize {
        if self.spec().tensor_scale.is_some() { size_of::<f32>() } else { 0 }
    }

    /// Bytes of a matrix.
    pub const fn bytes(self, rows: usize, cols: usize) -> usize {
        let row =
            self.row_code_bytes(cols) + self.row_scale_bytes(cols) + self.row_zero_bytes(cols);
        rows * row + self.tensor_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_equal_those_of_the_catalog_format() {
        for layout in Layout::ALL {
            let format = layout.format();
            assert_eq!(layout.block() as u64, format.block, "{layout:?}");
            for (rows, cols) in [(1, 1), (3, 127), (5, 128), (2, 129), (7, 5000)] {
                let expected = format.stored_bytes(rows as u64, cols as u64).get();
                let got = layout.bytes(rows, cols) as f64;
                assert!((got - expected).abs() < 0.5, "{layout:?}: {got} B, not {expected} B");
            }
        }
    }

    #[test]
    fn a_measurable_format_is_listed_once() {
        let keys: Vec<&str> = formats().map(|format| format.key).collect();
        for layout in Layout::ALL {
            let found = keys.iter().filter(|key| **key == layout.format().key).count();
            assert_eq!(found, 1, "{layout:?}");
        }
    }

    #[test]
    fn a_key_leads_back_to_its_layout() {
        for layout in Layout::ALL {
            assert_eq!(Layout::by_key(layout.key()), Some(layout));
        }
        assert_eq!(Layout::by_key("fp31"), None);
    }
}
