//! Long or statistical tests, run by `cargo xtask soak`: the comparison of proofs (T13), many clients for ten minutes (L1,
//! shorter with `RIDGEPOINT_SOAK_S`), a connection that is silent for longer than its limit (C03),
//! the effect of subscribers on a measurement (L4), the cost of readings.

mod comparison;
mod cost;
mod load;
mod perturbation;
