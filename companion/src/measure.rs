//! Measuring on this machine: kernels do the work, this adds under which conditions, and makes a record of it.

pub(crate) mod calibration;
pub(crate) mod conditions;
pub(crate) mod device;
pub(crate) mod products;
pub(crate) mod record;
pub(crate) mod sensors;
