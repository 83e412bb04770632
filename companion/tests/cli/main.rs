//! The command line as a user sees it: the real binary, its stdout, its stderr and its exit code.
//! `UPDATE_GOLDEN=1` rewrites the golden files.

#[path = "../binary/mod.rs"]
mod binary;
mod run;

mod advice;
mod attach;
mod bad_input;
mod bench;
mod bench_diff;
mod bench_sweep;
mod calibration;
mod devices;
mod doctor;
mod exit_codes;
mod files;
mod forms;
mod garbage;
mod golden;
mod gpu_run;
mod held_lock;
mod irregular;
mod lines;
mod measured;
mod monitor;
mod notebook;
mod nvml;
mod serve;
mod sweep;
mod telemetry;
mod turn;
mod validate;
mod weight_files;
mod wire;
