//! Tokens of an image, and the positions that an encoder computes for it, by the rules of the models' processors.
//! Rules and limits are those of transformers 5.23.0; a test compares them. Derivation: `docs/theory/towers.md`.

use core::cmp::Ordering;

use crate::error::{Error, in_range, real_in_range};
use crate::math;

/// Largest side of an image in pixels.
pub const MAX_SIDE: u64 = 65_536;
/// Largest number of images of a request.
pub const MAX_IMAGES: u64 = 10_000;
/// Largest number of tokens of an image.
pub const MAX_IMAGE_TOKENS: u64 = 1_000_000;
/// Largest ratio of the sides of an image that processors accept.
const MAX_ASPECT: f64 = 200.0;
/// Longest side to which a processor with a grid of tiles scales an image, in pixels.
const LARGEST_GRID: u64 = 4096;
/// Number of patches beyond which a processor scales an image down by its sides.
const MAX_SIDE_PATCHES: u64 = 512;

/// An image in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageSize {
    pub width: u32,
    pub height: u32,
}

/// Images that a request names, all of the same size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AskedImages {
    /// Number of images per sequence.
    pub count: u64,
    pub size: ImageSize,
    /// Number of tokens per image, if the request states it; else by the rule of the model.
    pub stated_tokens: Option<u64>,
}

/// What an image is to encoder and decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageWork {
    /// Number of parts that the encoder computes apart: 1, or the tiles with the small copy of the whole.
    pub tiles: u64,
    /// Number of positions per part.
    pub positions: u64,
    /// Number of tokens in the prompt, with the separators that the processor adds.
    pub tokens: u64,
}

/// Number of positions and tokens of a tile, or of a whole image of fixed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Positions of the encoder.
    pub positions: u64,
    /// Tokens without separators.
    pub tokens: u64,
}

/// The rule by which a processor makes tokens of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageRule {
    /// Not known; a request states the number of tokens.
    Unknown {
        /// Number of positions per token.
        merge: u64,
    },
    /// Every image is scaled to one size.
    Fixed {
        tile: Tile,
        /// Number of tokens around the image.
        separators: u64,
    },
    /// Sides are rounded to whole tokens, and the area is limited (Qwen, GLM).
    Area {
        /// Side of a patch in pixels.
        patch: u64,
        /// Patches per side of a token.
        merge: u64,
        /// Least number of pixels.
        least: u64,
        /// Largest number of pixels.
        most: u64,
    },
    /// The longest side is limited, and each row of tokens ends with a separator (Pixtral).
    Rows {
        /// Side of a patch in pixels.
        patch: u64,
        /// Patches per side of a token.
        merge: u64,
        /// Longest side in pixels.
        longest: u64,
    },
    /// Square tiles on the canvas that scales the image least, with separators (Llama 4).
    Canvas {
        /// Side of a tile in pixels.
        side: u64,
        tile: Tile,
        /// Largest number of tiles.
        most: u64,
    },
    /// Square tiles in the arrangement nearest to the ratio of the sides (`InternVL`).
    Tiles {
        /// Side of a tile in pixels.
        side: u64,
        tile: Tile,
        /// Largest number of tiles.
        most: u64,
    },
    /// Square tiles after the longer side is scaled to a fixed length (Idefics 3, `SmolVLM`).
    Grid {
        /// Side of a tile in pixels.
        side: u64,
        tile: Tile,
        /// Length of the longer side in pixels.
        longest: u64,
    },
    /// Scaled to the largest size within a number of tokens, with one token before and one after (Gemma 4).
    Budget {
        /// Side of a patch in pixels.
        patch: u64,
        /// Patches per side of a token.
        merge: u64,
        /// Largest number of tokens.
        most: u64,
    },
    /// Never scaled up, padded to whole tokens, with a limit on the patches (Kimi).
    Padded {
        /// Side of a patch in pixels.
        patch: u64,
        /// Patches per side of a token.
        merge: u64,
        /// Largest number of patches.
        most: u64,
    },
}

impl AskedImages {
    /// Checks every number against its range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the first value that is outside.
    pub fn check(&self) -> Result<(), Error> {
        in_range("images", self.count, 1, MAX_IMAGES)?;
        in_range("width of image", self.size.width.into(), 1, MAX_SIDE)?;
        in_range("height of image", self.size.height.into(), 1, MAX_SIDE)?;
        in_range("image_tokens", self.stated_tokens.unwrap_or(1), 1, MAX_IMAGE_TOKENS)?;
        Ok(())
    }
}

impl ImageRule {
    /// The work of one image.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for images that processors refuse, [`Error::Conflict`] if the rule is not known and the request states
    /// no number of tokens.
    pub fn work(&self, images: &AskedImages) -> Result<ImageWork, Error> {
        images.check()?;
        match images.stated_tokens {
            Some(tokens) => Ok(self.of_tokens(tokens)),
            None => self.of_size(images.size),
        }
    }

    /// The work of an image with a stated number of tokens.
    fn of_tokens(&self, tokens: u64) -> ImageWork {
        let whole = |merge: u64| ImageWork { tiles: 1, positions: tokens * merge, tokens };
        match *self {
            Self::Unknown { merge } => whole(merge),
            Self::Area { merge, .. }
            | Self::Rows { merge, .. }
            | Self::Budget { merge, .. }
            | Self::Padded { merge, .. } => whole(merge * merge),
            Self::Fixed { tile, .. }
            | Self::Canvas { tile, .. }
            | Self::Tiles { tile, .. }
            | Self::Grid { tile, .. } => {
                let tiles = tokens.div_ceil(tile.tokens.max(1));
                ImageWork { tiles, positions: tile.positions, tokens }
            }
        }
    }

    fn of_size(&self, ImageSize { width, height }: ImageSize) -> Result<ImageWork, Error> {
        let size = (u64::from(width), u64::from(height));
        match *self {
            Self::Unknown { .. } => {
                Err(Error::Conflict { first: "image", second: "image_tokens", needs: true })
            }
            Self::Fixed { tile, separators } => Ok(ImageWork {
                tiles: 1,
                positions: tile.positions,
                tokens: tile.tokens + separators,
            }),
            Self::Area { patch, merge, least, most } => {
                let sides = limited_area(size, patch * merge, (least, most))?;
                Ok(grid_of_tokens(sides, merge))
            }
            Self::Rows { patch, merge, longest } => {
                let (rows, columns) = limited_side(size, patch * merge, longest);
                let work = grid_of_tokens((rows, columns), merge);
                Ok(ImageWork { tokens: work.tokens + rows, ..work })
            }
            Self::Canvas { side, tile, most } => Ok(canvas(size, side, tile, most)),
            Self::Tiles { side, tile, most } => Ok(nearest_tiles(size, side, tile, most)),
            Self::Grid { side, tile, longest } => Ok(grid(size, side, tile, longest)),
            Self::Budget { patch, merge, most } => {
                let work = grid_of_tokens(within_budget(size, patch * merge, most), merge);
                Ok(ImageWork { tokens: work.tokens + 2, ..work })
            }
            Self::Padded { patch, merge, most } => {
                Ok(grid_of_tokens(padded(size, patch, merge, most), merge))
            }
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let tile = match *self {
            Self::Fixed { tile, .. }
            | Self::Canvas { tile, .. }
            | Self::Tiles { tile, .. }
            | Self::Grid { tile, .. } => tile,
            Self::Unknown { merge }
            | Self::Area { merge, .. }
            | Self::Rows { merge, .. }
            | Self::Budget { merge, .. }
            | Self::Padded { merge, .. } => Tile { positions: merge, tokens: merge },
        };
        in_range("positions of a tile", tile.positions, 1, MAX_IMAGE_TOKENS)?;
        in_range("tokens of a tile", tile.tokens, 1, MAX_IMAGE_TOKENS)?;
        let (first, limit) = match *self {
            Self::Unknown { .. } | Self::Fixed { .. } => (1, 1),
            Self::Area { patch, most, .. }
            | Self::Budget { patch, most, .. }
            | Self::Padded { patch, most, .. } => (patch, most),
            Self::Rows { patch, longest, .. } => (patch, longest),
            Self::Canvas { side, most, .. } | Self::Tiles { side, most, .. } => {
                in_range("tiles of an image", most, 1, 256)?;
                (side, most)
            }
            Self::Grid { side, longest, .. } => (side, longest),
        };
        in_range("side of a patch or tile", first, 1, MAX_SIDE)?;
        in_range("limit of an image", limit, 1, 1 << 32)?;
        Ok(())
    }
}

/// An image as rows and columns of tokens of `merge` by `merge` patches.
const fn grid_of_tokens((rows, columns): (u64, u64), merge: u64) -> ImageWork {
    let tokens = rows * columns;
    ImageWork { tiles: 1, positions: tokens * merge * merge, tokens }
}

/// Rows and columns of `unit` pixels: sides rounded to the nearest, halves to even, and scaled where the area is outside.
fn limited_area(
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
const fn rounded(side: u64, unit: u64) -> u64 {
    let (whole, rest) = (side / unit, side % unit);
    let is_up = 2 * rest > unit || (2 * rest == unit && whole % 2 == 1);
    whole + is_up as u64
}

/// Rows and columns of `unit` pixels, the last ones padded, after the longest side is limited.
fn limited_side((width, height): (u64, u64), unit: u64, longest: u64) -> (u64, u64) {
    let ratio = (height as f64 / longest as f64).max(width as f64 / longest as f64);
    let scaled = |side: u64| {
        if ratio > 1.0 { count(math::floor(side as f64 / ratio)) } else { side }
    };
    let units = |side: u64| scaled(side).max(1).div_ceil(unit);
    (units(height), units(width))
}

/// Tiles of the canvas that scales an image up the least or, if none is large enough, down the least; of equal ones the smallest.
fn canvas((width, height): (u64, u64), side: u64, tile: Tile, most: u64) -> ImageWork {
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

/// Tiles in the arrangement whose ratio of sides is nearest to that of the image; of equal ones the larger, while the image has
/// more than half of its area. Several tiles come with a small copy of the whole.
fn nearest_tiles((width, height): (u64, u64), side: u64, tile: Tile, most: u64) -> ImageWork {
    let (aspect, area) = (width as f64 / height as f64, (width * height) as f64);
    let (mut least, mut best) = (f64::INFINITY, 1);
    for tiles in 1..=most {
        for columns in (1..=tiles).filter(|columns| tiles.is_multiple_of(*columns)) {
            let apart = (aspect - columns as f64 / (tiles / columns) as f64).abs();
            let is_better = match apart.total_cmp(&least) {
                Ordering::Less => true,
                Ordering::Equal => area > 0.5 * (side * side * tiles) as f64,
                Ordering::Greater => false,
            };
            if is_better {
                (least, best) = (apart, tiles);
            }
        }
    }
    let tiles = if best > 1 { best + 1 } else { 1 };
    ImageWork { tiles, positions: tile.positions, tokens: tiles * tile.tokens + 2 }
}

/// Tiles after the longer side is scaled to `longest`, with a small copy of the whole.
fn grid((width, height): (u64, u64), side: u64, tile: Tile, longest: u64) -> ImageWork {
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
fn within_budget((width, height): (u64, u64), unit: u64, most: u64) -> (u64, u64) {
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
fn padded((width, height): (u64, u64), patch: u64, merge: u64, most: u64) -> (u64, u64) {
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
const fn count(whole: f64) -> u64 {
    whole as u64
}
