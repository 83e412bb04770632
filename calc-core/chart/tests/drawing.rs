//! Strokes that reach a backend: within the picture, and the same every time.

use core::convert::Infallible;

use calc_core::catalog;
use calc_core::quant_format::ComputeClass;
use calc_core::units::{FlopsPerByte, FlopsPerSec};
use chart::draw::{Scale, draw};
use chart::mark::mark;
use chart::roofline::{PointInput, Roofline};
use chart::scene::{Scene, Size};
use chart::theme::{LIGHT, Theme};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

const SIZE: Size = Size { width: 720.0, height: 360.0 };

fn point(key: &str, intensity: f64, giga: f64, filled: bool) -> PointInput {
    PointInput {
        key: key.to_owned(),
        mark: mark(key),
        label: key.to_ascii_uppercase(),
        intensity: FlopsPerByte::new(intensity),
        attained: FlopsPerSec::new(giga * 1e9),
        expected: filled.then(|| FlopsPerSec::new(giga * 0.78e9)),
        filled,
    }
}

/// The chart of a real device with three predicted points and a measured one.
fn chart() -> Roofline {
    use ComputeClass::{Fp16, Fp32, Int8};
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let chart = Roofline::of_device(device, None, &[Fp16, Fp32, Int8]).expect("no mode");
    let points = vec![
        point("fp16", 1.0, 102.4, true),
        point("int8", 2.0, 204.8, true),
        point("int4_g128", 3.76, 385.0, true),
        point("nvfp4", 30.0, 1500.0, false),
    ];
    Roofline { points, main: Some(Fp16), ..chart }
}

/// A backend that records its calls.
#[derive(Default)]
struct Recorder {
    places: Vec<BackendCoord>,
    texts: Vec<String>,
    polygons: Vec<(u8, u8, u8)>,
    presented: bool,
}

type Noted = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for Recorder {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (1440, 720)
    }

    fn ensure_prepared(&mut self) -> Noted {
        Ok(())
    }

    fn present(&mut self) -> Noted {
        self.presented = true;
        Ok(())
    }

    fn draw_pixel(&mut self, place: BackendCoord, _: BackendColor) -> Noted {
        panic!("nothing is drawn by the pixel, but {place:?} was")
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, _: &S) -> Noted {
        self.places.extend([from, to]);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        _: &S,
        _: bool,
    ) -> Noted {
        self.places.extend([from, to]);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        _: &S,
    ) -> Noted {
        self.places.extend(path);
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, at: BackendCoord, _: u32, _: &S, _: bool) -> Noted {
        self.places.push(at);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Noted {
        self.polygons.push(style.color().rgb);
        self.places.extend(path);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, _: &S, at: BackendCoord) -> Noted {
        self.texts.push(text.to_owned());
        self.places.push(at);
        Ok(())
    }
}

fn recorded(scene: &Scene, theme: &Theme, scale: f64) -> Recorder {
    let mut recorder = Recorder::default();
    draw(scene, theme, Scale::uniform(scale), &mut recorder).expect("notes everything");
    recorder
}

#[test]
fn strokes_stay_inside_at_every_pixel_ratio() {
    let scene = Scene::build(&chart(), SIZE, Some("int8"));
    for scale in [1.0, 1.5, 2.0, 3.0] {
        let drawn = recorded(&scene, &LIGHT, scale);
        assert!(drawn.presented && drawn.places.len() > 100);
        for (x, y) in drawn.places {
            let (x, y) = (f64::from(x) / scale, f64::from(y) / scale);
            assert!((-1.0..=SIZE.width + 1.0).contains(&x), "{x}");
            assert!((-1.0..=SIZE.height + 1.0).contains(&y), "{y}");
        }
    }
}

#[test]
fn every_label_and_mark_is_drawn() {
    let scene = Scene::build(&chart(), SIZE, None);
    let drawn = recorded(&scene, &LIGHT, 1.0);
    assert_eq!(drawn.texts.len(), scene.labels.len());
    for key in ["int4_g128", "int8"] {
        let color = LIGHT.tint(mark(key).hue).mark;
        assert!(drawn.polygons.contains(&(color.0, color.1, color.2)), "{key}");
    }
}

#[cfg(feature = "svg")]
#[test]
fn the_picture_is_the_one_that_was_looked_at() {
    let svg = chart::svg::roofline_svg(&chart(), &LIGHT, SIZE);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/orin_nano.svg");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(golden, &svg).expect("the folder of this file");
    }
    let seen =
        std::fs::read_to_string(golden).expect("run once with UPDATE_GOLDEN=1 and look at it");
    assert_eq!(svg, seen, "run with UPDATE_GOLDEN=1, look at the picture, commit it");
}
