//! Names of several cards where the page holds one kind of card: `rtx 4090 + rtx 3090`.

use calc_core::catalog;
use calc_core::device::DeviceClass;

/// Why the page takes no list of cards, such as `rtx 4090 + rtx 3090`; `None` for other names.
pub fn several_cards(typed: &str) -> Option<String> {
    if catalog::device(typed).is_ok() {
        return None;
    }
    let joined = typed.to_ascii_lowercase().replace(" and ", "+").replace(" with ", "+");
    let card = |part: &str| {
        let device = catalog::counted(part)
            .and_then(|(_, one)| catalog::device(one).ok())
            .or_else(|| catalog::device(part.trim()).ok())?;
        (device.class != DeviceClass::Cpu).then_some(device)
    };
    let parts: Vec<&str> = joined.split(['+', ',', '&']).map(str::trim).collect();
    let cards: Vec<_> = parts.iter().filter_map(|part| card(part)).collect();
    let first = cards.first().filter(|_| cards.len() > 1)?;
    if cards.iter().all(|card| card.key == first.key) {
        return Some(format!(
            "The page takes equal cards as a number, such as 2 x {}.",
            first.name
        ));
    }
    Some(format!(
        "The page takes one kind of card; unlike ones share a model on the command line: --hardware \"{}\".",
        brief(&parts.join(" + "))
    ))
}

/// The first characters of a text, as many as a sentence can hold.
pub fn brief(typed: &str) -> String {
    const LONGEST: usize = 60;
    let more = if typed.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("{}{more}", typed.chars().take(LONGEST).collect::<String>())
}
