//! Rows, columns and tiles of an image, one function per rule.

use core::cmp::Ordering;

use super::{ImageTile, ImageWork};
use crate::error::{Error, real_in_range};
use crate::math;

/// Largest ratio of the sides of an image that processors accept.
const MAX_ASPECT: f64 = 200.0;
/// Longest side to which a processor with a grid of tiles scales an image, in pixels.
const LARGEST_GRID: u64 = 4096;
/// Number of patches beyond which a processor scales an image down by its sides.
const MAX_SIDE_PATCHES: u64 = 512;

/// An image as rows and columns of tokens of `merge` by `merge` patches.
pub(super) const fn grid_of_tokens((rows, columns): (u64, u64), merge: u64) -> ImageWork {
    let tokens = rows * columns;
    ImageWork { tiles: 1, positions: tokens * merge * merge, tokens }
}

/// Rows and columns of `unit` pixels: sides rounded to the nearest, halves to even, and scaled where the area is outside.
pub(super) fn limited_area(
    (width, height): (u64, u64),
    unit: u64,
    (least, most): (u64, u64),
) -> Result<(u64, u64), Error> {
    let aspect = width.max(height) as f64 / width.min(height) as f64;
    real_in_range("ratio of the sides of image", aspect, 1.0, MAX_ASPECT)?;
    let (rows, columns) = (rounded(height, unit), rounded(width, unit));
    let (pixels, area) = ((width * height) as f64, rows * columns * unit * unit);
    let sides = [height, width].map(|side| side as f64);
    let [rows, columns] = if area > most {
        let by = math::sqrt(pixels / most as f64);
        sides.map(|side| count(math::floor(side / by / unit as f64)).max(1))
    } else if area < least {
        let by = math::sqrt(least as f64 / pixels);
        sides.map(|side| count(math::ceil(side * by / unit as f64)))
    } else {
        [rows, columns]
    };
    Ok((rows, columns))
}

/// A side in units, halves to even.
pub(super) const fn rounded(side: u64, unit: u64) -> u64 {
    let (whole, rest) = (side / unit, side % unit);
    let is_up = 2 * rest > unit || (2 * rest == unit && whole % 2 == 1);
    whole + is_up as u64
}

/// Rows and columns of `unit` pixels, the last ones padded, after the longest side is limited.
pub(super) fn limited_side((width, height): (u64, u64), unit: u64, longest: u64) -> (u64, u64) {
    let ratio = (height as f64 / longest as f64).max(width as f64 / longest as f64);
    let scaled = |side: u64| {
        if ratio > 1.0 { count(math::floor(side as f64 / ratio)) } else { side }
    };
    let units = |side: u64| scaled(side).max(1).div_ceil(unit);
    (units(height), units(width))
}

/// Tiles of the canvas that scales an image up the least or, if none is large enough, down the least; of equal ones the smallest.
pub(super) fn canvas(
    (width, height): (u64, u64),
    side: u64,
    tile: ImageTile,
    most: u64,
) -> ImageWork {
    let mut best = (0.0_f64, 1, 1);
    for rows in 1..=most {
        for columns in 1..=most / rows {
            let scale = |tiles: u64, pixels: u64| (tiles * side) as f64 / pixels as f64;
            let scale = scale(rows, height).min(scale(columns, width));
            let (known, known_rows, known_columns) = best;
            let order = match (scale >= 1.0, known >= 1.0) {
                (true, true) => known.total_cmp(&scale),
                (false, false) => scale.total_cmp(&known),
                (is_large, was_large) => is_large.cmp(&was_large),
            };
            let is_smaller = rows * columns < known_rows * known_columns;
            if order == Ordering::Greater || (order == Ordering::Equal && is_smaller) {
                best = (scale, rows, columns);
            }
        }
    }
    let (_, rows, columns) = best;
    // Start, mark of the whole and end; in each row a separator between tiles and one after the last.
    let whole = ImageWork { tiles: 1, positions: tile.positions, tokens: tile.tokens + 3 };
    match rows * columns {
        1 => whole,
        tiles => ImageWork {
            tiles: tiles + 1,
            tokens: whole.tokens + tiles * tile.tokens + rows * columns,
            ..whole
        },
    }
}

/// Columns and rows of tiles, in number between two limits, whose ratio of sides is nearest to that of an image; of equal ones the
/// larger, while the image has more than half of its area.
pub(super) fn nearest(
    (width, height): (u64, u64),
    side: u64,
    (fewest, most): (u64, u64),
) -> (u64, u64) {
    let (aspect, area) = (width as f64 / height as f64, (width * height) as f64);
    let (mut least, mut best) = (f64::INFINITY, (1, 1));
    for tiles in fewest..=most {
        for columns in (1..=tiles).filter(|columns| tiles.is_multiple_of(*columns)) {
            let apart = (aspect - columns as f64 / (tiles / columns) as f64).abs();
            let is_better = match apart.total_cmp(&least) {
                Ordering::Less => true,
                Ordering::Equal => area > 0.5 * (side * side * tiles) as f64,
                Ordering::Greater => false,
            };
            if is_better {
                (least, best) = (apart, (columns, tiles / columns));
            }
        }
    }
    best
}

/// Tiles in the arrangement whose ratio of sides is nearest to that of the image. Several tiles come with a small copy of
/// the whole.
pub(super) fn nearest_tiles(
    (width, height): (u64, u64),
    side: u64,
    tile: ImageTile,
    most: u64,
) -> ImageWork {
    let (columns, rows) = nearest((width, height), side, (1, most));
    let best = columns * rows;
    let tiles = if best > 1 { best + 1 } else { 1 };
    ImageWork { tiles, positions: tile.positions, tokens: tiles * tile.tokens + 2 }
}

/// Tiles after the longer side is scaled to `longest`, with a small copy of the whole.
pub(super) fn grid(
    (width, height): (u64, u64),
    side: u64,
    tile: ImageTile,
    longest: u64,
) -> ImageWork {
    let is_wide = width >= height;
    let other = |longest: u64, (width, height): (u64, u64)| {
        let (longest, aspect) = (longest as f64, width as f64 / height as f64);
        count(math::floor(if is_wide { longest / aspect } else { longest * aspect }))
    };
    let scaled = other(longest, (width, height));
    let (mut long, mut short) = (longest, (scaled + scaled % 2).max(1));
    if long > LARGEST_GRID {
        let sides = if is_wide { (long, short) } else { (short, long) };
        (long, short) = (LARGEST_GRID, other(LARGEST_GRID, sides).max(1));
    }
    let (long, short) = (long.div_ceil(side), short.div_ceil(side));
    let (rows, columns) = if is_wide { (short, long) } else { (long, short) };
    // Around the whole image three tokens; before each tile two, and after each row one.
    let whole = ImageWork { tiles: 1, positions: tile.positions, tokens: tile.tokens + 3 };
    match rows * columns {
        1 => whole,
        tiles => ImageWork {
            tiles: tiles + 1,
            tokens: whole.tokens + rows * (columns * (tile.tokens + 2) + 1),
            ..whole
        },
    }
}

/// Rows and columns of the largest size with the ratio of the image and at most `most` tokens.
pub(super) fn within_budget((width, height): (u64, u64), unit: u64, most: u64) -> (u64, u64) {
    let (h, w) = (height as f64, width as f64);
    let by = math::sqrt((most * unit * unit) as f64 / (h * w));
    let units = |side: f64| count(math::floor(by * side / unit as f64));
    match (units(h), units(w)) {
        (0, _) => (1, (width / height).min(most)),
        (_, 0) => ((height / width).min(most), 1),
        sides => sides,
    }
}

/// Rows and columns of an image that is scaled down to at most `most` patches and padded to whole tokens.
pub(super) fn padded((width, height): (u64, u64), patch: u64, merge: u64, most: u64) -> (u64, u64) {
    let patches = (height / patch).max(1) * (width / patch).max(1);
    let longest = MAX_SIDE_PATCHES * patch;
    let by = [height, width].map(|side| longest as f64 / side as f64);
    let by = by.into_iter().fold(math::sqrt(most as f64 / patches as f64).min(1.0), f64::min);
    let units = |side: u64| {
        let scaled = count(math::floor(side as f64 * by)).max(1);
        scaled.min(longest).div_ceil(patch * merge)
    };
    (units(height), units(width))
}

/// A whole number that is not negative and less than 2^53.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sides and tokens of images are far below 2^53 and not negative"
)]
pub(super) const fn count(whole: f64) -> u64 {
    whole as u64
}
