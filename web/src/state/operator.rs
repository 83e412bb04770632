//! Kinds of operators and the numbers that each takes.

mod fields;

pub use fields::{Field, OperatorFault, allowed, read};

use calc_core::analysis::{FeedForwardShape, MoeShape, Operator};
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::gemm::GemmShape;
use calc_core::model_arch::Reach;

/// Typical number of tokens in prefill.
pub const PREFILL: u64 = 2048;
/// Typical number of cached tokens in decode.
const CONTEXT: u64 = 4096;

/// A kind of operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Op {
    /// A matrix product; with one token a matrix-vector product.
    #[default]
    Gemm,
    /// Attention over a KV cache.
    Attention,
    /// The MLP of a layer.
    FeedForward,
    /// Router and experts.
    MixtureOfExperts,
    /// Writes new keys and values to the KV cache.
    KvAppend,
    Norm,
}

impl Op {
    /// All kinds, in the order of the list.
    pub const ALL: [Self; 6] = [
        Self::Gemm,
        Self::Attention,
        Self::FeedForward,
        Self::MixtureOfExperts,
        Self::KvAppend,
        Self::Norm,
    ];

    /// Key in the address.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Gemm => "gemm",
            Self::Attention => "attention",
            Self::FeedForward => "ffn",
            Self::MixtureOfExperts => "moe",
            Self::KvAppend => "kv_append",
            Self::Norm => "norm",
        }
    }

    /// Label in the list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Gemm => "GEMM",
            Self::Attention => "Attention",
            Self::FeedForward => "Feed-forward",
            Self::MixtureOfExperts => "MoE",
            Self::KvAppend => "KV append",
            Self::Norm => "Norm",
        }
    }

    /// Number fields, in the order of the form.
    pub const fn fields(self) -> &'static [Field] {
        match self {
            Self::Gemm => &[Field::M, Field::N, Field::K],
            Self::Attention => &[
                Field::Batch,
                Field::New,
                Field::Cached,
                Field::Heads,
                Field::KvHeads,
                Field::HeadSize,
            ],
            Self::FeedForward => &[Field::Tokens, Field::Hidden, Field::Width],
            Self::MixtureOfExperts => &[
                Field::Tokens,
                Field::Hidden,
                Field::Experts,
                Field::PerToken,
                Field::ExpertWidth,
                Field::SharedWidth,
            ],
            Self::KvAppend => &[Field::Tokens, Field::KvHeads, Field::HeadSize],
            Self::Norm => &[Field::Tokens, Field::Hidden],
        }
    }

    /// The yes-or-no input; `None` if there is none.
    pub const fn switch(self) -> Option<Switch> {
        match self {
            Self::Attention => Some(Switch::Fused),
            Self::FeedForward | Self::MixtureOfExperts => Some(Switch::Gated),
            Self::Gemm | Self::KvAppend | Self::Norm => None,
        }
    }

    /// The field in which decode and prefill differ.
    pub const fn size(self) -> Field {
        match self {
            Self::Gemm => Field::M,
            Self::Attention => Field::New,
            Self::FeedForward | Self::MixtureOfExperts | Self::KvAppend | Self::Norm => {
                Field::Tokens
            }
        }
    }
}

/// Texts of all fields, and the yes-or-no inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    texts: Vec<String>,
    /// Attention keeps its scores on chip.
    pub fused: bool,
    /// The MLP is gated.
    pub gated: bool,
}

impl Default for Typed {
    fn default() -> Self {
        let texts = Field::ALL.iter().map(|field| field.usual().to_owned()).collect();
        Self { texts, fused: true, gated: true }
    }
}

impl Typed {
    /// The text of a field.
    pub fn text(&self, field: Field) -> &str {
        &self.texts[field as usize]
    }

    /// Replaces the text of a field.
    pub fn set(&mut self, field: Field, text: String) {
        self.texts[field as usize] = text;
    }

    /// The value of a field; `None` if it is invalid.
    pub fn number(&self, field: Field) -> Option<u64> {
        read(field, self.text(field)).ok()
    }

    /// The operator with its shape.
    ///
    /// # Errors
    /// Returns all fields of the operator that are invalid or contradict another one.
    pub fn operator(&self, op: Op) -> Result<Operator, Vec<OperatorFault>> {
        let read = op.fields().iter().map(|field| read(*field, self.text(*field)));
        let faults: Vec<OperatorFault> =
            read.filter_map(Result::err).chain(self.conflict(op)).collect();
        if faults.is_empty() { Ok(self.build(op)) } else { Err(faults) }
    }

    /// Error of a field, as a sentence.
    pub fn fault(&self, op: Op, field: Field) -> Option<String> {
        let conflict = || self.conflict(op).filter(|fault| fault.field == field);
        let fault = read(field, self.text(field)).err().or_else(conflict);
        fault.map(|fault| fault.text)
    }

    /// The first field that is valid by itself and contradicts another one.
    fn conflict(&self, op: Op) -> Option<OperatorFault> {
        match op {
            Op::Attention => {
                let (heads, groups) = (self.number(Field::Heads)?, self.number(Field::KvHeads)?);
                let text = format!("KV heads must divide the {heads} heads.");
                (heads % groups != 0).then_some(OperatorFault { field: Field::KvHeads, text })
            }
            Op::MixtureOfExperts => {
                let (all, used) = (self.number(Field::Experts)?, self.number(Field::PerToken)?);
                let text = format!("A token cannot use more than the {all} experts.");
                (used > all).then_some(OperatorFault { field: Field::PerToken, text })
            }
            Op::Gemm | Op::FeedForward | Op::KvAppend | Op::Norm => None,
        }
    }

    /// Builds the operator from valid fields.
    fn build(&self, op: Op) -> Operator {
        let number = |field| self.number(field).unwrap_or(1);
        let (tokens, hidden, gated) = (number(Field::Tokens), number(Field::Hidden), self.gated);
        match op {
            Op::Gemm => Operator::Gemm(GemmShape {
                m: number(Field::M),
                n: number(Field::N),
                k: number(Field::K),
            }),
            Op::Attention => Operator::Attention {
                shape: AttentionShape {
                    batch: number(Field::Batch),
                    heads: number(Field::Heads),
                    kv_heads: number(Field::KvHeads),
                    qk_dim: number(Field::HeadSize),
                    v_dim: number(Field::HeadSize),
                    new: number(Field::New),
                    cached: number(Field::Cached),
                    reach: Reach::All,
                },
                fused: self.fused,
            },
            Op::FeedForward => Operator::FeedForward(FeedForwardShape {
                tokens,
                hidden,
                intermediate: number(Field::Width),
                gated,
            }),
            Op::MixtureOfExperts => Operator::MixtureOfExperts(MoeShape {
                tokens,
                hidden,
                expert_width: number(Field::ExpertWidth),
                experts: number(Field::Experts),
                per_token: number(Field::PerToken),
                gated,
                shared_width: number(Field::SharedWidth),
            }),
            Op::KvAppend => Operator::KvAppend {
                elements: 2 * number(Field::KvHeads) * number(Field::HeadSize),
                tokens,
            },
            Op::Norm => Operator::Norm { tokens, hidden },
        }
    }

    /// Value of a yes-or-no input.
    pub const fn is_on(&self, switch: Switch) -> bool {
        match switch {
            Switch::Fused => self.fused,
            Switch::Gated => self.gated,
        }
    }

    /// Sets a yes-or-no input.
    pub const fn turn(&mut self, switch: Switch, on: bool) {
        match switch {
            Switch::Fused => self.fused = on,
            Switch::Gated => self.gated = on,
        }
    }

    /// The phase that the numbers are typical of.
    pub fn phase(&self, op: Op) -> Option<Phase> {
        match self.number(op.size())? {
            1 => Some(Phase::Decode),
            PREFILL => Some(Phase::Prefill),
            _ => None,
        }
    }

    /// Sets the numbers that are typical of a phase.
    pub fn set_phase(&mut self, op: Op, phase: Phase) {
        let (size, cached) = match phase {
            Phase::Decode => (1, CONTEXT),
            Phase::Prefill => (PREFILL, 0),
        };
        self.set(op.size(), size.to_string());
        if op == Op::Attention {
            self.set(Field::Cached, cached.to_string());
        }
    }
}

/// A yes-or-no input of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Attention keeps its scores on chip.
    Fused,
    /// The MLP is gated.
    Gated,
}

impl Switch {
    /// Element id in the document.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Fused => "fused",
            Self::Gated => "gated",
        }
    }

    /// Label in the form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fused => "fused: scores stay on the chip",
            Self::Gated => "with a gate, as SwiGLU",
        }
    }
}

/// The two phases of inference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// One token at a time.
    Decode,
    /// The whole prompt.
    Prefill,
}

impl Phase {
    /// Both phases, in the order of the list.
    pub const ALL: [Self; 2] = [Self::Decode, Self::Prefill];

    /// Label in the form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::Prefill => "prefill",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_begins_with_a_valid_shape() {
        for op in Op::ALL {
            assert!(Typed::default().operator(op).is_ok(), "{op:?}");
            assert!(op.fields().contains(&op.size()), "{op:?}");
        }
    }

    fn faults(op: Op, changes: &[(Field, &str)]) -> Vec<(Field, String)> {
        let mut typed = Typed::default();
        for (field, text) in changes {
            typed.set(*field, (*text).to_owned());
        }
        let faults = typed.operator(op).expect_err("refused");
        faults.into_iter().map(|fault| (fault.field, fault.text)).collect()
    }

    #[test]
    fn every_wrong_field_is_named_with_what_is_allowed() {
        let found = faults(Op::Gemm, &[(Field::M, "x"), (Field::K, "0")]);
        assert_eq!(found.iter().map(|(field, _)| *field).collect::<Vec<_>>(), [Field::M, Field::K]);
        assert!(found[0].1.starts_with("M must be a whole number from 1 to 1"), "{found:?}");
        assert!(faults(Op::Attention, &[(Field::Cached, "-1")])[0].1.contains("from 0 to"));
    }

    #[test]
    fn numbers_that_do_not_go_together_are_named() {
        let found = faults(Op::Attention, &[(Field::KvHeads, "5")]);
        assert_eq!(found, [(Field::KvHeads, "KV heads must divide the 32 heads.".to_owned())]);
        assert_eq!(faults(Op::MixtureOfExperts, &[(Field::PerToken, "9")])[0].0, Field::PerToken);
    }

    #[test]
    fn a_field_of_another_operator_does_not_matter() {
        let mut typed = Typed::default();
        typed.set(Field::Cached, "x".to_owned());
        assert!(typed.operator(Op::Gemm).is_ok() && typed.operator(Op::Attention).is_err());
    }

    #[test]
    fn phases_set_what_they_are_read_from() {
        for op in Op::ALL {
            for phase in Phase::ALL {
                let mut typed = Typed::default();
                typed.set_phase(op, phase);
                assert_eq!(typed.phase(op), Some(phase), "{op:?}");
            }
        }
    }
}
