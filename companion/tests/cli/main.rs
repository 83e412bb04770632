//! The command line as a user sees it: the real binary, its stdout, its stderr and its exit code.
//! `UPDATE_GOLDEN=1` rewrites the golden files.

#[path = "../binary/mod.rs"]
mod binary;
mod run;

mod advice;
mod attach;
mod bad_input;
mod bench;
mod bench_sweep;
mod calibration;
mod devices;
mod doctor;
mod exit_codes;
mod files;
mod forms;
mod garbage;
mod golden;
mod irregular;
mod lines;
mod measured;
mod monitor;
mod serve;
mod sweep;
mod telemetry;
mod validate;
mod weight_files;
mod wire;
