//! Sentences about an import: assumed fields, and parts of the file that are left out or rounded.

use calc_core::hf_config::{AssumedField, AssumedValue, AssumedWhy, Remark, StoredPart};

use crate::number_text;

/// Names of the field that holds the data type of the stored weights.
const DATA_TYPE: [&str; 2] = ["torch_dtype", "dtype"];

/// The assumed data type of the stored weights, if the file names none.
pub fn data_type_field(assumed: &[AssumedField]) -> Option<&AssumedField> {
    assumed.iter().find(|field| DATA_TYPE.contains(&&*field.field))
}

/// Number of names in a note; a file with more of them says how many.
const NAMED: usize = 6;

/// Notes that come before all others: what may make the memory of an import wrong.
pub fn first_notes(source: &str, assumed: &[AssumedField]) -> Vec<String> {
    let of = |why| assumed.iter().filter(move |field| field.why == why);
    let sizes: Vec<String> = of(AssumedWhy::ClassSize)
        .map(|field| format!("{} ({})", field.field, value_text(field.value)))
        .collect();
    let sizes = (!sizes.is_empty()).then(|| {
        format!(
            "the model file does not state {}: these are the defaults of its class, and a file that lost the keys is of \
             another model",
            listed(&sizes)
        )
    });
    let numbers: Vec<String> = of(AssumedWhy::NotRead)
        .map(|field| format!("{} = {}", field.field, value_text(field.value)))
        .collect();
    let is_guess = of(AssumedWhy::Guessed).next().is_some();
    let unread_numbers = (!is_guess && !numbers.is_empty()).then(|| {
        format!(
            "the model file states {}, which no rule here reads: if it is a size of the model, memory and times are wrong; take \
             it out if it changes nothing",
            listed(&numbers)
        )
    });
    let guess = is_guess.then(|| {
        let is_number = |field: &&AssumedField| {
            of(AssumedWhy::NotRead).any(|number| number.field == field.field)
        };
        let unread = assumed.iter().filter(|field| field.value == AssumedValue::NotRead);
        let unread = unread.filter(|field| !is_number(field));
        let unread: Vec<String> =
            numbers.iter().cloned().chain(unread.map(|field| field.field.to_string())).collect();
        let unread =
            if unread.is_empty() { String::new() } else { format!("; not read: {}", listed(&unread)) };
        format!(
            "{source} is of no family that is known here: its layers are guessed, and memory and times may be wrong{unread}"
        )
    });
    guess.into_iter().chain(unread_numbers).chain(sizes).collect()
}

fn listed(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let first = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// Notes on the fields that an import assumed, left out or rounded.
pub fn import_notes(assumed: &[AssumedField], remarks: &[Remark]) -> Vec<String> {
    assumed_fields(assumed).into_iter().chain(remarks.iter().map(remark_text)).collect()
}

/// One assumed field: "head_dim = 128 (default of the family)".
pub fn assumed_text(field: &AssumedField) -> String {
    let why = match field.why {
        AssumedWhy::FamilyDefault => "default of the family",
        AssumedWhy::ClassSize => "not in the file: default of its class",
        AssumedWhy::Guessed => "a guess: the architecture is unknown",
        AssumedWhy::UpperBound => "upper bound",
        AssumedWhy::NotRead => "in the file, and no rule reads it",
    };
    format!("{} = {} ({why})", field.field, value_text(field.value))
}

fn value_text(value: AssumedValue) -> String {
    match value {
        AssumedValue::Count(count) => count.to_string(),
        AssumedValue::Flag(flag) => flag.to_string(),
        AssumedValue::Word(word) => word.into(),
        AssumedValue::NotRead => "not read".into(),
    }
}

/// One sentence about a part of the file that an import leaves out or rounds.
pub fn remark_text(remark: &Remark) -> String {
    match remark {
        Remark::TowersNotCounted => {
            "the weights of a tower for images or sound, or of a part that speaks, are not counted, because their geometry is not \
             known: the memory is a lower bound"
                .into()
        }
        Remark::DraftLayersNotCounted { layers, parameters } => {
            let of = parameters.map_or_else(String::new, |parameters| {
                format!(", {} parameters,", number_text::count(parameters))
            });
            format!(
                "{layers} extra layers for multi-token prediction{of} are not counted: engines load them only for speculative \
                 decoding"
            )
        }
        Remark::OwnFormat { part, layers, of, format } => {
            let part = match part {
                StoredPart::Attention => "attention",
                StoredPart::Recurrent => "the recurrent part",
                StoredPart::Mlp => "the MLP",
                StoredPart::SharedMlp => "the shared MLP",
                StoredPart::Experts => "experts",
            };
            let layers = if layers == of { format!("all {of}") } else { format!("{layers} of {of}") };
            format!("{part} in {layers} layers is stored as {}, as the file lists it; memory counts it so", format.key)
        }
        Remark::ModulesUnclear => {
            "a list of modules in the quantization of the file is not clear here: what it may keep unquantized is counted so, and \
             memory is an upper bound"
                .into()
        }
        Remark::OtherHead { labels } => {
            let own = match labels {
                0 => return "the class of the file has no head for the next token: no LM head is counted".into(),
                1 => "one score".to_owned(),
                _ => format!("{labels} scores"),
            };
            format!(
                "the class of the file has a head with {own} in place of one for the next token: no LM head is counted; the head \
                 with {own} counts in memory and not in times"
            )
        }
        Remark::LmHeadQuantized => {
            "the file quantizes the LM head too; here it stays unquantized with the embedding".into()
        }
        Remark::BlockScalesNotCounted => "scales of weight blocks are not counted: under 0.01 bit per weight".into(),
        Remark::FormatByName { format } => {
            format!("by the name of the model its weights are taken as {}; name weights for another format", format.key)
        }
        Remark::NameSaysFormat { said, taken } => format!(
            "the name says {}, and the file states no quantization: the weights are taken as {}; name weights {}, or put \
             hf_quant_config.json beside the file",
            said.key, taken.key, said.key
        ),
        Remark::FormatRounded { bits, group, format } => {
            let group = group.map_or_else(|| "one scale per row".into(), |group| format!("groups of {group}"));
            format!("{bits} bits with {group} have no format of their own; {} is used instead", format.key)
        }
    }
}

/// The assumed fields without the data type, which has its own note.
fn assumed_fields(fields: &[AssumedField]) -> Option<String> {
    let others = fields
        .iter()
        .filter(|field| !DATA_TYPE.contains(&&*field.field) && field.why != AssumedWhy::NotRead);
    let list: Vec<String> = others.map(assumed_text).collect();
    (!list.is_empty())
        .then(|| format!("the model file leaves out, and the import assumes: {}", list.join("; ")))
}
