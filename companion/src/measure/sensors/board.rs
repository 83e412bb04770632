//! A Jetson: its mode of power, by what nvpmodel keeps of it, and the power of its GPU, by a rail of the board.

use super::{RAILS, Reading, Sensors, Shows};

/// Rails of a board whose power stands for that of its only graphics processor, with what they feed, best first: the power of a card is that
/// of all of it with its memory, and so the input of a module comes before rails that leave its memory out. Names and scopes are those of
/// NVIDIA's "Jetson Linux Developer Guide".
pub(crate) const GPU_RAILS: [(&str, &str); 3] = [
    ("VDD_IN", "the input of the module, with processor and memory"),
    ("VDD_GPU_SOC", "GPU and SoC, without memory"),
    ("VDD_CPU_GPU_CV", "processor, GPU and accelerators, without memory"),
];

/// Power of a rail at a moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RailPower {
    pub(crate) watts: f64,
    /// File that is read, the name of the rail, and what it feeds.
    pub(crate) source: String,
}

impl Sensors {
    /// Mode of power of a Jetson by its name in nvpmodel's file, else by its number.
    pub(crate) fn board_mode(&self) -> Reading<String> {
        let status = self.text("var/lib/nvpmodel/status")?;
        let number = status.split_whitespace().find_map(|word| word.strip_prefix("pmode:"));
        let number = number.and_then(|digits| digits.parse::<u32>().ok());
        let number = number.ok_or_else(|| format!("/var/lib/nvpmodel/status holds `{status}`"))?;
        let named = self.text("etc/nvpmodel.conf").ok().and_then(|text| mode_name(&text, number));
        Ok(named.unwrap_or_else(|| format!("number {number}")))
    }

    /// Power of the best of [`GPU_RAILS`] that the board meters.
    pub(crate) fn gpu_rail(&self) -> Reading<RailPower> {
        let chips = self.rail_chips();
        let meters: Vec<_> = chips.iter().flat_map(|chip| self.chip(chip)).collect();
        let found = GPU_RAILS.into_iter().find_map(|(rail, feeds)| {
            let meter = meters.iter().find(|it| it.name == format!("{RAILS} {rail}"))?;
            let Ok(Shows::Power(watts)) = meter.shows else { return None };
            Some(RailPower { watts, source: format!("{}: rail {rail}, {feeds}", meter.source) })
        });
        found.ok_or_else(|| {
            let known = GPU_RAILS.map(|(rail, _)| rail).join(", ");
            format!("this board meters no rail that is known to feed its GPU ({known})")
        })
    }
}

/// The name of a mode in nvpmodel's file: of lines such as `< POWER_MODEL ID=1 NAME=25W >`.
fn mode_name(text: &str, number: u32) -> Option<String> {
    text.lines().find_map(|line| {
        let words = line.trim().strip_prefix('<')?.trim_end().strip_suffix('>')?;
        let mut words = words.split_whitespace();
        let mut value = |key: &str| words.next()?.strip_prefix(key);
        value("POWER_MODEL")?;
        let id: u32 = value("ID=")?.parse().ok()?;
        let name = value("NAME=")?;
        (id == number).then(|| name.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::super::fixtures;
    use super::super::tests::Machine;

    #[test]
    fn the_mode_of_a_jetson_has_its_name_and_without_a_file_its_number() {
        let mode = |machine: &Machine| machine.sensors().power_mode();
        let board = fixtures::jetson("mode");
        assert_eq!(mode(&board), Ok("15W".into()));
        let board = board.with_bytes("var/lib/nvpmodel/status", b"pmode:0001\n");
        assert_eq!(mode(&board), Ok("25W".into()));
        let board = board.with_bytes("var/lib/nvpmodel/status", b"pmode:0007\n");
        assert_eq!(mode(&board), Ok("number 7".into()));
        let board = board.with_bytes("var/lib/nvpmodel/status", b"nothing\n");
        assert!(mode(&board).is_err());
    }
}
