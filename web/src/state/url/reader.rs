//! Reads each key of the address. An unusable value becomes a note with the allowed values and the value that is used instead.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::catalog;
use calc_core::error::Error;
use report::input::device_file::lines;

use super::{LONGEST_QUOTE, Note, view_without_key};
use crate::state::fragment::{self, Fragment};
use crate::state::inputs::{Inputs, Tab, View};
use crate::state::model::url as model_url;
use crate::state::operator::{self, Field, Op};
use crate::state::points;
use crate::state::several_cards::several_cards;

/// Reads keys one by one and collects notes.
pub(super) struct Reader<'a> {
    pub(super) notes: Vec<Note>,
    pub(super) fragment: &'a Fragment,
}

impl Reader<'_> {
    pub(super) fn note(&mut self, key: &str, value: &str, rest: &str) {
        self.notes.push(Note::on(key, value, rest));
    }

    pub(super) fn view(&mut self, inputs: &mut Inputs, value: Option<&str>, no_pairs: bool) {
        let Some(value) = value else {
            inputs.view = view_without_key(no_pairs && *self.fragment == Fragment::Empty);
            return;
        };
        if let Some(view) = View::ALL.into_iter().find(|view| view.key() == value) {
            inputs.view = view;
            return;
        }
        let keys = View::ALL.map(View::key).join(", ");
        let rest = format!("which is no view; there are {keys}. The page shows plan.");
        self.note("view", value, &rest);
    }

    pub(super) fn tab(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        if let Some(tab) = Tab::ALL.into_iter().find(|tab| tab.key() == value) {
            inputs.tab = tab;
            return;
        }
        let keys = Tab::ALL.map(Tab::key).join(", ");
        let rest = format!("which is no tab; there are {keys}. The page shows schemes.");
        self.note("tab", value, &rest);
    }

    pub(super) fn device(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        if *self.fragment == Fragment::Invalid {
            let text = "What the address carries behind # was cut off or changed on its way and cannot be read.";
            self.notes.push(Note { text: text.to_owned() });
        }
        let Some(value) = value else { return };
        let fragment = self.fragment.part("device");
        if fragment.is_some() && !fragment::can_read_devices() {
            let text = "What reads the device in the address could not be fetched; load the page again when you are online.";
            self.notes.push(Note { text: text.to_owned() });
        }
        if let Some(device) =
            fragment.and_then(fragment::read_device).filter(|device| device.key == value)
        {
            inputs.set_device(Cow::Owned(device));
            let base = fragment.and_then(lines::copy_of);
            inputs.copy_of = base.and_then(|key| catalog::device(key).ok());
            return;
        }
        match catalog::device(value) {
            Ok(device) => inputs.set_device(Cow::Borrowed(device)),
            Err(error) => {
                let uses = format!("The page uses {}.", inputs.device.name);
                if let Some(why) = several_cards(value) {
                    return self.note(
                        "d",
                        value,
                        &format!("which names several cards. {why} {uses}"),
                    );
                }
                self.note(
                    "d",
                    value,
                    &format!(
                        "which is no device of the catalog{}. {uses}",
                        nearest(&error, "the device list names all keys")
                    ),
                );
            }
        }
    }

    /// Reads the device's own measurements.
    pub(super) fn own(&mut self, inputs: &mut Inputs) {
        let Some(part) = self.fragment.part("calibration") else { return };
        let own = fragment::read_own(part).filter(|own| own.device == inputs.device.key);
        if own.is_none() {
            let text = "The measurements in the address cannot be read, or are of another device; the page uses published ones.";
            self.notes.push(Note { text: text.to_owned() });
        }
        inputs.own = own.map(Arc::new);
    }

    pub(super) fn mode(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        let device = &inputs.device;
        match device.power_mode(value) {
            Ok(mode) if calc_core::roofline::Roofs::new(device, Some(mode)).is_ok() => {
                inputs.mode = Some(mode.name.clone());
            }
            Ok(_) => {
                let rest = "a power mode whose clocks are not published. The page uses the device's own peaks.";
                self.note("pm", value, rest);
            }
            Err(_) if device.power_modes.is_empty() => {
                self.note("pm", value, &format!("but {} has no power modes.", device.name));
            }
            Err(_) => {
                let names: Vec<&str> = device.power_modes.iter().map(|mode| &*mode.name).collect();
                let rest =
                    format!("which {} does not have; it has {}.", device.name, names.join(", "));
                self.note("pm", value, &rest);
            }
        }
    }

    pub(super) fn operator(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        if let Some(op) = Op::ALL.into_iter().find(|op| op.key() == value) {
            inputs.op = op;
            return;
        }
        let keys = Op::ALL.map(Op::key).join(", ");
        self.note(
            "op",
            value,
            &format!("which is no operator; there are {keys}. The page uses gemm."),
        );
    }

    pub(super) fn number(&mut self, inputs: &mut Inputs, field: Field, value: Option<&str>) {
        let Some(value) = value else { return };
        if let Ok(value) = operator::read(field, value) {
            inputs.typed.set(field, value.to_string());
            return;
        }
        let rest = format!(
            "but {} is {}. The page uses {}.",
            field.name(),
            operator::allowed(field),
            inputs.typed.text(field)
        );
        self.note(field.id(), value, &rest);
    }

    /// Reads a switch: the key is present, with value 1, if the answer differs from the default.
    pub(super) fn switch(&mut self, usual: &mut bool, key: &str, value: Option<&str>) {
        match value {
            None => {}
            Some("1") => *usual = false,
            Some(value) => self.note(key, value, "but it can only be 1. The page leaves it out."),
        }
    }

    pub(super) fn points(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        match points::read(value) {
            Some(points) => inputs.points = points,
            None => self.note("pt", value, "which are no points: name, FLOP/B and TFLOP/s of each, with ~ between. The page leaves them out."),
        }
    }

    pub(super) fn kv_cache(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        match catalog::format(value) {
            Ok(format) => inputs.kv = Some(format),
            Err(error) => {
                let near = nearest(&error, "for example fp16, fp8_e4m3, gguf_q8_0");
                self.note(
                    "ak",
                    value,
                    &format!("which is no format{near}. The page uses the rule."),
                );
            }
        }
    }

    pub(super) fn weights(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        match catalog::format(value) {
            Ok(format) => inputs.weights = format,
            Err(error) => {
                let uses = format!("The page uses {}.", inputs.weights.key);
                self.note(
                    "w",
                    value,
                    &format!(
                        "which is no format{}. {uses}",
                        nearest(&error, "for example fp16, fp8_e4m3, int4_g128")
                    ),
                );
            }
        }
    }

    pub(super) fn activations(&mut self, inputs: &mut Inputs, value: Option<&str>) {
        let Some(value) = value else { return };
        match catalog::format(value) {
            Ok(format) if format.class.is_some() => inputs.activations = Some(format),
            Ok(_) => {
                let rest = "a format that stores weights only. Activations need one that is computed in, such as fp16, fp8_e4m3 or int8. The page uses the rule.";
                self.note("a", value, rest);
            }
            Err(error) => {
                let rest = format!(
                    "which is no format{}. The page uses the rule.",
                    nearest(&error, "for example fp16, bf16, fp8_e4m3")
                );
                self.note("a", value, &rest);
            }
        }
    }

    pub(super) fn version(&mut self, value: Option<&str>) {
        let Some(value) = value else { return };
        match value.parse::<u32>() {
            Ok(version) if version == catalog::VERSION => {}
            Ok(version) if version < catalog::VERSION => {
                let now = catalog::VERSION;
                self.note(
                    "v",
                    value,
                    &format!("an older catalog than this page's {now}: numbers may have moved."),
                );
            }
            _ => self.note(
                "v",
                value,
                &format!("but this page has catalog version {}.", catalog::VERSION),
            ),
        }
    }

    /// Reads the custom model of the fragment: pairs of the Model view that are too long for a query.
    pub(super) fn model(&mut self, inputs: &mut Inputs) {
        let part = self.fragment.part("model").unwrap_or_default();
        for (key, value) in part.lines().filter_map(|line| line.split_once('\t')) {
            // The fragment has only keys of a custom model; others are ignored.
            if model_url::is_in_fragment(key)
                && let Some(Err(rest)) = model_url::read(&mut inputs.model, key, value)
            {
                self.note(key, value, &rest);
            }
        }
    }

    /// Reads the keys of the other views and notes unknown ones.
    pub(super) fn other_keys(&mut self, inputs: &mut Inputs, pairs: &[(String, String)]) {
        const KNOWN: [&str; 14] =
            ["view", "tab", "d", "pm", "op", "uf", "pl", "w", "a", "ak", "pt", "v", "c", "rows"];
        let is_field = |key: &str| Field::ALL.iter().any(|field| field.id() == key);
        let is_other = |key: &str| !KNOWN.contains(&key) && !is_field(key);
        for (key, value) in pairs.iter().filter(|(key, _)| is_other(key)) {
            if inputs.explore.read(key, value) {
                continue;
            }
            match inputs.goal.read(key, value) {
                Some(Ok(())) => continue,
                Some(Err(rest)) => {
                    self.note(key, value, &rest);
                    continue;
                }
                None => {}
            }
            match model_url::read(&mut inputs.model, key, value) {
                Some(Ok(())) => continue,
                Some(Err(rest)) => {
                    self.note(key, value, &rest);
                    continue;
                }
                None => {}
            }
            let key: String = key.chars().take(LONGEST_QUOTE).collect();
            self.note(
                &key,
                value,
                &format!(
                    "a key that the page does not have; it has {}, m, n, k and others.",
                    KNOWN.join(", ")
                ),
            );
        }
    }
}

/// The nearest keys, or where to find all.
fn nearest(error: &Error, otherwise: &str) -> String {
    match error {
        Error::UnknownKey { nearest, .. } if !nearest.is_empty() => {
            format!("; near it are {}", nearest.join(", "))
        }
        _ => format!("; {otherwise}"),
    }
}
