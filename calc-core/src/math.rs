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
