//! GEMV of every layout on every available instruction set, against f64.

use super::*;
use crate::activation::effective_input;
use crate::compare::compare;
use crate::random::Random;
use crate::reference;

/// Rows and columns: one element, chunk boundaries, partial blocks, and large sizes.
const SHAPES: [(usize, usize); 12] = [
    (1, 1),
    (2, 16),
    (3, 31),
    (1, 63),
    (127, 127),
    (128, 128),
    (129, 129),
    (2, 160),
    (5, 1000),
    (7, 4096),
    (3, 5000),
    (2, 16_385),
];

#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn noise(seed: u64, len: usize) -> Vec<f32> {
    let mut random = Random::new(seed);
    let mut draw = |block: usize| random.normal() as f32 * [1.0, 0.3, 2.0][block % 3];
    (0..len).map(|i| draw(i / 16)).collect()
}

fn check(layout: Layout, isa: Isa, tokens: usize, (rows, cols): (usize, usize)) {
    let packed = Packed::encode(layout, &noise(1, rows * cols), cols).unwrap();
    let x = noise(2, tokens * cols);
    let mut pool = Pool::new(Some(2));
    let weights = Matrix::new(&mut pool, &packed);
    let y = Output::new(rows, tokens);
    let inputs: Vec<Input> = x.chunks(cols).map(|x| Input::new(layout, x)).collect();
    gemv(isa, &mut pool, &weights, &inputs, &y);
    let x: Vec<f64> = x.chunks(cols).flat_map(|x| effective_input(layout, x)).collect();
    let verdict = compare(&y.to_vec(), &reference::gemm(&packed, &x));
    let level = isa.level();
    assert!(verdict.is_ok(), "{layout:?} on {level}, {tokens} of {rows} x {cols}: {verdict:?}");
}

#[test]
fn every_layout_is_right_on_every_instruction_set() {
    for isa in Isa::available() {
        for layout in Layout::ALL {
            for shape in SHAPES {
                check(layout, isa, 1, shape);
            }
        }
    }
}

#[test]
fn every_number_of_tokens_is_right_in_every_layout_on_every_instruction_set() {
    for isa in Isa::available() {
        for layout in Layout::ALL {
            for tokens in 2..=MAX_TOKENS {
                check(layout, isa, tokens, SHAPES[5 + tokens % 5]);
            }
            check(layout, isa, 4, (2, 16_385));
            check(layout, isa, 7, (1, 1));
        }
    }
}

#[test]
fn a_token_among_others_has_the_bits_that_it_has_among_other_others() {
    // The order of additions may differ between blocks of one, two and four tokens, but not with the neighbors of a token.
    let mut pool = Pool::new(Some(1));
    for isa in Isa::available() {
        for layout in Layout::ALL {
            let packed = Packed::encode(layout, &noise(1, 3 * 500), 500).unwrap();
            let weights = Matrix::new(&mut pool, &packed);
            let input = |seed| Input::new(layout, &noise(seed, 500));
            let mut last = |others: u64| {
                let inputs = [input(others), input(others + 1), input(others + 2), input(99)];
                let y = Output::new(3, 4);
                gemv(isa, &mut pool, &weights, &inputs, &y);
                y.to_vec()[9..].iter().map(|value| value.to_bits()).collect::<Vec<u32>>()
            };
            assert_eq!(last(10), last(20), "{layout:?} on {}", isa.level());
        }
    }
}

#[test]
fn a_repeated_matrix_repeats_its_rows() {
    let mut pool = Pool::new(Some(2));
    for layout in Layout::ALL {
        let packed = Packed::encode(layout, &noise(3, 3 * 200), 200).unwrap();
        let weights = Matrix::repeated(&mut pool, &packed, 0, 1000);
        assert_eq!(weights.bytes(), layout.bytes(1000, 200));
        let y = Output::new(1000, 1);
        let x = noise(4, 200);
        gemv(Isa::best(), &mut pool, &weights, &[Input::new(layout, &x)], &y);
        let y = y.to_vec();
        let three = reference::gemv(&packed, &effective_input(layout, &x));
        assert!(compare(&y[..3], &three).is_ok(), "{layout:?}");
        assert!((3..1000).all(|r| y[r].to_bits() == y[r % 3].to_bits()), "{layout:?}");
    }
}

#[test]
fn the_extremes_of_every_code_are_right() {
    // Extreme codes meet extreme inputs in every position, where narrow accumulators would overflow.
    for isa in Isa::available() {
        for layout in Layout::ALL {
            for sign in [1.0_f32, -1.0] {
                let row: Vec<f32> = (0..256).map(|j| sign * [1.0, -1.0][j / 3 % 2]).collect();
                let x: Vec<f32> = (0..256).map(|j| [1.0, -1.0][j / 3 % 2]).collect();
                let packed = Packed::encode(layout, &row, 256).unwrap();
                let mut pool = Pool::new(Some(1));
                let (weights, y) = (Matrix::new(&mut pool, &packed), Output::new(1, 1));
                gemv(isa, &mut pool, &weights, &[Input::new(layout, &x)], &y);
                let verdict =
                    compare(&y.to_vec(), &reference::gemv(&packed, &effective_input(layout, &x)));
                assert!(verdict.is_ok(), "{layout:?} on {}: {verdict:?}", isa.level());
            }
        }
    }
}

#[test]
#[should_panic(expected = "an input of this layout")]
fn an_input_of_another_layout_is_refused() {
    let mut pool = Pool::new(Some(1));
    let packed = Packed::encode(Layout::Int8, &[1.0; 64], 64).unwrap();
    let (weights, y) = (Matrix::new(&mut pool, &packed), Output::new(1, 1));
    gemv(Isa::PORTABLE, &mut pool, &weights, &[Input::new(Layout::GgufQ8_0, &[1.0; 64])], &y);
}
