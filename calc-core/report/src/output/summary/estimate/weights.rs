//! The lines of an estimate on the bytes of the weights.

use calc_core::footprint::MemoryFootprint;
use calc_core::units::Bytes;

use crate::input::request::EstimateInputs;
use crate::number_text as n;
use crate::output::summary::Document;
use crate::output::words;

/// The lines on the weights: their bytes in the memory of the device, what lies elsewhere, and their roles.
pub(super) fn weights(out: &mut Document, inputs: &EstimateInputs, m: &MemoryFootprint) {
    let (rest, sides) = match m.host {
        Some(host) => {
            (format!("on the card; the host has {}", n::bytes(host.weights)), " on both sides")
        }
        None if m.tables_on_host > Bytes::ZERO => {
            let tables = n::bytes(m.tables_on_host);
            (format!("on the card; input tables of {tables} are in the machine's memory"), "")
        }
        None => ("all of them; a step reads few rows of the embedding".into(), ""),
    };
    out.line(format!("weights     {}  {rest}", n::bytes(m.weights)));
    let roles = words::memory::roles(&inputs.weight_roles());
    out.line(format!("            by role{sides}: {roles}"));
}
