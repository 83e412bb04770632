//! Components of the Model view.

pub mod view;
pub mod weight_files;

pub mod drafter;
pub mod editor;
pub mod engine;
pub mod formats;
pub mod import;
pub mod inputs_panel;
pub mod link_field;
pub mod model_field;
pub mod number;

pub mod care;
pub mod curves_chart;
pub mod figures;
pub mod layers;
pub mod memory;
pub mod operator_chart;
pub mod operator_row;
pub mod operator_table;
pub mod tensors;

pub use super::model_context::ModelContext;
