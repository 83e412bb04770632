//! Benchmarks: the duration of a decode estimate, of a plan of layers that all differ, and of a sweep of a million points, on one
//! core.
//! Run with `cargo xtask bench`. Targets: 2 µs per decode estimate, 1.5 s per million points.

use std::hint::black_box;
use std::time::Instant;

use calc_core::calibration::Calibration;
use calc_core::catalog::{self, devices, models};
use calc_core::device::Device;
use calc_core::estimate::{EstimateRequest, estimate};
use calc_core::explore::{Criterion, ExploreRequest, Modes, explore};
use calc_core::lowering::Step;
use calc_core::model_arch::{Attention, DenseLayers, ModelArch};
use calc_core::plan::Plan;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::recommend::{Bounds, ModelTask, Task};
use calc_core::workload::Workload;

fn request<'a>(
    device: &'a Device,
    model: &'a ModelArch,
    weights: &'static QuantFormat,
) -> EstimateRequest<'a> {
    EstimateRequest {
        device,
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(weights),
        workload: Workload::new(1, 1024),
        weight_size: None,
        draft: None,
        engine: None,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

/// Median and range of `runs` timings of `repeats` calls, in ns per call.
fn time(name: &str, runs: usize, repeats: u32, mut call: impl FnMut()) {
    let mut samples: Vec<f64> = (0..runs)
        .map(|_| {
            let start = Instant::now();
            (0..repeats).for_each(|_| call());
            start.elapsed().as_secs_f64() * 1e9 / f64::from(repeats)
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    let (median, low, high) = (samples[runs / 2], samples[0], samples[runs - 1]);
    println!("{name}: median {median:.0} ns, {low:.0} to {high:.0} over {runs} runs of {repeats}");
}

/// Models x devices x formats x batches x contexts, one decode step each.
fn sweep() -> (u64, f64) {
    let formats = ["fp16", "fp8_e4m3", "int8", "int4_g128", "nvfp4", "gguf_q4_k"]
        .map(|key| catalog::format(key).expect("key"));
    let (mut points, mut sum) = (0, 0.0);
    for model in models::all() {
        for device in devices::all() {
            for format in formats {
                let Ok(plan) = Plan::new(request(device, &model.arch, format)) else { continue };
                for batch in [1, 2, 4, 8, 16, 32] {
                    for context in [128, 512, 1024, 4096, 16_384, 65_536] {
                        sum += plan.step(Step::decode(batch, context)).expected.time.get();
                        points += 1;
                    }
                }
            }
        }
    }
    (points, sum)
}

/// All points of a model on all devices: modes x schemes x batches x prompts, of which those remain that no other one beats.
fn exploration(key: &str) -> (u64, usize) {
    let model = catalog::model(key).expect("catalog key");
    let format = catalog::format("fp16").expect("catalog key");
    let prompts: Vec<u64> = (1..=48).map(|place| place * 1024).collect();
    let mut found = (0, 0);
    for device in devices::all() {
        let mut asked = request(device, &model.arch, format);
        asked.workload.new_tokens = 256;
        let request = ExploreRequest {
            task: Task::Model(ModelTask::new(asked, model.stored.choice())),
            modes: Modes::All,
            bounds: Bounds::default(),
            power_cap: None,
            criteria: [Criterion::Rate, Criterion::Throughput],
            batches: &[1, 2, 4, 8, 16, 32, 64, 128],
            prompts: &prompts,
        };
        let explored = explore(&request, device).expect("explored");
        found = (found.0 + explored.points, found.1 + explored.front.len());
    }
    found
}

/// Number of layers of the models that [`plans_of_layers`] compares.
const LAYERS: u64 = 100;

/// Llama-3.1-70B with as many layers, in groups: each group has heads and an MLP that are `step` wider than those before it.
fn in_groups(groups: u64, step: u64) -> ModelArch {
    let base = &catalog::model("llama-3.1-70b").expect("catalog key").arch;
    let (heads, mlp) = (base.attention[0], base.dense[0]);
    let (layers, norms) = (LAYERS / groups, 2 * LAYERS);
    let mut model = ModelArch { n_layers: LAYERS, add_norms: norms, ..base.clone() };
    let wider = |group: u64| 8 * step * group;
    let attention = |group| {
        let head_dim = heads.head_dim + wider(group);
        Attention { full_layers: layers, head_dim, v_head_dim: head_dim, ..heads }
    };
    model.attention = (0..groups).map(attention).collect();
    model.dense =
        (0..groups).map(|group| DenseLayers { layers, width: mlp.width + wider(group) }).collect();
    model
}

/// Plan and step, and the whole estimate, of layers that are equal, equal but listed one by one, or all different.
fn plans_of_layers() {
    let device = catalog::device("h100_sxm").expect("catalog key");
    let format = catalog::format("fp8_e4m3").expect("catalog key");
    for (name, groups, step) in [
        ("100 equal layers in one group", 1, 0),
        ("100 layers in 10 different groups", 10, 1),
        ("100 equal layers in 100 groups", 100, 0),
        ("100 different layers", 100, 1),
    ] {
        let model = in_groups(groups, step);
        let repeats = 10_000 / u32::try_from(groups).expect("few groups");
        time(&format!("plan and step of {name}"), 21, 2 * repeats, || {
            let plan = Plan::new(black_box(request(device, &model, format))).expect("a plan");
            black_box(plan.step(Step::decode(1, 4096)));
        });
        time(&format!("whole estimate of {name}"), 21, repeats, || {
            black_box(estimate(black_box(request(device, &model, format))).expect("an answer"));
        });
    }
}

fn main() {
    let device = catalog::device("h100_sxm").expect("catalog key");
    let model = &catalog::model("llama-3.1-70b").expect("catalog key").arch;
    let format = catalog::format("fp8_e4m3").expect("catalog key");
    let plan = Plan::new(request(device, model, format)).expect("a plan");
    time("decode estimate of Llama-3.1-70B, prepared plan", 21, 20_000, || {
        black_box(plan.step(black_box(Step::decode(1, 4096))));
    });
    time("decode estimate of Llama-3.1-70B, plan and step", 21, 20_000, || {
        let plan = Plan::new(black_box(request(device, model, format))).expect("a plan");
        black_box(plan.step(Step::decode(1, 4096)));
    });
    time("whole estimate of Llama-3.1-70B, both phases with rows", 21, 10_000, || {
        black_box(estimate(black_box(request(device, model, format))).expect("an answer"));
    });
    plans_of_layers();
    for run in 1..=3 {
        let start = Instant::now();
        let (points, sum) = sweep();
        let seconds = start.elapsed().as_secs_f64();
        let per_million = seconds * 1e6 / points as f64;
        println!(
            "sweep run {run}: {points} points in {seconds:.3} s, {per_million:.3} s a million (sum {sum:.3})"
        );
    }
    for key in ["llama-3.1-8b", "gemma-3-27b"] {
        for run in 1..=3 {
            let start = Instant::now();
            let (points, kept) = exploration(key);
            let seconds = start.elapsed().as_secs_f64();
            let per_million = seconds * 1e6 / points as f64;
            println!(
                "exploration of {key}, run {run}: {points} points in {seconds:.3} s, {per_million:.3} s a million ({kept} kept)"
            );
        }
    }
}
