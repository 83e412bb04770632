//! The page inside this program, if it was built with the feature `page`; the build script has put its files here.

/// Names and contents of the files of a page.
pub(crate) type Files = &'static [(&'static str, &'static [u8])];

/// The page that a release carries.
pub(crate) static PAGE: Option<Files> = include!(concat!(env!("OUT_DIR"), "/page.rs"));
