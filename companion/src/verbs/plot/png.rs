//! Renders the SVG to pixels, with a font that is embedded in the program.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};

/// Font family that replaces every other family in the drawing.
const FAMILY: &str = "DejaVu Sans";

/// Renders an SVG text as a PNG file.
///
/// # Errors
/// Errors of the renderer; our own drawings cause none.
pub(super) fn of_svg(svg: &str) -> Result<Vec<u8>, String> {
    let mut fonts = Database::new();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family(FAMILY);
    let options =
        Options { fontdb: Arc::new(fonts), font_family: FAMILY.into(), ..Options::default() };
    let tree = Tree::from_str(svg, &options)
        .map_err(|error| format!("cannot draw the picture: {error}"))?;
    let size = tree.size().to_int_size();
    let mut pixels = Pixmap::new(size.width(), size.height())
        .ok_or("cannot draw the picture: it has no size")?;
    resvg::render(&tree, Transform::default(), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| format!("cannot write the picture: {error}"))
}
