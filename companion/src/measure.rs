//! Measuring on this machine: `kernels` times, this module reads the conditions and writes the record.

pub(crate) mod abilities;
pub(crate) mod calibration;
pub(crate) mod conditions;
pub(crate) mod device;
pub(crate) mod gpus;
pub(crate) mod here;
pub(crate) mod layers;
pub(crate) mod machine;
pub(crate) mod process_tree;
pub(crate) mod products;
pub(crate) mod record;
pub(crate) mod roofs;
pub(crate) mod sensors;
pub(crate) mod steps;
pub(crate) mod turn;
