//! Decimal digits of a number, exactly. The standard library computes them too, but its tables for the shortest text would add
//! some kilobytes to the page.

/// Decimal digits per limb.
const WIDTH: usize = 9;
/// Modulus of a limb, 10 to the power of `WIDTH`.
const BASE: u64 = 1_000_000_000;
/// A factor and its largest power that fits into 32 bits.
const TWOS: (u32, u32) = (2, 29);
const FIVES: (u32, u32) = (5, 13);

/// Number above zero: `digits` as ASCII with the point after the first, times ten to `exponent`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Digits {
    pub(super) digits: Vec<u8>,
    pub(super) exponent: i32,
}

impl Digits {
    /// All digits of a finite number above zero; a binary fraction has finitely many.
    pub(super) fn of(value: f64) -> Self {
        let bits = value.to_bits();
        let (field, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
        let mantissa = if field == 0 { fraction } else { fraction | 1 << 52 };
        let power = i32::try_from(field.max(1)).unwrap_or(0) - 1075;
        let mut limbs = Vec::new(); // the lowest first
        let mut rest = mantissa;
        while rest > 0 {
            limbs.push(rest % BASE);
            rest /= BASE;
        }
        // A number of n binary places has n decimal places: x / 2^n = x · 5^n / 10^n.
        multiply(&mut limbs, if power < 0 { FIVES } else { TWOS }, power.unsigned_abs());
        let mut digits: Vec<u8> = Vec::new();
        for limb in limbs.iter().rev() {
            let mut scale = BASE / 10;
            for _ in 0..WIDTH {
                digits.push(b'0' + u8::try_from(limb / scale % 10).unwrap_or(0));
                scale = (scale / 10).max(1);
            }
        }
        let leading = digits.iter().take_while(|digit| **digit == b'0').count();
        digits.drain(..leading);
        let length = i32::try_from(digits.len()).unwrap_or(i32::MAX);
        Self { digits, exponent: length - 1 + power.min(0) }
    }

    /// Rounded to `count` digits, ties to even.
    pub(super) fn rounded(mut self, count: usize) -> Self {
        if self.digits.len() <= count {
            self.digits.resize(count, b'0');
            return self;
        }
        let rest = self.digits.split_off(count);
        let is_odd = self.digits.last().is_some_and(|digit| digit % 2 == 1);
        let is_up = match rest[0] {
            b'5' => is_odd || rest[1..].iter().any(|digit| *digit != b'0'),
            first => first > b'5',
        };
        if is_up {
            self.increment();
        }
        self
    }

    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                return;
            }
            *digit = b'0';
        }
        // All digits were nines.
        if let Some(first) = self.digits.first_mut() {
            *first = b'1';
        }
        self.exponent += 1;
    }
}

/// Multiplies by a factor raised to `times`, `most` of them at once.
fn multiply(limbs: &mut Vec<u64>, (factor, most): (u32, u32), times: u32) {
    let mut left = times;
    while left > 0 {
        let now = left.min(most);
        let by = u64::from(factor.pow(now));
        let mut carry = 0;
        for limb in limbs.iter_mut() {
            let product = *limb * by + carry;
            *limb = product % BASE;
            carry = product / BASE;
        }
        while carry > 0 {
            limbs.push(carry % BASE);
            carry /= BASE;
        }
        left -= now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scientific(value: f64, count: usize) -> String {
        let Digits { digits, exponent } = Digits::of(value).rounded(count);
        let text = String::from_utf8(digits).expect("digits");
        let (first, rest) = text.split_at(1);
        let point = if rest.is_empty() { "" } else { "." };
        format!("{first}{point}{rest}e{exponent}")
    }

    #[test]
    fn ties_and_extremes_are_as_in_the_standard_library() {
        let values = [
            1.0,
            0.5,
            2.5,
            3.5,
            0.125,
            0.375,
            1.125,
            1.375,
            9.5,
            99.5,
            9.995,
            999.5,
            1e23,
            0.1,
            f64::MAX,
            f64::MIN_POSITIVE,
            5e-324,
            1e-320,
            4_503_599_627_370_497.0,
            1e300,
            1e15,
        ];
        for value in values {
            for count in 1..18 {
                assert_eq!(scientific(value, count), format!("{value:.*e}", count - 1));
            }
        }
    }

    proptest! {
        #[test]
        fn every_number_is_as_in_the_standard_library(bits in 1..0x7ff0_0000_0000_0000_u64, count in 1_usize..18) {
            let value = f64::from_bits(bits);
            prop_assert_eq!(scientific(value, count), format!("{value:.*e}", count - 1));
        }

        #[test]
        fn short_fractions_are_as_in_the_standard_library(whole in 1_u32..100_000, halvings in 0_u32..12, count in 1_usize..7) {
            let value = f64::from(whole) / f64::from(1_u32 << halvings);
            prop_assert_eq!(scientific(value, count), format!("{value:.*e}", count - 1));
        }
    }
}
