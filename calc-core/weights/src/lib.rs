//! Weight files by their headers: GGUF and safetensors. Only the header is read, never a weight.
//!
//! [`read::read`] gives the tensors of one file, [`files::Weights`] joins the files of a model with bytes by role and type,
//! and [`geometry::config`] writes the metadata of a GGUF file with the names of a config.json.
//!
//! A caller that cannot block, as a page, asks [`read::parse`] with the bytes it has, and gets the header or the number of
//! bytes that it needs.

pub mod error;
pub mod files;
pub mod geometry;
pub mod gguf;
pub mod header;
pub mod metadata;
pub mod packing;
pub mod read;
pub mod role;
pub mod safetensors;
pub mod stored;
pub mod tensor;
