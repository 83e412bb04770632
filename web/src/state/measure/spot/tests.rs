//! Tests of the form of a spot check.

use calc_core::catalog;

use super::*;
use crate::state::measure::form::tests::{told, untold};
use crate::state::model::inputs::ModelSource;

const LAYERS: [(&str, &[&str]); 5] = [
    ("gemv", &["fp16", "int8"]),
    ("gemm", &["fp32", "int8"]),
    ("attention", &["fp32", "fp16"]),
    ("bandwidth", &[]),
    ("fireworks", &["fp32"]),
];

fn of(model: &str) -> Inputs {
    let mut inputs = Inputs::default();
    inputs.model.set_base(ModelSource::Catalog(catalog::model(model).expect("catalog key")));
    inputs
}

fn form(wanted: BenchKind) -> SpotForm {
    SpotForm { wanted: SpotKind::Kernel(wanted), ..SpotForm::default() }
}

#[test]
fn kernels_of_a_later_version_are_named() {
    assert_eq!(later_kernels(None), "");
    for (kernels, said) in [
        (&["gemv", "norm"][..], ""),
        (
            &["gemv", "moe"],
            "The daemon also times moe, which is of a later version than this page.",
        ),
        (
            &["conv", "gemv", "moe", "scan"],
            "The daemon also times conv, moe and scan, which are of a later version than this page.",
        ),
    ] {
        let kernels: Vec<(&str, &[&str])> =
            kernels.iter().map(|&kernel| (kernel, &[][..])).collect();
        assert_eq!(later_kernels(Some(&told(&kernels))), said);
    }
}

#[test]
fn the_list_has_what_the_device_tells_and_the_page_knows() {
    let names = |device: Option<&MeasuredDevice>| -> Vec<&str> {
        kinds(device).into_iter().map(SpotKind::name).collect()
    };
    assert_eq!(names(Some(&told(&LAYERS))), ["Matrix product", "Attention", "Memory bandwidth"]);
    assert_eq!(names(Some(&untold())), ["Matrix product", "Memory bandwidth", "Peak rates"]);
    assert_eq!(names(None).len(), SpotKind::ALL.len());
    for kind in SpotKind::ALL {
        assert_eq!(SpotKind::of_key(kind.key()), Some(kind));
    }
    // A device without the wanted kernel measures what it has.
    assert_eq!(form(BenchKind::Attention).kind(Some(&untold())), SpotKind::Product);
}

#[test]
fn sizes_are_those_of_the_chosen_model() {
    for (model, kind, expected) in [
        ("llama-3.1-8b", BenchKind::Attention, vec![1, 32, 8, 128, 1, 4096]),
        ("llama-3.1-8b", BenchKind::Norm, vec![1, 4096]),
        ("llama-3.1-8b", BenchKind::Rope, vec![1, 40, 128]),
        ("llama-3.1-8b", BenchKind::Gate, vec![1, 14_336]),
        ("llama-3.1-8b", BenchKind::Embedding, vec![1, 4096, 128_256]),
        ("qwen3-30b-a3b", BenchKind::Attention, vec![1, 32, 4, 128, 1, 4096]),
        ("qwen3-30b-a3b", BenchKind::Gate, vec![1, 768]),
    ] {
        let mut inputs = of(model);
        inputs.model.set_text(ModelField::Context, "4096".to_owned());
        let order = form(kind).orders(&inputs, &told(&[(kind.key(), &["fp32"])]));
        let order = order.expect("possible").remove(0);
        let sizes: Vec<u64> =
            sizes::sizes(kind).iter().map(|size| order.sizes[0][size.name]).collect();
        assert_eq!((order.what, sizes), (kind, expected), "{model}");
        assert_eq!(order.formats, ["fp32"]);
    }
    let latent = of("deepseek-v3");
    let said = form(BenchKind::Attention).source(&latent, BenchKind::Attention);
    assert!(said.contains("usual sizes"), "{said}");
    let mut inputs = of("llama-3.1-8b");
    inputs.model.set_text(ModelField::Batch, "4".to_owned());
    inputs.model.set_text(ModelField::Context, "8192".to_owned());
    let order = form(BenchKind::Attention).orders(&inputs, &told(&LAYERS)).expect("possible");
    assert_eq!((order[0].sizes[0]["batch"], order[0].sizes[0]["context"]), (4, 8192));
}

#[test]
fn typed_sizes_stay_until_they_are_forgotten_and_a_wrong_one_is_named() {
    let (inputs, device) = (of("llama-3.1-8b"), told(&LAYERS));
    let kind = BenchKind::Attention;
    let size = |name| sizes::sizes(kind).iter().find(|size| size.name == name).expect("a size");
    let mut form = form(kind);
    for (name, text, fault) in [
        ("kv_heads", "5", "Query heads must be a multiple of KV heads; got 32 and 5."),
        ("kv_heads", "", "KV heads must be a whole number from 1 to"),
        ("head_dim", "2000", "Head size must be a whole number from 1 to 1\u{202f}024"),
    ] {
        form.set(kind, size(name), text.to_owned());
        let said = form.fault(&inputs, kind, size(name)).expect("a fault");
        assert!(said.starts_with(fault), "{said}");
        assert_eq!(form.orders(&inputs, &device), Err(said));
        assert_eq!(form.fault(&inputs, kind, size("batch")), None);
        form.reset(kind);
        assert!(form.orders(&inputs, &device).is_ok());
    }
    form.set(kind, size("context"), "1e5".to_owned());
    assert_eq!(form.source(&inputs, kind), "Sizes as typed.");
    assert_eq!(form.orders(&inputs, &device).expect("possible")[0].sizes[0]["context"], 100_000);
}

#[test]
fn tokens_at_once_choose_the_kernel_of_a_product_and_its_formats() {
    let device = told(&LAYERS);
    let mut inputs = of("llama-3.1-8b");
    for (m, format, kernel, formats, part) in [
        ("1", "", BenchKind::Gemv, vec!["fp16", "int8"], "One token"),
        ("4", "fp16", BenchKind::Gemv, vec!["fp16"], "4 tokens at once, as in decoding for 4"),
        ("17", "", BenchKind::Gemm, vec!["fp32", "int8"], "(GEMM), in FP32 and INT8"),
        // The list shows no such format then, so all are measured.
        ("17", "fp16", BenchKind::Gemm, vec!["fp32", "int8"], "More than 16 tokens"),
    ] {
        inputs.typed.set(Field::M, m.to_owned());
        let form = SpotForm { format: format.to_owned(), ..SpotForm::default() };
        let order = form.orders(&inputs, &device).expect("possible").remove(0);
        assert_eq!(
            (order.what, order.formats),
            (kernel, formats.iter().map(|&key| key.to_owned()).collect())
        );
        let said = product_words(inputs.typed.number(Field::M), Some(&device));
        assert!(said.contains(part), "{said}");
    }
    for (m, n) in [("1", "12x"), ("1", "1e9"), ("", "64 64"), ("1 2", "64"), ("0", "64")] {
        inputs.typed.set(Field::M, m.to_owned());
        inputs.typed.set(Field::N, n.to_owned());
        assert!(SpotForm::default().orders(&inputs, &device).is_err(), "{m}, {n}");
    }
    inputs.typed.set(Field::M, "1e1".to_owned());
    let order = SpotForm::default().orders(&inputs, &device).expect("possible").remove(0);
    assert_eq!((order.shapes[0].m, order.shapes[0].n), (10, 64));
    let bandwidth = form(BenchKind::Bandwidth).orders(&inputs, &device).expect("no sizes");
    assert_eq!((bandwidth[0].what, bandwidth[0].points()), (BenchKind::Bandwidth, 1));
    let said = product_words(Some(4), Some(&untold()));
    assert!(said.starts_with("More than one token"), "{said}");
}
