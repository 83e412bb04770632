//! Round trips: packed values come back within half a step of the scale, representable values exactly; values out of range are
//! refused.

use kernels::pack::{Layout, NF4, PackError, Packed};
use proptest::prelude::*;

/// Bound on the error of a value, from the largest magnitude of its block and of the tensor.
///
/// The first term is half a step. The second is the shift of the outermost codes by rounding the stored scale (2⁻⁹ for BF16,
/// 2⁻¹¹ for FP16, 2⁻⁴ for E4M3, times the distance of the code from the middle), and the clipping at the end of the range.
/// The last is the smallest representable scale: a block below it becomes zeros.
fn bound(layout: Layout, value: f64, block: f64, tensor: f64) -> f64 {
    let float = |mantissa_bits: i32, smallest: f64| {
        (value.abs() * two_to(-1 - mantissa_bits)).max(smallest / 2.0)
    };
    match layout {
        Layout::Fp32 => 0.0,
        Layout::Fp16 => float(10, two_to(-24)),
        Layout::Bf16 => float(7, two_to(-133)),
        Layout::Fp8E4m3 => float(3, two_to(-9) * (tensor / 448.0).max(two_to(-126))) * 1.001,
        Layout::Fp8E5m2 => float(2, two_to(-16) * (tensor / 57_344.0).max(two_to(-126))) * 1.001,
        Layout::Int8 => block / 127.5 * 0.5001 + two_to(-142),
        Layout::Int8G128 => block / 127.5 * (0.5 + 127.5 * two_to(-8)) + two_to(-126),
        Layout::Int4G32Sym | Layout::Int4G128Sym => {
            block / 7.5 * (0.5 + 7.5 * two_to(-8)) + two_to(-130)
        }
        // The values span at most twice the largest magnitude; the zero point is rounded, too.
        Layout::Int4G32 | Layout::Int4G128 => {
            2.0 * block / 15.0 * (0.5 + 15.0 * two_to(-7)) + two_to(-129)
        }
        Layout::Nf4 => block * f64::from(NF4[1] - NF4[0]) * 0.5001 + two_to(-126),
        // The largest magnitude is 4 to 8 steps, and the largest code is 6.
        Layout::Mxfp4 => block.max(two_to(-125)) * 0.2501,
        Layout::Nvfp4 => {
            block / 6.0 * (1.0 + 6.0 * two_to(-4)) + tensor / 2688.0 * two_to(-4) + two_to(-116)
        }
        Layout::GgufQ8_0 => block / 127.0 * (0.5 + 127.0 * two_to(-11)) + 127.0 * two_to(-25),
        // The search may clip an extreme value by a step; scales of 6 and 8 bits are rounded, and FP16 ones above them.
        Layout::GgufQ4K => block * 0.2 + 63.0 * 15.0 * two_to(-24),
        Layout::GgufQ6K => block * 0.06 + 128.0 * 32.0 * two_to(-25),
        Layout::GgufQ4_0 => block / 8.0 * (1.0 + 8.0 * two_to(-11)) + 8.0 * two_to(-25),
    }
}

fn two_to(exponent: i32) -> f64 {
    f64::from_bits(u64::try_from(1023 + exponent).expect("a normal f64") << 52)
}

fn largest<'a>(values: impl IntoIterator<Item = &'a f32>) -> f64 {
    values.into_iter().fold(0.0, |largest, value| largest.max(f64::from(value.abs())))
}

fn decoded(packed: &Packed) -> Vec<f64> {
    let mut values = vec![0.0; packed.rows() * packed.cols()];
    for (r, row) in values.chunks_mut(packed.cols()).enumerate() {
        packed.decode_row(r, row);
    }
    values
}

/// Checks that every value is within the bound of its block.
fn check(layout: Layout, weights: &[f32], cols: usize) -> Result<(), TestCaseError> {
    let packed = Packed::encode(layout, weights, cols).expect("the values are small");
    let values = decoded(&packed);
    let block = if layout == Layout::Int8 { cols } else { layout.block() };
    let tensor = largest(weights);
    for (i, (value, weight)) in values.iter().zip(weights).enumerate() {
        let (row, col) = (i / cols, i % cols);
        let first = row * cols + col / block * block;
        let last = (first + block).min((row + 1) * cols);
        let weight = f64::from(*weight);
        let bound = bound(layout, weight, largest(&weights[first..last]), tensor);
        let error = (value - weight).abs();
        prop_assert!(error <= bound, "{layout:?} at {i}: {weight} became {value}, bound {bound}");
    }
    Ok(())
}

fn matrix(magnitudes: impl Strategy<Value = f32>) -> impl Strategy<Value = (Vec<f32>, usize)> {
    let cols = prop_oneof![Just(1), Just(31), Just(127), Just(128), Just(129), 1..300_usize];
    (cols, magnitudes).prop_flat_map(|(cols, magnitude)| {
        let weight = (-1.0..1.0_f32).prop_map(move |value| value * magnitude);
        (prop::collection::vec(weight, 2 * cols), Just(cols))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn values_of_weights_come_back_within_half_a_step((weights, cols) in matrix(0.001..50.0_f32)) {
        for layout in Layout::ALL {
            check(layout, &weights, cols)?;
        }
    }

    #[test]
    fn tiny_values_come_back_within_the_smallest_step(
        (weights, cols) in matrix(prop_oneof![Just(1e-45), Just(1e-40), Just(1e-37), Just(1e-20), Just(1e-6)]),
    ) {
        for layout in Layout::ALL {
            check(layout, &weights, cols)?;
        }
    }

    #[test]
    fn what_came_back_once_comes_back_the_same((weights, cols) in matrix(0.001..50.0_f32)) {
        // Layouts whose scale can be recomputed from the decoded values.
        for layout in [Layout::Fp32, Layout::Fp16, Layout::Bf16, Layout::Mxfp4, Layout::Nf4] {
            let once = decoded(&Packed::encode(layout, &weights, cols).unwrap());
            let weights: Vec<f32> = once.iter().map(|value| narrow(*value)).collect();
            let twice = decoded(&Packed::encode(layout, &weights, cols).unwrap());
            let gone = once.iter().zip(&twice).position(|(a, b)| narrow(*a).to_bits() != narrow(*b).to_bits());
            prop_assert!(gone.is_none(), "{layout:?} at {gone:?}");
        }
    }
}

/// Decoded values of these layouts are exact in f32, or products that round the same way both times.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the value came from an f32 or a product of two"
)]
fn narrow(value: f64) -> f32 {
    value as f32
}

#[test]
fn values_on_the_grid_come_back_exactly() {
    // Multiples of a scale that every layout can store; the outermost value determines the scale.
    for (layout, step, outermost) in [
        (Layout::Int8, 0.5, -127.5),
        (Layout::Int8G128, 0.5, -127.5),
        (Layout::Int4G32Sym, 0.5, -7.5),
        (Layout::Int4G128Sym, 0.25, -7.5),
        (Layout::GgufQ8_0, 0.125, 127.0),
        (Layout::GgufQ4_0, 0.125, -8.0),
        (Layout::Mxfp4, 0.25, 6.0),
        (Layout::Nvfp4, 1.0, 6.0),
        (Layout::Fp8E4m3, 1.0, 448.0),
        (Layout::Fp8E5m2, 1.0, 57_344.0),
        (Layout::Nf4, 3.0, 1.0),
    ] {
        let mut weights = [0.0, 1.0, -1.0].map(|count| count * step).repeat(50);
        for block in weights.chunks_mut(16) {
            block[0] = outermost * step;
        }
        let exact = decoded(&Packed::encode(layout, &weights, 150).unwrap());
        for (i, (value, weight)) in exact.iter().zip(&weights).enumerate() {
            // −127.5 and −7.5 lie half a step from the grid.
            let tie = i % 16 == 0 && outermost.fract() != 0.0;
            assert!(tie || (value - f64::from(*weight)).abs() < 1e-12, "{layout:?} {i}: {value}");
        }
    }
}

#[test]
fn a_zero_point_makes_zero_exact_and_spans_one_sided_values() {
    let weights: Vec<f32> = (0..128).map(|i| f32::from(u8::try_from(i % 16).unwrap())).collect();
    for layout in [Layout::Int4G32, Layout::Int4G128] {
        let exact = decoded(&Packed::encode(layout, &weights, 128).unwrap());
        assert!(exact.iter().zip(&weights).all(|(a, b)| (a - f64::from(*b)).abs() < 1e-12));
        let below: Vec<f32> = weights.iter().map(|value| -value).collect();
        let exact = decoded(&Packed::encode(layout, &below, 128).unwrap());
        assert!(exact.iter().zip(&below).all(|(a, b)| (a - f64::from(*b)).abs() < 1e-12));
    }
}

#[test]
fn zeros_stay_zeros_in_every_layout() {
    for layout in Layout::ALL {
        let values = decoded(&Packed::encode(layout, &[0.0; 3 * 129], 129).unwrap());
        assert!(values.iter().all(|value| value.abs() <= 0.0), "{layout:?}");
    }
}

#[test]
fn what_is_not_finite_or_too_large_is_refused_by_place() {
    for layout in Layout::ALL {
        for spoiler in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut weights = [1.0; 20];
            weights[13] = spoiler;
            let refused = Packed::encode(layout, &weights, 10).unwrap_err();
            assert_eq!(refused, PackError::NotFinite { row: 1, col: 3 });
        }
    }
    for (layout, largest) in [
        (Layout::Fp16, 65_504.0),
        (Layout::Bf16, 3.389e38),
        (Layout::GgufQ8_0, 65_504.0 * 127.0),
        (Layout::GgufQ4_0, 65_504.0 * 8.0),
    ] {
        assert!(Packed::encode(layout, &[largest], 1).is_ok(), "{layout:?}");
        let refused = Packed::encode(layout, &[0.0, largest * 1.0025], 1);
        assert_eq!(refused.unwrap_err(), PackError::TooLarge { row: 1 }, "{layout:?}");
    }
    for layout in Layout::ALL {
        let packed = Packed::encode(layout, &[-3e38, 3e38, 1.0], 3);
        let finite = |packed: &Packed| decoded(packed).iter().all(|value| value.is_finite());
        assert!(packed.as_ref().map_or(true, finite), "{layout:?}");
    }
}

#[test]
fn a_shape_that_is_not_whole_is_refused() {
    for (len, cols) in [(0, 4), (5, 4), (4, 0)] {
        let refused = Packed::encode(Layout::Fp32, &vec![0.0; len], cols).unwrap_err();
        assert_eq!(refused, PackError::Shape { weights: len, cols });
    }
}
