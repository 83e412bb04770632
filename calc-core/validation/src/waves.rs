//! The tile of products of matrices on a GPU, from their times: a last wave of tiles that is partly filled takes as long as a whole one.
//!
//! ```text
//! t = max(t_mem, t_comp · loss / eta_compute) + floor
//! ```
//! The loss is that of [`WaveTile::loss`]. Of the usual tiles that one counts which predicts left-out products best, and none where one
//! share for all waves predicts them as well.

use calc_core::calibration::WaveTile;
use calc_core::math::ln;
use calc_core::tiling::TILES;
use report::output::accuracy::percentile;

use crate::own::{Fit, Point};
use crate::predict::TimedPart;

/// Least time over the memory's at which a product counts as bound by arithmetic.
pub const ABOVE_MEMORY: f64 = 1.1;

/// Fewest products bound by arithmetic that tell of a tile: two would agree with many tiles.
const FEWEST: usize = 4;

/// A product of matrices: its times of memory and arithmetic at the roofs, the memory's with the share that its format reaches.
#[derive(Debug, Clone, Copy)]
pub struct Product {
    /// The product with its tokens (M), and the floor in its fixed times.
    pub point: Point,
    /// Columns of the output (N).
    pub outputs: f64,
}

impl Product {
    /// See [`WaveTile::loss`].
    pub fn loss(&self, tile: WaveTile, multiprocessors: f64) -> f64 {
        tile.loss(self.point.tokens.unwrap_or(1.0), self.outputs, 1.0, multiprocessors)
    }

    /// The time that its arithmetic takes at least beside memory and floor [s].
    pub fn time(&self, arithmetic: f64) -> f64 {
        arithmetic.max(self.point.part.memory) + self.point.part.floors
    }

    /// Its arithmetic alone, without memory and floor.
    pub fn arithmetic(&self) -> Point {
        let part = TimedPart { memory: 0.0, floors: 0.0, ..self.point.part };
        Point { part, measured: self.point.measured - self.point.part.floors, ..self.point }
    }

    fn is_bound_by_arithmetic(&self) -> bool {
        self.point.measured > ABOVE_MEMORY * self.time(0.0)
    }
}

/// How products are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InWaves {
    pub tile: WaveTile,
    /// Slowdown of full waves relative to the peak.
    pub slower: f64,
}

/// The tile that predicts each product best from the others; `None` if one share and extra tokens predict them as well.
pub fn fit(products: &[Product], multiprocessors: f64) -> Option<InWaves> {
    let (least, found) = best(products, multiprocessors)?;
    let is_better = error(products, by_one_share).is_none_or(|of_share| least < of_share);
    is_better.then_some(found)
}

/// The tile that predicts each product best from the others, with its mean error; `None` if too few tell of a tile.
pub fn best(products: &[Product], multiprocessors: f64) -> Option<(f64, InWaves)> {
    if products.iter().filter(|it| it.is_bound_by_arithmetic()).count() < FEWEST {
        return None;
    }
    let with = |tile| {
        move |others: &[Product], left_out: &Product| {
            let slower = slower(others, tile, multiprocessors)?;
            Some(slower * left_out.point.part.compute * left_out.loss(tile, multiprocessors))
        }
    };
    let tiles = TILES.iter().filter_map(|it| {
        let side = |side| u32::try_from(side).ok();
        let tile = WaveTile { rows: side(it.m)?, columns: side(it.n)? };
        Some((error(products, with(tile))?, tile))
    });
    let (least, tile) = tiles.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((least, InWaves { tile, slower: slower(products, tile, multiprocessors)? }))
}

/// The slowdown of full waves: the median of the products that arithmetic bounds, so that a disturbed one does not bend it. It is below 1
/// where the product that shows the peak had a last wave that was partly filled.
fn slower(products: &[Product], tile: WaveTile, multiprocessors: f64) -> Option<f64> {
    let bound = products.iter().filter(|it| it.is_bound_by_arithmetic());
    let of = |it: &Product| {
        let TimedPart { compute, floors, .. } = it.point.part;
        (it.point.measured - floors) / (compute * it.loss(tile, multiprocessors))
    };
    let mut all: Vec<f64> = bound.map(of).collect();
    (!all.is_empty()).then(|| percentile(&mut all, 0.5))
}

/// One share and extra tokens for all waves, from the products that arithmetic bounds.
pub fn share(products: &[Product]) -> Option<Fit> {
    let bound = products.iter().filter(|it| it.is_bound_by_arithmetic());
    Fit::with_floor(&bound.map(Product::arithmetic).collect::<Vec<Point>>(), false)
}

/// The time of a product's arithmetic [s] with the share of the others.
fn by_one_share(others: &[Product], left_out: &Product) -> Option<f64> {
    Some(share(others)?.time(&left_out.arithmetic()))
}

/// Mean logarithmic error of products, each predicted from the others.
fn error(
    products: &[Product],
    arithmetic: impl Fn(&[Product], &Product) -> Option<f64>,
) -> Option<f64> {
    let of = |(index, left_out): (usize, &Product)| {
        let mut others = products.to_vec();
        others.remove(index);
        let time = left_out.time(arithmetic(&others, left_out)?);
        Some(ln(time / left_out.point.measured).abs())
    };
    let all: Option<Vec<f64>> = products.iter().enumerate().map(of).collect();
    all.map(|all| all.iter().sum::<f64>() / all.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MULTIPROCESSORS: f64 = 132.0;
    /// M, N and K: every two usual tiles differ by edges and last waves.
    const SHAPES: [(u64, u64, u64); 8] = [
        (16, 4096, 4096),
        (96, 2048, 4096),
        (512, 2048, 2048),
        (320, 2112, 4096),
        (320, 3136, 4096),
        (1088, 3648, 4096),
        (1088, 5440, 2048),
        (1088, 6208, 4096),
    ];

    /// Products whose arithmetic takes a time by their tokens and outputs, beside memory of 3 TB/s, a peak of 800 TFLOP/s and a floor of 4 µs.
    fn products(arithmetic: impl Fn(&Product) -> f64) -> Vec<Product> {
        let product = |(m, n, k): (u64, u64, u64)| {
            let bytes = 2 * (m * k + n * k + m * n);
            let part = TimedPart {
                memory: bytes as f64 / 3e12,
                compute: (2 * m * n * k) as f64 / 800e12,
                count: 1.0,
                floors: 4e-6,
                rest: 0.0,
            };
            let point = Point { part, tokens: Some(m as f64), measured: 0.0 };
            let product = Product { point, outputs: n as f64 };
            let measured = product.time(arithmetic(&product));
            Product { point: Point { measured, ..point }, ..product }
        };
        SHAPES.map(product).into()
    }

    #[test]
    fn the_tile_whose_waves_made_the_times_is_found_also_where_one_is_disturbed() {
        for (rows, columns) in [(64, 64), (64, 128), (128, 64), (128, 128), (128, 256)] {
            let tile = WaveTile { rows, columns };
            let mut products =
                products(|it| 1.25 * it.point.part.compute * it.loss(tile, MULTIPROCESSORS));
            let found = fit(&products, MULTIPROCESSORS).expect("waves");
            assert_eq!(found.tile, tile);
            assert!((found.slower / 1.25 - 1.0).abs() < 1e-9, "{found:?}");
            products[5].point.measured *= 2.0;
            let found = fit(&products, MULTIPROCESSORS).expect("waves");
            assert_eq!(found.tile, tile);
            assert!((found.slower / 1.25 - 1.0).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn one_share_stays_where_it_tells_the_times() {
        let products =
            products(|it| 1.4 * it.point.part.compute * (1.0 + 60.0 / it.point.tokens.unwrap()));
        assert_eq!(fit(&products, MULTIPROCESSORS), None);
    }

    #[test]
    fn products_that_memory_bounds_tell_of_no_tile() {
        assert_eq!(fit(&products(|_| 0.0), MULTIPROCESSORS), None);
    }
}
