//! The pictures of a whole model: its operators on the roofline, and curves against its batch.
#![cfg(feature = "svg")]

use calc_core::catalog;
use calc_core::quant_format::ComputeClass;
use calc_core::units::{FlopsPerByte, FlopsPerSec};
use chart::curves::{self, Curve, Curves, Marker, Panel};
use chart::geometry::Spot;
use chart::mark::{Mark, Shape};
use chart::roofline::{PointInput, Roofline};
use chart::scene::{OperatorPanel, Scene, Size};
use chart::svg::scene_svg;
use chart::theme::{DARK, Hue, LIGHT};

/// Operators of a small model: name, FLOP per byte, TFLOP/s, share of the time, prefill.
const OPERATORS: [(&str, f64, f64, f64, bool); 7] = [
    ("gate_up, prefill", 1700.0, 16.7, 0.5, true),
    ("down, prefill", 1650.0, 16.7, 0.3, true),
    ("attention, prefill", 700.0, 16.7, 0.15, true),
    ("add_norm, prefill", 0.6, 0.061, 0.05, true),
    ("gate_up, decode", 3.7, 0.38, 0.6, false),
    ("down, decode", 3.7, 0.38, 0.3, false),
    ("attention, decode", 4.0, 0.41, 0.1, false),
];

fn operators() -> [OperatorPanel; 2] {
    [("Prefill", true), ("Decode", false)].map(|(name, is_prefill)| panel(name, is_prefill))
}

fn panel(name: &'static str, is_prefill: bool) -> OperatorPanel {
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let mut chart = Roofline::of_device(device, None, &[ComputeClass::Fp16]).expect("no mode");
    let operators = || OPERATORS.iter().filter(|operator| operator.4 == is_prefill);
    chart.points = operators()
        .map(|&(name, intensity, tera, ..)| PointInput {
            key: name.to_owned(),
            mark: Mark { shape: Shape::Circle, hue: Hue::Orange },
            label: name.to_owned(),
            intensity: FlopsPerByte::new(intensity),
            attained: FlopsPerSec::from_tera(tera),
            expected: Some(FlopsPerSec::from_tera(tera * 0.7)),
            filled: true,
        })
        .collect();
    OperatorPanel { name, chart, shares: operators().map(|operator| operator.3).collect() }
}

fn batches() -> Curves {
    let at: Vec<f64> = (0..11_u32).map(|power| f64::from(1 << power)).collect();
    let panel = |name: &str, value: &dyn Fn(f64) -> f64| Panel {
        name: name.to_owned(),
        curves: [("ideal", 1.0, true), ("expected", 0.8, false)]
            .into_iter()
            .map(|(name, share, dashed)| Curve {
                name: name.to_owned(),
                points: at.iter().map(|batch| (*batch, share * value(*batch))).collect(),
                dashed,
            })
            .collect(),
    };
    Curves {
        x_name: "batch, sequences".to_owned(),
        panels: [
            panel("token/s in total", &|batch| 20.0 * batch / (1.0 + batch / 128.0)),
            panel("time per token, ms", &|batch| 50.0 * (1.0 + batch / 128.0)),
        ],
        limit: Some(Marker { at: 300.0, label: "memory ends".to_owned() }),
        crossing: Some(Marker { at: 128.0, label: "compute limits".to_owned() }),
        here: Some(3),
    }
}

fn check(name: &str, svg: &str) {
    let golden = format!("{}/tests/golden/{name}.svg", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&golden, svg).expect("the folder of this file");
    }
    let seen =
        std::fs::read_to_string(golden).expect("run once with UPDATE_GOLDEN=1 and look at it");
    assert_eq!(svg, seen, "{name}: run with UPDATE_GOLDEN=1, look at the picture, commit it");
}

#[test]
fn the_pictures_are_the_ones_that_were_looked_at() {
    let size = Size { width: 720.0, height: 320.0 };
    let scene = Scene::of_operators(&operators(), size, Some("gate_up, decode"));
    check("operators", &scene_svg(&scene, &LIGHT));
    check("curves_wide", &scene_svg(&curves::scene(&batches(), size, None), &DARK));
    let phone = Size { width: 360.0, height: 420.0 };
    check("curves_narrow", &scene_svg(&curves::scene(&batches(), phone, Some(9)), &LIGHT));
}

#[test]
fn the_area_of_a_point_is_its_share() {
    let size = Size { width: 720.0, height: 320.0 };
    let scene = Scene::of_operators(&operators(), size, None);
    let radius =
        |name: &str| scene.points.iter().find(|point| point.key == name).expect("a point").radius;
    let ratio = radius("gate_up, decode") / radius("down, decode");
    assert!((ratio * ratio - 2.0).abs() < 1e-9, "{ratio}");
    for phase in ["prefill", "decode"] {
        let mut radii = scene.points.iter().filter(|point| point.key.ends_with(phase));
        let mut last = radii.next().expect("a point");
        for point in radii {
            assert!(last.radius >= point.radius, "large ones lie below");
            last = point;
        }
    }
    assert!(scene.points.iter().all(|point| point.at == point.at && point.filled));
}

#[test]
fn phases_are_two_panels_on_the_same_axes() {
    for (width, height) in [(720.0, 320.0), (360.0, 560.0), (240.0, 120.0)] {
        let size = Size { width, height };
        let scene = Scene::of_operators(&operators(), size, None);
        let place =
            |name: &str| scene.points.iter().find(|point| point.key == name).expect(name).at;
        let [first, second] = ["gate_up, prefill", "gate_up, decode"].map(place);
        let heading =
            |name: &str| scene.labels.iter().find(|label| label.text == name).expect(name);
        let decode = heading("Decode").at;
        assert!(heading("Prefill").at.y <= decode.y);
        if width > height * 1.25 {
            assert!(first.x < decode.x && decode.x < second.x);
        } else {
            assert!(first.y < decode.y && decode.y < second.y);
        }
        let inside =
            |spot: &Spot| (0.0..=width).contains(&spot.x) && (0.0..=height).contains(&spot.y);
        assert!(scene.lines.iter().flat_map(|line| &line.path).all(inside), "{width}");
        assert_eq!(scene.wash.len(), 2);
    }
}
