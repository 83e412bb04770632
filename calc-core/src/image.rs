//! Tokens of an image, and the positions that an encoder computes for it, by the rules of the models' processors.
//! Rules and limits are those of transformers 5.23.0; a test compares them. Derivation: `docs/theory/towers.md`.

mod parts;
mod rules;

use crate::error::{Error, in_range};
use rules::{
    canvas, grid, grid_of_tokens, limited_area, limited_side, nearest_tiles, padded, within_budget,
};

/// Largest side of an image in pixels.
pub const MAX_SIDE: u64 = 65_536;
/// Largest number of images of a request.
pub const MAX_IMAGES: u64 = 10_000;
/// Largest number of tokens of an image.
pub const MAX_IMAGE_TOKENS: u64 = 1_000_000;

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

/// The work of encoder and decoder for an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageWork {
    /// Number of parts that the encoder computes apart: 1, or the tiles with the small copy of the whole.
    pub tiles: u64,
    /// Number of positions per part; the mean where parts differ.
    pub positions: u64,
    /// Number of tokens in the prompt, with the separators that the processor adds.
    pub tokens: u64,
}

/// Number of positions and tokens of a tile, or of a whole image of fixed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageTile {
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
        tile: ImageTile,
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
        tile: ImageTile,
        /// Largest number of tiles.
        most: u64,
    },
    /// Square tiles in the arrangement nearest to the ratio of the sides (`InternVL`).
    Tiles {
        /// Side of a tile in pixels.
        side: u64,
        tile: ImageTile,
        /// Largest number of tiles.
        most: u64,
    },
    /// Square tiles after the longer side is scaled to a fixed length (Idefics 3, `SmolVLM`).
    Grid {
        /// Side of a tile in pixels.
        side: u64,
        tile: ImageTile,
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
    /// Square tiles on one of five canvases with a small copy of the whole, without the rows and columns that are padding
    /// (`LLaVA`-NeXT).
    Unpadded {
        /// Side of a tile in pixels.
        side: u64,
        /// Side of a patch in pixels.
        patch: u64,
    },
    /// Square crops that cover the image, without the patches that are padding (Phi-4 multimodal).
    Crops {
        /// Side of a crop in pixels.
        side: u64,
        /// Side of a patch in pixels.
        patch: u64,
        /// Largest number of crops.
        most: u64,
    },
    /// Scaled as by [`Self::Area`] or, if much larger, square tiles with the scaled image beside them (LFM2-VL).
    Split {
        /// Side of a patch in pixels.
        patch: u64,
        /// Patches per side of a token.
        merge: u64,
        /// Least and largest number of tokens of a scaled image.
        tokens: (u64, u64),
        /// Side of a tile in pixels.
        side: u64,
        /// Largest number of tiles.
        most: u64,
    },
    /// A square view of the whole, and square windows of elongated or large images (Step 3.7).
    View {
        /// Side of the view in pixels.
        side: u64,
        /// Side of a window in pixels.
        window: u64,
        /// Side of a patch in pixels.
        patch: u64,
        /// Patches per side of a token.
        merge: u64,
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
            | Self::Padded { merge, .. }
            | Self::Split { merge, .. }
            | Self::View { merge, .. } => whole(merge * merge),
            Self::Unpadded { side, patch } => {
                let tile = ImageTile {
                    positions: (side / patch).pow(2) + 1,
                    tokens: (side / patch).pow(2),
                };
                Self::of_tiles(tokens, tile)
            }
            Self::Crops { side, patch, .. } => {
                let positions = (side / patch).pow(2);
                Self::of_tiles(tokens, ImageTile { positions, tokens: positions / 4 })
            }
            Self::Fixed { tile, .. }
            | Self::Canvas { tile, .. }
            | Self::Tiles { tile, .. }
            | Self::Grid { tile, .. } => Self::of_tiles(tokens, tile),
        }
    }

    /// As many tiles as a number of tokens needs.
    fn of_tiles(tokens: u64, tile: ImageTile) -> ImageWork {
        let tiles = tokens.div_ceil(tile.tokens.max(1));
        ImageWork { tiles, positions: tile.positions, tokens }
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
            Self::Unpadded { side, patch } => Ok(parts::unpadded(size, side, patch)),
            Self::Crops { side, patch, most } => parts::crops(size, side, patch, most),
            Self::Split { patch, merge, tokens, side, most } => {
                Ok(parts::split(size, (patch, merge), tokens, (side, most)))
            }
            Self::View { side, window, patch, merge } => {
                Ok(parts::view(size, (side, window), (patch, merge)))
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
            | Self::Padded { merge, .. }
            | Self::View { merge, .. } => ImageTile { positions: merge, tokens: merge },
            Self::Unpadded { side, patch } | Self::Crops { side, patch, .. } => {
                let positions = side.checked_div(patch).unwrap_or(0);
                ImageTile { positions, tokens: positions }
            }
            Self::Split { merge, tokens: (least, most), .. } => {
                in_range("least tokens of an image", least, 1, MAX_IMAGE_TOKENS)?;
                in_range("tokens of an image", most, least, MAX_IMAGE_TOKENS)?;
                ImageTile { positions: merge, tokens: merge }
            }
        };
        in_range("positions of a tile", tile.positions, 1, MAX_IMAGE_TOKENS)?;
        in_range("tokens of a tile", tile.tokens, 1, MAX_IMAGE_TOKENS)?;
        let (first, limit) = match *self {
            Self::Unknown { .. } | Self::Fixed { .. } => (1, 1),
            Self::Area { patch, most, .. }
            | Self::Budget { patch, most, .. }
            | Self::Padded { patch, most, .. } => (patch, most),
            Self::Rows { patch, longest, .. } => (patch, longest),
            Self::Split { side, most, patch, .. } => {
                in_range("tiles of an image", most, 1, 256)?;
                in_range("side of a patch", patch, 1, side)?;
                (side, most)
            }
            Self::Unpadded { side, .. } => (side, 1),
            Self::View { side, window, patch, .. } => {
                in_range("side of a window", window, 1, MAX_SIDE)?;
                in_range("side of a patch", patch, 1, window)?;
                (side, window)
            }
            Self::Canvas { side, most, .. }
            | Self::Tiles { side, most, .. }
            | Self::Crops { side, most, .. } => {
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
