//! Every layout's bytes equal those that public packages write; the file of golden bytes names them.

use std::collections::BTreeMap;

use kernels::pack::minifloat::{E4M3, E5M2};
use kernels::pack::{Layout, Packed};

const GOLDEN: &str = include_str!("golden/packed.txt");

fn golden() -> BTreeMap<(&'static str, &'static str), Vec<u8>> {
    GOLDEN
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut words = line.split(' ');
            let mut word = || words.next().expect("three words per line");
            let key = (word(), word());
            (key, from_hex(word()))
        })
        .collect()
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2).map(|pair| str::from_utf8(pair).expect("digits"));
    digits.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal")).collect()
}

/// The weights of the golden file.
fn weights() -> Vec<f32> {
    (0..256_u16)
        .map(|i| {
            let wide = u32::from(i);
            let number = (wide * wide * 7 + wide * 13 + 5) % 257;
            (number as f32 - 128.0) / f32::from(32_u16 << (i / 32 % 4))
        })
        .collect()
}

#[test]
fn every_byte_of_every_layout_is_as_the_packages_write_it() {
    let golden = golden();
    let weights = weights();
    for layout in Layout::ALL {
        let packed = Packed::encode(layout, &weights, 256).unwrap();
        let planes = packed.row(0);
        let tensor_scale = packed.tensor_scale().to_le_bytes();
        let mut compared = 0;
        for (plane, bytes) in [
            ("codes", planes.codes),
            ("scales", planes.scales),
            ("zeros", planes.zeros),
            ("tensor", &tensor_scale),
        ] {
            if let Some(expected) = golden.get(&(layout.key(), plane)) {
                let differ = bytes.iter().zip(expected).position(|(got, expected)| got != expected);
                assert_eq!(differ, None, "first byte that differs in the {plane} of {layout:?}");
                assert_eq!(bytes.len(), expected.len(), "{plane} of {layout:?}");
                compared += bytes.len();
            }
        }
        // FP32 needs no golden bytes.
        assert!(compared >= packed.bytes() || layout == Layout::Fp32, "{layout:?}: {compared} B");
    }
}

#[test]
fn a_byte_that_differs_is_noticed() {
    let golden = golden();
    let mut weights = weights();
    weights[200] *= 2.0;
    for layout in Layout::ALL.into_iter().filter(|layout| *layout != Layout::Fp32) {
        let packed = Packed::encode(layout, &weights, 256).unwrap();
        assert_ne!(packed.row(0).codes, golden[&(layout.key(), "codes")], "{layout:?}");
    }
}

#[test]
fn every_code_of_fp8_has_the_value_that_ml_dtypes_gives_it() {
    let golden = golden();
    for (key, float) in [("e4m3", E4M3), ("e5m2", E5M2)] {
        let values = golden[&(key, "values")].as_chunks().0.iter().copied().map(f32::from_le_bytes);
        for (code, expected) in (0..=u8::MAX).zip(values) {
            let got = float.decode(code);
            let same = got.to_bits() == expected.to_bits() || got.is_nan() && expected.is_nan();
            assert!(same, "{key} {code:#x}: {got}, not {expected}");
        }
    }
}
