//! A model file that was refused while the page shows another model.

/// The last model file, if it was refused. It is no part of the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedFile {
    /// Name of the file, or of what was pasted or fetched.
    pub name: String,
    /// The reason, as a sentence.
    pub reason: String,
    /// Text of the file, if its unread keys can be taken at their upper bound.
    pub bounded: Option<String>,
}
