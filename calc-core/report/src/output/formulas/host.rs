//! The formulas of a model on a card and its host: bytes on both sides, and the times of the host, the copies and the changes of
//! sides, as `docs/theory/two-tiers.md` numbers them.

use calc_core::calibration::Engine;
use calc_core::estimate::Estimate;
use calc_core::footprint::HostMemory;
use calc_core::provenance::Provenance;
use calc_core::tiers::{COPIED_FROM, Host, HostFactors, Placement, feed_forward_layers, fitted};
use calc_core::units::{Bytes, Seconds};

use crate::input::request::EstimateInputs;
use crate::number_text as text;
use crate::output::lesson;
use crate::output::verdict::explain::Explanation;
use crate::output::words::placement;

/// A model that lies on two sides of a link.
pub(super) struct Split<'a> {
    inputs: &'a EstimateInputs,
    answer: &'a Estimate,
    host: &'a Host,
    memory: HostMemory,
    placement: Placement,
    factors: HostFactors,
}

impl<'a> Split<'a> {
    /// The sides of an answer; none without a host.
    pub(super) fn of(inputs: &'a EstimateInputs, answer: &'a Estimate) -> Option<Self> {
        let host = &inputs.host.as_ref()?.host;
        let is_ideal = answer.basis.engine == Engine::IdealKernels;
        let factors = if is_ideal { HostFactors::IDEAL } else { fitted::HOST };
        let (memory, placement) = (answer.memory.host?, answer.placement?);
        Some(Self { inputs, answer, host, memory, placement, factors })
    }

    /// Says of the parts of the card's memory that they are those of the card.
    pub(super) fn card(&self, told: &mut [Explanation]) {
        for part in told.iter_mut().filter(|part| part.title == "Weights") {
            "Weights on the card".clone_into(&mut part.title);
            "all weights − weights on the host alone".clone_into(&mut part.formula);
            // An embedding that both sides have is on the card in any case.
            let (card, there) =
                (self.answer.memory.weights, self.memory.weights - self.memory.copy);
            part.values = format!(
                "{} − {} = {}",
                text::bytes(card + there),
                text::bytes(there),
                text::bytes(card)
            );
            part.lesson = lesson::TIERS;
        }
    }

    /// The bytes on the host.
    pub(super) fn memory(&self) -> Vec<Explanation> {
        let (arch, placement) = (&self.inputs.model.arch, &self.placement);
        let part = if arch.has_experts() { "experts" } else { "MLPs" };
        let bandwidth = &self.host.bandwidth;
        let modules = Explanation {
            source: self.host.name.to_string().into(),
            ..self.row(
                "Memory of the host",
                "β_h = channels × 8 B × transfers per second".to_owned(),
                text::bandwidth(bandwidth.value),
                bandwidth.provenance,
            )
        };
        let mut told = vec![
            modules,
            self.row(
                "Weights on the host",
                format!(
                    "input embedding + n_f ÷ N_f × {part} + n_l ÷ N_l × other weights of layers"
                ),
                format!(
                    "n_f ÷ N_f = {} ÷ {}, n_l ÷ N_l = {} ÷ {}: {}{}",
                    placement.feed_forward,
                    feed_forward_layers(arch),
                    placement.layers,
                    arch.n_layers,
                    text::bytes(self.memory.weights),
                    self.copy()
                ),
                Provenance::Derived,
            ),
        ];
        if self.memory.kv_cache > Bytes::ZERO {
            told.push(self.row(
                "KV cache on the host",
                "the cache of the layers that lie there; with -nkvo of all layers".to_owned(),
                text::bytes(self.memory.kv_cache),
                Provenance::Derived,
            ));
        }
        if self.memory.on_ssd > Bytes::ZERO {
            told.push(self.row(
                "Weights on the SSD",
                "what the memory of the host does not hold".to_owned(),
                text::bytes(self.memory.on_ssd),
                Provenance::Derived,
            ));
        }
        told
    }

    /// The part of the host's weights that the card has, too.
    fn copy(&self) -> String {
        match self.memory.copy {
            Bytes::ZERO => String::new(),
            copy => format!(
                ", with the input embedding of {}, which the card has, too, as its LM head",
                text::bytes(copy)
            ),
        }
    }

    /// The times of the host, of copies to the card, and of changes of sides.
    pub(super) fn times(&self) -> Vec<Explanation> {
        let mut told = vec![self.computed()];
        if self.placement.copies {
            told.push(self.copied());
        }
        told.push(self.crossings());
        told
    }

    /// Equation (1): what the host computes of a token.
    fn computed(&self) -> Explanation {
        let decode = &self.answer.middle.totals;
        let ssd = self.host.ssd.map_or("", |_| ", share on the SSD × weights ÷ β_SSD");
        let rate = self.host.bandwidth.value;
        let share = self.factors.processor.eta_memory;
        self.row(
            "Each token, on the host",
            format!(
                "sum over its operators of max(bytes ÷ β_h{ssd}, FLOP ÷ π_h), and a fixed time each"
            ),
            format!(
                "{} ÷ ({} × {}) and fixed times = {} of {} expected",
                text::bytes(decode.there),
                text::short(share, 2),
                text::bandwidth(rate),
                text::time(decode.host),
                text::time(decode.expected.time)
            ),
            self.factors.processor.provenance,
        )
    }

    /// Equation (2): weights that the steps of a prompt copy to the card.
    fn copied(&self) -> Explanation {
        let prefill = &self.answer.prefill.totals;
        let link = self.host.link.value.bandwidth.min(self.host.bandwidth.value);
        self.row(
            "Prompt, copies to the card",
            format!(
                "in steps of at least {COPIED_FROM} tokens: e × weights there ÷ min(link, β_h), e the share of the experts that a text chooses"
            ),
            format!(
                "e = {}, min(link, β_h) = {} × {}: {} of {} expected for the whole prompt in one step",
                text::short(if self.inputs.model.arch.has_experts() { self.factors.experts } else { 1.0 }, 2),
                text::short(self.factors.link, 2),
                text::bandwidth(link),
                text::time(prefill.host),
                text::time(prefill.expected.time)
            ),
            self.factors.processor.provenance,
        )
    }

    /// Equation (3): activations that change sides in a step of a token per sequence.
    fn crossings(&self) -> Explanation {
        let arch = &self.inputs.model.arch;
        let tokens = self.inputs.workload.batch;
        self.row(
            "Each token, changes of sides",
            "c × (4 B × T × H ÷ link + τ)".to_owned(),
            format!(
                "c = {}, T = {}, H = {}, link = {} × {}, τ = {}: {}",
                text::short(self.placement.crossings(arch), 4),
                text::count(tokens),
                text::count(arch.hidden_size),
                text::short(self.factors.link, 2),
                text::bandwidth(self.host.link.value.bandwidth),
                text::time(self.factors.crossing),
                text::time(self.between())
            ),
            self.factors.processor.provenance,
        )
    }

    /// The time of a decode step between card and host.
    fn between(&self) -> Seconds {
        self.answer.middle.totals.links
    }

    fn row(
        &self,
        title: &str,
        formula: String,
        values: String,
        provenance: Provenance,
    ) -> Explanation {
        let source = match provenance {
            Provenance::Derived => {
                let arch = &self.inputs.model.arch;
                placement::places(&self.placement, arch)
            }
            _ => placement::MEASURED_ON.to_owned(),
        };
        Explanation {
            title: title.to_owned(),
            formula,
            values,
            provenance,
            source: source.into(),
            lesson: lesson::TIERS,
        }
    }
}
