//! Cards of NVIDIA's driver: that a card is there, its model and its node.

use super::super::{Reading, Sensors};
use super::{Gpu, GpuDriver, NvidiaCard, nvml};

const DRIVER: &str = "proc/driver/nvidia";
const PCI: &str = "sys/bus/pci/devices";
/// Folder in which Windows puts the driver's libraries for its Linux.
const WSL: &str = "usr/lib/wsl/lib";

impl Sensors {
    /// Version of the driver's kernel module.
    ///
    /// # Errors
    /// A system without it.
    pub(super) fn nvidia_version(&self) -> Reading<String> {
        self.text("sys/module/nvidia/version")
    }

    /// The cards of NVIDIA's own driver: in its folder, and in the Linux of Windows, which has none, by its library.
    pub(super) fn nvidia_gpus(&self) -> Vec<Gpu> {
        if self.is_wsl() {
            return nvml::cards().unwrap_or_default().into_iter().map(card).collect();
        }
        let listed = |address: String| {
            let text = self.text(&format!("{DRIVER}/gpus/{address}/information"));
            let text = text.unwrap_or_default();
            let of = |key: &str| {
                let mut lines = text.lines().filter_map(|line| line.split_once(':'));
                let (_, value) = lines.find(|(known, _)| known.trim() == key)?;
                Some(value.trim().to_owned()).filter(|value| !value.is_empty())
            };
            card(NvidiaCard {
                model: of("Model").unwrap_or_else(|| "NVIDIA card".into()),
                // Question marks stand where the driver has not asked the card yet.
                uuid: of("GPU UUID").filter(|uuid| !uuid.contains('?')),
                node: of("Device Minor").map(|minor| format!("nvidia{minor}")),
                address,
            })
        };
        self.folder(&format!("{DRIVER}/gpus")).into_iter().map(listed).collect()
    }

    /// The reason why cards are not listed that may be there.
    pub(crate) fn unlisted_cards(&self) -> Option<String> {
        if self.is_wsl() { nvml::cards().err() } else { None }
    }

    /// Whether this is the Linux of Windows (WSL2) with a card of NVIDIA: the driver is that of Windows, and lists no card in `/proc`.
    fn is_wsl(&self) -> bool {
        let is_of_driver =
            |file: &String| file.starts_with("libnvidia-ml.") || file.starts_with("libcuda.");
        self.folder(&format!("{DRIVER}/gpus")).is_empty()
            && self.folder(WSL).iter().any(is_of_driver)
    }
}

fn card(NvidiaCard { address, model, uuid, node }: NvidiaCard) -> Gpu {
    Gpu {
        name: format!("nvidia@{address}"),
        nodes: node.iter().map(|node| format!("/dev/{node}")).collect(),
        node,
        model,
        uuid,
        driver: GpuDriver::Nvidia,
        card: None,
        // Only its state of sleep is read there.
        device: Some(format!("{PCI}/{address}")),
        chip: None,
        frequencies: None,
        address,
    }
}
