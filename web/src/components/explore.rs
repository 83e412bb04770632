//! The Explore view: the question, its fields, the chart, a point and the table.

pub mod chart;
pub mod fields;
pub mod files;
pub mod line;
pub mod link;
pub mod point;
pub mod run;
pub mod table;
pub mod view;
