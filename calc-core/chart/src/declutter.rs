//! Displaces points that would hide each other to a line below the roof; a thin leader joins each to its true place.

use crate::geometry::{Rect, Spot};

/// Points nearer than this many radii hide each other.
const NEAR: f64 = 1.3;
/// Distance of displaced neighbors, in radii.
const SPACING: f64 = 2.5;
/// Rounds in which points that still overlap push each other apart.
const ROUNDS: usize = 60;

/// The place where each point is drawn; `at` are the true places. Points that nothing hides stay. Displaced ones keep off
/// the horizontal `roofs` that they do not belong to, each given by its left end.
pub(crate) fn declutter(at: &[Spot], radius: f64, roofs: &[Spot], bounds: &Rect) -> Vec<Spot> {
    let mut shown = at.to_vec();
    for group in groups(at, NEAR * radius) {
        if group.len() > 1 {
            spread(&group, at, radius, &mut shown);
        }
    }
    for (spot, at) in shown.iter_mut().zip(at) {
        if spot.distance(*at) > 0.5 {
            *spot = off_roofs(*spot, *at, radius, roofs);
        }
    }
    push_apart(&mut shown, at, 2.0 * radius, bounds);
    shown
}

/// Moves a point below a roof on which it would seem to lie.
fn off_roofs(spot: Spot, at: Spot, radius: f64, roofs: &[Spot]) -> Spot {
    let clear = 1.5 * radius;
    let touches = |roof: &&Spot| {
        (roof.y - at.y).abs() > 1.0 && (roof.y - spot.y).abs() < clear && roof.x < spot.x + radius
    };
    roofs.iter().find(touches).map_or(spot, |roof| Spot { y: roof.y + clear, ..spot })
}

/// Groups of neighboring points, each sorted from left to right.
fn groups(at: &[Spot], near: f64) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, spot) in at.iter().enumerate() {
        let is_near =
            |group: &Vec<usize>| group.iter().any(|&other| at[other].distance(*spot) < near);
        let (joined, apart): (Vec<Vec<usize>>, Vec<Vec<usize>>) =
            groups.into_iter().partition(is_near);
        let mut group = Vec::new();
        for member in joined.into_iter().flatten().chain([index]) {
            let place = group.partition_point(|&other: &usize| at[other].x <= at[member].x);
            group.insert(place, member);
        }
        groups = apart;
        groups.push(group);
    }
    groups
}

/// Lays a group on a line from below (its leftmost point) to the right (its rightmost), where no roof is.
fn spread(group: &[usize], at: &[Spot], radius: f64, shown: &mut [Spot]) {
    let count = group.len() as f64;
    let center = Spot {
        x: group.iter().map(|&index| at[index].x).sum::<f64>() / count,
        y: group.iter().map(|&index| at[index].y).sum::<f64>() / count,
    };
    let length = SPACING * radius * (count - 1.0);
    let reach = (length * core::f64::consts::FRAC_1_SQRT_2).max(4.0 * radius);
    for (place, &index) in group.iter().enumerate() {
        let share = place as f64 / (count - 1.0);
        shown[index] = center.moved(reach * share, reach * (1.0 - share));
    }
}

/// Moves overlapping points apart in small steps; points without a neighbor do not move.
fn push_apart(shown: &mut [Spot], at: &[Spot], distance: f64, bounds: &Rect) {
    let moved: Vec<bool> = shown.iter().zip(at).map(|(a, b)| a.distance(*b) > 0.5).collect();
    if !moved.iter().any(|moved| *moved) {
        return;
    }
    for _ in 0..ROUNDS {
        let mut still = true;
        for first in 0..shown.len() {
            for second in 0..first {
                let gap = shown[first].distance(shown[second]);
                if gap >= distance || !(moved[first] || moved[second]) {
                    continue;
                }
                still = false;
                let (x, y) = direction(shown[first], shown[second], gap, first);
                let step = (distance - gap) / 2.0 + 0.1;
                if moved[first] {
                    shown[first] = bounds.nearest(shown[first].moved(x * step, y * step));
                }
                if moved[second] {
                    shown[second] = bounds.nearest(shown[second].moved(-x * step, -y * step));
                }
            }
        }
        if still {
            break;
        }
    }
    for spot in shown {
        *spot = bounds.nearest(*spot);
    }
}

/// From one spot to another; for equal spots any direction, but always the same.
fn direction(to: Spot, from: Spot, gap: f64, index: usize) -> (f64, f64) {
    if gap > 1e-6 {
        ((to.x - from.x) / gap, (to.y - from.y) / gap)
    } else if index.is_multiple_of(2) {
        (1.0, 0.0)
    } else {
        (0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: Rect = Rect { left: 0.0, top: 0.0, right: 400.0, bottom: 300.0 };

    fn spots(pairs: &[(f64, f64)]) -> Vec<Spot> {
        pairs.iter().map(|&(x, y)| Spot { x, y }).collect()
    }

    #[test]
    fn points_apart_stay_where_they_are() {
        let at = spots(&[(10.0, 10.0), (40.0, 10.0)]);
        assert_eq!(declutter(&at, 6.0, &[], &BOUNDS), at);
    }

    #[test]
    fn points_on_one_spot_come_apart() {
        for count in 2..12 {
            let at = vec![Spot { x: 200.0, y: 100.0 }; count];
            let shown = declutter(&at, 6.0, &[], &BOUNDS);
            for (index, spot) in shown.iter().enumerate() {
                assert!(BOUNDS.contains(*spot));
                for other in &shown[..index] {
                    assert!(spot.distance(*other) > 11.0, "{count}: {shown:?}");
                }
            }
        }
    }

    #[test]
    fn displaced_points_lie_below_and_to_the_right() {
        let shown =
            declutter(&spots(&[(100.0, 100.0), (102.0, 98.0), (104.0, 96.0)]), 6.0, &[], &BOUNDS);
        assert!(shown[0].y > 110.0 && shown[2].x > 115.0, "{shown:?}");
    }

    #[test]
    fn a_moved_point_does_not_seem_to_lie_on_a_roof_that_is_not_its_own() {
        let at = spots(&[(200.0, 100.0), (201.0, 100.0), (202.0, 100.0)]);
        let roofs = spots(&[(150.0, 100.0), (120.0, 121.0)]);
        for spot in declutter(&at, 6.0, &roofs, &BOUNDS) {
            assert!((spot.y - 121.0).abs() > 6.0, "{spot:?}");
        }
    }
}
