//! The fit of a calibration's records: for each format the share of the bandwidth and a floor, for each GEMM element type the share of
//! the peak.

use calc_core::calibration::{FactorRow, Tokens};
use calc_core::catalog;
use calc_core::device::{Device, DeviceClass};
use calc_core::op::OpKind;
use calc_core::text::Text;
use calc_core::units::Seconds;
use kernels::backend::Element;
use kernels::pack::Layout;
use report::output::json::bench::BenchJson;
use validation::own::{Fit, Point};
use validation::predict::TimedPart;
use validation::waves::{self, InWaves, Product};

use super::{LAYOUTS, SHAPES, is_held_out, weights};
use crate::measure::roofs;

/// Rows of factors with the records behind them.
pub(super) struct Fits<'a> {
    pub(super) records: &'a [BenchJson],
    /// Read bandwidth [B/s].
    pub(super) read: f64,
    /// The device with its measured roofs.
    pub(super) device: &'a Device,
    pub(super) rows: Vec<FittedRow<'a>>,
}

/// A row of factors, whose interval and device are set when all rows are there.
pub(super) struct FittedRow<'a> {
    pub(super) factors: FactorRow,
    /// The records that the row is about, those that are held out among them.
    pub(super) about: Vec<&'a BenchJson>,
}

impl<'a> Fits<'a> {
    /// Fits the records of a device beside its bandwidth.
    ///
    /// # Errors
    /// A record that is missing or invalid.
    pub(super) fn new(
        records: &'a [BenchJson],
        read: f64,
        device: &'a Device,
    ) -> Result<Self, String> {
        let mut fits = Self { records, read, device, rows: Vec::new() };
        let has = |kernel: &str, weight: &str| {
            records.iter().any(|it| it.kernel == kernel && weights(it) == Some(weight))
        };
        for layout in LAYOUTS.into_iter().filter(|layout| has("gemv", layout.key())) {
            fits.add_vectors(layout)?;
        }
        fits.add_arithmetic_of_vectors();
        for element in Element::ALL {
            if has(element.kernel_key(), element.key()) {
                fits.add_matrices(element)?;
            }
        }
        for layout in LAYOUTS {
            if has("gemm_packed", layout.key()) {
                fits.add_packed(layout);
            }
        }
        fits.add_layer();
        Ok(fits)
    }

    /// Fits the share of the bandwidth and the floor of a format.
    fn add_vectors(&mut self, layout: Layout) -> Result<(), String> {
        let bandwidth = self.read;
        let point = |it: &BenchJson| Point {
            part: TimedPart { memory: it.bytes / bandwidth, ..ONE },
            tokens: None,
            measured: it.time_s.median,
        };
        let about = self.about(|it| it.kernel == "gemv" && weights(it) == Some(layout.key()));
        let missing = || format!("no points of {} could be measured", layout.key());
        let fit = Fit::with_floor(&fitted(&about, point), true).ok_or_else(missing)?;
        // A fit above the roof is set to the roof: the difference is measurement error.
        let fit = Fit { memory: fit.memory.map(|slower| slower.max(1.0)), ..fit };
        let format = Some(Text::Borrowed(layout.format().key));
        self.rows.push(FittedRow { factors: with(&fit, FactorRow { format, ..product() }), about });
        Ok(())
    }

    /// GEMV was memory-bound in every format, so its arithmetic stays at the roof.
    fn add_arithmetic_of_vectors(&mut self) {
        let about = self.about(|it| {
            it.kernel == "gemv" && it.shape.is_some_and(|s| SHAPES.contains(&(s.n, s.k)))
        });
        let factors = FactorRow { tokens: Some(Tokens::One), eta_compute: Some(1.0), ..product() };
        self.rows.push(FittedRow { factors, about });
    }

    /// Fits the share of the peak of a GEMM element type.
    fn add_matrices(&mut self, element: Element) -> Result<(), String> {
        let records = self.records;
        let class = element.class(roofs::backend(records));
        let device = records.first().map_or("the device", |record| &record.device);
        let peak = roofs::peak(records, class)
            .ok_or_else(|| format!("the peak {} of {device} could not be measured", class.key()))?;
        let point = |it: &BenchJson| Point {
            part: TimedPart { compute: it.flops / peak, ..ONE },
            tokens: it.shape.map(|shape| shape.m as f64),
            measured: it.time_s.median,
        };
        let about = self.about(|it| it.kernel == element.kernel_key());
        let missing = || format!("no products of matrices of {} could be measured", element.key());
        // TF32 is stored as FP32, and only that has products of one token.
        let stored = if element == Element::Tf32 { Element::Fp32 } else { element };
        let products = self.in_tiles(stored.key(), peak, &about);
        let of_bound = products.as_ref().and_then(|(products, _)| waves::share(products));
        let fit = of_bound.or_else(|| Fit::with_floor(&fitted(&about, point), false));
        let fit = fit.ok_or_else(missing)?;
        let fit = Fit { compute: fit.compute.map(|slower| slower.max(1.0)), ..fit };
        // Weights of other formats are unpacked and multiplied in one of these classes: the share of the element that is native to it is the
        // best estimate for them.
        let is_native = catalog::format(element.key()).is_ok_and(|own| own.class == Some(class));
        let format = (!is_native).then_some(Text::Borrowed(element.key()));
        let row =
            FactorRow { format, compute: Some(class), tokens: Some(Tokens::Several), ..product() };
        let in_waves = products.and_then(|(products, count)| waves::fit(&products, count));
        self.rows.push(FittedRow { factors: with(&fit, row.clone()), about: about.clone() });
        if let Some(InWaves { tile, slower }) = in_waves {
            let row = FactorRow { eta_compute: Some(1.0 / slower), tile: Some(tile), ..row };
            self.rows.push(FittedRow { factors: row, about });
        }
        Ok(())
    }

    /// The fitted products of matrices, and the multiprocessors on which they are computed in tiles; `None` on a processor.
    fn in_tiles(
        &self,
        stored: &str,
        peak: f64,
        about: &[&BenchJson],
    ) -> Option<(Vec<Product>, f64)> {
        let has_tiles = self.device.class != DeviceClass::Cpu;
        let multiprocessors = f64::from(self.device.sm_count.filter(|_| has_tiles)?.value);
        let (slower, floor) = self.memory_of(stored);
        let product = |it: &BenchJson| {
            let shape = it.shape?;
            let memory = it.bytes / self.read * slower;
            let part = TimedPart { memory, compute: it.flops / peak, floors: floor, ..ONE };
            let tokens = Some(shape.m as f64);
            let point = Point { part, tokens, measured: it.time_s.median };
            Some(Product { point, outputs: shape.n as f64 })
        };
        let fitted = about.iter().filter(|record| !is_held_out(record));
        Some((fitted.filter_map(|record| product(record)).collect(), multiprocessors))
    }

    /// Slowdown of memory and floor [s] of a format, as products of one token showed them.
    pub(super) fn memory_of(&self, format: &str) -> (f64, f64) {
        let is_own = |row: &&FittedRow<'_>| {
            let FactorRow { op, tokens, format: of, .. } = &row.factors;
            *op == Some(OpKind::Gemm) && tokens.is_none() && of.as_deref() == Some(format)
        };
        let factors = self.rows.iter().find(is_own).map(|row| &row.factors);
        let share = factors.and_then(|it| it.eta_memory).unwrap_or(1.0);
        (1.0 / share, factors.and_then(|it| it.floor).map_or(0.0, Seconds::get))
    }

    /// The records that something is about.
    pub(super) fn about(&self, is_it: impl Fn(&BenchJson) -> bool) -> Vec<&'a BenchJson> {
        self.records.iter().filter(|record| is_it(record)).collect()
    }
}

/// A kernel without any fitted factor.
pub(super) const ONE: TimedPart =
    TimedPart { memory: 0.0, compute: 0.0, count: 1.0, floors: 0.0, rest: 0.0 };

/// A row for products.
pub(super) fn product() -> FactorRow {
    FactorRow { op: Some(OpKind::Gemm), ..FactorRow::OPEN }
}

/// The points of those records that are not held out.
pub(super) fn fitted(about: &[&BenchJson], point: impl Fn(&BenchJson) -> Point) -> Vec<Point> {
    about.iter().filter(|record| !is_held_out(record)).map(|record| point(record)).collect()
}

/// A row with the factors of a fit.
pub(super) fn with(fit: &Fit, row: FactorRow) -> FactorRow {
    let share = |slower: Option<f64>| slower.map(|slower| 1.0 / slower);
    FactorRow {
        eta_memory: share(fit.memory),
        eta_compute: share(fit.compute),
        extra_tokens: fit.extra,
        // A floor below 1 ns is zero.
        floor: fit.floor.map(|floor| Seconds::new(if floor < 1e-9 { 0.0 } else { floor })),
        ..row
    }
}
