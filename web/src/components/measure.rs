//! The Measure view, loaded as a chunk of its own.

pub mod calibrate;
pub mod chart;
pub mod connect;
pub mod device_card;
pub mod history;
pub mod results;
pub mod running;
pub mod spot;
pub mod view;
