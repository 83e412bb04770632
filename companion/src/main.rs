//! The `ridgepoint` binary.
fn main() {}
