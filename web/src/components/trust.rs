//! The Trust view: published measurements against their predictions.

pub mod error_table;
pub mod filters;
pub mod row_table;
pub mod scatter_chart;
pub mod view;
pub mod wrong;
