//! Images that a processor takes apart into tiles, crops or windows beside a view of the whole.

use super::rules::{count, nearest, rounded};
use super::{ImageTile, ImageWork};
use crate::error::{Error, in_range};
use crate::math;

/// Columns and rows of the canvases of `LLaVA`-NeXT, in tiles and in the order in which they are tried.
const CANVASES: [(u64, u64); 5] = [(2, 1), (1, 2), (2, 2), (1, 3), (3, 1)];
/// Least side of a scaled image in pixels that the processor of Phi-4 accepts.
const LEAST_SIDE: u64 = 10;
/// Tokens of Phi-4 beside those of the crops: the whole with its separators, and one between both.
const PHI4_WHOLE: u64 = 256 + 16 + 1;
/// Pixels beyond those of the largest scaled image, as a ratio, from which LFM2-VL splits an image.
const SPLIT_FROM: u64 = 2;
/// Longest side of an image of Step 3.7 in pixels.
const LONGEST: u64 = 3024;

/// Work of parts of different sizes.
const fn of_parts(parts: u64, positions: u64, tokens: u64) -> ImageWork {
    ImageWork { tiles: parts, positions: positions.div_ceil(parts), tokens }
}

/// The canvas that keeps the most pixels of an image and then wastes the least; each row of it ends with a separator, and rows or
/// columns that are padding have no tokens.
pub(super) fn unpadded((width, height): (u64, u64), side: u64, patch: u64) -> ImageWork {
    let scaled = |side: u64, by: f64| count(math::floor(side as f64 * by));
    let mut best: Option<(u64, u64, (u64, u64))> = None;
    for (columns, rows) in CANVASES {
        let (canvas_width, canvas_height) = (columns * side, rows * side);
        let by = (canvas_width as f64 / width as f64).min(canvas_height as f64 / height as f64);
        let kept = (scaled(width, by) * scaled(height, by)).min(width * height);
        let wasted = (canvas_width * canvas_height).saturating_sub(kept);
        let is_better =
            best.is_none_or(|(most, least, _)| kept > most || (kept == most && wasted < least));
        if is_better {
            best = Some((kept, wasted, (columns, rows)));
        }
    }
    let (_, _, (columns, rows)) = best.unwrap_or((0, 0, (1, 1)));
    let grid = side / patch;
    let (mut across, mut down) = (grid * columns, grid * rows);
    // Rounded to seven places before it is cut to a whole number.
    let whole = |exact: f64| count(math::floor(math::round(exact * 1e7) / 1e7));
    if width as f64 / height as f64 > across as f64 / down as f64 {
        let used = whole(height as f64 * (across as f64 / width as f64));
        down -= down.saturating_sub(used) / 2 * 2;
    } else {
        let used = whole(width as f64 * (down as f64 / height as f64));
        across -= across.saturating_sub(used) / 2 * 2;
    }
    let tokens = grid * grid + across * down + down;
    ImageWork { tiles: 1 + columns * rows, positions: grid * grid + 1, tokens }
}

/// Crops that cover an image or, if that takes too many, in the arrangement with the nearest ratio of sides. Four patches are a token;
/// padding has none.
pub(super) fn crops(
    size: (u64, u64),
    side: u64,
    patch: u64,
    most: u64,
) -> Result<ImageWork, Error> {
    let (width, height) = size;
    let (mut columns, mut rows) = (width.div_ceil(side), height.div_ceil(side));
    if columns * rows > most {
        (columns, rows) = nearest(size, side, (1, most));
    }
    let by =
        [(columns, width), (rows, height)].map(|(n, pixels)| (n * side) as f64 / pixels as f64);
    let [by_width, by_height] = by;
    let is_wide = by_width < by_height;
    let scaled = if is_wide {
        count(math::floor(height as f64 * by_width))
    } else {
        count(math::floor(width as f64 * by_height))
    };
    in_range("side of the scaled image", scaled, LEAST_SIDE, u64::MAX)?;
    let grid = side / patch;
    let padding = (if is_wide { rows } else { columns } * side).saturating_sub(scaled) / patch;
    let (across, down) = if is_wide {
        (grid * columns, (grid * rows).saturating_sub(padding))
    } else {
        ((grid * columns).saturating_sub(padding), grid * rows)
    };
    let (across, down) = (across.div_ceil(2), down.div_ceil(2));
    let tokens = PHI4_WHOLE + across * down + down;
    Ok(ImageWork { tiles: 1 + columns * rows, positions: grid * grid, tokens })
}

/// A scaled image within two limits of its tokens and, if the image is much larger, tiles before it. A token stands before each part
/// and around the image.
pub(super) fn split(
    size: (u64, u64),
    (patch, merge): (u64, u64),
    (least, most): (u64, u64),
    (side, most_tiles): (u64, u64),
) -> ImageWork {
    let (unit, (width, height)) = (patch * merge, size);
    let (rows, columns) = (rounded(height, unit), rounded(width, unit));
    let is_large = unit * rows.max(1) * columns.max(1) > most * unit * SPLIT_FROM;
    let pixels = |tokens: u64| tokens as f64 * (unit as f64 * unit as f64);
    let by = |tokens: u64| math::sqrt((width * height) as f64 / pixels(tokens));
    let scaled = |side: u64, by: f64| side as f64 / by / unit as f64;
    let tokens = match rows.max(1) * columns.max(1) {
        area if area > most => {
            let down = count(math::floor(scaled(height, by(most)))).max(1);
            down * count(math::floor(scaled(width, by(most)))).max(1)
        }
        area if area < least => {
            let by = math::sqrt(pixels(least) / (width * height) as f64);
            let units = |side: u64| count(math::ceil(side as f64 * by / unit as f64));
            units(height) * units(width)
        }
        area => area,
    };
    let area = merge * merge;
    if !is_large {
        return of_parts(1, tokens * area, tokens + 2);
    }
    let (columns, rows) = nearest(size, side, (2, most_tiles));
    let (tiles, per_side) = (columns * rows, side / unit);
    let tile = ImageTile { positions: (side / patch).pow(2), tokens: per_side * per_side };
    let positions = tiles * tile.positions + tokens * area;
    of_parts(tiles + 1, positions, 2 + tiles * (tile.tokens + 1) + 1 + tokens)
}

/// A view of the whole, and windows where the image is larger than the view or elongated. Two tokens stand around each part, and one
/// between the rows of windows.
pub(super) fn view(
    (width, height): (u64, u64),
    (side, usual): (u64, u64),
    (patch, merge): (u64, u64),
) -> ImageWork {
    let ratio = |a: u64, b: u64| a.max(b) as f64 / a.min(b) as f64;
    let (mut width, mut height) = (width, height);
    if width.min(height) < 32 && ratio(width, height) > 4.0 {
        (width, height) = (width.max(height), width.max(height));
    }
    if width.max(height) > LONGEST {
        let by = LONGEST as f64 / width.max(height) as f64;
        let scaled = |side: u64| count(math::floor(side as f64 * by)).max(1);
        (width, height) = (scaled(width), scaled(height));
    }
    let (short, long) = (width.min(height), width.max(height));
    let window = if long <= side {
        if ratio(width, height) > 1.5 { short } else { 0 }
    } else if ratio(width, height) > 4.0 {
        short.min(usual)
    } else {
        usual
    };
    let part = |side: u64| {
        let (positions, grid) = ((side / patch).pow(2), side / (patch * merge));
        ImageTile { positions, tokens: grid * grid + 2 }
    };
    let whole = part(side);
    if window == 0 {
        return of_parts(1, whole.positions, whole.tokens);
    }
    // A rest of more than a fifth of a window is one more.
    let along = |side: u64| {
        let is_more = (side % window) as f64 > 0.2 * window as f64;
        if side >= window { side / window + u64::from(is_more) } else { 1 }
    };
    let (columns, rows) = (along(width), along(height));
    let (windows, local) = (columns * rows, part(usual));
    let positions = whole.positions + windows * local.positions;
    of_parts(windows + 1, positions, whole.tokens + windows * local.tokens + rows - 1)
}
