//! The page inside this program, if it was built with the feature `page`; the build script has put its files here.

use super::coding::Coding;

/// A file of the page.
#[derive(Debug)]
pub(crate) struct File {
    /// The path in the page's folder.
    pub(crate) name: &'static str,
    /// The tag of the content without a coding.
    pub(crate) tag: &'static str,
    /// Brotli and gzip, where they are smaller than the content; without a coding only where gzip is not smaller.
    pub(crate) forms: &'static [Stored],
}

/// A file in one coding.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) coding: Coding,
    pub(crate) tag: &'static str,
    pub(crate) bytes: &'static [u8],
}

impl File {
    /// The stored form of a coding.
    pub(crate) fn stored(&self, coding: Coding) -> Option<&'static Stored> {
        self.forms.iter().find(|form| form.coding == coding)
    }
}

/// The page that a release carries.
pub(crate) static PAGE: Option<&[File]> = include!(concat!(env!("OUT_DIR"), "/page.rs"));
