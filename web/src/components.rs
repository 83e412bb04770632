//! Components of the page, one per file. They hold no formulas: they show values that `state` derives.

pub mod basis_badge;
pub mod check;
pub mod chunk;
pub mod compare;
pub mod explore;
pub mod export_items;
pub mod export_menu;
pub mod fetched;
pub mod focus;
pub mod goal_fields;
pub mod header;
pub mod inputs_shell;
pub mod inspected;
pub mod inverse;
pub mod notes;

pub mod device_editor;
pub mod device_field;
pub mod edit_device;
pub mod measured_roofs;
pub mod number_field;
pub mod open_file;
pub mod picker;
pub mod picker_list;
pub mod power_mode_field;
pub mod slider;
pub mod stale;
pub mod startup;
pub mod switch_field;
pub mod table_frame;

pub mod mark_icon;
pub mod own_measurements;
pub mod plan;
pub mod scenario_line;

pub mod advice;
pub mod device_facts;

pub mod kernel;
pub mod measure;
pub mod model;
pub mod model_context;
pub mod trust;
pub mod view_later;
pub mod why_stale;

pub mod erased;

pub mod explained;
pub mod explanation;
pub mod key_dialog;
pub mod key_list;
