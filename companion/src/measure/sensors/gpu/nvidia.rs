//! Cards of NVIDIA's driver, as it tells them without its library: that a card is there, its model and its node.

use super::super::{Reading, Sensors};
use super::{Gpu, GpuDriver};

const DRIVER: &str = "proc/driver/nvidia";
const PCI: &str = "sys/bus/pci/devices";

impl Sensors {
    /// Version of the driver's kernel module.
    ///
    /// # Errors
    /// A system without it.
    pub(super) fn nvidia_version(&self) -> Reading<String> {
        self.text("sys/module/nvidia/version")
    }

    /// The cards of NVIDIA's own driver.
    pub(super) fn nvidia_gpus(&self) -> Vec<Gpu> {
        let gpu = |address: String| {
            let text = self.text(&format!("{DRIVER}/gpus/{address}/information"));
            let text = text.unwrap_or_default();
            let of = |key: &str| {
                let mut lines = text.lines().filter_map(|line| line.split_once(':'));
                let (_, value) = lines.find(|(known, _)| known.trim() == key)?;
                Some(value.trim().to_owned()).filter(|value| !value.is_empty())
            };
            let node = of("Device Minor").map(|minor| format!("nvidia{minor}"));
            Gpu {
                name: format!("nvidia@{address}"),
                nodes: node.iter().map(|node| format!("/dev/{node}")).collect(),
                node,
                model: of("Model").unwrap_or_else(|| "NVIDIA card".into()),
                // Question marks stand where the driver has not asked the card yet.
                uuid: of("GPU UUID").filter(|uuid| !uuid.contains('?')),
                driver: GpuDriver::Nvidia,
                card: None,
                // Only its state of sleep is read there.
                device: Some(format!("{PCI}/{address}")),
                chip: None,
                frequencies: None,
                address,
            }
        };
        self.folder(&format!("{DRIVER}/gpus")).into_iter().map(gpu).collect()
    }
}
