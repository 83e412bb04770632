//! Work and DRAM traffic of each operator: the formulas of record, each once.
//! Everything else in the workspace that needs a FLOP or byte count calls these.

pub mod attention;
pub mod elementwise;
pub mod gemm;
pub mod mamba;
pub mod mla;
pub mod moe;
