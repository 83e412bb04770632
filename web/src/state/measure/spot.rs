//! The spot check: the kernels of a device, with the sizes of the chosen model unless others are typed.

use std::collections::BTreeMap;

use calc_core::model_arch::{Attention, ModelArch};
use protocol::bench::{BenchKind, BenchSpec};
use protocol::sizes::{self, KernelSize};
use report::input::number_input;
use report::number_text;

use super::form::{self, MeasuredDevice, MeasuredFormat, side_fault, tokens};
use super::job_words;
use crate::state::inputs::Inputs;
use crate::state::model::fields::{Field as ModelField, count};
use crate::state::model::geometry::changed;
use crate::state::operator::Field;

/// A kind of work that is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpotKind {
    /// A product with weights, packed or plain, by the number of tokens.
    #[default]
    Product,
    Kernel(BenchKind),
}

impl SpotKind {
    /// All kinds, in the order of the list.
    pub const ALL: [Self; 8] = [
        Self::Product,
        Self::Kernel(BenchKind::Attention),
        Self::Kernel(BenchKind::Norm),
        Self::Kernel(BenchKind::Rope),
        Self::Kernel(BenchKind::Gate),
        Self::Kernel(BenchKind::Embedding),
        Self::Kernel(BenchKind::Bandwidth),
        Self::Kernel(BenchKind::Flops),
    ];

    /// Key in the list.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Product => "product",
            Self::Kernel(kind) => kind.key(),
        }
    }

    /// Name in the list.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Product => "Matrix product",
            Self::Kernel(kind) => job_words::kernel(kind),
        }
    }

    /// The kind with a key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.key() == key)
    }

    /// The kernel with sizes by name; `None` for others.
    pub fn sized(self) -> Option<BenchKind> {
        match self {
            Self::Kernel(kind) if kind.has_sizes() => Some(kind),
            Self::Product | Self::Kernel(_) => None,
        }
    }
}

/// All that can be timed on a device: what it tells and this page knows; all that this page knows while no device is connected.
pub fn kinds(device: Option<&MeasuredDevice>) -> Vec<SpotKind> {
    let is_told = |kind: &SpotKind| {
        device.is_none_or(|device| match *kind {
            SpotKind::Product => device.has(BenchKind::Gemv) || device.has(BenchKind::Gemm),
            SpotKind::Kernel(kind) => device.has(kind),
        })
    };
    SpotKind::ALL.into_iter().filter(is_told).collect()
}

/// The kernels of a device that this page does not know, in a sentence; empty where it knows all.
pub fn later_kernels(device: Option<&MeasuredDevice>) -> String {
    let told = device.map_or(&[][..], |device| &device.can.kernels);
    let is_known = |key: &str| BenchKind::ALL.iter().any(|kind| kind.key() == key);
    let later: Vec<&str> =
        told.iter().map(|told| &*told.kernel).filter(|key| !is_known(key)).collect();
    match later.split_last() {
        None => String::new(),
        Some((one, [])) => {
            format!("The daemon also times {one}, which is of a later version than this page.")
        }
        Some((last, others)) => format!(
            "The daemon also times {} and {last}, which are of a later version than this page.",
            others.join(", ")
        ),
    }
}

/// The form of a spot check.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpotForm {
    /// Name of the wanted device in orders; empty for the first one.
    pub device: String,
    pub wanted: SpotKind,
    /// Key of the wanted format; empty for all.
    pub format: String,
    /// Typed sizes, by kernel and name.
    typed: BTreeMap<(&'static str, &'static str), String>,
}

impl SpotForm {
    /// The form at first, for a device by its name in orders; of an empty name for the first one.
    pub fn of(device: String) -> Self {
        Self { device, ..Self::default() }
    }

    /// The kind that is timed on a device: the wanted one where the device has it, else the first one.
    pub fn kind(&self, device: Option<&MeasuredDevice>) -> SpotKind {
        let kinds = kinds(device);
        let has = kinds.contains(&self.wanted);
        if has { self.wanted } else { kinds.first().copied().unwrap_or_default() }
    }

    /// The text of a size: as typed, else from the model.
    pub fn text(&self, inputs: &Inputs, kind: BenchKind, size: &KernelSize) -> String {
        let typed = self.typed.get(&(kind.key(), size.name));
        typed.cloned().unwrap_or_else(|| of_model(inputs, kind, size).to_string())
    }

    /// Takes the text of a size.
    pub fn set(&mut self, kind: BenchKind, size: &KernelSize, text: String) {
        self.typed.insert((kind.key(), size.name), text);
    }

    /// Whether a size of the kernel is typed.
    pub fn is_typed(&self, kind: BenchKind) -> bool {
        self.typed.keys().any(|(kernel, _)| *kernel == kind.key())
    }

    /// Forgets the typed sizes of a kernel.
    pub fn reset(&mut self, kind: BenchKind) {
        self.typed.retain(|(kernel, _), _| *kernel != kind.key());
    }

    fn number(&self, inputs: &Inputs, kind: BenchKind, name: &str) -> Option<u64> {
        let size = sizes::sizes(kind).iter().find(|size| size.name == name)?;
        number_input::count(&self.text(inputs, kind, size))
    }

    /// Why a size is not possible, as a sentence.
    pub fn fault(&self, inputs: &Inputs, kind: BenchKind, size: &KernelSize) -> Option<String> {
        if self.number(inputs, kind, size.name).is_none() {
            let most = number_text::count(size.most);
            return Some(format!("{} must be a whole number from 1 to {most}.", size.label));
        }
        let found = sizes::fault(kind, &|name| self.number(inputs, kind, name));
        found.filter(|fault| fault.size == size).map(|fault| {
            let sentence = fault.sentence(|size| size.label, number_text::count);
            format!("{sentence}.")
        })
    }

    /// Source of the sizes, as a sentence.
    pub fn source(&self, inputs: &Inputs, kind: BenchKind) -> String {
        let model = inputs.model.name();
        let has_some = sizes::sizes(kind).iter().any(|size| of_layer(inputs, kind, size).is_some());
        match (self.is_typed(kind), has_some) {
            (true, _) => "Sizes as typed.".to_owned(),
            (false, true) => format!("Sizes of {model}, as chosen in Plan."),
            (false, false) => format!("{model} has no such kernel; these are usual sizes."),
        }
    }

    /// The kernel that is measured, by what is timed and the number of tokens of a product.
    fn kernel(&self, inputs: &Inputs, device: &MeasuredDevice) -> BenchKind {
        match self.kind(Some(device)) {
            SpotKind::Product => device.product(inputs.typed.number(Field::M).unwrap_or(1)),
            SpotKind::Kernel(kind) => kind,
        }
    }

    /// The formats to choose from.
    pub fn formats(&self, inputs: &Inputs, device: &MeasuredDevice) -> Vec<MeasuredFormat> {
        device.formats(self.kernel(inputs, device))
    }

    /// The orders of a spot check.
    ///
    /// # Errors
    /// Returns a sentence about a size that is not possible.
    pub fn orders(
        &self,
        inputs: &Inputs,
        device: &MeasuredDevice,
    ) -> Result<Vec<BenchSpec>, String> {
        let kernel = self.kernel(inputs, device);
        let formats = device.chosen(kernel, &self.format);
        if self.kind(Some(device)) == SpotKind::Product {
            let fields = [Field::M, Field::N, Field::K];
            // Each field is one number: only a line of a sweep has several, with an x between them.
            let fault = fields.iter().find_map(|it| side_fault(inputs, Some(device), *it));
            fault.map_or(Ok(()), Err)?;
            let number = |field| inputs.typed.number(field).map(|it| it.to_string());
            let shape = fields.map(|field| number(field).unwrap_or_default()).join(" ");
            let shapes = form::shapes(&shape, &device.limits)?;
            return Ok(vec![BenchSpec { shapes, ..device.order(kernel, formats) }]);
        }
        let known = sizes::sizes(kernel);
        if let Some(fault) = known.iter().find_map(|size| self.fault(inputs, kernel, size)) {
            return Err(fault);
        }
        let of = |size: &KernelSize| {
            Some((size.name.to_owned(), self.number(inputs, kernel, size.name)?))
        };
        let sizes: BTreeMap<String, u64> = known.iter().filter_map(of).collect();
        let sizes = if sizes.is_empty() { Vec::new() } else { vec![sizes] };
        Ok(vec![BenchSpec { sizes, ..device.order(kernel, formats) }])
    }
}

/// The use of a product of so many tokens, and the kernel that multiplies it.
pub fn product_words(count: Option<u64>, device: Option<&MeasuredDevice>) -> String {
    let (Some(count), Some(device)) = (count, device) else { return String::new() };
    let most = device.most_tokens();
    if count > most {
        return format!(
            "More than {} at once, as in a prompt: plain matrices are multiplied (GEMM), in {}.",
            tokens(most),
            device.matrix_formats()
        );
    }
    let once = match count {
        1 => "One token, as in decoding for one user".to_owned(),
        _ => format!(
            "{} at once, as in decoding for {} users",
            tokens(count),
            number_text::count(count)
        ),
    };
    format!("{once}: weights stay packed in their format.")
}

/// A size of the chosen model; the usual one where its layers have none.
fn of_model(inputs: &Inputs, kind: BenchKind, size: &KernelSize) -> u64 {
    let workload = |field| count(field, inputs.model.text(field)).ok().flatten();
    let asked = match size.name {
        "batch" | "tokens" => workload(ModelField::Batch),
        "context" => workload(ModelField::Context),
        _ => of_layer(inputs, kind, size),
    };
    asked.unwrap_or(size.usual)
}

/// A size of the layers of the chosen model; `None` for sizes of another kind, and where the model has no such layers.
fn of_layer(inputs: &Inputs, kind: BenchKind, size: &KernelSize) -> Option<u64> {
    let changed = changed(&inputs.model).ok();
    let arch = changed.as_ref().unwrap_or_else(|| inputs.model.base.arch());
    match (kind, size.name) {
        (BenchKind::Rope, "heads") => attention(arch).map(|it| it.n_heads + it.n_kv_heads),
        (BenchKind::Attention, "heads") => attention(arch).map(|it| it.n_heads),
        (BenchKind::Attention, "kv_heads") => attention(arch).map(|it| it.n_kv_heads),
        (BenchKind::Attention | BenchKind::Rope, "head_dim") => {
            attention(arch).map(|it| it.head_dim)
        }
        (BenchKind::Gate, "width") => {
            let dense = arch.dense.iter().find(|group| group.layers > 0).map(|group| group.width);
            dense.or_else(|| arch.moe.first().map(|moe| moe.expert_width))
        }
        (_, "width") => Some(arch.hidden_size),
        (_, "vocab") => Some(arch.vocab_size),
        _ => None,
    }
}

/// The plain attention of a model, over the whole context where some layers have that.
fn attention(arch: &ModelArch) -> Option<&Attention> {
    let is_plain = |it: &&Attention| it.latent.is_none() && it.head_dim == it.v_head_dim;
    let mut plain = arch.attention.iter().filter(is_plain);
    let first = plain.next()?;
    Some(if first.full_layers > 0 {
        first
    } else {
        plain.find(|it| it.full_layers > 0).unwrap_or(first)
    })
}

#[cfg(test)]
mod tests;
