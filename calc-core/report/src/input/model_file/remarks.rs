//! Sentences about an import: assumed fields, and parts of the file that are left out or rounded.

use calc_core::hf_config::{AssumedField, AssumedValue, AssumedWhy, Remark};

/// Names of the field that holds the data type of the stored weights.
const DATA_TYPE: [&str; 2] = ["torch_dtype", "dtype"];

/// The assumed data type of the stored weights, if the file names none.
pub fn data_type_field(assumed: &[AssumedField]) -> Option<&AssumedField> {
    assumed.iter().find(|field| DATA_TYPE.contains(&&*field.field))
}

/// Notes on the fields that an import assumed, left out or rounded.
pub fn import_notes(assumed: &[AssumedField], remarks: &[Remark]) -> Vec<String> {
    assumed_fields(assumed).into_iter().chain(remarks.iter().map(remark_text)).collect()
}

/// One assumed field: "head_dim = 128 (default of the family)".
pub fn assumed_text(field: &AssumedField) -> String {
    let value = match field.value {
        AssumedValue::Count(count) => count.to_string(),
        AssumedValue::Flag(flag) => flag.to_string(),
        AssumedValue::Word(word) => word.into(),
    };
    let why = match field.why {
        AssumedWhy::FamilyDefault => "default of the family",
        AssumedWhy::Guessed => "a guess: the architecture is unknown",
        AssumedWhy::UpperBound => "upper bound",
    };
    format!("{} = {value} ({why})", field.field)
}

/// One sentence about a part of the file that an import leaves out or rounds.
pub fn remark_text(remark: &Remark) -> String {
    match remark {
        Remark::TowersNotCounted => {
            "the weights of a tower for images or sound, or of a part that speaks, are not counted, because their geometry is not \
             known: the memory is a lower bound"
                .into()
        }
        Remark::DraftLayersNotCounted { layers } => {
            format!(
                "{layers} extra layers for multi-token prediction are not counted: engines load them only for speculative decoding"
            )
        }
        Remark::AttentionUnquantized => {
            "the file keeps attention unquantized; here all layers have its format, so weights are overestimated".into()
        }
        Remark::SharedMlpQuantized => "the file quantizes dense and shared MLPs too; here only the experts are, so weights \
             are overestimated"
            .into(),
        Remark::LmHeadQuantized => {
            "the file quantizes the LM head too; here it stays unquantized with the embedding".into()
        }
        Remark::BlockScalesNotCounted => "scales of weight blocks are not counted: under 0.01 bit per weight".into(),
        Remark::SeveralFormats { format } => {
            format!("the file has several formats: layers are counted in the largest, {}, experts in theirs", format.name)
        }
        Remark::FormatByName { format } => {
            format!("by the name of the model its weights are taken as {}; name weights for another format", format.key)
        }
        Remark::FormatRounded { bits, group, format } => {
            let group = group.map_or_else(|| "one scale per row".into(), |group| format!("groups of {group}"));
            format!("{bits} bits with {group} have no format of their own; {} is used instead", format.key)
        }
    }
}

/// The assumed fields without the data type, which has its own note.
fn assumed_fields(fields: &[AssumedField]) -> Option<String> {
    let others = fields.iter().filter(|field| !DATA_TYPE.contains(&&*field.field));
    let list: Vec<String> = others.map(assumed_text).collect();
    (!list.is_empty())
        .then(|| format!("the model file leaves out, and the import assumes: {}", list.join("; ")))
}
