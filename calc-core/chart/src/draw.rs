//! Draws strokes on a backend. The backend counts whole pixels and has no dashes, no half pixels and no clipping, so this
//! rounds as the last step and the scene has done the rest. Plotters' own layout is not used: it would measure text in the page.

use core::convert::Infallible;

use plotters_backend::text_anchor::{HPos, Pos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontFamily, FontStyle, FontTransform,
};

use crate::geometry::{Spot, dashes};
use crate::mark::Shape;
use crate::scene::{Anchor, Label, Line, Scene, ScenePoint};
use crate::theme::{Color, Theme};

/// Font families of the page and the picture.
pub const FONT_FAMILY: &str = "system-ui, -apple-system, \"Segoe UI\", Roboto, sans-serif";

/// Backend units per CSS pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// For coordinates and line widths.
    pub pixels: f64,
    /// For font sizes, which some backends scale by themselves.
    pub text: f64,
}

impl Scale {
    /// One factor for everything, such as the device pixel ratio.
    pub const fn uniform(factor: f64) -> Self {
        Self { pixels: factor, text: factor }
    }
}

/// Draws a scene.
///
/// # Errors
/// The backend's own.
pub fn draw<B: DrawingBackend>(
    scene: &Scene,
    theme: &Theme,
    scale: Scale,
    backend: &mut B,
) -> Result<(), DrawingErrorKind<B::ErrorType>> {
    let mut pen = Pen { backend, theme, scale };
    pen.ground(scene)?;
    for wash in &scene.wash {
        pen.polygon(wash, theme.wash)?;
    }
    for line in &scene.lines {
        pen.line(line)?;
    }
    for point in &scene.points {
        pen.point(point)?;
    }
    for label in &scene.labels {
        pen.text(label)?;
    }
    pen.backend.present()
}

type Drawn<B> = Result<(), DrawingErrorKind<<B as DrawingBackend>::ErrorType>>;

struct Pen<'a, B> {
    backend: &'a mut B,
    theme: &'a Theme,
    scale: Scale,
}

impl<B: DrawingBackend> Pen<'_, B> {
    fn ground(&mut self, scene: &Scene) -> Drawn<B> {
        let end = self.pixel(Spot { x: scene.size.width, y: scene.size.height });
        self.backend.draw_rect((0, 0), end, &Stroke::fill(self.theme.background), true)
    }

    fn polygon(&mut self, outline: &[Spot], color: Color) -> Drawn<B> {
        if outline.len() < 3 {
            return Ok(());
        }
        let corners: Vec<_> = outline.iter().map(|spot| self.pixel(*spot)).collect();
        self.backend.fill_polygon(corners, &Stroke::fill(color))
    }

    fn line(&mut self, line: &Line) -> Drawn<B> {
        let stroke = self.stroke(self.theme.mark(line.ink), line.width);
        for pair in line.path.windows(2) {
            let &[from, to] = pair else { continue };
            match line.dash {
                None => self.segment(from, to, stroke)?,
                Some((on, off)) => {
                    for (from, to) in dashes(from, to, on, off) {
                        self.segment(from, to, stroke)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Backends shift level and upright lines by half a pixel, which makes odd widths sharp; even ones are sharp as paths.
    fn segment(&mut self, from: Spot, to: Spot, stroke: Stroke) -> Drawn<B> {
        let (from, to) = (self.pixel(from), self.pixel(to));
        if stroke.width.is_multiple_of(2) {
            self.backend.draw_path([from, to], &stroke)
        } else {
            self.backend.draw_line(from, to, &stroke)
        }
    }

    fn point(&mut self, point: &ScenePoint) -> Drawn<B> {
        let color = self.theme.tint(point.mark.hue).mark;
        let ground = self.theme.background;
        if point.focused {
            let ring = self.stroke(self.theme.ink, 1.0);
            self.circle(point.at, point.radius + 4.0, ring, false)?;
        }
        if point.ringed {
            self.circle(point.at, point.radius + 1.0, Stroke::fill(ground), true)?;
        }
        let Some(corners) = point.mark.shape.corners(point.at, point.radius) else {
            debug_assert_eq!(point.mark.shape, Shape::Circle);
            if point.filled {
                return self.circle(point.at, point.radius, Stroke::fill(color), true);
            }
            self.circle(point.at, point.radius, Stroke::fill(ground), true)?;
            let outline = self.stroke(color, 2.0);
            return self.circle(point.at, point.radius - 1.0, outline, false);
        };
        if point.filled {
            return self.polygon(&corners, color);
        }
        self.polygon(&corners, ground)?;
        let outline = self.stroke(color, 2.0);
        let around = corners.iter().chain(corners.first()).map(|spot| self.pixel(*spot));
        let around: Vec<_> = around.collect();
        self.backend.draw_path(around, &outline)
    }

    fn circle(&mut self, center: Spot, radius: f64, stroke: Stroke, fill: bool) -> Drawn<B> {
        let radius = self.width(radius);
        self.backend.draw_circle(self.pixel(center), radius, &stroke, fill)
    }

    fn text(&mut self, label: &Label) -> Drawn<B> {
        let style = Lettering {
            color: self.theme.text(label.ink),
            size: label.size * self.scale.text,
            anchor: label.anchor,
            upright: label.upright,
        };
        self.backend.draw_text(&label.text, &style, self.pixel(label.at))
    }

    fn stroke(&self, color: Color, width: f64) -> Stroke {
        Stroke { color, width: self.width(width) }
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few pixels")]
    fn width(&self, width: f64) -> u32 {
        calc_core::math::round(width * self.scale.pixels).max(1.0) as u32
    }

    #[expect(clippy::cast_possible_truncation, reason = "places lie inside the picture")]
    fn pixel(&self, spot: Spot) -> BackendCoord {
        let whole = |value: f64| calc_core::math::round(value * self.scale.pixels) as i32;
        (whole(spot.x), whole(spot.y))
    }
}

#[derive(Debug, Clone, Copy)]
struct Stroke {
    color: Color,
    width: u32,
}

impl Stroke {
    const fn fill(color: Color) -> Self {
        Self { color, width: 1 }
    }
}

impl BackendStyle for Stroke {
    fn color(&self) -> BackendColor {
        let Color(red, green, blue) = self.color;
        BackendColor { alpha: 1.0, rgb: (red, green, blue) }
    }

    fn stroke_width(&self) -> u32 {
        self.width
    }
}

#[derive(Debug)]
struct Lettering {
    color: Color,
    size: f64,
    anchor: Anchor,
    upright: bool,
}

impl BackendTextStyle for Lettering {
    type FontError = Infallible;

    fn color(&self) -> BackendColor {
        Stroke::fill(self.color).color()
    }

    fn size(&self) -> f64 {
        self.size
    }

    fn transform(&self) -> FontTransform {
        if self.upright { FontTransform::Rotate270 } else { FontTransform::None }
    }

    fn style(&self) -> FontStyle {
        FontStyle::Normal
    }

    fn anchor(&self) -> Pos {
        let horizontal = match self.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        Pos::new(horizontal, VPos::Center)
    }

    fn family(&self) -> FontFamily<'_> {
        FontFamily::Name(FONT_FAMILY)
    }

    /// Only backends without fonts ask for these two; ours have fonts.
    fn layout_box(&self, _text: &str) -> Result<((i32, i32), (i32, i32)), Self::FontError> {
        Ok(((0, 0), (0, 0)))
    }

    fn draw<E, DrawFunc: FnMut(i32, i32, BackendColor) -> Result<(), E>>(
        &self,
        _text: &str,
        _pos: BackendCoord,
        _draw: DrawFunc,
    ) -> Result<Result<(), E>, Self::FontError> {
        Ok(Ok(()))
    }
}
