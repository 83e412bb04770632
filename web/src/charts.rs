//! Drawing of scenes on the browser's canvas.

mod backend;

pub mod canvas;
pub mod frame;
pub mod paper;
pub mod selection;
pub mod shown;
