//! Attention of every cache format on every available instruction set, against f64.

use half::{bf16, f16};

use super::*;
use crate::backend::{AttentionSizes, StoredFloat};
use crate::pack::minifloat::Fp8;
use crate::random::Random;
use crate::reference::layer::attended;

/// batch, heads, kv_heads, head_dim, new, context: single elements, vectors and blocks with a rest, groups of any size, decode and
/// prefill, a context that is far longer than there are heads, and heads without a power of two.
const SHAPES: [[u64; 6]; 14] = [
    [1, 1, 1, 1, 1, 1],
    [1, 1, 1, 3, 1, 2],
    [1, 4, 4, 8, 1, 31],
    [2, 6, 2, 16, 1, 32],
    [1, 8, 2, 31, 1, 33],
    [1, 5, 1, 40, 1, 65],
    [3, 7, 1, 17, 1, 96],
    [1, 8, 1, 128, 1, 1000],
    [1, 14, 2, 64, 1, 257],
    [1, 2, 1, 80, 3, 40],
    [1, 4, 2, 33, 40, 40],
    [2, 9, 3, 24, 65, 130],
    [1, 71, 1, 16, 2, 35],
    [1, 1, 1, 300, 5, 5],
];

fn sizes(
    cache: StoredFloat,
    [batch, heads, kv_heads, head_dim, new, context]: [u64; 6],
) -> AttentionSizes {
    AttentionSizes { cache, batch, heads, kv_heads, head_dim, new, context }
}

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise(seed: u64, len: usize, size: f64) -> Vec<f32> {
    let mut random = Random::new(seed);
    (0..len).map(|_| (size * random.normal()) as f32).collect()
}

/// Inputs of a problem with room for more tokens than there are; what lies behind the context must not be read.
struct Problem<T> {
    space: Space,
    room: usize,
    queries: Vec<f32>,
    keys: Vec<T>,
    values: Vec<T>,
}

impl<T: Stored> Problem<T> {
    fn new(shape: [u64; 6], sharpness: f64) -> Self {
        let space = Space::new(&sizes(T::FLOAT, shape)).unwrap();
        let room = space.context + 3;
        let cache = |seed| -> Vec<T> {
            let mut values = noise(seed, space.cache_elements(room), 1.0);
            let head = room * space.head_dim;
            for values in values.chunks_mut(head) {
                values[space.context * space.head_dim..].fill(448.0);
            }
            values.into_iter().map(T::nearest).collect()
        };
        Self {
            queries: noise(1, space.query_elements(), sharpness),
            keys: cache(2),
            values: cache(3),
            space,
            room,
        }
    }

    fn run(&self, isa: Isa, workers: usize, shape: [u64; 6]) -> Vec<f32> {
        let mut pool = Pool::new(Some(workers));
        let mut scratch = AttentionScratch::new(&sizes(T::FLOAT, shape), workers).unwrap();
        let mut output = Vec::new();
        // The second call finds what the first one left.
        for _ in 0..2 {
            output = vec![f32::NAN; self.queries.len()];
            let buffers = AttentionBuffers {
                queries: &self.queries,
                keys: &self.keys,
                values: &self.values,
                room: self.room,
                output: &mut output,
                scratch: &mut scratch,
            };
            attention(isa, &mut pool, buffers);
        }
        output
    }

    /// Largest error over tolerance, by the definition: head by head and token by token.
    fn error(&self, output: &[f32]) -> f64 {
        let (space, d) = (&self.space, self.space.head_dim);
        let mut worst = 0.0_f64;
        for (row, got) in output.chunks(d).enumerate() {
            let (head, token) = (row % space.heads, row / space.heads % space.new);
            let sequence = row / space.heads / space.new;
            let start = (sequence * space.kv_heads + head / space.group) * self.room * d;
            let seen = start..start + (space.cached + token + 1) * d;
            let wide = |stored: &[T]| -> Vec<f64> {
                stored[seen.clone()].iter().map(|x| f64::from(x.wide())).collect()
            };
            let query: Vec<f64> =
                self.queries[row * d..][..d].iter().map(|x| f64::from(*x)).collect();
            let right = attended(&query, &wide(&self.keys), &wide(&self.values));
            worst = worst.max(right.error(got.iter().copied()));
        }
        worst
    }
}

fn check<T: Stored>() {
    for isa in Isa::available() {
        for (index, shape) in SHAPES.into_iter().enumerate() {
            for sharpness in [1.0, 4.0] {
                let problem = Problem::<T>::new(shape, sharpness);
                let workers = 1 + index % 4;
                let error = problem.error(&problem.run(isa, workers, shape));
                let level = isa.level();
                assert!(error <= 1.0, "{:?} {shape:?} on {workers} {level}: {error}", T::FLOAT);
            }
        }
    }
}

#[test]
fn every_cache_format_is_right_in_every_shape_on_every_instruction_set() {
    check::<f32>();
    check::<f16>();
    check::<bf16>();
    check::<Fp8>();
}

#[test]
fn any_number_of_workers_has_the_same_result() {
    for shape in [SHAPES[5], SHAPES[7], SHAPES[11]] {
        let problem = Problem::<f16>::new(shape, 2.0);
        for workers in [1, 2, 3, 5, 8, 40] {
            let error = problem.error(&problem.run(Isa::best(), workers, shape));
            assert!(error <= 1.0, "{shape:?} on {workers}: {error}");
        }
    }
}

#[test]
fn scores_that_rise_and_fall_along_the_context_are_right() {
    // The largest score is first in the last key, then in the first one, and far above what e^x of FP32 can hold.
    for isa in Isa::available() {
        for ascending in [true, false] {
            let shape = [1, 2, 1, 8, 1, 200];
            let mut problem = Problem::<f32>::new(shape, 1.0);
            problem.queries.fill(10.0);
            for (t, key) in problem.keys.chunks_mut(8).enumerate() {
                let place = if ascending { t } else { 200 - t.min(200) };
                key.fill(place as f32);
            }
            let output = problem.run(isa, 2, shape);
            let last = if ascending { 199 } else { 0 };
            for (got, value) in output[..8].iter().zip(&problem.values[last * 8..][..8]) {
                assert!((got - value).abs() < 1e-6, "{got} {value} on {}", isa.level());
            }
        }
    }
}

#[test]
#[should_panic(expected = "a cache of this shape")]
fn a_cache_of_another_shape_is_refused() {
    let mut problem = Problem::<f32>::new(SHAPES[3], 1.0);
    problem.values.pop();
    problem.run(Isa::PORTABLE, 1, SHAPES[3]);
}

#[test]
fn a_wrong_result_is_told() {
    let problem = Problem::<f16>::new(SHAPES[4], 1.0);
    let mut output = problem.run(Isa::best(), 2, SHAPES[4]);
    assert!(problem.error(&output) <= 1.0);
    output[40] += 1e-3;
    assert!(problem.error(&output) > 1.0);
    output[40] = f32::NAN;
    assert!(problem.error(&output).is_infinite());
}
