//! Decimal numbers as typed, in integer arithmetic, so that 0.1 + 0.2 is 0.3 in a range.

/// The value `units` × 10^-`places`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) units: i128,
    /// Number of digits after the point.
    pub(super) places: u32,
}

/// Largest number of digits; sums and products of two such numbers do not overflow.
const MAX_DIGITS: usize = 18;

impl Decimal {
    /// Parses a number such as 4096, -1, 0.5 or 4_096; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().replace('_', "");
        let (negative, digits) =
            text.strip_prefix('-').map_or((false, text.as_str()), |digits| (true, digits));
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let all = format!("{whole}{part}");
        if whole.is_empty()
            || all.len() > MAX_DIGITS
            || !all.bytes().all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let units: i128 = all.parse().ok()?;
        Some(Self {
            units: if negative { -units } else { units },
            places: u32::try_from(part.len()).ok()?,
        })
    }

    /// The value as a count of 10^-places; `places` is at least its own number of places.
    pub(super) fn widened(self, places: u32) -> i128 {
        self.units * 10_i128.pow(places - self.places)
    }

    /// Decimal text without trailing zeros.
    pub(super) fn text(self) -> String {
        let sign = if self.units < 0 { "-" } else { "" };
        let places = self.places as usize;
        let digits = format!("{:0>width$}", self.units.unsigned_abs(), width = places + 1);
        let (whole, part) = digits.split_at(digits.len() - places);
        let part = part.trim_end_matches('0');
        if part.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_comes_back_as_it_was() {
        for text in ["0", "4096", "-1", "0.5", "-0.25", "999999999999999999"] {
            assert_eq!(Decimal::parse(text).expect(text).text(), text);
        }
        assert_eq!(Decimal::parse("1.50").expect("number").text(), "1.5");
        for text in ["", "-", ".", ".5", "1e3", "1.2.3", "x", "9999999999999999999", "+1", "٣"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }
}
