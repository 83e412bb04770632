//! Classes of known families whose head does not predict the next token: scores of labels, or none.

use super::Remark;
use super::family::Family;
use super::reader::Reader;
use crate::model_arch::{MAX_COUNT, ModelArch};

/// The head of a class that does not predict the next token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OtherHead {
    None,
    Scores {
        /// Number of labels where the file does not state it.
        usual: u64,
        /// A hidden layer before the scores.
        has_hidden: bool,
    },
}

/// Replaces the head for the next token where the class has another one. The scores are counted with the vectors, as they are
/// not quantized.
pub(super) fn read(
    reader: &mut Reader<'_>,
    arch: &mut ModelArch,
    family: Option<Family>,
    class: &str,
) {
    let Some(head) = family.and_then(|family| of_class(family, class)) else { return };
    let labels = match head {
        OtherHead::None => 0,
        OtherHead::Scores { usual, has_hidden } => {
            let text = reader.text;
            let listed = text.id2label.value().map(|list| list.0);
            let labels =
                text.num_labels.value().copied().or(listed).unwrap_or(usual).min(MAX_COUNT);
            let biased = arch.hidden_size * (arch.hidden_size + 1) + labels;
            let hidden = if has_hidden { biased } else { 0 };
            arch.other_vectors += labels * arch.hidden_size + hidden;
            labels
        }
    };
    arch.tied_embeddings = true;
    arch.lm_head_bias = false;
    arch.has_head = false;
    reader.forget("tie_word_embeddings");
    reader.remarks.push(Remark::OtherHead { labels });
}

/// The other head of a class of a family; `None` for one for the next token, and for classes that are not known.
fn of_class(family: Family, class: &str) -> Option<OtherHead> {
    let mut stems = family.classes().iter().filter_map(|known| known.strip_suffix("ForCausalLM"));
    // The reward models of Qwen 2 have a hidden layer before the scores.
    let has_hidden = family == Family::Qwen2;
    Some(match stems.find_map(|stem| class.strip_prefix(stem))? {
        "Model" => OtherHead::None,
        "ForSequenceClassification" | "ForTokenClassification" => {
            OtherHead::Scores { usual: 2, has_hidden: false }
        }
        "ForRewardModel" => OtherHead::Scores { usual: 1, has_hidden },
        "ForProcessRewardModel" => OtherHead::Scores { usual: 2, has_hidden },
        _ => return None,
    })
}
