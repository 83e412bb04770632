//! Tests of prefixes, rounding, units and separators.

use super::*;

/// Plain spaces in `expected` stand for narrow ones.
fn check(text: &str, expected: &str) {
    assert_eq!(text.replace(SPACE, " "), expected);
}

#[test]
fn computed_numbers_have_three_digits() {
    for (value, expected) in [
        (0.0, "0"),
        (1.0, "1.00"),
        (3.768_99, "3.77"),
        (42.96, "43.0"),
        (999.4, "999"),
        (999.6, "1 000"),
        (1365.3, "1 370"),
        (123_456.0, "123 000"),
        (0.000_499_9, "5.00 × 10⁻⁴"),
        (0.0123, "0.0123"),
        (1.5e7, "1.50 × 10⁷"),
        (-2.5, "−2.50"),
        (f64::NAN, "–"),
        (f64::INFINITY, "∞"),
        (f64::NEG_INFINITY, "−∞"),
        (f64::MAX, "1.80 × 10³⁰⁸"),
        (f64::MIN_POSITIVE, "2.23 × 10⁻³⁰⁸"),
    ] {
        check(&plain(value), expected);
    }
}

#[test]
fn sizes_are_decimal_and_capacities_binary() {
    check(&bytes(Bytes::new(8_929_280.0)), "8.93 MB");
    check(&bytes(Bytes::new(0.0)), "0 B");
    check(&bytes(Bytes::new(999.9)), "1.00 kB");
    check(&bytes(Bytes::new(2e27)), "2.00 × 10²⁷ B");
    check(&capacity(Bytes::from_gib(8.0)), "8 GiB");
    check(&capacity(Bytes::from_gib(141.0)), "141 GiB");
    check(&capacity(Bytes::from_mib(1.5)), "1.5 MiB");
    check(&capacity(Bytes::from_kib(100.0)), "100 KiB");
}

#[test]
fn datasheet_facts_stand_as_published() {
    for (gb, expected) in [
        (102.4, "102.4 GB/s"),
        (68.3, "68.3 GB/s"),
        (1555.0, "1 555 GB/s"),
        (8000.0, "8 000 GB/s"),
        (10.0, "10 GB/s"),
    ] {
        check(&published_bandwidth(BytesPerSec::from_gb(gb)), expected);
    }
    for (tera, class, expected) in [
        (16.7, ComputeClass::Fp16, "16.7 TFLOP/s"),
        (33.4, ComputeClass::Int8, "33.4 TOP/s"),
        (989.4, ComputeClass::Bf16, "989.4 TFLOP/s"),
        (0.472, ComputeClass::Fp16, "0.472 TFLOP/s"),
        (5_000.0, ComputeClass::Fp4, "5 000 TFLOP/s"),
    ] {
        check(&published_rate(FlopsPerSec::from_tera(tera), class), expected);
    }
    check(&clock(Hertz::from_mhz(1020.0)), "1 020 MHz");
    check(&power(Watts::new(25.0)), "25 W");
}

#[test]
fn times_choose_their_prefix_after_rounding() {
    for (seconds, expected) in [
        (87.2e-6, "87.2 µs"),
        (999.7e-9, "1.00 µs"),
        (12e-9, "12.0 ns"),
        (0.3e-9, "0.300 ns"),
        (3e-14, "3.00 × 10⁻¹⁴ s"),
        (0.405, "405 ms"),
        (1.0, "1.00 s"),
        (12_345.0, "12 300 s"),
        (2e9, "2.00 × 10⁹ s"),
    ] {
        check(&time(Seconds::new(seconds)), expected);
    }
}

#[test]
fn an_interval_has_one_unit() {
    check(&time_range(Seconds::new(67.2e-6), Seconds::new(179.2e-6)), "67.2–179 µs");
    check(&time_range(Seconds::new(0.9e-3), Seconds::new(2.4e-3)), "0.900–2.40 ms");
    check(&time_range(Seconds::new(f64::NAN), Seconds::new(1.0)), "––1.00 s");
}

#[test]
fn shares_never_round_to_zero_or_one() {
    for (share, expected) in [
        (0.9767, "98 %"),
        (0.999, "> 99 %"),
        (1.0, "100 %"),
        (0.001, "< 1 %"),
        (0.0, "0 %"),
        (-0.0, "0 %"),
        (12.5, "1 250 %"),
        (f64::NAN, "– %"),
    ] {
        check(&percent(share), expected);
    }
}

#[test]
fn a_typed_number_is_shown_unchanged() {
    for text in [
        "0",
        "1",
        "-3",
        "1000000000",
        "0.7",
        "1555.5",
        "0.0001",
        "123456789.25",
        "1e30",
        "-2.5e-9",
        "1e15",
        "9.99e-5",
    ] {
        assert_eq!(typed(text.parse().expect("a number")), text);
    }
    assert_eq!((typed(f64::NAN), typed(f64::INFINITY)), ("no number".into(), "inf".into()));
    assert_eq!(typed(f64::NEG_INFINITY), "-inf");
}

#[test]
fn the_rest() {
    check(&rate(FlopsPerSec::new(385.9e9), ComputeClass::Fp16), "386 GFLOP/s");
    check(&rate(FlopsPerSec::new(1.2e12), ComputeClass::Int4), "1.20 TOP/s");
    for (kernel, activations, expected) in [
        ("dot_int8", None, "1.20 TOP/s"),
        ("gemm_int8", Some("int8"), "1.20 TOP/s"),
        ("mma_int8", None, "1.20 TOP/s"),
        ("gemv", Some("int8"), "1.20 TOP/s"),
        ("gemv", Some("fp16"), "1.20 TFLOP/s"),
        ("fma_fp32", None, "1.20 TFLOP/s"),
    ] {
        check(&measured_rate(FlopsPerSec::new(1.2e12), kernel, activations), expected);
    }
    check(&flops(Flops::new(33_554_432.0)), "33.6 MFLOP");
    check(&intensity(FlopsPerByte::new(3.757)), "3.76 FLOP/B");
    check(&ratio(3.827), "3.83×");
    check(&count(28_672), "28 672");
    check(&count(u64::MAX), "18 446 744 073 709 551 615");
    check(&short(163.08, 3), "163");
    check(&short(4.25, 3), "4.25");
    check(&short(1.0, 3), "1");
    check(&energy(Joules::new(0.25)), "250 mJ");
    check(&token_rate(TokensPerSec::new(41.26)), "41.3 token/s");
}
