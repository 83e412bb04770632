//! A canvas as a backend of plotters, for what charts draw. `plotters-canvas` prints each color as decimal numbers, and the
//! standard library's printer of those was 8 kB of every visitor's first load.

use core::convert::Infallible;
use core::f64::consts::{FRAC_PI_2, TAU};

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A canvas with its context.
pub(super) struct CanvasBackend {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
}

impl CanvasBackend {
    /// `None` where the browser has no canvas.
    pub(super) fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self { canvas: canvas.clone(), context })
    }

    fn path(&self, path: impl IntoIterator<Item = BackendCoord>) {
        self.context.begin_path();
        for (x, y) in path {
            self.context.line_to(f64::from(x), f64::from(y));
        }
    }

    fn stroke(&self, style: &impl BackendStyle) {
        self.context.set_stroke_style_str(&css(style.color()));
        self.context.set_line_width(f64::from(style.stroke_width()));
        self.context.stroke();
    }

    fn fill(&self, style: &impl BackendStyle) {
        self.context.set_fill_style_str(&css(style.color()));
        self.context.fill();
    }

    fn finish(&self, style: &impl BackendStyle, fill: bool) {
        if fill {
            self.fill(style);
        } else {
            self.stroke(style);
        }
    }
}

impl DrawingBackend for CanvasBackend {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (self.canvas.width(), self.canvas.height())
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> Drawn {
        self.context.set_fill_style_str(&css(color));
        self.context.fill_rect(f64::from(x), f64::from(y), 1.0, 1.0);
        Ok(())
    }

    /// Level and upright lines are shifted by half a pixel, which makes odd widths sharp.
    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        let [left, up] = [from.0 == to.0, from.1 == to.1].map(|same| if same { 0.5 } else { 0.0 });
        self.context.begin_path();
        for (x, y) in [from, to] {
            self.context.line_to(f64::from(x) - left, f64::from(y) - up);
        }
        self.stroke(style);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.path([(left, top), (right, top), (right, bottom), (left, bottom)]);
        self.context.close_path();
        self.finish(style, fill);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.path(path);
        self.stroke(style);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        self.path(corners);
        self.fill(style);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.context.begin_path();
        drop(self.context.arc(f64::from(x), f64::from(y), f64::from(radius), 0.0, TAU)); // fails below 0 only
        self.finish(style, fill);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drawn {
        let turns = match style.transform() {
            FontTransform::None => 0.0,
            FontTransform::Rotate90 => 1.0,
            FontTransform::Rotate180 => 2.0,
            FontTransform::Rotate270 => 3.0,
        };
        let anchor = style.anchor();
        self.context.set_text_baseline(match anchor.v_pos {
            VPos::Top => "top",
            VPos::Center => "middle",
            VPos::Bottom => "bottom",
        });
        self.context.set_text_align(match anchor.h_pos {
            HPos::Left => "start",
            HPos::Center => "center",
            HPos::Right => "end",
        });
        let (slant, size, family) = (style.style(), css_pixels(style.size()), style.family());
        self.context.set_font(&format!("{} {size} {}", slant.as_str(), family.as_str()));
        self.context.set_fill_style_str(&css(style.color()));
        self.context.save();
        // A browser that refuses one of these draws the chart without this text, which the table below has.
        drop(self.context.translate(f64::from(x), f64::from(y)));
        drop(self.context.rotate(turns * FRAC_PI_2));
        drop(self.context.fill_text(text, 0.0, 0.0));
        self.context.restore();
        Ok(())
    }
}

/// A color in the notation of style sheets; those of a chart are opaque.
fn css(BackendColor { rgb: (red, green, blue), .. }: BackendColor) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// A length in the notation of style sheets, in hundredths of a pixel.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a font is small")]
fn css_pixels(length: f64) -> String {
    let hundredths = (length * 100.0 + 0.5) as u32;
    format!("{}.{:02}px", hundredths / 100, hundredths % 100)
}
