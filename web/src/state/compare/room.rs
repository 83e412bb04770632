//! How many users fit at the context of a scenario, and in which scheme.

use calc_core::scheme::Scheme;

use super::super::inputs::Inputs;
use super::super::model::fields::Field;
use super::super::plan::{self, PlanShown};

/// Most users that fit with a scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UserRoom {
    pub users: u64,
    pub scheme: &'static Scheme,
}

/// Room of the scheme in the cards. Where no scheme meets the bounds, the one recommended for a single user says how far the
/// memory reaches; `None` if none meets them for one user either.
pub(super) fn room(inputs: &Inputs, shown: &PlanShown) -> Option<UserRoom> {
    in_cards(shown).or_else(|| {
        let mut single = inputs.clone();
        single.model.set_text(Field::Batch, "1".to_owned());
        in_cards(&plan::next(None, &single))
    })
}

fn in_cards(shown: &PlanShown) -> Option<UserRoom> {
    let found = shown.answer.in_cards?;
    Some(UserRoom { users: shown.model.answer.memory.room_left.batch, scheme: found.scheme })
}
