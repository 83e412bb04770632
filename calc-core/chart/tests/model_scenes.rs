//! The pictures of a whole model: its operators on the roofline, and curves against its batch.
#![cfg(feature = "svg")]

use calc_core::catalog;
use calc_core::quant_format::ComputeClass;
use calc_core::units::{FlopsPerByte, FlopsPerSec};
use chart::curves::{self, Curve, Curves, Marker, Panel};
use chart::mark::{Mark, Shape};
use chart::roofline::{PointInput, Roofline};
use chart::scene::{Scene, Size};
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

fn operators() -> (Roofline, Vec<f64>) {
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let mut chart = Roofline::of_device(device, None, &[ComputeClass::Fp16]).expect("no mode");
    chart.points = OPERATORS
        .iter()
        .map(|&(name, intensity, tera, _, filled)| PointInput {
            key: name.to_owned(),
            mark: Mark { shape: Shape::Circle, hue: Hue::Orange },
            label: name.to_owned(),
            intensity: FlopsPerByte::new(intensity),
            attained: FlopsPerSec::from_tera(tera),
            expected: Some(FlopsPerSec::from_tera(tera * 0.7)),
            filled,
        })
        .collect();
    (chart, OPERATORS.iter().map(|operator| operator.3).collect())
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
    let (chart, shares) = operators();
    let size = Size { width: 720.0, height: 320.0 };
    check(
        "operators",
        &scene_svg(&Scene::of_operators(&chart, &shares, size, Some("gate_up, decode")), &LIGHT),
    );
    check("curves_wide", &scene_svg(&curves::scene(&batches(), size, None), &DARK));
    let phone = Size { width: 360.0, height: 420.0 };
    check("curves_narrow", &scene_svg(&curves::scene(&batches(), phone, Some(9)), &LIGHT));
}

#[test]
fn the_area_of_a_point_is_its_share() {
    let (chart, shares) = operators();
    let size = Size { width: 720.0, height: 320.0 };
    let scene = Scene::of_operators(&chart, &shares, size, None);
    let radius =
        |name: &str| scene.points.iter().find(|point| point.key == name).expect("a point").radius;
    let ratio = radius("gate_up, decode") / radius("down, decode");
    assert!((ratio * ratio - 2.0).abs() < 1e-9, "{ratio}");
    assert!(
        scene.points.windows(2).all(|pair| pair[0].radius >= pair[1].radius),
        "large ones lie below"
    );
    assert!(scene.points.iter().all(|point| point.at == point.at));
    assert_eq!(scene.points.iter().filter(|point| point.filled).count(), 4);
}
