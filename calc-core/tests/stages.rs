//! Stages of a pipeline by the order of the layers: they add up to the model, and the fullest bounds every other.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, models};
use calc_core::estimate::{EstimateRequest, estimate};
use calc_core::footprint::{MemoryFootprint, cache_elements};
use calc_core::lowering::{Lowering, Step};
use calc_core::model_arch::{Ends, ModelArch};
use calc_core::op::{OpKind, Traffic};
use calc_core::parallel::{Parallel, Pipeline, Stage, stage_layers};
use calc_core::plan::Plan;
use calc_core::precision::{Precision, PrecisionChoice};
use calc_core::software::TowerStages;
use calc_core::text::Text;
use calc_core::units::Bytes;
use calc_core::workload::Workload;

const FP16: &str = "fp16";

fn request(model: &ModelArch, engine: Engine, stages: u64) -> EstimateRequest<'_> {
    let parallel = Parallel { pipeline: Pipeline::of(stages), ..Parallel::default() };
    EstimateRequest {
        device: catalog::device("h200_sxm").expect("catalog key"),
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(catalog::format(FP16).expect("catalog key")),
        workload: Workload { parallel, ..Workload::new(2, 5000) },
        weight_size: None,
        draft: None,
        engine: Some(engine),
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

fn memory(model: &ModelArch, engine: Engine, stages: u64) -> MemoryFootprint {
    Plan::new(request(model, engine, stages)).expect("a plan").footprint()
}

fn arch(key: &str) -> &'static ModelArch {
    &catalog::model(key).expect("catalog key").arch
}

fn vectors(model: &ModelArch) -> u64 {
    model.n_vector_params()
}

/// Parameters of a stage with the tables at the ends.
fn params(stage: &Stage) -> u64 {
    let part = &stage.part;
    let one = part.vocab_size * part.hidden_size;
    let mut sum = vectors(part);
    part.matrices(&mut |matrix| sum += matrix.count * matrix.rows * matrix.cols);
    let head = stage.ends.last && !part.tied_embeddings;
    sum + if stage.ends.first { one } else { 0 } + if head { one } else { 0 }
}

#[test]
fn stages_of_all_models_add_up_to_the_model() {
    for model in models::all() {
        let arch = &model.arch;
        assert!(arch.sections().is_some(), "{}: the order is known", model.key);
        let tables: u64 = arch.tables.iter().map(|table| table.rows * table.cols).sum();
        for engine in [Engine::Vllm, Engine::Sglang, Engine::LlamaCpp] {
            for ways in 2..=8.min(arch.n_layers) {
                let counts = stage_layers(engine, arch.n_layers, ways);
                assert_eq!((counts.len() as u64, counts.iter().sum()), (ways, arch.n_layers));
                let stages = Stage::of_counts(arch, &counts, counts.len() - 1);
                let sum: u64 = stages.iter().map(params).sum();
                assert_eq!(sum + tables, arch.n_params(), "{} {engine:?} {ways}", model.key);
                let all = cache_elements(arch, 3000);
                let cached = |stage: &Stage| cache_elements(&stage.part, 3000);
                let attention: u64 = stages.iter().map(|stage| cached(stage).attention).sum();
                let state: u64 = stages.iter().map(|stage| cached(stage).state).sum();
                assert_eq!((attention, state), (all.attention, all.state), "{}", model.key);
            }
        }
    }
}

#[test]
fn the_fullest_stage_is_no_smaller_than_the_mean_and_more_stages_need_at_most_a_cache_more() {
    let mut checked = 0;
    for model in models::all() {
        let arch = &model.arch;
        for engine in [Engine::Vllm, Engine::Sglang, Engine::LlamaCpp, Engine::IdealKernels] {
            let Ok(one) = Plan::new(request(arch, engine, 1)) else { continue };
            let whole = one.footprint();
            let mut before = whole.total();
            // Where a cut moves, one more layer with a cache may fall into a stage of as many layers.
            let cached = arch.attention.iter().filter(|group| group.cache_row() > 0);
            let layers =
                cached.map(calc_core::model_arch::Attention::layers).min().unwrap_or(1).max(1);
            let cache = whole.allotted_cache() / layers as f64;
            for ways in 2..=8.min(arch.n_layers) {
                let fullest = memory(arch, engine, ways);
                let name = format!("{} {engine:?} {ways}", model.key);
                let mean = (whole.weights + whole.kv_cache) / ways as f64;
                assert!(fullest.total() - fullest.reserve >= mean * (1.0 - 1e-12), "{name}");
                assert!(fullest.total() <= before + cache, "{name}: {fullest:?} {before:?}");
                before = fullest.total();
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}

#[test]
fn a_stage_of_expert_layers_is_the_fullest_of_deepseek() {
    let model = arch("deepseek-v3.2");
    let fp8 = catalog::format("fp8_block128").expect("catalog key");
    let request = EstimateRequest {
        precision: PrecisionChoice::weights(fp8),
        ..request(model, Engine::Vllm, 8)
    };
    let plan = Plan::new(request).expect("a plan");
    // 61 layers in stages of 7, 7, 8, 8, 8, 8, 8, 7. A layer with experts has 11.51 · 10⁹ matrix elements of 1.00024 bytes; a
    // stage of 8 of them has 92.2 GB and neither table. Average layers gave 89.8 GB.
    let weights = plan.footprint().weights;
    assert!((weights.get() / 1e9 - 92.2).abs() < 0.1, "{weights:?}");
    let roles: Bytes = plan.weight_roles().into_iter().map(|(_, bytes)| bytes).sum();
    assert!((roles - weights).get().abs() < 1e-6 * weights.get());
}

#[test]
fn roles_add_up_to_the_fullest_stage_of_all_models() {
    for model in models::all() {
        for ways in 2..=4.min(model.arch.n_layers) {
            let Ok(plan) = Plan::new(request(&model.arch, Engine::Vllm, ways)) else { continue };
            let roles: Bytes = plan.weight_roles().into_iter().map(|(_, bytes)| bytes).sum();
            let weights = plan.footprint().weights;
            assert!((roles - weights).get().abs() <= 1e-9 * weights.get(), "{} {ways}", model.key);
        }
    }
}

#[test]
fn without_an_order_a_stage_has_the_dearest_layers() {
    for model in models::all() {
        let known = &model.arch;
        let unknown = ModelArch { order: Text::default(), ..known.clone() };
        if unknown.sections().is_some() {
            continue; // layers that are all alike need none
        }
        for ways in 2..=8.min(known.n_layers) {
            let [bound, exact] = [&unknown, known].map(|arch| memory(arch, Engine::Vllm, ways));
            assert!(bound.total() >= exact.total(), "{} {ways}", model.key);
            assert!(bound.weights <= memory(known, Engine::Vllm, 1).weights, "{}", model.key);
        }
    }
}

#[test]
fn a_last_stage_has_a_copy_of_an_embedding_that_is_the_lm_head() {
    let model = arch("llama-3.2-1b");
    assert!(model.tied_embeddings);
    let [first, last] = [0..8, 8..16].map(|layers| {
        let ends = Ends { first: layers.start == 0, last: layers.end == 16 };
        let part = model.stage(layers.clone(), ends);
        (part.attention[0].layers(), part.dense[0].layers, part.final_norm)
    });
    assert_eq!((first, last), ((8, 8, false), (8, 8, true)));
    // 2 · 8 layers of 60.8 · 10⁶ parameters, and 128,256 · 2,048 of the table on each of the two devices.
    let half = memory(model, Engine::Vllm, 2).weights.get();
    let table = 2.0 * 128_256.0 * 2048.0;
    let layers = memory(model, Engine::Vllm, 1).weights.get() - table;
    assert!((half - table - layers / 2.0).abs() < 1e5, "{half}");
}

/// Work, bytes of weights, of activations and of the cache in a step of a part of a model with some ends.
fn work(model: &ModelArch, ends: Ends, precision: &Precision, step: Step) -> [f64; 4] {
    let mut sums = [0.0; 4];
    Lowering { model, precision, expert_parallel: 1 }.step(step, &mut |op| {
        let is_here = match op.kind {
            OpKind::Embedding => ends.first,
            OpKind::LmHead => ends.last,
            _ => true,
        };
        let Traffic { weights, activations, kv_cache } = op.cost.traffic;
        let one = [op.cost.flops.get(), weights.get(), activations.get(), kv_cache.get()];
        if is_here {
            sums.iter_mut().zip(one).for_each(|(sum, one)| *sum += one * op.count as f64);
        }
    });
    sums
}

#[test]
fn work_is_that_of_all_stages() {
    let mut checked = 0;
    for model in models::all() {
        let arch = &model.arch;
        let Ok(answer) = estimate(request(arch, Engine::Vllm, 1)) else { continue };
        for step in [Step::prefill(2, 300), Step::decode(2, 5000)] {
            let whole = work(arch, Ends::BOTH, &answer.precision, step);
            for ways in 2..=8.min(arch.n_layers) {
                let counts = stage_layers(Engine::Vllm, arch.n_layers, ways);
                let stages = Stage::of_counts(arch, &counts, counts.len() - 1);
                let mut sums = [0.0; 4];
                for Stage { part, ends, .. } in &stages {
                    let one = work(part, *ends, &answer.precision, step);
                    sums.iter_mut().zip(one).for_each(|(sum, one)| *sum += one);
                }
                for (sum, all) in sums.into_iter().zip(whole) {
                    assert!((sum - all).abs() <= 1e-9 * all, "{} {ways}: {sum} {all}", model.key);
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 500, "{checked}");
}

#[test]
fn towers_are_on_the_devices_where_engines_load_them() {
    let model = arch("gemma-3-27b");
    let one = model.tower_bytes();
    for (engine, towers) in [
        (Engine::LlamaCpp, 1.0),
        (Engine::IdealKernels, 1.0),
        (Engine::Ollama, 1.0),
        (Engine::Vllm, 4.0),
        (Engine::Sglang, 4.0),
    ] {
        let fullest = memory(model, engine, 4);
        assert!(fullest.towers == Bytes::ZERO || fullest.towers == one, "{engine:?}");
        assert_eq!(fullest.towers + fullest.other_towers, one * towers, "{engine:?}");
        let others = fullest.total() - fullest.towers;
        let error = fullest.group_total(4) - others * 4.0 - one * towers;
        assert!(error.get().abs() < 1.0, "{engine:?}: {error:?}");
    }
    for (engine, first, last) in
        [(Engine::LlamaCpp, true, false), (Engine::Ollama, false, true), (Engine::Vllm, true, true)]
    {
        let towers = TowerStages::of(engine);
        let ends = |first, last| Ends { first, last };
        assert_eq!(towers.hold(ends(true, false)), first, "{engine:?}");
        assert_eq!(towers.hold(ends(false, true)), last, "{engine:?}");
    }
}

#[test]
fn the_last_layers_of_a_gguf_file_have_more_bits() {
    let model = arch("llama-3.1-70b");
    let q4 = PrecisionChoice::weights(catalog::format("q4_k_m").expect("catalog key"));
    let of = |ways| {
        let asked = request(model, Engine::IdealKernels, ways);
        Plan::new(EstimateRequest { precision: q4, ..asked }).expect("a plan").footprint().weights
    };
    // 80 layers in 8 stages of 10. The last one, with the LM head in Q6_K, has `ffn_down` in Q6_K in all 10 layers, in the
    // mean every second: 5 layers of 8,192 · 28,672 elements with 6.5625 - 4.5 bits more; `attn_v` adds 2 % to it.
    let tables = 8192.0 * 128_256.0 / 8.0;
    let average = (of(1).get() - tables * (4.5 + 6.5625)) / 8.0;
    let more = 5.0 * 8192.0 * 28_672.0 * (6.5625 - 4.5) / 8.0;
    let last = of(8).get() - tables * 6.5625;
    assert!((last - average - more).abs() < 0.03 * more, "{last} {average} {more}");
}
