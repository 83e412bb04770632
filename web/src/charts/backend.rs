//! Plotters' drawing primitives as calls of the browser's canvas. `plotters-canvas` has the same, with colors as fractions,
//! which need the standard library's number formatting: some kilobytes of page.

use core::convert::Infallible;
use core::f64::consts::{PI, TAU};

use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use report::number_text::typed;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A canvas that is drawn on.
#[derive(Debug)]
pub(super) struct CanvasBackend {
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
}

impl CanvasBackend {
    /// `None` in a browser that gives no context for drawing.
    pub(super) fn new(canvas: &HtmlCanvasElement) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self { canvas: canvas.clone(), context })
    }

    /// Fills or strokes the path.
    fn show(&self, style: &impl BackendStyle, is_filled: bool) {
        let color = css(style.color());
        if is_filled {
            self.context.set_fill_style_str(&color);
            self.context.fill();
        } else {
            self.context.set_stroke_style_str(&color);
            self.context.set_line_width(f64::from(style.stroke_width()));
            self.context.stroke();
        }
    }

    fn trace(&self, path: impl IntoIterator<Item = BackendCoord>) {
        self.context.begin_path();
        for (x, y) in path {
            self.context.line_to(f64::from(x), f64::from(y)); // the first only goes there
        }
    }
}

/// Our colors cover what is below them.
fn css(BackendColor { rgb: (red, green, blue), .. }: BackendColor) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
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

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(at, (at.0 + 1, at.1 + 1), &color, true)
    }

    /// A level or upright line lies half a pixel aside, so that an odd width covers whole pixels.
    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn {
        let aside = |is_aside: bool| if is_aside { -0.5 } else { 0.0 };
        let (right, down) = (aside(from.0 == to.0), aside(from.1 == to.1));
        self.context.begin_path();
        for (x, y) in [from, to] {
            self.context.line_to(f64::from(x) + right, f64::from(y) + down);
        }
        self.show(style, false);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.trace([(left, top), (right, top), (right, bottom), (left, bottom)]);
        self.context.close_path();
        self.show(style, fill);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.trace(path);
        self.show(style, false);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        self.trace(corners);
        self.show(style, true);
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
        // Only a negative radius is refused.
        drop(self.context.arc(f64::from(x), f64::from(y), f64::from(radius), 0.0, TAU));
        self.show(style, fill);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> Drawn {
        let context = &self.context;
        context.set_text_align(match style.anchor().h_pos {
            HPos::Left => "left",
            HPos::Center => "center",
            HPos::Right => "right",
        });
        context.set_text_baseline(match style.anchor().v_pos {
            VPos::Top => "top",
            VPos::Center => "middle",
            VPos::Bottom => "bottom",
        });
        let turn = match style.transform() {
            FontTransform::None => 0.0,
            FontTransform::Rotate90 => 0.5 * PI,
            FontTransform::Rotate180 => PI,
            FontTransform::Rotate270 => 1.5 * PI,
        };
        context.set_fill_style_str(&css(style.color()));
        context.set_font(&format!("{}px {}", typed(style.size()), style.family().as_str()));
        context.save();
        // A canvas refuses none of these; what it cannot show it leaves out.
        drop(context.translate(f64::from(x), f64::from(y)));
        drop(context.rotate(turn));
        drop(context.fill_text(text, 0.0, 0.0));
        context.restore();
        Ok(())
    }
}
