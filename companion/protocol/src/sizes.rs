//! Sizes of the kernels of a layer beside its products: names, usual values, ranges and rules, for command line, daemon and page.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use crate::bench::BenchKind;

/// A size of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub struct KernelSize {
    /// Name in orders and records.
    pub name: &'static str,
    /// Label of a field.
    pub label: &'static str,
    /// Value that a measurement has unless it is given.
    pub usual: u64,
    pub most: u64,
    /// Meaning, for the help of its flag.
    pub meaning: &'static str,
}

const fn size(
    name: &'static str,
    label: &'static str,
    usual: u64,
    meaning: &'static str,
) -> KernelSize {
    KernelSize { name, label, usual, most: MOST, meaning }
}

/// Largest size of any kind.
pub const MOST: u64 = 1_000_000_000;
/// Most elements of a head.
pub const MAX_HEAD_DIM: u64 = 1024;
/// Most rows of a table of embeddings: an index has 32 bits.
pub const MAX_VOCAB: u64 = u32::MAX as u64;

const TOKENS: KernelSize = size("tokens", "Tokens", 1, "Tokens");
const WIDTH: KernelSize = size("width", "Width", 4096, "Elements per token");
const HEAD_DIM: KernelSize =
    KernelSize { most: MAX_HEAD_DIM, ..size("head_dim", "Head size", 128, "Width of a head") };

static ATTENTION: [KernelSize; 6] = [
    size("batch", "Sequences", 1, "Sequences"),
    size("heads", "Query heads", 32, "Query heads"),
    size("kv_heads", "KV heads", 8, "Heads of keys and values; they divide the query heads"),
    HEAD_DIM,
    size("new", "New tokens", 1, "New tokens per sequence: one is decode, more are prefill"),
    size("context", "Context", 4096, "Tokens of a sequence, the new ones among them"),
];
static NORM: [KernelSize; 2] = [TOKENS, WIDTH];
static ROPE: [KernelSize; 3] =
    [TOKENS, size("heads", "Heads", 40, "Heads of queries and keys together"), HEAD_DIM];
static GATE: [KernelSize; 2] = [TOKENS, KernelSize { usual: 14_336, ..WIDTH }];
static EMBEDDING: [KernelSize; 3] = [
    TOKENS,
    WIDTH,
    KernelSize { most: MAX_VOCAB, ..size("vocab", "Vocabulary", 32_000, "Rows of the table") },
];

/// Sizes of a kernel to which a calibration is fitted: one varies, and the others are the usual ones.
#[derive(Debug, PartialEq, Eq)]
pub struct FittedSizes {
    pub kind: BenchKind,
    /// Name of the size that varies.
    pub varied: &'static str,
    pub fitted: [u64; 3],
    /// Value that tests the fit.
    pub held_out: u64,
}

/// Kernels of a layer that a calibration measures beside products.
pub const FITTED: [FittedSizes; 2] = [
    FittedSizes {
        kind: BenchKind::Attention,
        varied: "context",
        fitted: [512, 2048, 8192],
        held_out: 4096,
    },
    FittedSizes { kind: BenchKind::Norm, varied: "tokens", fitted: [1, 64, 2048], held_out: 256 },
];

/// Whether a calibration is fitted to a kernel of these sizes, so that it does not test the calibration.
pub fn is_fitted(kernel: &str, given: &BTreeMap<String, u64>) -> bool {
    let Some(of) = FITTED.iter().find(|of| of.kind.key() == kernel) else { return false };
    let fits = |size: &KernelSize, it: u64| {
        if size.name == of.varied { of.fitted.contains(&it) } else { it == size.usual }
    };
    sizes(of.kind).iter().all(|size| given.get(size.name).is_some_and(|it| fits(size, *it)))
}

/// The sizes of a kernel, in the order in which they are told; none for kernels of another kind.
pub fn sizes(kind: BenchKind) -> &'static [KernelSize] {
    match kind {
        BenchKind::Attention => &ATTENTION,
        BenchKind::Norm => &NORM,
        BenchKind::Rope => &ROPE,
        BenchKind::Gate => &GATE,
        BenchKind::Embedding => &EMBEDDING,
        BenchKind::Gemv
        | BenchKind::Gemm
        | BenchKind::Bandwidth
        | BenchKind::Flops
        | BenchKind::Roofs => &[],
    }
}

/// A size that is not possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizeFault {
    pub size: &'static KernelSize,
    pub value: u64,
    pub rule: SizeRule,
}

/// The rule that a size breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeRule {
    /// From 1 to the most of the size.
    Range,
    Even,
    /// The other size, with its value, is a multiple of it.
    Divides(&'static KernelSize, u64),
    /// It is at most the other size, with its value.
    AtMost(&'static KernelSize, u64),
}

/// The first size that is out of its range, or that contradicts another one; sizes without a value are left out.
pub fn fault(kind: BenchKind, of: &dyn Fn(&str) -> Option<u64>) -> Option<SizeFault> {
    let known = sizes(kind);
    let is_within = |size: &KernelSize, value: &u64| (1..=size.most).contains(value);
    let ranged = known.iter().find_map(|size| {
        let value = of(size.name).filter(|value| !is_within(size, value))?;
        Some(SizeFault { size, value, rule: SizeRule::Range })
    });
    ranged.or_else(|| {
        let at = |name| {
            let size = known.iter().find(|size| size.name == name)?;
            Some((size, of(name)?))
        };
        match kind {
            BenchKind::Attention => {
                divides(at("kv_heads"), at("heads")).or_else(|| at_most(at("new"), at("context")))
            }
            BenchKind::Rope => {
                let (size, value) = at("head_dim").filter(|(_, value)| !value.is_multiple_of(2))?;
                Some(SizeFault { size, value, rule: SizeRule::Even })
            }
            BenchKind::Embedding => at_most(at("tokens"), at("vocab")),
            BenchKind::Norm
            | BenchKind::Gate
            | BenchKind::Gemv
            | BenchKind::Gemm
            | BenchKind::Bandwidth
            | BenchKind::Flops
            | BenchKind::Roofs => None,
        }
    })
}

type Given = Option<(&'static KernelSize, u64)>;

fn divides(part: Given, whole: Given) -> Option<SizeFault> {
    let ((size, value), (other, of)) = (part?, whole?);
    let rule = SizeRule::Divides(other, of);
    (!of.is_multiple_of(value)).then_some(SizeFault { size, value, rule })
}

fn at_most(less: Given, more: Given) -> Option<SizeFault> {
    let ((size, value), (other, of)) = (less?, more?);
    (value > of).then_some(SizeFault { size, value, rule: SizeRule::AtMost(other, of) })
}

impl SizeFault {
    /// The rule as a sentence without its full stop, with names and numbers as the reader knows them.
    pub fn sentence(
        &self,
        name: fn(&KernelSize) -> &'static str,
        number: fn(u64) -> String,
    ) -> String {
        let Self { size, value, rule } = *self;
        let (this, got) = (name(size), number(value));
        match rule {
            SizeRule::Range => {
                format!("{this} must be a whole number from 1 to {}; got {got}", number(size.most))
            }
            SizeRule::Even => format!("{this} must be even, to be rotated; got {got}"),
            SizeRule::Divides(other, of) => {
                format!(
                    "{} must be a multiple of {this}; got {} and {got}",
                    name(other),
                    number(of)
                )
            }
            SizeRule::AtMost(other, of) => {
                format!("{this} must be at most {}; got {got} and {}", name(other), number(of))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn found(kind: BenchKind, changed: (&str, u64)) -> Option<String> {
        let of = |name: &str| {
            let usual = sizes(kind).iter().find(|size| size.name == name).map(|size| size.usual);
            if name == changed.0 { Some(changed.1) } else { usual }
        };
        fault(kind, &of).map(|fault| fault.sentence(|size| size.name, |value| value.to_string()))
    }

    #[test]
    fn the_usual_sizes_are_possible_and_only_kernels_of_a_layer_have_some() {
        for kind in BenchKind::ALL {
            assert_eq!(kind.has_sizes(), !sizes(kind).is_empty(), "{kind:?}");
            assert_eq!(found(kind, ("", 0)), None, "{kind:?}");
        }
    }

    #[test]
    fn every_rule_has_a_sentence() {
        for (kind, name, value, expected) in [
            (
                BenchKind::Attention,
                "heads",
                0,
                "heads must be a whole number from 1 to 1000000000; got 0",
            ),
            (
                BenchKind::Attention,
                "head_dim",
                1025,
                "head_dim must be a whole number from 1 to 1024; got 1025",
            ),
            (
                BenchKind::Attention,
                "kv_heads",
                5,
                "heads must be a multiple of kv_heads; got 32 and 5",
            ),
            (BenchKind::Attention, "new", 4097, "new must be at most context; got 4097 and 4096"),
            (BenchKind::Rope, "head_dim", 65, "head_dim must be even, to be rotated; got 65"),
            (
                BenchKind::Embedding,
                "tokens",
                32_001,
                "tokens must be at most vocab; got 32001 and 32000",
            ),
        ] {
            assert_eq!(found(kind, (name, value)).as_deref(), Some(expected));
        }
        assert_eq!(
            fault(BenchKind::Attention, &|name| (name == "heads").then_some(7)),
            None,
            "the others are not known"
        );
    }
}
