//! The scenario of the Plan view in one line: model, devices, power mode, engine, users, tokens.

use calc_core::recommend::USUAL_QUALITY;
use report::number_text as text;
use report::output::words::advice::scheme_name;

use super::goal::Bound;
use super::inputs::Inputs;
use super::model::fields::Field;
use super::model::roles::Role;

/// Text of the power mode where none is chosen.
pub const PEAKS: &str = "datasheet peaks";
/// Text of the scheme where none is picked.
pub const BEST: &str = "the best scheme";

/// A part of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScenarioPart {
    Model,
    Device,
    Mode,
    Engine,
    Scheme,
    Users,
    In,
    Out,
    Goal,
}

impl ScenarioPart {
    /// Key in element ids.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Device => "device",
            Self::Mode => "mode",
            Self::Engine => "engine",
            Self::Scheme => "scheme",
            Self::Users => "users",
            Self::In => "in",
            Self::Out => "out",
            Self::Goal => "goal",
        }
    }
}

/// The parts of the line, each with the text before it. A device without power modes has none.
pub fn parts(inputs: &Inputs) -> Vec<(ScenarioPart, &'static str, String)> {
    let model = &inputs.model;
    let number = |field: Field| shown(model.text(field));
    // Invalid numbers are shown beside their fields.
    let ways = |field: Field| model.text(field).trim().parse::<u64>().unwrap_or(1);
    let devices = [Field::Tensor, Field::Pipeline, Field::Expert]
        .into_iter()
        .fold(1, |devices: u64, field| devices.saturating_mul(ways(field)));
    let engine = model.engine.map_or("the usual engine", |engine| engine.key());
    let mut device = format!("{devices} × {}", brief(&inputs.device.name));
    let mut tokens = format!("{} tokens in", number(Field::Prompt));
    if let Some(beside) = &model.beside {
        beside.brief(&mut device, &mut tokens);
    }
    let users = number(Field::Batch);
    let plural = if users == "1" { "" } else { "s" };
    let mut parts =
        vec![(ScenarioPart::Model, "", model.name()), (ScenarioPart::Device, " on ", device)];
    if !inputs.device.power_modes.is_empty() {
        let mode = inputs.mode.as_ref().map_or(PEAKS.to_owned(), ToString::to_string);
        parts.push((ScenarioPart::Mode, " at ", mode));
    }
    let loss = match inputs.goal.text(Bound::Loss).trim() {
        "" => text::short(USUAL_QUALITY, 3),
        loss => shown(loss),
    };
    parts.extend([
        (ScenarioPart::Engine, " with ", engine.to_owned()),
        (ScenarioPart::Scheme, " in ", formats(inputs)),
        (ScenarioPart::Users, " · ", format!("{users} user{plural}")),
        (ScenarioPart::In, " · ", tokens),
        (ScenarioPart::Out, ", ", format!("{} out", number(Field::Generate))),
        (ScenarioPart::Goal, " · ", format!("loss ≤ {loss}{}%", text::SPACE)),
    ]);
    parts
}

/// The scheme, and the formats that the reader set beside it.
fn formats(inputs: &Inputs) -> String {
    let model = &inputs.model;
    let mut said = model.scheme.map_or_else(|| BEST.to_owned(), scheme_name);
    for (role, name) in [(Role::KvCache, "KV cache"), (Role::Embedding, "embedding")] {
        if let Some(format) = model.formats.get(role) {
            said += &format!(", {name} {}", format.short_name);
        }
    }
    said
}

/// A name without the remark in parentheses at its end.
pub fn brief(name: &str) -> &str {
    let before = name.split('(').next().map_or(name, str::trim_end);
    if before.is_empty() { name } else { before }
}

/// A typed number with its digits grouped; what is no number stays as typed.
fn shown(typed: &str) -> String {
    let typed = typed.trim();
    typed.parse().map_or_else(|_| typed.to_owned(), text::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_the_whole_scenario() {
        let mut inputs = Inputs::default();
        inputs.model.set_text(Field::Tensor, "2".into());
        inputs.model.set_text(Field::Prompt, "4096".into());
        let line: String =
            parts(&inputs).into_iter().map(|(_, before, said)| format!("{before}{said}")).collect();
        inputs.model.set_format(Role::KvCache, calc_core::catalog::format("fp8_e4m3").ok());
        let said = formats(&inputs);
        assert_eq!(said, "the best scheme, KV cache FP8 E4M3");
        assert_eq!(
            line.replace(text::SPACE, " "),
            "Llama-3.1 8B on 2 × Jetson Orin Nano 8GB Super at datasheet peaks with the usual engine in the best scheme · 1 user · 4 096 tokens in, 128 out · loss ≤ 5 %"
        );
    }
}
