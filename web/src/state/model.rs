//! State of the Model view: its inputs (`asked`, `inputs`, `url`) and its results (`answer`). All modules are plain functions.

pub mod beside;
pub mod fields;
pub mod file_name;
pub mod geometry;
pub mod hub;
pub mod inputs;
pub mod link;
pub mod question;
pub mod refused;
pub mod roles;
pub mod stages;
pub mod tensors;
pub mod url;

pub mod answer;
pub mod curves;
pub mod figures;
pub mod fit;
pub mod host;
pub mod layers;
pub mod memory;
pub mod operators;
#[cfg(test)]
mod speed;
