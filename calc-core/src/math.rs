//! The transcendental functions of the model, all through `libm`, so that native, browser and bare builds
//! give the same bits. Nothing else in the workspace names `libm`.

/// `x` to the power of `y`.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Logarithm to base 10.
pub fn log10(x: f64) -> f64 {
    libm::log10(x)
}

/// Natural logarithm.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// e to the power of `x`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Ten to the power of `x`. `libm::exp10` would bring a table of its own, 3 kB of every page.
pub fn exp10(x: f64) -> f64 {
    pow(10.0, x)
}

/// The next whole number at or above `x`.
pub fn ceil(x: f64) -> f64 {
    libm::ceil(x)
}

/// The next whole number at or below `x`.
pub fn floor(x: f64) -> f64 {
    libm::floor(x)
}

/// The nearest whole number, halves away from zero.
pub fn round(x: f64) -> f64 {
    libm::round(x)
}

/// The square root of `x`.
pub fn sqrt(x: f64) -> f64 {
    libm::sqrt(x)
}

/// The least number of that many significant digits that is not less than a positive one.
pub fn round_up(x: f64, digits: u32) -> f64 {
    directed(x, digits, ceil)
}

/// The largest number of that many significant digits that is not more than a positive one.
pub fn round_down(x: f64, digits: u32) -> f64 {
    directed(x, digits, floor)
}

fn directed(x: f64, digits: u32, toward: fn(f64) -> f64) -> f64 {
    let step = floor(log10(x)) + 1.0 - f64::from(digits);
    // Powers of ten below 1 are not exact, so small numbers are scaled up. A number that already has these digits stays.
    let scale = exp10(if step < 0.0 { -step } else { step });
    let scaled = if step < 0.0 { x * scale } else { x / scale };
    let nearest = round(scaled);
    let whole = if (scaled - nearest).abs() <= 1e-12 * scaled { nearest } else { toward(scaled) };
    if step < 0.0 { whole / scale } else { whole * scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directed_rounding_keeps_numbers_of_these_digits() {
        for (x, digits, down, up) in [
            (0.08663, 2, 0.086, 0.087),
            (0.043, 2, 0.043, 0.043),
            (5.6, 2, 5.6, 5.6),
            (56.3, 2, 56.0, 57.0),
            (123.0, 2, 120.0, 130.0),
            (29.7e9 + 1.0, 3, 29.7e9, 29.8e9),
            (99.99, 3, 99.9, 100.0),
        ] {
            let found = [round_down(x, digits), round_up(x, digits)];
            assert_eq!(found.map(f64::to_bits), [down, up].map(f64::to_bits), "{x}: {found:?}");
        }
    }
}
