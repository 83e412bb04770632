//! Tests of the fields about host, other programs and images.

use super::*;
use calc_core::catalog;

fn device(key: &str) -> &'static Device {
    catalog::device(key).expect("catalog key")
}

fn model(key: &str) -> &'static ModelArch {
    &catalog::model(key).expect("catalog key").arch
}

/// The pairs after these fields were entered one after the other.
fn entered(fields: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let mut beside = None;
    for (field, text) in fields {
        beside = with(beside.as_deref(), field, text, device("rtx_4090"));
    }
    beside.map_or_else(Vec::new, |beside| beside.pairs())
}

#[test]
fn what_is_entered_brings_what_it_needs_and_takes_away_what_it_excludes() {
    let none: &[(&str, &str)] = &[];
    for (fields, pairs) in [
        (&[("host", "ddr5")][..], &[("host", "ddr5"), ("hostgb", "64")][..]),
        (&[("host", "96 GB of DDR5")], &[("host", "ddr5"), ("hostgb", "96")]),
        (
            &[("host_memory_gb", "64"), ("host", "ryzen 9 7950x, 128 GB of ddr5-6000")],
            &[("host", "ryzen 9 7950x ddr5-6000"), ("hostgb", "128")],
        ),
        (&[("host_memory_gb", "96")], &[("host", "ddr5"), ("hostgb", "96")]),
        (&[("host", "ddr5"), ("ssd_gb_s", "7"), ("host", " ")], none),
        (&[("image", "64x64"), ("image_tokens", "9"), ("image", "")], none),
        (&[("image", "64x64"), ("language_model_only", "true")], &[("textonly", "1")]),
        (&[("language_model_only", "true"), ("image", "64x64")], &[("image", "64x64")]),
        (&[("reserve_gb", "desktop")], &[("reserve", "desktop")]),
    ] {
        let pairs: Vec<_> = pairs.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        assert_eq!(entered(fields), pairs, "{fields:?}");
    }
}

#[test]
fn another_device_or_model_keeps_what_applies_to_it() {
    let fields = [("hostgb", "96"), ("reserve", "4"), ("image", "64x64")];
    let mut all: Option<Arc<Beside>> = None;
    for (key, text) in fields {
        assert!(put(&mut all, key, text), "{key}");
    }
    let all = with(all.as_deref(), "host", "ddr5", device("rtx_4090")).expect("fields");
    let keys = |kept: Option<Arc<Beside>>| -> Vec<&'static str> {
        kept.map_or_else(Vec::new, |kept| kept.pairs().iter().map(|(key, _)| *key).collect())
    };
    let [card, board] = [device("rtx_3090"), device("gb10")];
    assert_eq!(keys(all.kept(Some(card), None)), ["host", "hostgb", "reserve", "image"]);
    assert_eq!(keys(all.kept(Some(board), None)), ["reserve", "image"]);
    assert_eq!(keys(all.kept(None, Some(model("gpt-oss-120b")))), ["host", "hostgb", "reserve"]);
    assert!(!put(&mut None, "hosts", "x"));
}

#[test]
fn a_refused_field_is_said_in_the_words_of_the_form() {
    let card = (device("rtx_4090"), model("gemma-4-26b-a4b"));
    for (fields, of, says) in [
        (&[("host", "nonsense")][..], &OF_MACHINE[..], "nonsense"),
        (&[("host_memory_gb", "0")], &OF_MACHINE, "Memory of the host must be from"),
        (
            &[("host", "ddr5"), ("host_memory_gb", "")],
            &OF_MACHINE,
            "Memory of the host is missing.",
        ),
        (&[("host", "ddr5"), ("ssd_gb_s", "fast")], &OF_MACHINE, "SSD"),
        (&[("reserve_gb", "-1")], &OF_MACHINE, "Other programs must be from"),
        (&[("image", "large")], &OF_IMAGES, "1024x768"),
        (&[("image", "64x64"), ("image_tokens", "0")], &OF_IMAGES, "okens per image"),
    ] {
        let mut beside = None;
        for (field, text) in fields {
            beside = with(beside.as_deref(), field, text, card.0);
        }
        let said = refusal(beside.as_deref(), card, of).unwrap_or_default();
        assert!(said.contains(says), "{fields:?}: {said}");
        let others = if of == OF_IMAGES { &OF_MACHINE[..] } else { &OF_IMAGES };
        assert_eq!(refusal(beside.as_deref(), card, others), None, "{fields:?}");
    }
}
