//! The numbers that operators ask for: names, what they begin with, what is allowed.

use calc_core::analysis::{MAX_DIMENSION, MAX_EXPERTS};
use calc_core::workload::{MAX_BATCH, MAX_TOKENS};
use report::input::number_input;
use report::number_text;

/// Largest head, and most heads.
const MAX_HEAD: u64 = 65_536;

macro_rules! fields {
    ($($field:ident $id:literal $name:literal $meaning:literal $usual:literal $range:expr,)*) => {
        /// A field that takes a number.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Field {
            $(#[doc = $name] $field,)*
        }

        impl Field {
            /// All of them, in the order of the address.
            pub const ALL: &'static [Self] = &[$(Self::$field,)*];

            /// Its name in the document and in the address.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$field => $id,)* }
            }

            /// Its label.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$field => $name,)* }
            }

            /// What it counts.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$field => $meaning,)* }
            }

            /// What it begins with.
            pub const fn usual(self) -> &'static str {
                match self { $(Self::$field => $usual,)* }
            }

            /// Smallest and largest value.
            const fn range(self) -> (u64, u64) {
                match self { $(Self::$field => $range,)* }
            }
        }
    };
}

// The values to begin with are those of Llama-3.1-8B, and of Mixtral 8x7B for the experts.
fields! {
    M "m" "M" "tokens" "1" (1, MAX_DIMENSION),
    N "n" "N" "outputs" "4096" (1, MAX_DIMENSION),
    K "k" "K" "inputs" "4096" (1, MAX_DIMENSION),
    Tokens "t" "Tokens" "in the step" "1" (1, MAX_DIMENSION),
    Batch "ab" "Batch" "sequences" "1" (1, MAX_BATCH),
    New "an" "New" "tokens each" "1" (1, MAX_TOKENS),
    Cached "ac" "Cached" "tokens each" "4096" (0, MAX_TOKENS),
    Heads "ah" "Heads" "" "32" (1, MAX_HEAD),
    KvHeads "ag" "KV heads" "" "8" (1, MAX_HEAD),
    HeadSize "ad" "Head size" "" "128" (1, MAX_HEAD),
    Hidden "hs" "Hidden" "size" "4096" (1, MAX_DIMENSION),
    Width "iw" "Intermediate" "" "14336" (1, MAX_DIMENSION),
    Experts "xe" "Experts" "" "8" (1, MAX_EXPERTS),
    PerToken "xk" "Used" "per token" "2" (1, MAX_EXPERTS),
    ExpertWidth "xw" "Expert" "width" "14336" (1, MAX_DIMENSION),
    SharedWidth "xs" "Shared" "width" "0" (0, MAX_DIMENSION),
}

/// A field that cannot be read, with what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Which field.
    pub field: Field,
    /// What is wrong, as a sentence.
    pub text: String,
}

/// Reads a field.
///
/// # Errors
/// A sentence with the allowed range.
pub fn read(field: Field, typed: &str) -> Result<u64, Fault> {
    let (min, max) = field.range();
    let value = number_input::count(typed).filter(|value| (min..=max).contains(value));
    value.ok_or_else(|| Fault {
        field,
        text: format!("{} must be {}.", field.name(), allowed(field)),
    })
}

/// What a field takes: `a whole number from 1 to 65 536`.
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
