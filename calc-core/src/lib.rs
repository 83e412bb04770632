//! The analytic model of LLM inference: work, traffic, roofline times and expected times, computed from theory.
//!
//! Everything is `f64` in SI base units; a multiply-add counts 2 FLOP; GB is 10^9 bytes; "bytes" are DRAM traffic; peaks
//! are dense. There is no I/O here, no clock, and no text for people: message texts are in the crate `report`.
//!
//! Start at [`analysis::analyze`] for one operator and [`estimate::estimate`] for a model; the data are in [`catalog`].

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod energy;
pub mod error;
pub mod math;
pub mod provenance;
pub mod text;
pub mod units;

pub mod catalog;
pub mod device;
pub mod hf_config;
pub mod mixture;
pub mod model_arch;
pub mod quant_format;

pub mod analysis;
pub mod calibration;
pub mod check;
pub mod compare;
pub mod cost;
pub mod estimate;
pub mod expected;
pub mod explore;
pub mod footprint;
pub mod gguf_file;
pub mod image;
pub mod lowering;
pub mod op;
pub mod order;
pub mod parallel;
pub mod plan;
pub mod precision;
pub mod quality;
pub mod recommend;
pub mod roofline;
pub mod schedule;
pub mod scheme;
pub mod software;
pub mod tiers;
pub mod tiling;
pub mod weight_size;
pub mod workload;
