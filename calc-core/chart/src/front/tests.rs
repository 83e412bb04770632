//! Tests of the front: marks, names, the brushed part and the axes.

use super::*;
use crate::mark::mark;

const SIZE: Size = Size { width: 800.0, height: 400.0 };

fn measure(name: &str, criterion: Criterion) -> Measure {
    Measure { name: name.into(), criterion }
}

fn front(points: &[(f64, f64, bool)]) -> Front {
    let point = |(place, &(x, y, is_on_front)): (usize, &(f64, f64, bool))| FrontPoint {
        key: place.to_string(),
        label: format!("device {}", place / 2),
        mark: mark("fp16"),
        x,
        y,
        is_on_front,
    };
    Front {
        measures: [measure("rate", Criterion::Rate), measure("loss", Criterion::Quality)],
        points: points.iter().enumerate().map(point).collect(),
    }
}

fn some() -> Front {
    front(&[(10.0, 0.0, true), (40.0, 1.0, true), (300.0, 4.0, true), (25.0, 3.0, false)])
}

#[test]
fn marks_stay_at_their_point_and_texts_do_not_cover_each_other() {
    let scene = scene(&some(), SIZE, Some("3"), None);
    for point in &scene.points {
        assert!(point.at == point.at && scene.plot.grown(1.0).contains(point.at));
    }
    assert_eq!(scene.points.last().map(|point| point.key.as_str()), Some("3"));
    for (i, a) in scene.labels.iter().enumerate() {
        for b in &scene.labels[i + 1..] {
            assert!(!a.bounds.overlaps(&b.bounds), "{} and {}", a.text, b.text);
        }
    }
    let count = |text: &str| scene.labels.iter().filter(|label| label.text == text).count();
    assert_eq!((count("device 0"), count("device 1")), (1, 1), "once each");
}

#[test]
fn a_short_axis_has_a_short_name() {
    let mut chart = some();
    chart.measures[0].name = "token/s of a user, expected (more is better)".into();
    let has = |width: f64, name: &str| {
        let scene = scene(&chart, Size { width, height: 400.0 }, None, None);
        scene.labels.iter().any(|label| label.text == name && label.bounds.right <= width)
    };
    assert!(has(800.0, &chart.measures[0].name));
    assert!(has(296.0, "token/s of a user, expected"));
}

#[test]
fn the_front_is_a_line_from_point_to_point() {
    let scene = scene(&some(), SIZE, None, None);
    let line = scene.lines.iter().find(|line| line.ink == Ink::Hue(Hue::Green));
    let line = line.expect("a line");
    assert_eq!(line.path.len(), 3);
    assert!(line.path.windows(2).all(|two| two[0].x < two[1].x && two[0].y > two[1].y));
    let one = super::scene(&front(&[(1.0, 1.0, true)]), SIZE, None, None);
    assert!(one.lines.iter().all(|line| line.ink != Ink::Hue(Hue::Green)));
}

#[test]
fn a_brush_holds_what_is_inside_at_every_size() {
    let chart = some();
    let wide = scene(&chart, SIZE, None, None);
    let at = |scene: &Scene, key: &str| {
        scene.points.iter().find(|point| point.key == key).expect("drawn").at
    };
    let (from, to) = (at(&wide, "0").moved(-5.0, 5.0), at(&wide, "1").moved(5.0, -5.0));
    let brush = Brush::between(&chart, SIZE, from, to);
    let held = |brush: &Brush| -> Vec<&str> {
        let inside = chart.points.iter().filter(|point| brush.holds(point.x, point.y));
        inside.map(|point| point.key.as_str()).collect()
    };
    assert_eq!(held(&brush), ["0", "1"]);
    for size in [SIZE, Size { width: 320.0, height: 300.0 }] {
        let scene = scene(&chart, size, None, Some(&brush));
        let line = scene.lines.iter().find(|line| line.path.len() == 5).expect("an outline");
        let [low, high] = [line.path[0], line.path[2]];
        for point in &scene.points {
            let is_inside =
                (low.x..=high.x).contains(&point.at.x) && (low.y..=high.y).contains(&point.at.y);
            assert_eq!(is_inside, held(&brush).contains(&point.key.as_str()), "{}", point.key);
        }
    }
    let (far, near) = (Spot { x: -1e9, y: 1e9 }, Spot { x: 1e9, y: -1e9 });
    assert_eq!(held(&Brush::between(&chart, SIZE, far, near)).len(), 4);
}

#[test]
fn short_ranges_have_ticks_and_none_is_drawn_over_another() {
    for (low, high) in [(3.0, 4.0), (1e-3, 1e9), (0.5, 60.0), (7.0, 7.0)] {
        let chart = front(&[(low, 0.0, true), (high, 1.0, true)]);
        for width in [900.0, 320.0, 1.0] {
            let scene = scene(&chart, Size { width, height: 300.0 }, None, None);
            let finite = |spot: &Spot| spot.x.is_finite() && spot.y.is_finite();
            assert!(scene.points.iter().all(|point| finite(&point.at)));
            assert!(scene.lines.iter().flat_map(|line| &line.path).all(finite));
        }
    }
    let nothing = scene(&front(&[]), SIZE, None, None);
    assert!(nothing.points.is_empty());
}
