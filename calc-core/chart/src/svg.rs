//! Writes a scene as SVG.

use plotters_svg::SVGBackend;

use crate::draw::{Scale, draw};
use crate::roofline::Roofline;
use crate::scene::{Scene, Size};
use crate::theme::Theme;

/// Units per pixel: the backend counts whole units, so fine ones keep slopes and shapes.
const FINENESS: u32 = 4;
/// The backend divides font sizes by this.
const BACKEND_SHRINKS_TEXT_BY: f64 = 1.24;

/// A roofline chart as SVG, with a legend where the names of its points do not fit beside them.
pub fn roofline_svg(chart: &Roofline, theme: &Theme, size: Size) -> String {
    scene_svg(&Scene::with_legend(chart, size), theme)
}

/// A scene as SVG.
pub fn scene_svg(scene: &Scene, theme: &Theme) -> String {
    let fineness = f64::from(FINENESS);
    let units = |pixels: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a picture has thousands of pixels"
        )]
        let whole = (pixels * fineness).max(1.0) as u32;
        whole
    };
    let (width, height) = (units(scene.size.width), units(scene.size.height));
    let mut text = String::new();
    let mut backend = SVGBackend::with_string(&mut text, (width, height));
    let scale = Scale { pixels: fineness, text: fineness * BACKEND_SHRINKS_TEXT_BY };
    let drawn = draw(scene, theme, scale, &mut backend);
    drop(backend);
    debug_assert!(drawn.is_ok(), "a string takes everything");
    text.replacen(
        &format!("width=\"{width}\" height=\"{height}\""),
        &format!("width=\"{}\" height=\"{}\" role=\"img\"", width / FINENESS, height / FINENESS),
        1,
    )
}
