//! Floats of 8 and 4 bits: E4M3, E5M2, E2M1, and the power of two E8M0.
//!
//! Rounding is to nearest, ties to the even code. Finite values beyond the largest saturate, as in quantizers.

/// A float of up to 8 bits; its highest bit is the sign.
#[derive(Debug, Clone, Copy)]
pub struct Minifloat {
    mantissa_bits: u32,
    bias: u32,
    sign: u8,
    max: f32,
    nan: Option<u8>,
    infinity: Option<u8>,
}

/// OCP FP8 E4M3: no infinity, largest 448.
pub const E4M3: Minifloat = Minifloat {
    mantissa_bits: 3,
    bias: 7,
    sign: 0x80,
    max: 448.0,
    nan: Some(0x7f),
    infinity: None,
};

/// OCP FP8 E5M2: an infinity, largest 57344.
pub const E5M2: Minifloat = Minifloat {
    mantissa_bits: 2,
    bias: 15,
    sign: 0x80,
    max: 57_344.0,
    nan: Some(0x7e),
    infinity: Some(0x7c),
};

/// OCP FP4 E2M1: neither infinity nor NaN; 0, 0.5, 1, 1.5, 2, 3, 4, 6.
pub const E2M1: Minifloat =
    Minifloat { mantissa_bits: 1, bias: 1, sign: 0x8, max: 6.0, nan: None, infinity: None };

/// A code of [`E4M3`], as a KV cache or a table of embeddings holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Fp8(pub u8);

impl Minifloat {
    /// The largest finite value.
    pub const fn max(self) -> f32 {
        self.max
    }

    /// Code of a value. NaN becomes the NaN code, or zero where the format has none.
    pub fn encode(self, value: f32) -> u8 {
        if value.is_nan() {
            return self.nan.unwrap_or(0);
        }
        let sign = if value.is_sign_negative() { self.sign } else { 0 };
        sign | self.encode_magnitude(value.abs())
    }

    fn encode_magnitude(self, value: f32) -> u8 {
        if let (true, Some(code)) = (value.is_infinite(), self.infinity) {
            return code;
        }
        let bits = value.min(self.max).to_bits();
        let dropped = 23 - self.mantissa_bits;
        let smallest_normal = 128 - self.bias;
        let code = if bits >> 23 >= smallest_normal {
            let half_less = (1 << (dropped - 1)) - 1 + ((bits >> dropped) & 1);
            ((bits + half_less) >> dropped) - ((127 - self.bias) << self.mantissa_bits)
        } else {
            self.subnormal_code(value)
        };
        u8::try_from(code).expect("a value up to the largest has a code of a byte")
    }

    /// Rounds to steps of the smallest subnormal by an addition: at 2²³ the step of an f32 is 1.
    fn subnormal_code(self, value: f32) -> u32 {
        let per_unit = f32::from_bits((126 + self.bias + self.mantissa_bits) << 23);
        let at_one = f32::from_bits(150 << 23);
        (value * per_unit + at_one).to_bits() - at_one.to_bits()
    }

    /// Value of a code.
    pub fn decode(self, code: u8) -> f32 {
        let magnitude = code & (self.sign - 1);
        let value = self.decode_magnitude(magnitude);
        if code & self.sign == 0 { value } else { -value }
    }

    fn decode_magnitude(self, code: u8) -> f32 {
        if self.infinity == Some(code) {
            return f32::INFINITY;
        }
        if self.infinity.or(self.nan).is_some_and(|special| code >= special) {
            return f32::NAN;
        }
        let bits = u32::from(code);
        let mantissa = bits & ((1 << self.mantissa_bits) - 1);
        let exponent = (bits >> self.mantissa_bits).max(1) + 127 - self.bias;
        let normal = if bits >> self.mantissa_bits == 0 { 0 } else { 1 << self.mantissa_bits };
        let unit = f32::from_bits((exponent - self.mantissa_bits) << 23);
        (normal + mantissa) as f32 * unit
    }
}

/// E8M0 code for a block: floor(log₂ largest) − 2, which scales the largest into E2M1's 4 … 8; at least 0.
pub fn e8m0_for(largest: f32) -> u8 {
    let exponent = largest.abs().to_bits() >> 23;
    u8::try_from(exponent.saturating_sub(2)).unwrap_or(u8::MAX)
}

/// Value of an E8M0 code, 2^(code − 127); the highest code is NaN.
pub fn e8m0(code: u8) -> f32 {
    match code {
        0 => f32::from_bits(0x0040_0000),
        u8::MAX => f32::NAN,
        _ => f32::from_bits(u32::from(code) << 23),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(got: f32, expected: f32) {
        assert_eq!(got.to_bits(), expected.to_bits(), "{got}, not {expected}");
    }

    fn codes(float: Minifloat) -> Vec<u8> {
        (0..=float.sign | (float.sign - 1)).collect()
    }

    #[test]
    fn every_value_of_a_float_has_its_code_back() {
        for float in [E4M3, E5M2, E2M1] {
            for code in codes(float) {
                let value = float.decode(code);
                if !value.is_nan() {
                    assert_eq!(float.encode(value), code, "{value} of {float:?}");
                }
            }
        }
    }

    #[test]
    fn a_value_between_two_codes_goes_to_the_nearer_and_a_tie_to_the_even_one() {
        for float in [E4M3, E5M2, E2M1] {
            let top = float.encode(float.max);
            for code in 0..top {
                let (low, high) = (float.decode(code), float.decode(code + 1));
                let middle = low.midpoint(high);
                let even = if code % 2 == 0 { code } else { code + 1 };
                assert_eq!(float.encode(middle), even, "{middle} of {float:?}");
                assert_eq!(float.encode(middle.next_down()), code);
                assert_eq!(float.encode(middle.next_up()), code + 1);
                assert_eq!(float.encode(-middle), float.sign | even);
            }
        }
    }

    #[test]
    fn what_is_beyond_the_largest_saturates_and_the_specials_stay_special() {
        exact(E4M3.decode(E4M3.encode(1e9)), 448.0);
        exact(E4M3.decode(E4M3.encode(f32::INFINITY)), 448.0);
        exact(E5M2.decode(E5M2.encode(-1e9)), -57_344.0);
        exact(E5M2.decode(E5M2.encode(f32::NEG_INFINITY)), f32::NEG_INFINITY);
        assert!(E4M3.decode(E4M3.encode(f32::NAN)).is_nan());
        assert!(E5M2.decode(E5M2.encode(f32::NAN)).is_nan());
        exact(E2M1.decode(E2M1.encode(1e30)), 6.0);
        assert_eq!(E4M3.encode(-0.0), 0x80);
        assert_eq!(E4M3.encode(f32::from_bits(1)), 0);
    }

    /// Values listed in the OCP specifications: largest, smallest normal and subnormal of E4M3 and E5M2, and all of E2M1.
    #[test]
    fn known_codes_have_known_values() {
        for (float, code, value) in [
            (E4M3, 0x7e, 448.0),
            (E4M3, 0x08, 1.0 / 64.0),
            (E4M3, 0x01, 1.0 / 512.0),
            (E4M3, 0x38, 1.0),
            (E5M2, 0x7b, 57_344.0),
            (E5M2, 0x04, 1.0 / 16_384.0),
            (E5M2, 0x01, 1.0 / 65_536.0),
            (E5M2, 0x3c, 1.0),
        ] {
            exact(float.decode(code), value);
        }
        let e2m1: Vec<f32> = (0..8).map(|code| E2M1.decode(code)).collect();
        assert_eq!(e2m1, [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]);
    }

    #[test]
    fn the_power_of_two_puts_the_largest_between_four_and_eight() {
        for largest in [1.0, 1.99, 6.0, 1e-30, 3e38] {
            let scaled = largest / e8m0(e8m0_for(largest));
            assert!((4.0..8.0).contains(&scaled), "{largest} becomes {scaled}");
        }
        assert_eq!(e8m0_for(0.0), 0);
        assert!(e8m0(255).is_nan());
        assert!(e8m0(0) > 0.0);
    }
}
