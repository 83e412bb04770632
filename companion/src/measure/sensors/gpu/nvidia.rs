//! Cards of NVIDIA's driver, as it tells them without its library: that a card is there, its model, and the version of the driver.

use super::super::Sensors;
use super::{Gpu, GpuDriver};

const DRIVER: &str = "proc/driver/nvidia";

impl Sensors {
    /// The cards of NVIDIA's own driver.
    pub(super) fn nvidia_gpus(&self) -> Vec<Gpu> {
        let version = self.text(&format!("{DRIVER}/version")).unwrap_or_default();
        let version = version_of(&version).unwrap_or("of an unknown version").to_owned();
        let gpu = |address: String| {
            let text = self.text(&format!("{DRIVER}/gpus/{address}/information"));
            let text = text.unwrap_or_default();
            let of = |key: &str| {
                let mut lines = text.lines().filter_map(|line| line.split_once(':'));
                let (_, value) = lines.find(|(known, _)| known.trim() == key)?;
                Some(value.trim().to_owned()).filter(|value| !value.is_empty())
            };
            Gpu {
                name: format!("nvidia@{address}"),
                node: of("Device Minor").map(|minor| format!("nvidia{minor}")),
                model: of("Model").unwrap_or_else(|| "NVIDIA card".into()),
                // Question marks stand where the driver has not asked the card yet.
                uuid: of("GPU UUID").filter(|uuid| !uuid.contains('?')),
                driver: GpuDriver::Nvidia(version.clone()),
                card: None,
                device: None,
                chip: None,
                frequencies: None,
                address,
            }
        };
        self.folder(&format!("{DRIVER}/gpus")).into_iter().map(gpu).collect()
    }
}

/// The first word that is a number with dots, of a line such as `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  …`.
fn version_of(text: &str) -> Option<&str> {
    let is_version = |word: &&str| {
        word.contains('.') && word.bytes().all(|byte| byte == b'.' || byte.is_ascii_digit())
    };
    text.lines().next()?.split_whitespace().find(is_version)
}
