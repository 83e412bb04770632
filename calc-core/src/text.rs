//! Names and remarks: borrowed from the catalog tables, owned when they come from a user's file.

use alloc::borrow::Cow;

/// A name, key or remark.
pub type Text = Cow<'static, str>;
/// A list that is a static table in the catalog and owned in a custom file.
pub type List<T> = Cow<'static, [T]>;

/// Text of a catalog row.
pub const fn text(s: &'static str) -> Text {
    Cow::Borrowed(s)
}
