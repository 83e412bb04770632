//! The scene on every device of the catalog: finite, inside, readable.

use calc_core::analysis::{AnalyzeRequest, Operator, analyze};
use calc_core::calibration::Calibration;
use calc_core::catalog::{self, devices};
use calc_core::cost::gemm::GemmShape;
use calc_core::device::Device;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Fact;
use calc_core::quant_format::ComputeClass;
use chart::geometry::{Rect, Spot};
use chart::mark::mark;
use chart::roofline::{PointInput, Roofline};
use chart::scene::{Line, Scene, Size};
use chart::theme::Ink;

const SHAPES: [GemmShape; 5] = [
    GemmShape { m: 1, n: 4096, k: 4096 },
    GemmShape { m: 2048, n: 4096, k: 4096 },
    GemmShape { m: 1, n: 1, k: 1 },
    GemmShape { m: 64, n: 28_672, k: 4096 },
    GemmShape { m: 1_000_000_000, n: 1_000_000_000, k: 1_000_000_000 },
];
const SIZES: [Size; 3] = [
    Size { width: 750.0, height: 370.0 },
    Size { width: 360.0, height: 280.0 },
    Size { width: 1.0, height: 1.0 },
];
const FORMATS: [&str; 6] = ["fp16", "fp8_e4m3", "nvfp4", "int8", "int4_g128", "gguf_q4_k"];

fn chart_of(device: &Device, shape: GemmShape, formats: &[&str]) -> Roofline {
    let classes = &ComputeClass::ALL[1..];
    let mut chart = Roofline::of_device(device, None, classes).expect("no mode");
    for key in formats {
        let answer = analyze(&AnalyzeRequest {
            device,
            mode: None,
            operator: Operator::Gemm(shape),
            precision: PrecisionChoice::weights(catalog::format(key).expect("catalog key")),
            engine: None,
            calibration: &Calibration::FITTED,
        });
        let Ok(answer) = answer else { continue };
        chart.points.push(PointInput {
            key: (*key).to_owned(),
            mark: mark(key),
            label: key.to_ascii_uppercase(),
            intensity: answer.cost.intensity(),
            attained: answer.attainable,
            expected: Some(answer.attainable * (answer.time.ideal() / answer.expected.time)),
            filled: true,
        });
    }
    chart
}

/// Every device with every shape, size and number of points.
fn each_scene(check: impl Fn(&str, &Scene)) {
    for (place, device) in devices::all().enumerate() {
        // Two or three of the shapes for each device, in turn.
        for shape in SHAPES.into_iter().skip(place % 2).step_by(2) {
            for size in SIZES {
                for count in [0, 3, 6] {
                    let chart = chart_of(device, shape, &FORMATS[..count]);
                    let name = format!("{} {shape:?} {size:?} {count}", device.key);
                    for focus in [None, Some("int8")] {
                        check(&name, &Scene::build(&chart, size, focus));
                    }
                }
            }
        }
    }
}

#[test]
fn labels_overlap_neither_each_other_nor_marks() {
    each_scene(|name, scene| {
        if scene.size.width < 100.0 {
            return; // nobody reads it, and the numbers of the axes do not fit
        }
        for (index, label) in scene.labels.iter().enumerate() {
            for other in &scene.labels[..index] {
                assert!(!label.bounds.overlaps(&other.bounds), "{name}: {label:?} {other:?}");
            }
            for point in &scene.points {
                let mark = Rect::around(point.at, point.radius);
                assert!(!label.bounds.overlaps(&mark), "{name}: {label:?} {point:?}");
            }
        }
    });
}

#[test]
fn every_place_is_finite_and_inside() {
    each_scene(|name, scene| {
        let picture = Rect {
            left: 0.0,
            top: 0.0,
            right: scene.size.width.max(scene.plot.right),
            bottom: scene.size.height.max(scene.plot.bottom),
        };
        let check = |what: &str, spot: Spot, bounds: Rect| {
            assert!(bounds.grown(0.01).contains(spot), "{name}: {what} {spot:?} of {bounds:?}");
        };
        for line in &scene.lines {
            line.path.iter().for_each(|spot| check("line", *spot, scene.plot));
        }
        scene.wash.iter().flatten().for_each(|spot| check("wash", *spot, scene.plot));
        for point in &scene.points {
            check("true place", point.at, scene.plot);
            if scene.size.width > 100.0 {
                check("mark", point.at, scene.plot);
            }
        }
        for label in &scene.labels {
            if scene.size.width > 100.0 {
                check("label", Spot { x: label.bounds.left, y: label.bounds.top }, picture);
                check("label", Spot { x: label.bounds.right, y: label.bounds.bottom }, picture);
            }
        }
    });
}

/// The texts outside the axes with their places: the numbers of the axes.
fn outside(scene: &Scene) -> Vec<(&str, Spot)> {
    let labels = scene.labels.iter().filter(|label| !scene.plot.contains(label.at));
    labels.map(|label| (label.text.as_str(), label.at)).collect()
}

/// Every device with an L2 so many times as fast as its DRAM.
#[test]
fn a_roof_of_l2_lies_above_that_of_the_dram_and_hides_no_label() {
    for device in devices::all() {
        for (size, count) in [(SIZES[0], 3), (SIZES[0], 6), (SIZES[1], 3), (SIZES[1], 0)] {
            let without = chart_of(device, SHAPES[0], &FORMATS[..count]);
            let plain = Scene::build(&without, size, None);
            for times in [1.0, 1.5, 3.0, 12.0, 1e4] {
                let mut known = device.clone();
                let rate = device.bandwidth.value * times;
                known.measured.l2_bandwidth = Some(Fact::assumed(rate));
                let chart = chart_of(&known, SHAPES[0], &FORMATS[..count]);
                let scene = Scene::build(&chart, size, None);
                let name = format!("{} {size:?} {count} {times}", device.key);
                assert_eq!(outside(&scene), outside(&plain), "{name}: the axes stay");
                check_roof_of_l2(&name, &scene, &plain);
                // A small picture may lack the room; a roof higher than the picture has no diagonal to stand at.
                let must = if size.width > 480.0 { times < 1e3 } else { times <= 3.0 };
                let labels = scene.labels.iter().filter(|label| label.text.starts_with("L2 "));
                assert!(labels.count() == 1 || !must, "{name}");
            }
        }
    }
}

/// The L2 roof is dashed, inside the picture, and not right of the DRAM's diagonal; no label covers another.
fn check_roof_of_l2(name: &str, scene: &Scene, plain: &Scene) {
    let is_dram = |line: &&Line| line.ink == Ink::Main && line.dash.is_none();
    let dram = plain.lines.iter().find(is_dram).expect("its diagonal");
    let (from, to) = (dram.path[0], dram.path[1]);
    for line in scene.lines.iter().filter(|line| !plain.lines.contains(line)) {
        assert!(line.dash.is_some(), "{name}: {line:?}");
        for spot in &line.path {
            assert!(scene.plot.grown(0.01).contains(*spot), "{name}: {spot:?}");
            let of_dram = from.x + (to.x - from.x) * (spot.y - from.y) / (to.y - from.y);
            assert!(spot.x <= of_dram + 0.01, "{name}: {spot:?} {of_dram}");
        }
    }
    for (index, label) in scene.labels.iter().enumerate() {
        for other in &scene.labels[..index] {
            assert!(!label.bounds.overlaps(&other.bounds), "{name}: {label:?} {other:?}");
        }
    }
}

#[test]
fn numbers_on_one_line_do_not_read_as_one() {
    each_scene(|name, scene| {
        let is_number =
            |label: &&chart::scene::Label| label.text.chars().any(|c| c.is_ascii_digit());
        for (index, label) in scene.labels.iter().enumerate().filter(|(_, label)| is_number(label))
        {
            for other in scene.labels[..index].iter().filter(is_number) {
                let level =
                    (label.at.y - other.at.y).abs() < 1.0 && label.at.y > scene.plot.bottom - 20.0;
                let near = Rect {
                    left: label.bounds.left - 7.0,
                    right: label.bounds.right + 7.0,
                    ..label.bounds
                };
                assert!(
                    !(level && near.overlaps(&other.bounds)),
                    "{name}: {} {}",
                    label.text,
                    other.text
                );
            }
        }
    });
}

#[test]
fn a_picture_names_every_point_and_nothing_overlaps() {
    for key in ["b200", "jetson_t4000", "t4"] {
        let device = catalog::device(key).expect("catalog key");
        for size in SIZES.iter().filter(|size| size.width > 300.0) {
            let chart = chart_of(device, SHAPES[0], &FORMATS);
            let scene = Scene::with_legend(&chart, *size);
            for point in &chart.points {
                assert!(
                    scene.labels.iter().any(|label| label.text == point.label),
                    "{key} {}",
                    point.label
                );
            }
            for (index, label) in scene.labels.iter().enumerate() {
                assert!(label.bounds.right <= size.width + 1.0, "{key}: {label:?}");
                for other in &scene.labels[..index] {
                    assert!(!label.bounds.overlaps(&other.bounds), "{key}: {label:?} {other:?}");
                }
            }
        }
    }
}

#[test]
fn few_points_have_names_and_roofs_have_labels() {
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let chart = chart_of(device, SHAPES[0], &FORMATS[..3]);
    let scene = Scene::build(&chart, SIZES[0], None);
    let has = |text: &str| scene.labels.iter().any(|label| label.text.contains(text));
    for text in ["FP16", "FP8_E4M3", "NVFP4", "INT8 33.4", "DRAM 102.4", "ridge"] {
        assert!(has(text), "{text} is missing among {:?}", scene.labels);
    }
}

#[test]
fn marks_at_one_place_stay_there_and_are_seen_one_in_the_other() {
    let device = catalog::device("rtx_4090").expect("catalog key");
    let mut chart = chart_of(device, SHAPES[0], &FORMATS);
    let place = chart.points[0].clone();
    for point in &mut chart.points {
        (point.intensity, point.attained) = (place.intensity, place.attained);
        point.expected = place.expected;
    }
    let scene = Scene::build(&chart, SIZES[0], Some("int8"));
    assert!(scene.points.windows(2).all(|pair| pair[0].at == pair[1].at));
    let last = &scene.points[scene.points.len() - 3..];
    assert!(last.windows(2).all(|pair| pair[0].radius > pair[1].radius + 3.0), "{last:?}");
    assert_eq!(
        scene.hit(scene.points[0].at).map(|hit| hit.key.as_str()),
        Some("int8"),
        "uppermost"
    );
}

#[test]
fn a_prediction_stands_at_its_expected_rate_below_the_stub_of_its_ideal_one() {
    let device = catalog::device("rtx_4090").expect("catalog key");
    let mut chart = chart_of(device, SHAPES[0], &["fp16"]);
    let expected = Scene::build(&chart, SIZES[0], None);
    chart.points[0].filled = false;
    let measured = Scene::build(&chart, SIZES[0], None);
    let [below, above] = [expected.points[0].at, measured.points[0].at];
    assert!(below.y > above.y + 1.0, "less is below: {below:?} {above:?}");
    let is_stub = |line: &&Line| {
        let [from, to] = [line.path[0], line.path[line.path.len() - 1]];
        (from.y - above.y).abs() < 1e-6 && (to.x - from.x - 10.0).abs() < 1e-6
    };
    assert_eq!(expected.lines.iter().filter(is_stub).count(), 1, "at the ideal rate");
}

#[test]
fn a_pointer_means_the_nearest_point_within_reach() {
    let device = catalog::device("rtx_4090").expect("catalog key");
    let scene = Scene::build(&chart_of(device, SHAPES[0], &FORMATS), SIZES[0], None);
    for point in &scene.points {
        let hit = scene.hit(point.at.moved(1.0, -1.0)).expect("it is in reach");
        assert!(hit.at.distance(point.at) < 3.0, "{} for {}", hit.key, point.key);
    }
    assert_eq!(scene.hit(Spot { x: scene.plot.right, y: scene.plot.bottom }), None);
}

#[test]
fn a_point_moves_right_and_up_while_m_grows_and_the_axes_stay() {
    let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let scene = |m| {
        let shape = GemmShape { m, n: 4096, k: 4096 };
        Scene::build(&chart_of(device, shape, &["fp16"]), SIZES[0], None)
    };
    let (one, eight) = (scene(1), scene(8));
    assert_eq!(outside(&one), outside(&eight));
    assert!(one.points[0].at.x + 20.0 < eight.points[0].at.x);
    assert!(one.points[0].at.y > eight.points[0].at.y + 20.0);
}

#[test]
fn measured_roofs_are_the_ceilings_that_check_states() {
    use calc_core::catalog::devices::measured;
    use chart::roofline::Sustained;
    for device in devices::all() {
        let chart = Roofline::of_device(device, None, &ComputeClass::ALL).expect("no mode");
        let bandwidth = chart.sustained.iter().find_map(|roof| match roof {
            Sustained::Bandwidth(value) => Some(*value),
            Sustained::Compute(..) => None,
        });
        assert_eq!(bandwidth, measured::bandwidth(device, None), "{}", device.key);
        for class in ComputeClass::ALL {
            let known = measured::peak(device, None, class);
            let is_drawn = chart
                .sustained
                .iter()
                .any(|roof| matches!(roof, Sustained::Compute(_, peak) if Some(*peak) == known));
            assert_eq!(is_drawn, known.is_some(), "{} {class:?}", device.key);
        }
    }
}
