//! Components of the Compare view, and the choices beside the scenario line that open it.

pub mod view;

pub mod bar;
pub mod chart;
pub mod choices;
pub mod table;
