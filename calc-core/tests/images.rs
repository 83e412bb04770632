//! Towers and images: what they add to memory, prompt and time to first token. `docs/theory/towers.md`.

use calc_core::calibration::Calibration;
use calc_core::catalog::{self, devices, formats, models};
use calc_core::device::Device;
use calc_core::error::Error;
use calc_core::estimate::{Draft, Estimate, EstimateRequest, estimate};
use calc_core::image::{AskedImages, ImageRule, ImageSize, MAX_SIDE};
use calc_core::lowering::Images;
use calc_core::model_arch::ModelArch;
use calc_core::precision::PrecisionChoice;
use calc_core::workload::{Speculation, Workload};
use proptest::prelude::*;

const DOCS: &str = include_str!("../../docs/theory/towers.md");

/// [`MAX_SIDE`] in the type of a side.
const LONGEST: u32 = 65_536;

fn of(
    device: &Device,
    model: &ModelArch,
    draft: Option<&ModelArch>,
    workload: Workload,
) -> Result<Estimate, Error> {
    estimate(EstimateRequest {
        device,
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(&formats::BF16),
        workload,
        weight_size: None,
        draft: draft.map(|model| Draft { model, files: None }),
        host: None,
        cards: None,
        engine: None,
        calibration: &Calibration::FITTED,
    })
}

/// Models with a tower for images whose layers are known; that of Gemma 3n is a convolutional network, of which only the
/// parameters are.
fn with_tower() -> Vec<&'static ModelArch> {
    let has_layers =
        |arch: &&ModelArch| arch.vision_tower().is_some_and(|tower| !tower.layers.is_empty());
    models::all().map(|model| &model.arch).filter(has_layers).collect()
}

fn images(count: u64, width: u32, height: u32) -> AskedImages {
    AskedImages { count, size: ImageSize { width, height }, stated_tokens: None }
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|part| std::str::from_utf8(part).ok())
        .collect();
    groups.join(" ")
}

#[test]
fn the_page_has_the_numbers_of_the_model() {
    let gemma = &catalog::model("gemma-3-4b").expect("catalog key").arch;
    assert!(DOCS.contains(&grouped(gemma.n_tower_params())));
    assert!(DOCS.contains(&grouped(gemma.n_params() + gemma.n_tower_params())));
    let draft = catalog::model("deepseek-v3").expect("catalog key").arch.n_draft_params();
    assert!(DOCS.contains(&grouped(draft.expect("a draft layer"))));
    let rule = ImageRule::Area { patch: 14, merge: 2, least: 3136, most: 12_845_056 };
    let work = rule.work(&images(1, 1024, 768)).expect("a size");
    assert_eq!((work.tokens, work.positions), (999, 3996));
}

#[test]
fn a_tower_never_lowers_memory_and_images_never_time() {
    let device = catalog::device("h200_sxm").or(catalog::device("h100_sxm")).expect("catalog key");
    for model in with_tower() {
        let text = ModelArch { towers: vec![].into(), ..model.clone() };
        let asked = Workload::new(2, 4096);
        let plain = of(device, &text, None, asked).expect("valid");
        let whole = of(device, model, None, asked).expect("valid");
        assert_eq!(whole.memory.total(), plain.memory.total() + model.tower_bytes());
        assert_eq!(whole.ttft, plain.ttft, "without images the tower takes no time");
        let seen = Images::new(model, &images(3, 800, 600)).expect("a size");
        let seen = Workload { images: Some(seen), ..asked };
        let seen = of(device, model, None, seen).expect("valid");
        assert!(seen.memory.total() >= whole.memory.total());
        assert!(seen.ttft.time > whole.ttft.time && seen.ttft_ideal > whole.ttft_ideal);
        assert_eq!(
            (seen.tpot, seen.prefill.totals.ideal),
            (whole.tpot, whole.prefill.totals.ideal)
        );
    }
}

#[test]
fn own_layers_draft_without_tables_of_their_own() {
    let device = catalog::device("b200").expect("catalog key");
    let model = &catalog::model("qwen3.5-27b").expect("catalog key").arch;
    let own = model.own_draft().expect("a draft layer");
    let drafted = |own_layers| {
        let speculation = Speculation { draft_tokens: 2, acceptance: 0.8, own_layers };
        let workload = Workload { speculation: Some(speculation), ..Workload::new(1, 1024) };
        of(device, model, Some(&own), workload).expect("valid")
    };
    let (shared, apart) = (drafted(true), drafted(false));
    let bytes = |answer: &Estimate| answer.memory.draft.expect("a draft").weights.get();
    let tables = 2.0 * 2.0 * (model.vocab_size * model.hidden_size) as f64;
    assert!((bytes(&apart) - bytes(&shared) - tables).abs() < 1.0);
    let params = model.n_draft_params().expect("a draft layer") as f64;
    assert!((bytes(&shared) / (2.0 * params) - 1.0).abs() < 1e-3, "{}", bytes(&shared));
    assert_eq!(shared.tpot, apart.tpot, "the head is read in any case");
    let alone = of(device, model, None, Workload::new(1, 1024)).expect("valid");
    assert!(shared.tpot.time < alone.tpot.time);
}

#[test]
fn several_own_layers_take_memory_each_and_time_one_by_one() {
    let device = catalog::device("b200").expect("catalog key");
    let one = catalog::model("glm-5.2").expect("catalog key").arch.clone();
    let three = ModelArch { draft_layers: 3, ..one.clone() };
    let speculation = Some(Speculation { draft_tokens: 3, acceptance: 0.8, own_layers: true });
    let drafted = |model: &ModelArch| {
        let own = model.own_draft().expect("a draft layer");
        let workload = Workload { speculation, ..Workload::new(1, 1024) };
        of(device, model, Some(&own), workload).expect("valid")
    };
    let (of_one, of_three) = (drafted(&one), drafted(&three));
    let draft = |answer: &Estimate| answer.memory.draft.expect("a draft");
    assert_eq!(draft(&of_three).weights, draft(&of_one).weights * 3.0);
    assert_eq!(draft(&of_three).kv_cache, draft(&of_one).kv_cache * 3.0);
    assert_eq!(of_three.tpot, of_one.tpot, "a drafted token comes from one layer");
    assert_eq!(three.n_draft_params(), one.n_draft_params().map(|params| 3 * params));
}

#[test]
fn images_that_no_rule_takes_are_refused() {
    assert_eq!(u64::from(LONGEST), MAX_SIDE);
    let llama = &catalog::model("llama-3.1-8b").expect("catalog key").arch;
    let refused = Images::new(llama, &images(1, 640, 480));
    assert!(matches!(refused, Err(Error::Inapplicable { input: "image", .. })));
    let rule = ImageRule::Unknown { merge: 4 };
    assert!(matches!(rule.work(&images(1, 64, 64)), Err(Error::Conflict { .. })));
    let stated = AskedImages { stated_tokens: Some(100), ..images(1, 64, 64) };
    let work = rule.work(&stated).expect("stated");
    assert_eq!((work.tiles, work.positions, work.tokens), (1, 400, 100));
    for wrong in [images(0, 1, 1), images(1, 0, 1), images(1, 1, LONGEST + 1)] {
        assert!(matches!(rule.work(&wrong), Err(Error::OutOfRange { .. })), "{wrong:?}");
    }
}

proptest! {
    #[test]
    fn the_encoder_is_under_no_roof(
        place in any::<prop::sample::Index>(), width in 1..=LONGEST, height in 1..=LONGEST, count in 1_u64..20,
    ) {
        let models = with_tower();
        let model = models[place.index(models.len())];
        let seen = match Images::new(model, &images(count, width, height)) {
            Ok(seen) => seen,
            Err(error) => {
                let is_narrow = matches!(error, Error::OutOfRange { value, .. } if value > 200.0);
                prop_assert!(is_narrow, "{width} {height}");
                return Ok(());
            }
        };
        let workload = Workload { images: Some(seen), ..Workload::new(1, 64) };
        let all: Vec<&Device> = devices::all().collect();
        let device = all[place.index(all.len())];
        if let Ok(answer) = of(device, model, None, workload) {
            let seen = answer.images.expect("images");
            let encoder = seen.encoder.expect("known layers");
            prop_assert!(seen.work.tokens > 0 && seen.work.positions >= seen.work.tokens / (2 * seen.work.tiles));
            prop_assert!(encoder.expected.time >= encoder.ideal && encoder.ideal.get() > 0.0);
            prop_assert!(encoder.expected.high.get().is_finite());
            prop_assert!(answer.ttft_ideal >= encoder.ideal);
        }
    }
}
