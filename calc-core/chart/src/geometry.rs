//! Spots, boxes and clipping, in `f64`: backends count whole pixels, so the layout is decided before they round.

/// A place in a picture, in CSS pixels, y downwards.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spot {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

impl Spot {
    /// Distance to another spot.
    pub fn distance(self, other: Self) -> f64 {
        (self.x - other.x).hypot(self.y - other.y)
    }

    /// The spot moved by `x` and `y`.
    #[must_use]
    pub fn moved(self, x: f64, y: f64) -> Self {
        Self { x: self.x + x, y: self.y + y }
    }
}

/// A box with `left <= right` and `top <= bottom`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    /// The box around a spot.
    pub fn around(center: Spot, radius: f64) -> Self {
        Self {
            left: center.x - radius,
            top: center.y - radius,
            right: center.x + radius,
            bottom: center.y + radius,
        }
    }

    /// True when the boxes share more than an edge.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// True when the spot lies in it or on its edge.
    pub fn contains(&self, spot: Spot) -> bool {
        self.left <= spot.x && spot.x <= self.right && self.top <= spot.y && spot.y <= self.bottom
    }

    /// True when the whole other box lies in it.
    pub fn encloses(&self, other: &Self) -> bool {
        self.left <= other.left
            && other.right <= self.right
            && self.top <= other.top
            && other.bottom <= self.bottom
    }

    /// The nearest spot that lies in it; of a box turned inside out, a corner.
    pub fn nearest(&self, spot: Spot) -> Spot {
        Spot { x: spot.x.max(self.left).min(self.right), y: spot.y.max(self.top).min(self.bottom) }
    }

    /// The box grown by `by` on every side, or shrunk where it is negative.
    #[must_use]
    pub fn grown(&self, by: f64) -> Self {
        Self {
            left: self.left - by,
            top: self.top - by,
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }
}

/// The part of a line that lies in a box; `None` when none does. Cutting each end alone would bend the line.
///
/// Liang and Barsky, "A new concept and method for line clipping", 1984: each edge limits the share of the line.
pub fn clip(from: Spot, to: Spot, bounds: &Rect) -> Option<(Spot, Spot)> {
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let (mut start, mut end) = (0.0_f64, 1.0_f64);
    for (step, room) in [
        (-dx, from.x - bounds.left),
        (dx, bounds.right - from.x),
        (-dy, from.y - bounds.top),
        (dy, bounds.bottom - from.y),
    ] {
        if step < 0.0 {
            start = start.max(room / step);
        } else if step > 0.0 {
            end = end.min(room / step);
        } else if room < 0.0 {
            return None;
        }
    }
    (start <= end).then(|| (from.moved(dx * start, dy * start), from.moved(dx * end, dy * end)))
}

/// Pieces of a line, alternately drawn and left out.
pub fn dashes(from: Spot, to: Spot, on: f64, off: f64) -> Vec<(Spot, Spot)> {
    let length = from.distance(to);
    if length <= 0.0 {
        return Vec::new();
    }
    let at = |distance: f64| {
        let share = (distance / length).min(1.0);
        from.moved((to.x - from.x) * share, (to.y - from.y) * share)
    };
    let period = on + off;
    let mut pieces = Vec::new();
    let mut start = 0.0;
    while start < length {
        pieces.push((at(start), at(start + on)));
        start += period;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOX: Rect = Rect { left: 0.0, top: 0.0, right: 10.0, bottom: 10.0 };

    fn spot(x: f64, y: f64) -> Spot {
        Spot { x, y }
    }

    #[test]
    fn clipping_keeps_the_slope() {
        let clipped = clip(spot(-10.0, -5.0), spot(30.0, 15.0), &BOX);
        assert_eq!(clipped, Some((spot(0.0, 0.0), spot(10.0, 5.0))));
    }

    #[test]
    fn a_line_inside_stays_and_one_outside_goes() {
        for (from, to, expected) in [
            (spot(1.0, 1.0), spot(2.0, 9.0), true),
            (spot(-5.0, 11.0), spot(20.0, 11.0), false),
            (spot(-5.0, 4.0), spot(4.0, -6.0), false),
            (spot(0.0, 10.0), spot(10.0, 10.0), true),
            (spot(3.0, 3.0), spot(3.0, 3.0), true),
        ] {
            assert_eq!(clip(from, to, &BOX).is_some(), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn dashes_cover_the_line_to_its_end() {
        let pieces = dashes(spot(0.0, 0.0), spot(10.0, 0.0), 4.0, 3.0);
        assert_eq!(pieces, [(spot(0.0, 0.0), spot(4.0, 0.0)), (spot(7.0, 0.0), spot(10.0, 0.0))]);
        assert!(dashes(spot(1.0, 1.0), spot(1.0, 1.0), 4.0, 3.0).is_empty());
    }
}
