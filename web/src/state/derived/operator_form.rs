//! Contents of the operator form, and the actions of its lists.

use crate::state::inputs::Inputs;
use crate::state::operator::{Field, Op, PREFILL, Phase, Switch};

/// An option of a list: key, name, whether it is chosen.
pub type Listed = (&'static str, &'static str, bool);

/// Lists and fields of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorForm {
    /// Operators; a matrix product with one token is listed as GEMV.
    pub operators: Vec<Listed>,
    /// Phases, and "other" for numbers typical of neither.
    pub phases: Vec<Listed>,
    pub fields: &'static [Field],
    /// Yes-or-no input, if the operator has one.
    pub switch: Option<Switch>,
}

const GEMV: &str = "gemv";

/// The form for the current inputs.
pub fn form(inputs: &Inputs) -> OperatorForm {
    let is_gemv = inputs.op == Op::Gemm && inputs.typed.number(Field::M) == Some(1);
    let gemv = (GEMV, "GEMV", is_gemv);
    let others = Op::ALL.into_iter().map(|op| (op.key(), op.name(), op == inputs.op && !is_gemv));
    let phase = inputs.typed.phase(inputs.op);
    let phases = Phase::ALL.into_iter().map(|each| (each.name(), each.name(), phase == Some(each)));
    let neither = phase.is_none().then_some(("", "other", true));
    OperatorForm {
        operators: core::iter::once(gemv).chain(others).collect(),
        phases: phases.chain(neither).collect(),
        fields: inputs.op.fields(),
        switch: inputs.op.switch(),
    }
}

/// Chooses an operator by its key. GEMV and GEMM are one operator and differ in M: one token or many.
pub fn choose_operator(inputs: &mut Inputs, key: &str) {
    inputs.op = Op::ALL.into_iter().find(|op| op.key() == key).unwrap_or(Op::Gemm);
    let is_one = inputs.typed.number(Field::M) == Some(1);
    match (inputs.op, key == GEMV) {
        (Op::Gemm, true) => inputs.typed.set(Field::M, "1".to_owned()),
        (Op::Gemm, false) if is_one => inputs.typed.set(Field::M, PREFILL.to_string()),
        _ => {}
    }
}

/// Chooses a phase by its name.
pub fn choose_phase(inputs: &mut Inputs, name: &str) {
    if let Some(phase) = Phase::ALL.into_iter().find(|phase| phase.name() == name) {
        inputs.typed.set_phase(inputs.op, phase);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(list: &[Listed]) -> &'static str {
        let chosen: Vec<_> = list.iter().filter(|(.., chosen)| *chosen).collect();
        assert_eq!(chosen.len(), 1, "{list:?}");
        chosen[0].0
    }

    #[test]
    fn every_choice_of_a_list_is_then_the_chosen_one() {
        let mut inputs = Inputs::default();
        let keys: Vec<&str> = form(&inputs).operators.iter().map(|(key, ..)| *key).collect();
        assert_eq!(keys.len(), Op::ALL.len() + 1);
        for key in keys.iter().rev().chain(&keys) {
            choose_operator(&mut inputs, key);
            assert_eq!(chosen(&form(&inputs).operators), *key);
            for phase in Phase::ALL {
                choose_phase(&mut inputs, phase.name());
                assert_eq!(chosen(&form(&inputs).phases), phase.name());
            }
        }
    }

    #[test]
    fn numbers_between_the_phases_are_neither() {
        let mut inputs = Inputs::default();
        inputs.typed.set(Field::M, "64".to_owned());
        assert_eq!(chosen(&form(&inputs).phases), "");
        assert_eq!(chosen(&form(&inputs).operators), "gemm");
    }
}
