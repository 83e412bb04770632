//! Number fields of the operators: labels, defaults and ranges.

use calc_core::analysis::{MAX_DIMENSION, MAX_EXPERTS};
use calc_core::workload::{MAX_BATCH, MAX_TOKENS};
use report::input::number_input;
use report::number_text;
use report::output::address::key;

/// Largest head size, and most heads.
const MAX_HEAD: u64 = 65_536;

macro_rules! fields {
    ($($field:ident $id:path, $name:literal $meaning:literal $usual:literal $range:expr,)*) => {
        /// A field that takes a number.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Field {
            $(#[doc = $name] $field,)*
        }

        impl Field {
            /// All fields, in the order of the address.
            pub const ALL: &'static [Self] = &[$(Self::$field,)*];

            /// Id in the document, and key in the address.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$field => $id,)* }
            }

            /// Label in the form.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$field => $name,)* }
            }

            /// The counted thing, or a remark in its place; may be empty.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$field => $meaning,)* }
            }

            /// Default text.
            pub const fn usual(self) -> &'static str {
                match self { $(Self::$field => $usual,)* }
            }

            /// Smallest and largest value.
            pub const fn range(self) -> (u64, u64) {
                match self { $(Self::$field => $range,)* }
            }
        }
    };
}

// The defaults are those of Llama-3.1-8B, and of Mixtral 8x7B for the experts.
fields! {
    M key::M, "M" "tokens" "1" (1, MAX_DIMENSION),
    N key::N, "N" "outputs" "4096" (1, MAX_DIMENSION),
    K key::K, "K" "inputs" "4096" (1, MAX_DIMENSION),
    Tokens key::TOKENS, "Tokens" "in the step" "1" (1, MAX_DIMENSION),
    Batch key::ATTENTION_BATCH, "Batch" "sequences" "1" (1, MAX_BATCH),
    New key::ATTENTION_NEW, "New" "tokens each" "1" (1, MAX_TOKENS),
    Cached key::ATTENTION_CACHED, "Cached" "tokens each" "4096" (0, MAX_TOKENS),
    Heads key::HEADS, "Heads" "" "32" (1, MAX_HEAD),
    KvHeads key::KV_HEADS, "KV heads" "" "8" (1, MAX_HEAD),
    HeadSize key::HEAD_SIZE, "Head size" "" "128" (1, MAX_HEAD),
    Hidden key::HIDDEN, "Hidden" "size" "4096" (1, MAX_DIMENSION),
    Width key::WIDTH, "Intermediate" "" "14336" (1, MAX_DIMENSION),
    Experts key::OPERATOR_EXPERTS, "Experts" "" "8" (1, MAX_EXPERTS),
    PerToken key::PER_TOKEN, "Used" "per token" "2" (1, MAX_EXPERTS),
    ExpertWidth key::EXPERT_WIDTH, "Expert" "width" "14336" (1, MAX_DIMENSION),
    SharedWidth key::SHARED_WIDTH, "Shared" "width" "0" (0, MAX_DIMENSION),
}

/// An invalid field, with the allowed values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorFault {
    pub field: Field,
    /// The error as a sentence.
    pub text: String,
}

/// Parses a field.
///
/// # Errors
/// Returns the allowed range as a sentence.
pub fn read(field: Field, typed: &str) -> Result<u64, OperatorFault> {
    let (min, max) = field.range();
    let value = number_input::count(typed).filter(|value| (min..=max).contains(value));
    value.ok_or_else(|| OperatorFault {
        field,
        text: format!("{} must be {}.", field.name(), allowed(field)),
    })
}

/// The allowed values of a field: `a whole number from 1 to 65 536`.
pub fn allowed(field: Field) -> String {
    let (min, max) = field.range();
    format!("a whole number from {min} to {}", number_text::count(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_keys_are_unique() {
        let ids: Vec<&str> = Field::ALL.iter().map(|field| field.id()).collect();
        for (index, id) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(id), "{id}");
        }
        assert_eq!(Field::ALL[Field::SharedWidth as usize], Field::SharedWidth);
    }
}
