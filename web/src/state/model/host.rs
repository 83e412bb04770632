//! Texts on what lies on the host of a card and on the time of images, and the amount of memory with which a model fits. Its words are those of
//! the command line, and come with the parts that show them.

use calc_core::catalog::devices;
use calc_core::device::DeviceClass;
use calc_core::footprint::HostMemory;
use calc_core::plan::Plan;
use calc_core::tiers::Host;
use calc_core::units::Bytes;
use report::input::request::HOST_MEMORY;
use report::number_text as text;
use report::output::words::{advice, placement, towers};

use super::answer::{ModelShown, estimate_inputs};
use super::beside::{text_of, with, with_host};
use super::fit::fits;
use super::inputs::ModelInputs;
use super::question::ModelQuestion;
use crate::state::place::Place;

/// Texts of an answer about host and images.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BesideShown {
    /// Names and what is said.
    pub rows: Vec<(&'static str, String)>,
    /// Options of llama.cpp; empty without a host.
    pub options: String,
}

/// A part of the bar of the host.
#[derive(Debug, Clone, PartialEq)]
pub struct HostPart {
    /// Class name in the style sheet.
    pub key: &'static str,
    pub name: &'static str,
    pub size: String,
    /// Share of the whole bar [%].
    pub percent: f64,
}

/// The memory of the host as a bar, what lies on the SSD behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct HostBar {
    pub sentence: String,
    pub parts: Vec<HostPart>,
    /// Position of the capacity line [%].
    pub capacity: f64,
    pub capacity_text: String,
    pub fits: bool,
}

/// Texts of an answer about host and images; `None` without either, and while it belongs to earlier inputs.
pub fn beside_shown(
    inputs: &ModelInputs,
    place: Place<'_>,
    shown: &ModelShown,
) -> Option<BesideShown> {
    inputs.beside.as_ref().filter(|_| !shown.is_stale())?;
    let question = ModelQuestion::read(inputs, place).ok()?;
    let answer = &shown.answer.estimate;
    let mut said = BesideShown::default();
    if let (Some(placed), Some(host)) = (&answer.placement, &answer.memory.host) {
        let (needs, usable) = (answer.memory.total(), answer.memory.usable.bytes);
        let card = format!("{} of {} usable", text::bytes(needs), text::bytes(usable));
        said.rows.extend([("On the card", card), ("On the host", placement::bytes(host))]);
        said.options = placement::options(placed, &question.arch, &question.workload).join(" ");
    }
    if let Some(images) = &answer.images {
        let request = estimate_inputs(inputs, &question, question.workload);
        said.rows.push(("Images", towers::images(&request, images)));
        said.rows.extend(images.encoder.map(|encoder| {
            let time = advice::expected(&encoder.expected);
            ("Encoder", format!("{time}, a part of the time to the first token"))
        }));
    }
    (!said.rows.is_empty()).then_some(said)
}

/// The bar of the host.
pub fn host_bar(host: &HostMemory) -> HostBar {
    let in_memory = host.weights - host.on_ssd;
    let whole = host.in_memory().max(host.usable) + host.on_ssd;
    let part = |(key, name, bytes): (&'static str, &'static str, Bytes)| HostPart {
        key,
        name,
        size: text::bytes(bytes),
        percent: 100.0 * (bytes / whole),
    };
    let parts = [
        ("weights", "Weights", in_memory),
        ("kv", "KV cache", host.kv_cache),
        ("ssd", "Weights on the SSD", host.on_ssd),
    ];
    HostBar {
        sentence: placement::bytes(host),
        parts: parts.into_iter().filter(|part| part.2 > Bytes::ZERO).map(part).collect(),
        capacity: 100.0 * (host.usable / whole),
        capacity_text: format!("{} usable on the host", text::bytes(host.usable)),
        fits: host.missing() <= Bytes::ZERO,
    }
}

/// The amounts of memory that a host of the inputs may have instead of its own [GB as sold]; none where no host is possible.
pub fn larger_hosts(inputs: &ModelInputs, place: Place<'_>) -> Vec<u32> {
    if Host::impossible(place.device).is_some() || inputs.has_several_devices() {
        return Vec::new();
    }
    let own = ModelQuestion::read(inputs, place)
        .ok()
        .and_then(|question| Some(question.beside.as_ref()?.host()?.host.installed));
    let own = own.unwrap_or(Bytes::ZERO);
    let larger = |memory: &u32| Bytes::from_gib(f64::from(*memory)) > own;
    HOST_MEMORY.into_iter().filter(larger).collect()
}

/// Gives the host an amount of memory [GB as sold]; without one, the usual host.
pub fn give_memory(inputs: &mut ModelInputs, memory: u32, place: Place<'_>) {
    let beside = inputs.beside.as_deref();
    inputs.beside = if text_of(beside, "host").is_empty() {
        with_host(beside, memory)
    } else {
        with(beside, "host_memory_gb", &memory.to_string(), place.device)
    };
}

/// Hosts to choose from: memory alone, and the processors of the catalog.
pub fn hosts() -> Vec<String> {
    let modules = ["ddr5", "ddr4", "ddr5-6000x2"].map(str::to_owned);
    let processors = devices::all().filter(|device| device.class == DeviceClass::Cpu);
    modules.into_iter().chain(processors.map(|device| device.name.to_string())).collect()
}

/// Label of the change that gives the host an amount of memory.
pub fn memory_text(memory: u32) -> String {
    format!("{memory}{}GB of host memory", text::SPACE)
}

/// The smallest memory of a host with which the model fits in its formats [GB as sold]; `None` if it fits already.
pub fn enough(inputs: &ModelInputs, place: Place<'_>) -> Option<u32> {
    let fits_in = |inputs: &ModelInputs| {
        let question = ModelQuestion::read(inputs, place).ok()?;
        let plan = Plan::new(question.request(question.workload)).ok()?;
        Some(fits(&plan, &question.workload))
    };
    if fits_in(inputs)? {
        return None;
    }
    larger_hosts(inputs, place).into_iter().find(|memory| {
        let mut changed = inputs.clone();
        give_memory(&mut changed, *memory, place);
        fits_in(&changed) == Some(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::inputs::Inputs;
    use crate::state::url::read;
    use calc_core::catalog;
    use calc_core::tiers::Host;
    use report::input::request::Library;

    use crate::state::model::answer::{next, verdict};

    fn inputs(query: &str) -> Inputs {
        let (inputs, notes) = read(query);
        assert!(notes.is_empty(), "{notes:?}");
        inputs
    }

    fn rows(inputs: &Inputs) -> Option<BesideShown> {
        let shown = next(None, &inputs.model, inputs.place());
        beside_shown(&inputs.model, inputs.place(), &shown)
    }

    #[test]
    fn the_page_says_where_the_model_lies_as_the_command_line_does() {
        let with = inputs(
            "?view=model&model=gpt-oss-120b&d=rtx_4090&generate=512&host=96%20GB%20of%20DDR5",
        );
        let shown = next(None, &with.model, with.place());
        let places = "The experts of 24 of 36 layers lie on the host, the rest on the card.";
        let line = verdict(&with.model, with.place(), &shown).line;
        assert!(line.starts_with(places), "{line}");
        let said = rows(&with).expect("a host");
        assert!(said.options.starts_with("-ngl 37 -ncmoe 24 -c "), "{}", said.options);
        assert_eq!(
            said.rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            ["On the card", "On the host"]
        );
        assert_eq!(rows(&inputs("?view=model&model=gpt-oss-120b&d=rtx_4090")), None);
    }

    #[test]
    fn images_have_their_tokens_and_the_time_of_the_encoder() {
        let with = inputs("?view=model&model=gemma-4-26b-a4b&d=gb10&prompt=512&image=1024x768");
        let said = rows(&with).expect("images");
        assert!(said.rows[0].1.contains("268 tokens each; 512 tokens of text"), "{said:?}");
        assert!(said.rows[1].1.ends_with("a part of the time to the first token"), "{said:?}");
        assert_eq!(said.options, "");
        let question = ModelQuestion::read(&with.model, with.place()).expect("valid");
        assert_eq!((question.workload.prompt, question.workload.context), (780, 780));
    }

    #[test]
    fn the_bar_of_the_host_is_full_where_the_ssd_begins() {
        let query = "?view=model&model=gpt-oss-120b&d=rtx_4090&host=ddr5&hostgb=16&ssd=7";
        let with = inputs(query);
        let shown = next(None, &with.model, with.place());
        let bar = host_bar(&shown.answer.estimate.memory.host.expect("a host"));
        let sum: f64 = bar.parts.iter().map(|part| part.percent).sum();
        assert!((sum - 100.0).abs() < 1e-6 && bar.capacity < 100.0 && bar.fits, "{bar:?}");
        assert_eq!(bar.parts.last().map(|part| part.key), Some("ssd"), "{bar:?}");
    }

    #[test]
    fn the_smallest_memory_that_is_enough_is_offered_once() {
        let mut short = inputs("?view=model&model=gpt-oss-120b&d=rtx_4090");
        let place = Place::of(catalog::device("rtx_4090").expect("catalog key"));
        let memory = enough(&short.model, place).expect("too large for the card");
        give_memory(&mut short.model, memory, place);
        assert_eq!(enough(&short.model, place), None, "{memory}");
        assert_eq!(text_of(short.model.beside.as_deref(), "host"), "ddr5");
        let board = inputs("?view=model&model=llama-3.1-405b&d=gb10");
        assert_eq!(enough(&board.model, board.place()), None, "it has one memory");
    }

    #[test]
    fn every_host_of_the_list_is_one() {
        let card = catalog::device("rtx_4090").expect("catalog key");
        assert!(Host::impossible(card).is_none() && hosts().len() > 10);
        for host in hosts() {
            let mut inputs = inputs("?view=model&model=gpt-oss-120b&d=rtx_4090").model;
            inputs.beside = with(None, "host", &host, card);
            let question = ModelQuestion::read(&inputs, Place::of(card)).expect(&host);
            assert!(question.beside.is_some_and(|beside| beside.host().is_some()), "{host}");
        }
        assert!(Library::CATALOGS.device("ryzen 9 7950x").is_ok());
    }
}
