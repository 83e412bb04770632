//! The rows of a unit, and a block of its keys and values: scores, weights, weighted sums.
#![expect(clippy::inline_always, reason = "compiled for an instruction set, as their caller is")]

use super::BLOCK;
use crate::cpu::lanes::{self, Lanes, MOST, Stored, exp};
use crate::cpu::prefetch;

/// Rows with their state: one per new token and query head.
#[derive(Debug)]
pub(super) struct Rows {
    head_dim: usize,
    /// Elements between rows: whole vectors of any width.
    pitch: usize,
    len: usize,
    /// Scaled queries, with zeros behind them.
    queries: Vec<f32>,
    /// Keys that a row sees.
    visible: Vec<usize>,
    /// Scores of a block, then its weights.
    scores: Vec<[f32; BLOCK]>,
    /// Factors of the sums so far.
    fading: Vec<f32>,
    /// Largest score.
    pub(super) largest: Vec<f32>,
    /// Sum of the weights, relative to the largest score.
    pub(super) total: Vec<f32>,
    /// Sums of weighted values, relative to the largest score; rows are a pitch apart.
    pub(super) sums: Vec<f32>,
}

impl Rows {
    pub(super) fn new(most: usize, head_dim: usize) -> Self {
        let pitch = head_dim.next_multiple_of(MOST);
        Self {
            head_dim,
            pitch,
            len: 0,
            queries: vec![0.0; most * pitch],
            visible: vec![0; most],
            scores: vec![[0.0; BLOCK]; most],
            fading: vec![0.0; most],
            largest: vec![0.0; most],
            total: vec![0.0; most],
            sums: vec![0.0; most * pitch],
        }
    }

    /// Starts a unit of `len` rows.
    pub(super) fn begin(&mut self, len: usize) {
        self.len = len;
        self.largest[..len].fill(f32::NEG_INFINITY);
        self.total[..len].fill(0.0);
        self.sums[..len * self.pitch].fill(0.0);
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) fn put_query(&mut self, row: usize, query: &[f32], visible: usize, scale: f32) {
        self.visible[row] = visible;
        let to = &mut self.queries[row * self.pitch..][..query.len()];
        to.iter_mut().zip(query).for_each(|(to, value)| *to = value * scale);
    }

    /// The weighted sums of a row.
    pub(super) fn sums_of(&self, row: usize) -> &[f32] {
        &self.sums[row * self.pitch..][..self.head_dim]
    }

    /// Writes the weighted mean of a row.
    pub(super) fn write_result(&self, row: usize, to: &mut [f32]) {
        let total = self.total[row];
        to.iter_mut().zip(self.sums_of(row)).for_each(|(to, sum)| *to = sum / total);
    }

    /// Takes a block of keys and values into all rows; its first key is the sequence's key `first`.
    #[inline(always)]
    pub(super) fn block<L: Lanes, T: Stored>(&mut self, first: usize, keys: &[T], values: &[T]) {
        let mut row = 0;
        while row < self.len {
            let rows = rows_at_once::<L>(self.len - row);
            match (rows, row) {
                (4, 0) => self.scores::<L, T, 4, true>(row, keys, values),
                (4, _) => self.scores::<L, T, 4, false>(row, keys, values),
                (2, 0) => self.scores::<L, T, 2, true>(row, keys, values),
                (2, _) => self.scores::<L, T, 2, false>(row, keys, values),
                (_, 0) => self.scores::<L, T, 1, true>(row, keys, values),
                (_, _) => self.scores::<L, T, 1, false>(row, keys, values),
            }
            row += rows;
        }
        for row in 0..self.len {
            self.weights::<L>(row, first, keys.len() / self.head_dim);
        }
        row = 0;
        while row < self.len {
            let rows = rows_at_once::<L>(self.len - row);
            // Memory works on the next block meanwhile.
            let ahead = if row == 0 { keys } else { &[] };
            match rows {
                4 => self.add_values::<L, T, 4>(row, values, ahead),
                2 => self.add_values::<L, T, 2>(row, values, ahead),
                _ => self.add_values::<L, T, 1>(row, values, ahead),
            }
            row += rows;
        }
    }

    /// Scores of `R` rows, four keys at a time. The first rows ask for the values of this block.
    #[inline(always)]
    fn scores<L: Lanes, T: Stored, const R: usize, const FIRST: bool>(
        &mut self,
        row: usize,
        keys: &[T],
        values: &[T],
    ) {
        let d = self.head_dim;
        let tokens = keys.len() / d;
        let mut t = 0;
        while t < tokens {
            if FIRST {
                let these = t * d..(t + 4).min(tokens) * d;
                prefetch::beyond(&values[these], 0);
            }
            // The last keys once more where fewer than four are left; a block of fewer has rows of its own.
            let four = if t + 4 <= tokens { t } else { tokens.saturating_sub(4) };
            if tokens < 4 {
                self.few_scores::<L, T, R>(row, t, &keys[t * d..][..d]);
                t += 1;
            } else {
                self.four_scores::<L, T, R>(row, four, &keys[four * d..][..4 * d]);
                t += 4;
            }
        }
    }

    /// Scores of `R` rows and four keys, from key `t` of the block on.
    #[inline(always)]
    fn four_scores<L: Lanes, T: Stored, const R: usize>(
        &mut self,
        row: usize,
        t: usize,
        keys: &[T],
    ) {
        let queries: [&[f32]; R] =
            std::array::from_fn(|r| &self.queries[(row + r) * self.pitch..][..self.pitch]);
        let d = self.head_dim;
        let [a, b, c, e] = [0, 1, 2, 3].map(|i| &keys[i * d..][..d]);
        let mut sums = [[L::splat(0.0); 4]; R];
        let mut at = 0;
        while at + L::WIDTH <= d {
            let keys: [L; 4] =
                [T::load(&a[at..]), T::load(&b[at..]), T::load(&c[at..]), T::load(&e[at..])];
            add_products(&mut sums, keys, queries, at);
            at += L::WIDTH;
        }
        // The rest stands apart, because the sums would not stay in registers around its call.
        if at < d {
            let keys: [L; 4] = [
                T::load_some(&a[at..]),
                T::load_some(&b[at..]),
                T::load_some(&c[at..]),
                T::load_some(&e[at..]),
            ];
            add_products(&mut sums, keys, queries, at);
        }
        for (scores, sums) in self.scores[row..row + R].iter_mut().zip(sums) {
            scores[t..t + 4].copy_from_slice(&L::sums(sums));
        }
    }

    /// Scores of `R` rows and one key, of a block that has fewer than four.
    #[inline(always)]
    fn few_scores<L: Lanes, T: Stored, const R: usize>(&mut self, row: usize, t: usize, key: &[T]) {
        for r in row..row + R {
            let query = &self.queries[r * self.pitch..][..self.pitch];
            let mut sum = L::splat(0.0);
            for (key, query) in key.chunks(L::WIDTH).zip(query.chunks(L::WIDTH)) {
                sum = T::load_some::<L>(key).mul_add(L::load(query), sum);
            }
            self.scores[r][t] = sum.sum();
        }
    }

    /// Replaces a row's scores of `tokens` keys by weights: zero for keys that it does not see.
    #[inline(always)]
    fn weights<L: Lanes>(&mut self, row: usize, first: usize, tokens: usize) {
        let scores = &mut self.scores[row];
        let seen = self.visible[row].saturating_sub(first).min(tokens);
        if seen == 0 {
            scores.fill(0.0);
            self.fading[row] = 1.0;
            return;
        }
        scores[seen..].fill(f32::NEG_INFINITY);
        let mut most = L::splat(f32::NEG_INFINITY);
        for part in scores.chunks_exact(L::WIDTH) {
            most = most.max(L::load(part));
        }
        let before = self.largest[row];
        let largest = before.max(most.largest());
        // Before the first key there is nothing that could fade.
        self.fading[row] =
            if before == f32::NEG_INFINITY { 0.0 } else { lanes::exp_of(before - largest) };
        self.largest[row] = largest;
        for part in scores.chunks_exact_mut(L::WIDTH) {
            exp(L::load(part).sub(L::splat(largest))).store(part);
        }
        scores[seen..].fill(0.0);
        let mut total = L::splat(0.0);
        for part in scores.chunks_exact(L::WIDTH) {
            total = total.add(L::load(part));
        }
        self.total[row] = self.total[row] * self.fading[row] + total.sum();
    }

    /// Adds weighted values to the sums of `R` rows, and asks for the block behind `ahead`.
    #[inline(always)]
    fn add_values<L: Lanes, T: Stored, const R: usize>(
        &mut self,
        row: usize,
        values: &[T],
        mut ahead: &[T],
    ) {
        let mut at = 0;
        while at + 4 * L::WIDTH <= self.head_dim {
            self.add_columns::<L, T, R, 4>(row, at, values, ahead);
            ahead = &[];
            at += 4 * L::WIDTH;
        }
        while at + L::WIDTH <= self.head_dim {
            self.add_columns::<L, T, R, 1>(row, at, values, ahead);
            ahead = &[];
            at += L::WIDTH;
        }
        if at < self.head_dim {
            self.add_rest::<L, T, R>(row, at, values);
        }
    }

    /// Adds the last columns, which are fewer than a vector.
    #[inline(always)]
    fn add_rest<L: Lanes, T: Stored, const R: usize>(
        &mut self,
        row: usize,
        at: usize,
        values: &[T],
    ) {
        for r in row..row + R {
            let sums = &mut self.sums[r * self.pitch + at..];
            let mut sum = L::load(sums).mul(L::splat(self.fading[r]));
            for (value, weight) in values.chunks_exact(self.head_dim).zip(&self.scores[r]) {
                sum = T::load_some::<L>(&value[at..]).mul_add(L::splat(*weight), sum);
            }
            sum.store(sums);
        }
    }

    /// Adds `C` vectors of columns, which stay in registers.
    #[inline(always)]
    fn add_columns<L: Lanes, T: Stored, const R: usize, const C: usize>(
        &mut self,
        row: usize,
        at: usize,
        values: &[T],
        ahead: &[T],
    ) {
        let weights: [&[f32; BLOCK]; R] = std::array::from_fn(|r| &self.scores[row + r]);
        let mut sums = [[L::splat(0.0); C]; R];
        for (r, sums) in sums.iter_mut().enumerate() {
            let fading = L::splat(self.fading[row + r]);
            for (c, sum) in sums.iter_mut().enumerate() {
                let before = &self.sums[(row + r) * self.pitch + at + c * L::WIDTH..];
                *sum = L::load(before).mul(fading);
            }
        }
        for (t, value) in values.chunks_exact(self.head_dim).enumerate() {
            if !ahead.is_empty() {
                prefetch::beyond(&ahead[t * self.head_dim..][..self.head_dim], size_of_val(ahead));
            }
            for c in 0..C {
                let value: L = T::load(&value[at + c * L::WIDTH..]);
                for (sums, weights) in sums.iter_mut().zip(weights) {
                    sums[c] = value.mul_add(L::splat(weights[t]), sums[c]);
                }
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            for (c, sum) in sums.into_iter().enumerate() {
                sum.store(&mut self.sums[(row + r) * self.pitch + at + c * L::WIDTH..]);
            }
        }
    }
}

/// Adds the products of four keys and `R` queries, from element `at` on.
#[inline(always)]
fn add_products<L: Lanes, const R: usize>(
    sums: &mut [[L; 4]; R],
    keys: [L; 4],
    queries: [&[f32]; R],
    at: usize,
) {
    for (sums, query) in sums.iter_mut().zip(queries) {
        let query = L::load(&query[at..]);
        for (sum, key) in sums.iter_mut().zip(keys) {
            *sum = key.mul_add(query, *sum);
        }
    }
}

/// Rows that are computed together, so that their sums stay in registers: four with 32 of them, else two.
#[inline(always)]
const fn rows_at_once<L: Lanes>(left: usize) -> usize {
    match left {
        4.. if L::HAS_MANY => 4,
        2.. => 2,
        _ => 1,
    }
}
