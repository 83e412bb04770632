//! The memory bar: parts, capacity, and changes that would make the model fit.

use calc_core::device::UsableMemory;
use calc_core::footprint::MemoryFootprint;
use calc_core::plan::Plan;
use calc_core::units::Bytes;
use calc_core::workload::Workload;
use report::number_text as text;
use report::output::verdict::model::{self as say, MemoryRole};

use super::fit::{self, FitChange, LargestFit};
use super::question::ModelQuestion;
use crate::state::derived::Cell;

/// A part of the bar.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryPart {
    /// Class name in the style sheet.
    pub key: &'static str,
    pub name: &'static str,
    pub size: Cell,
    pub bytes: Bytes,
    /// Share of the whole bar [%].
    pub percent: f64,
}

/// The bar and the texts beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryBar {
    /// Total and capacity in a sentence.
    pub sentence: String,
    /// False if it certainly does not fit.
    pub fits: bool,
    /// Parts, in the order of the bar.
    pub parts: Vec<MemoryPart>,
    /// Position of the capacity line [%].
    pub capacity: f64,
    /// Label of the capacity line.
    pub capacity_text: String,
    /// Largest batch and largest number of tokens that fit.
    pub room_left: LargestFit,
    /// Most tokens that the model is made for.
    pub limit: Option<u64>,
    /// Room for a larger workload, or that no change makes it fit.
    pub room: String,
    /// Changes that each make it fit.
    pub changes: Vec<FitChange>,
    /// The workload that the changes start from.
    pub workload: Workload,
}

impl MemoryBar {
    /// Room for a larger workload in a few words, or that there is none.
    pub fn brief_room(&self) -> String {
        let LargestFit { batch, tokens } = self.room_left;
        let limit = self.limit.filter(|limit| *limit < tokens);
        if self.fits {
            let plural = if batch == 1 { "" } else { "s" };
            format!(
                "room for {} user{plural}, or {} tokens{}",
                text::count(batch),
                text::count(limit.unwrap_or(tokens)),
                if limit.is_some() { ", the model's limit" } else { "" }
            )
        } else {
            "no room".to_owned()
        }
    }
}

/// Computes the bar.
pub fn bar(
    question: &ModelQuestion<'_>,
    plan: &Plan<'_>,
    memory: &MemoryFootprint,
    room: LargestFit,
) -> MemoryBar {
    let fits = memory.verdict().may_fit();
    let changes = fit::changes(question, plan, room);
    let whole = memory.total().max(memory.usable.bytes);
    let part = |role: MemoryRole| MemoryPart {
        key: role.key,
        name: role.name,
        bytes: role.bytes,
        size: Cell {
            text: text::bytes(role.bytes),
            explanation: say::memory_part(role.name, role.formula, role.bytes, role.provenance),
        },
        percent: 100.0 * (role.bytes / whole),
    };
    MemoryBar {
        sentence: say::memory(memory, question.workload.parallel.devices()),
        fits,
        parts: say::memory_roles(memory).map(part).into(),
        capacity: 100.0 * (memory.usable.bytes / whole),
        capacity_text: capacity_text(memory.usable),
        room_left: room,
        limit: question.arch.max_context,
        room: room_text(fits, room, question.arch.max_context, &changes),
        changes,
        workload: question.workload,
    }
}

fn capacity_text(usable: UsableMemory) -> String {
    let most = if usable.is_known { "" } else { "at most " };
    format!("{most}{} usable", text::bytes(usable.bytes))
}

/// Room for a larger batch or context; the context is limited to the one that the model supports.
fn room_text(fits: bool, room: LargestFit, longest: Option<u64>, changes: &[FitChange]) -> String {
    let beyond = longest.filter(|longest| *longest < room.tokens);
    match (fits, changes) {
        (true, _) => format!(
            "There is room for a batch of {} at this length, or for {} tokens at this batch{}.",
            text::count(room.batch),
            text::count(beyond.unwrap_or(room.tokens)),
            if beyond.is_some() { ", which is all that the model is made for" } else { "" }
        ),
        (false, []) => {
            "No batch, context, weights of 2 bits or more, or split over 16 devices makes it fit."
                .to_owned()
        }
        (false, _) => "Each of these alone makes it fit:".to_owned(),
    }
}
