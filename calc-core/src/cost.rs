//! Work and DRAM traffic of each operator; each formula is written exactly once.
//! Everything else in the workspace that needs a FLOP or byte count calls these functions.

pub mod attention;
pub mod compression;
pub mod elementwise;
pub mod gemm;

pub mod mla;
pub mod moe;
pub mod recurrent;
