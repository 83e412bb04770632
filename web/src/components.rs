//! Components of the page, one per file. They hold no formulas: they show values that `state` derives.

pub mod check;
pub mod explore;
pub mod export_items;
pub mod export_menu;
pub mod fetched;
pub mod focus;
pub mod goal_fields;
pub mod header;
pub mod inverse;
pub mod notes;

pub mod device_editor;
pub mod device_field;
pub mod edit_device;
pub mod inputs_panel;
pub mod number_field;
pub mod open_file;
pub mod operator_field;
pub mod picker;
pub mod picker_list;
pub mod power_mode_field;
pub mod presets;
pub mod switch_field;

pub mod format_row;
pub mod format_table;
pub mod mark_icon;
pub mod own_measurements;
pub mod own_points;
pub mod plan;
pub mod roofline_chart;
pub mod verdict;

pub mod advice;
pub mod device_facts;
pub mod limits;
pub mod limits_panel;
pub mod operator_advice;
pub mod show_work;

pub mod measure;
pub mod model;
pub mod trust;
pub mod view_later;

pub mod erased;

pub mod explained;
pub mod explanation;
pub mod key_dialog;
pub mod key_list;
