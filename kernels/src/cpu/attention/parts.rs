//! Memory of the workers, and the parts of units that several of them share.

use std::sync::{Mutex, PoisonError};

use super::block::Rows;
use super::space::Space;
use crate::backend::AttentionSizes;
use crate::cpu::lanes;

/// Memory for attention of one shape on a number of workers: its state per worker, and parts of units that workers share.
#[derive(Debug)]
pub struct AttentionScratch {
    pub(super) space: Space,
    pub(super) parts: Vec<Mutex<WorkerPart>>,
}

/// A worker's rows, and what it computed of units that others have parts of: at most one at either end of its share.
#[derive(Debug)]
pub(super) struct WorkerPart {
    pub(super) rows: Rows,
    kept: [Kept; 2],
    /// Number of units kept.
    count: usize,
}

/// A part of a unit.
#[derive(Debug)]
struct Kept {
    unit: usize,
    /// Largest score, sum of the weights, and sums of weighted values, per row.
    largest: Vec<f32>,
    total: Vec<f32>,
    sums: Vec<f32>,
}

impl WorkerPart {
    fn new(space: &Space) -> Self {
        let rows = space.most_rows();
        let kept = || Kept {
            unit: 0,
            largest: vec![0.0; rows],
            total: vec![0.0; rows],
            sums: vec![0.0; rows * space.head_dim],
        };
        Self { rows: Rows::new(rows, space.head_dim), kept: [kept(), kept()], count: 0 }
    }

    /// Forgets the parts of the last call.
    pub(super) fn begin(&mut self) {
        self.count = 0;
    }

    /// Keeps the rows as a part of a unit.
    pub(super) fn keep(&mut self, unit: usize) {
        let (rows, kept) = (&self.rows, &mut self.kept[self.count]);
        self.count += 1;
        kept.unit = unit;
        let len = rows.len();
        kept.largest[..len].copy_from_slice(&rows.largest[..len]);
        kept.total[..len].copy_from_slice(&rows.total[..len]);
        for row in 0..len {
            let from = rows.sums_of(row);
            kept.sums[row * from.len()..][..from.len()].copy_from_slice(from);
        }
    }
}

impl AttentionScratch {
    /// Memory for this shape on so many workers; `None` where there is no such problem, or it exceeds the address space.
    pub fn new(sizes: &AttentionSizes, workers: usize) -> Option<Self> {
        let space = Space::new(sizes)?;
        let parts = (0..workers).map(|_| Mutex::new(WorkerPart::new(&space))).collect();
        Some(Self { space, parts })
    }

    /// Joins the parts of units that several workers share, and writes their results.
    pub(super) fn join(&mut self, output: &mut [f32]) {
        let Self { space, parts } = self;
        let mut parts: Vec<&mut WorkerPart> = parts
            .iter_mut()
            .map(|part| part.get_mut().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let all: Vec<&Kept> = parts.iter_mut().flat_map(|it| &it.kept[..it.count]).collect();
        // Shares follow each other, so the parts of a unit do, too.
        for pieces in all.chunk_by(|a, b| a.unit == b.unit) {
            let unit = space.unit(pieces[0].unit);
            for (t, token) in unit.tokens.clone().enumerate() {
                for member in 0..space.group {
                    let place = space.row(&unit, token, member) * space.head_dim;
                    let to = &mut output[place..][..space.head_dim];
                    join_row(pieces, t * space.group + member, to);
                }
            }
        }
    }
}

/// The weighted mean of a row over all its parts.
fn join_row(pieces: &[&Kept], row: usize, to: &mut [f32]) {
    let largest = pieces.iter().fold(f32::NEG_INFINITY, |most, it| most.max(it.largest[row]));
    let mut total = 0.0;
    to.fill(0.0);
    for piece in pieces.iter().filter(|piece| piece.largest[row] > f32::NEG_INFINITY) {
        let weight = lanes::exp_of(piece.largest[row] - largest);
        total += weight * piece.total[row];
        let sums = &piece.sums[row * to.len()..][..to.len()];
        to.iter_mut().zip(sums).for_each(|(to, sum)| *to += weight * sum);
    }
    for value in to {
        *value /= total;
    }
}
