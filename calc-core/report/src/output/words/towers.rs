//! Sentences about towers for images and sound, images in a prompt, and layers for multi-token prediction.

use calc_core::estimate::Estimate;
use calc_core::footprint::weight_bytes;
use calc_core::image::ImageRule;
use calc_core::model_arch::{ModelArch, Tower, TowerKind};
use calc_core::plan::ImageEstimate;
use calc_core::recommend::{Drop, Dropped, Recommendation};
use calc_core::software::TowerStages;
use calc_core::units::Bytes;

use crate::input::request::{EstimateInputs, RecommendInputs, Subject};
use crate::number_text as n;
use crate::output::words::advice;
use crate::output::words::apply::engine_name;

/// The towers of a model in a few words: `vision, 0.42 B parameters in 16 bits`.
pub fn counted(arch: &ModelArch) -> String {
    let kinds: Vec<&str> = arch.towers.iter().map(|tower| kind(tower.kind)).collect();
    let size = if arch.towers.iter().any(|tower| tower.stored.is_some()) {
        "as the files have them".to_owned()
    } else {
        format!("{} parameters in 16 bits", n::count(arch.n_tower_params()))
    };
    format!("{}, {size}", kinds.join(" and "))
}

/// The kind of a tower in a word.
pub const fn kind(kind: TowerKind) -> &'static str {
    match kind {
        TowerKind::Vision => "vision",
        TowerKind::Audio => "audio",
    }
}

/// The images of a prompt: `2 of 1024 x 768 pixels, 1,036 tokens each; 512 tokens of text`.
pub fn images(inputs: &EstimateInputs, images: &ImageEstimate) -> String {
    let Some(asked) = inputs.asked_images else { return String::new() };
    let (size, work) = (asked.size, images.work);
    let parts = if work.tiles > 1 { format!(" in {} tiles", work.tiles) } else { String::new() };
    format!(
        "{} of {} x {} pixels, {} tokens each{parts}; {} tokens of text",
        images.count,
        size.width,
        size.height,
        n::count(work.tokens),
        n::count(inputs.text_tokens())
    )
}

/// Notes on the towers that are counted or left out, and on the tokens of images.
pub fn notes(inputs: &EstimateInputs) -> Vec<String> {
    let bytes = inputs.model.arch.tower_bytes();
    let counted = (bytes > Bytes::ZERO).then(|| {
        format!(
            "{} of towers for images or sound are in memory; “language model only” (language_model_only) leaves them out, as vLLM does \
             with its flag of that name and llama.cpp without an mmproj file",
            n::bytes(bytes)
        )
    });
    let left_out = inputs.language_model_only.then(|| {
        "towers for images and sound are left out, as the request asks: vLLM needs --language-model-only for it, llama.cpp no mmproj \
         file"
            .to_owned()
    });
    counted.into_iter().chain(left_out).chain(image_note(inputs)).collect()
}

/// Note on the devices of a pipeline that have the towers; `None` where all is on one device.
pub fn place(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let has_towers = inputs.model.arch.tower_bytes() > Bytes::ZERO;
    let stages = inputs.workload.parallel.pipeline.stages();
    let device = match TowerStages::of(answer.basis.engine) {
        TowerStages::First => "the device with the first layers has the towers",
        TowerStages::Last => "the device with the LM head has the towers",
        TowerStages::Each => {
            "each device with layers has the towers, and that with the first ones runs them"
        }
    };
    (has_towers && stages > 1)
        .then(|| format!("{device}, as {} loads them", engine_name(answer.basis.engine)))
}

/// The schemes that a ranking drops for want of memory and that fit without the towers; `None` where there are none, and where
/// prompts have images. Not every stage of a pipeline has the towers, so such a ranking is made again without them.
pub fn would_fit_without(inputs: &RecommendInputs, answer: &Recommendation) -> Option<String> {
    let Subject::Model(model) = &inputs.subject else { return None };
    let towers = model.model.arch.tower_bytes();
    if model.asked_images.is_some() || towers <= Bytes::ZERO {
        return None;
    }
    let short: Vec<&Dropped> =
        answer.dropped.iter().filter(|row| matches!(row.reason, Drop::Memory { .. })).collect();
    let without = match model.workload.parallel.pipeline.stages() {
        _ if short.is_empty() => return None,
        1 => None,
        _ => Some(without_towers(inputs)?),
    };
    let fits = |row: &&&Dropped| match (&without, &row.reason) {
        (Some(without), _) => !without.dropped.iter().any(|other| {
            other.scheme.key == row.scheme.key && matches!(other.reason, Drop::Memory { .. })
        }),
        (None, Drop::Memory { needs, limit }) => *needs <= *limit + towers,
        _ => false,
    };
    let fitting = short.iter().filter(fits);
    let names: Vec<String> = fitting.map(|row| advice::scheme_name(row.scheme)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "without the {} of towers for images or sound more schemes would fit: {}; “language model only” (language_model_only) leaves them out",
            n::bytes(towers),
            names.join(", ")
        )
    })
}

/// The ranking of the language model alone.
fn without_towers(inputs: &RecommendInputs) -> Option<Recommendation> {
    let mut inputs = inputs.clone();
    if let Subject::Model(model) = &mut inputs.subject {
        model.model.leave_towers_out();
    }
    inputs.recommend().ok()
}

/// Origin of the tokens of an image.
fn image_note(inputs: &EstimateInputs) -> Option<String> {
    let (arch, asked) = (&inputs.model.arch, inputs.asked_images?);
    let work = inputs.workload.images?.work();
    let rule = arch.vision_tower().map(|tower| tower.images);
    let by = match rule {
        _ if asked.stated_tokens.is_some() => "as the request states".to_owned(),
        Some(ImageRule::Area { least, most, .. }) => format!(
            "assumed from the usual processor, which scales an image to {} to {} pixels",
            n::count(least),
            n::count(most)
        ),
        Some(ImageRule::Rows { longest, .. }) => {
            format!("assumed from the usual processor, with a longest side of {longest} pixels")
        }
        Some(ImageRule::Budget { most, .. }) => {
            format!(
                "assumed from the usual processor, with at most {most} tokens and two around them"
            )
        }
        Some(ImageRule::Padded { most, .. }) => {
            format!("assumed from the usual processor, with at most {most} patches")
        }
        Some(
            ImageRule::Canvas { most, .. }
            | ImageRule::Tiles { most, .. }
            | ImageRule::Split { most, .. },
        ) => {
            format!("assumed from the usual processor, with at most {most} tiles")
        }
        Some(ImageRule::Crops { most, .. }) => {
            format!("assumed from the usual processor, with at most {most} crops")
        }
        Some(
            ImageRule::Grid { .. }
            | ImageRule::Fixed { .. }
            | ImageRule::Unpadded { .. }
            | ImageRule::View { .. }
            | ImageRule::Unknown { .. },
        )
        | None => "assumed from the usual processor".to_owned(),
    };
    let time = if arch.vision_tower().is_some_and(Tower::has_layers) {
        String::new()
    } else {
        "; the time of the encoder is not known and not in TTFT, which is a lower bound".to_owned()
    };
    Some(format!(
        "an image is {} tokens, {by}; image_tokens sets another number{time}",
        n::count(work.tokens)
    ))
}

/// Note on the layers for multi-token prediction that the weights have and this answer leaves out.
pub fn draft_layers(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let loaded = inputs.workload.speculation.is_some_and(|speculation| speculation.own_layers);
    let of_files = inputs.model.weight_bytes.is_some();
    let draft = inputs.model.arch.own_draft().filter(|_| !loaded && !of_files)?;
    let precision = &answer.precision;
    let tables = calc_core::footprint::table_bytes(&draft, precision);
    let layers = draft.draft_layers.max(1);
    let bytes = (weight_bytes(&draft, precision) - tables) * layers as f64;
    let (what, which) = if layers == 1 {
        ("a layer".to_owned(), "it")
    } else {
        (format!("{layers} layers"), "them")
    };
    Some(format!(
        "the weights also have {what} for multi-token prediction, {} in these formats, which engines load only to draft with \
         {which}: draft_model mtp with draft_tokens and acceptance",
        n::bytes(bytes)
    ))
}
