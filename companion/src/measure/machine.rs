//! The devices of this machine: their names in messages, and the one that a flag or an order asks for.

use std::fmt;

use calc_core::catalog;
use calc_core::device::DeviceClass;
use calc_core::units::Bytes;
use kernels::backend::{BackendKind, Description, DeviceId, Fault, GemmShape, GemvShape, Kernel};
use kernels::devices::{self, Device};
use protocol::device::DeviceName;
use report::number_text;

use super::{gpus, here};
use crate::hooks::Hooks;

/// The devices of this machine, the processor first; the scripted one only under its hook. GPUs are among them if a GPU is asked for,
/// because the driver's library takes time to open.
pub(crate) fn devices(hooks: &Hooks, asked: Option<&str>) -> Vec<Device> {
    if asked.is_some_and(asks_for_gpu) {
        devices::with_gpus(hooks.device())
    } else {
        devices::all(hooks.device())
    }
}

/// The devices of this machine for a daemon, which does not open the driver's library itself.
pub(crate) fn devices_for_daemon(hooks: &Hooks) -> Vec<Device> {
    let mut devices = devices::all(hooks.device());
    devices.splice(1..1, gpus::listed());
    devices
}

/// Whether a name asks for a GPU: `cuda`, or `cuda:1`.
pub(crate) fn asks_for_gpu(asked: &str) -> bool {
    DeviceId::parse(asked).is_some_and(|id| id.backend == BackendKind::Cuda)
}

/// The name of a device in messages.
pub(crate) fn name(device: &Device) -> DeviceName {
    of(device.id, &device.name, device.catalog_key, device.memory)
}

/// The name of an opened device in messages.
pub(crate) fn name_of(description: &Description) -> DeviceName {
    of(description.id, &description.device, description.catalog_key, description.memory)
}

fn of(id: DeviceId, name: &str, key: Option<&str>, memory: Option<Bytes>) -> DeviceName {
    DeviceName {
        backend: id.backend.key().to_owned(),
        index: id.index,
        name: name.to_owned(),
        catalog_key: catalog_key(id, key, name, memory),
    }
}

/// Key of a device in the catalog: as its backend tells it, else by name and memory, of the processor by those of the system.
pub(crate) fn catalog_key(
    id: DeviceId,
    told: Option<&str>,
    name: &str,
    memory: Option<Bytes>,
) -> Option<String> {
    let by_name = || match id.backend {
        BackendKind::Cuda => known_card(name, memory),
        BackendKind::Cpu => here::processor_row(&Hooks::sensors(), name),
        BackendKind::Fake => None,
    };
    told.map(str::to_owned).or_else(|| Some(by_name()?.key.to_string()))
}

/// The catalog's device with the name and about the memory of a card. A part of a card is none of them, and the driver's name of a board's GPU is that of
/// several boards, so the board tells which one it is.
fn known_card(name: &str, memory: Option<Bytes>) -> Option<&'static calc_core::device::Device> {
    let found = here::card(name, memory.map(Bytes::get));
    let is_part = name.contains(" MIG ") || name.starts_with("GRID ");
    // The module of GB10 has one name everywhere, and shares the memory of the system.
    let module = || catalog::device(name).ok().filter(|it| it.key == "gb10");
    let card = found.filter(|_| !is_part).or_else(module);
    card.or_else(|| {
        let board = here::device_name(&Hooks::sensors()).ok()?;
        let board = catalog::device(&board).ok()?;
        let is_of_board = name == "Orin" || name == "Xavier" || name.ends_with(" Thor");
        (board.class == DeviceClass::UnifiedGpu && is_of_board).then_some(board)
    })
}

/// The reason why no device is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotFound {
    /// This program finds none with the name here. The devices that there are.
    Absent { asked: String, there: String },
    /// The text names no device: the text, and the known backends.
    NoName(String, String),
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent { asked, there } => {
                write!(f, "this program finds no device `{asked}` here; it finds {there}")
            }
            Self::NoName(asked, known) => write!(
                f,
                "`{asked}` is no device; a device is auto, or {known} with an index such as cpu:0"
            ),
        }
    }
}

/// The device that a flag or an order names; the first one if it names none.
///
/// # Errors
/// A text that names no device, and a device that this machine lacks.
pub(crate) fn find<'a>(devices: &'a [Device], asked: Option<&str>) -> Result<&'a Device, NotFound> {
    let asked = asked.unwrap_or("auto");
    if let Some(found) = devices::find(devices, asked) {
        return Ok(found);
    }
    if asked == "auto" || DeviceId::parse(asked).is_some() {
        let there: Vec<String> =
            devices.iter().map(|device| format!("{} ({})", device.id, device.name)).collect();
        return Err(NotFound::Absent { asked: asked.to_owned(), there: there.join(", ") });
    }
    let kinds = BackendKind::ALL.iter().filter(|kind| **kind != BackendKind::Fake);
    let known: Vec<&str> = kinds.map(|kind| kind.key()).collect();
    Err(NotFound::NoName(asked.to_owned(), known.join(" or ")))
}

/// The sentence about a device that is not found, with the reason where a GPU was asked for. It opens the driver's library.
pub(crate) fn absent(why: &NotFound, asked: &str) -> String {
    let of_gpus = || kernels::devices::gpus().err().map(|none| gpus::absent(&none));
    match asks_for_gpu(asked).then(of_gpus).flatten() {
        Some(reason) => format!("{why}; {reason}"),
        None => why.to_string(),
    }
}

/// The sentence about a device that does not open.
pub(crate) fn unopened(device: &Device, fault: &Fault) -> String {
    format!("{} ({}) cannot be measured: {}", device.id, device.name, said(fault))
}

/// A fault of a device as a clause.
pub(crate) fn said(fault: &Fault) -> String {
    match fault {
        Fault::NoDevice => "it is gone, or its driver does not answer".to_owned(),
        Fault::Unsupported => "it has no such kernel".to_owned(),
        Fault::NoMemory { bytes, most } => {
            let size = |bytes: u64| number_text::bytes(Bytes::new(bytes as f64));
            let most = most.map_or_else(String::new, |most| {
                format!(", and {}, nine tenths of what is free, may be taken", size(most))
            });
            format!("it lacks memory: {} are needed{most}", size(*bytes))
        }
        Fault::Refused(why) => why.clone(),
        Fault::Device(why) => format!("it failed: {why}"),
        other => format!("it failed: {other:?}"),
    }
}

/// The name of a point: the sizes of a product, else the key of the kernel, with the format that its operands are stored in.
pub(crate) fn point(kernel: Kernel) -> String {
    match kernel {
        Kernel::Gemm(GemmShape { element, m, n, k }) => {
            format!("{m} × {n} × {k} in {}", element.key())
        }
        Kernel::Gemv(GemvShape { m, n, k, .. }) => {
            in_format(kernel, format!("{} {m} × {n} × {k}", kernel.key()))
        }
        other => in_format(other, other.key().to_owned()),
    }
}

/// A name with the format that the operands of its kernel are stored in, where it has a choice.
fn in_format(kernel: Kernel, name: String) -> String {
    match kernel.stored_format() {
        Some(format) => format!("{name} in {format}"),
        None => name,
    }
}

/// Whether a device that answers so may well run other points.
pub(crate) const fn is_of_the_point(fault: &Fault) -> bool {
    matches!(
        fault,
        Fault::Refused(_)
            | Fault::NoMemory { .. }
            | Fault::NoCache { .. }
            | Fault::TooSmall { .. }
            | Fault::Unsupported
    )
}

#[cfg(test)]
mod tests {
    use kernels::backend::fake::Script;

    use super::*;

    #[test]
    fn a_missing_device_differs_from_a_misspelt_one() {
        let here = devices::all(Some(Script::GOOD));
        for (asked, id) in [
            (None, "cpu:0"),
            (Some("auto"), "cpu:0"),
            (Some("cpu"), "cpu:0"),
            (Some("fake:0"), "fake:0"),
        ] {
            let found = find(&here, asked).map(|device| device.id.to_string());
            assert_eq!(found.as_deref(), Ok(id), "{asked:?}");
        }
        for absent in ["cpu:1", "cuda", "cuda:0", "cuda:17", "fake:3"] {
            let why = find(&here, Some(absent)).unwrap_err();
            assert!(matches!(why, NotFound::Absent { .. }), "{absent}: {why}");
            assert!(why.to_string().contains("it finds cpu:0 ("), "{why}");
        }
        for garbage in
            ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cudax", "cuda0", "cpu:", "cpu:0:0"]
        {
            let why = find(&here, Some(garbage)).unwrap_err();
            assert!(matches!(why, NotFound::NoName(..)), "{garbage}: {why}");
        }
    }

    #[test]
    fn a_lack_of_memory_is_said_in_its_own_unit_with_what_may_be_taken() {
        // A narrow space that does not break stands before a unit.
        let said = |bytes, most| said(&Fault::NoMemory { bytes, most }).replace('\u{202f}', " ");
        let small = "it lacks memory: 12.0 MB are needed, and 7.20 MB, nine tenths of what is free, may be taken";
        assert_eq!(said(12_000_000, Some(7_200_000)), small);
        assert_eq!(said(3_500_000_000, None), "it lacks memory: 3.50 GB are needed");
    }

    #[test]
    fn a_point_is_named_with_its_sizes_and_its_format() {
        use kernels::pack::Layout;
        let product = GemvShape { layout: Layout::Int8, m: 1, n: 64, k: 96 };
        for (kernel, name) in [
            (Kernel::Gemv(product), "gemv 1 × 64 × 96 in int8"),
            (Kernel::Read { bytes: 1 }, "read"),
        ] {
            assert_eq!(point(kernel), name);
        }
    }

    #[test]
    fn a_processor_has_its_catalog_key_where_one_fits() {
        let key = |told, name| catalog_key(DeviceId::CPU, told, name, None);
        assert_eq!(key(None, "AMD EPYC 9654 96-Core Processor").as_deref(), Some("epyc_9654"));
        assert_eq!(key(Some("h100_sxm"), "whatever").as_deref(), Some("h100_sxm"));
    }

    #[test]
    fn a_card_has_its_catalog_key_and_a_part_of_one_has_none() {
        let card = DeviceId { backend: BackendKind::Cuda, index: 0 };
        for (name, key) in [
            ("NVIDIA H200", Some("h200_sxm")),
            ("NVIDIA H100 80GB HBM3", Some("h100_sxm")),
            ("NVIDIA GeForce RTX 4090", Some("rtx_4090")),
            ("NVIDIA GB10", Some("gb10")),
            ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
            ("GRID A100-10C", None),
            ("Emulated GPU 0", None),
            // A processor's name is no card's.
            ("AMD EPYC 9654 96-Core Processor", None),
        ] {
            assert_eq!(catalog_key(card, None, name, None).as_deref(), key, "{name}");
        }
        let laptop = catalog_key(card, None, "NVIDIA GeForce RTX 4090 Laptop GPU", None);
        assert_ne!(laptop.as_deref(), Some("rtx_4090"));
    }

    #[test]
    fn a_card_with_another_memory_is_not_the_one_of_its_name() {
        let card = DeviceId { backend: BackendKind::Cuda, index: 0 };
        for (name, mib, key) in [
            ("NVIDIA GeForce RTX 3060", 11_910.0, Some("rtx_3060_12gb")),
            ("NVIDIA GeForce RTX 3060", 8_036.0, None),
            ("NVIDIA H100 80GB HBM3", 81_079.0, Some("h100_sxm")),
            // ECC takes a part of GDDR6.
            ("Tesla T4", 14_910.0, Some("t4")),
            ("NVIDIA H200", 143_167.0, Some("h200_sxm")),
        ] {
            let memory = Some(Bytes::new(mib * 1024.0 * 1024.0));
            assert_eq!(catalog_key(card, None, name, memory).as_deref(), key, "{name} {mib}");
        }
    }
}
