//! The mode of power of a Jetson, by what nvpmodel keeps of it.

use super::{Reading, Sensors};

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
