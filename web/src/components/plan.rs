//! Components of the Plan view.

pub mod view;

pub mod cards;
pub mod fields;
pub mod inspector;
pub mod scenario;
pub mod scheme_chart;
pub mod scheme_field;
pub mod scheme_table;
pub mod tabs;
