//! This machine as `--hardware here`: the name under which its board, graphics card or processor gives itself, as Linux shows it, and
//! where that lists no card, as Windows does not to its Linux, the library of the driver.

use std::fs;
use std::path::Path;
use std::time::Duration;

use calc_core::catalog;
use calc_core::device::{Device, DeviceClass};
use calc_core::units::Bytes;
use kernels::cpu::device::name_in;
use protocol::server::MachineHere;
use report::output::words;

use super::gpus;
use super::sensors::{Gpu, PatientSensors, Sensors};
use crate::hooks::Hooks;

/// Longest wait for the drivers of cards.
const LONGEST: Duration = Duration::from_secs(3);

/// Least and largest ratio of the memory that the system has to what the row of a board has: systems keep a part for themselves.
const MEMORY: (f64, f64) = (0.75, 1.01);

/// Such ratios for a card: its driver and ECC keep a part, and some rows have gigabytes where cards have gibibytes.
const CARD_MEMORY: (f64, f64) = (0.87, 1.1);

/// The catalog's card with this name and about this much memory [B]; without a size in the name, the version with that memory.
pub(crate) fn card(name: &str, memory: Option<f64>) -> Option<&'static Device> {
    let fits = |device: &&Device| memory.is_none_or(|found| has(device, found, CARD_MEMORY));
    let named = |name: &str| {
        let found = catalog::device(name).ok().filter(|it| it.class == DeviceClass::DiscreteGpu);
        found.filter(fits)
    };
    let sized = || named(&format!("{name} {:.0}GB", memory? / f64::from(1 << 30)));
    named(name).or_else(sized)
}

/// The catalog's processor with this name, else with the name of the board of the machine whose file systems lie under `root`; among rows
/// that differ by memory the one with about as much as the system has.
pub(crate) fn processor_row(root: &Path, name: &str) -> Option<&'static Device> {
    let memory = memory(root);
    let row = |name: &str| with_memory(&processor_rows(name), memory);
    row(name).or_else(|| row(&board(root)?))
}

/// The only one of these rows, or the one with about so much memory [B].
fn with_memory(rows: &[&'static Device], memory: Option<f64>) -> Option<&'static Device> {
    match rows {
        [row] => Some(row),
        several => {
            several.iter().copied().find(|row| memory.is_some_and(|it| has(row, it, MEMORY)))
        }
    }
}

/// The catalog's processors with a name that a system reports; those of a board may differ by memory.
fn processor_rows(reported: &str) -> Vec<&'static Device> {
    let words = |name: &str| -> Vec<String> {
        let name = name.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
        name.split_whitespace().map(str::to_owned).collect()
    };
    let own = words(reported);
    let is_it = |device: &&Device| {
        // A processor does not report the catalog name's brackets and memory size.
        let name = device.name.split(" (").next().unwrap_or_default();
        let name = words(name).into_iter().filter(|word| !word.ends_with("gb"));
        let name: Vec<String> = name.collect();
        name.len() > 1 && name.iter().all(|word| own.contains(word))
    };
    let is_processor = |device: &&Device| device.class == DeviceClass::Cpu;
    let found: Vec<_> = catalog::devices::all().filter(is_processor).filter(is_it).collect();
    if found.is_empty() {
        catalog::device(reported).ok().filter(is_processor).into_iter().collect()
    } else {
        found
    }
}

/// Whether the row of a device has about so much memory [B].
fn has(device: &Device, found: f64, (least, most): (f64, f64)) -> bool {
    let installed = device.memory.value.get();
    (installed * least..=installed * most).contains(&found)
}

/// Name of the device of the machine whose file systems lie under `root`, as the catalog knows it.
///
/// # Errors
/// A machine that shows no name, several unlike cards, and a device that the catalog does not have.
pub(crate) fn device_name(root: &Path) -> Result<String, String> {
    let board = board(root);
    let sensors = Sensors::at(root);
    // In the Linux of Windows a library is asked, which may hang.
    let patient = PatientSensors::within(sensors.clone(), LONGEST);
    let (others, mut cards) = patient.ask("the drivers of GPUs", |sensors| {
        let (nvidia, others): (Vec<Gpu>, Vec<Gpu>) =
            sensors.gpus().into_iter().partition(Gpu::is_nvidia);
        if nvidia.is_empty()
            && let Some(why) = sensors.unlisted_cards()
        {
            return Err(format!("the cards of this machine are not known: {why}; name the device"));
        }
        let others: Vec<Gpu> = others.into_iter().filter(|gpu| gpu.is_card(sensors)).collect();
        Ok((others, nvidia.into_iter().map(|gpu| gpu.model).collect::<Vec<_>>()))
    })?;
    cards.extend(others.iter().map(|gpu| gpu.model.clone()));
    cards.sort();
    cards.dedup();
    if let Some(board) = &board
        && let Ok(device) = catalog::device(board)
        && device.class != DeviceClass::Cpu
    {
        return fitting(root, board, device);
    }
    match cards.as_slice() {
        [] => {}
        [card] => {
            return match others.first() {
                Some(gpu) => other_card(root, &sensors, gpu),
                None => by_nvidia(card, by_cuda(root, card)),
            };
        }
        several => {
            return Err(format!(
                "this machine has unlike cards: {}; name one of them",
                several.join(", ")
            ));
        }
    }
    match processor(root).or(board) {
        Some(name) => by_processor(root, &name),
        None => Err("this system does not show which machine it is; name the device".to_owned()),
    }
}

/// The key of the processor with a name.
fn by_processor(root: &Path, name: &str) -> Result<String, String> {
    if let Some(row) = processor_row(root, name) {
        return Ok(row.key.to_string());
    }
    let rows = [processor_rows(name), board(root).map_or_else(Vec::new, |it| processor_rows(&it))];
    if rows.iter().all(Vec::is_empty) {
        return known(name);
    }
    let size =
        memory(root).map_or_else(|| "unknown".to_owned(), |it| format!("{:.1} GB", it / 1e9));
    let keys: Vec<&str> = rows.iter().flatten().map(|row| &*row.key).collect();
    Err(format!(
        "this machine is \"{name}\", its memory is {size}, and the catalog has it with other sizes ({}); name the device",
        keys.join(", ")
    ))
}

/// The machine as the daemon tells it.
pub(crate) fn told(root: &Path) -> MachineHere {
    let found = device_name(root).and_then(|name| {
        let device = catalog::device(&name);
        device.map(|device| device.key.to_string()).map_err(|error| words::core_error(&error))
    });
    match found {
        Ok(key) => MachineHere { catalog_key: Some(key), why_not: None },
        Err(why) => MachineHere { catalog_key: None, why_not: Some(why) },
    }
}

/// A name that the catalog has.
fn known(name: &str) -> Result<String, String> {
    match catalog::device(name) {
        Ok(_) => Ok(name.to_owned()),
        Err(_) => Err(format!(
            "this machine is \"{name}\", and the catalog has no such device; `ridgepoint calibrate --export-device FILE` measures it and \
             writes a device file, which --hardware takes"
        )),
    }
}

/// Memory of a card that CUDA's driver lists on this machine [B].
fn by_cuda(root: &Path, name: &str) -> Option<f64> {
    // A copy of another machine's files has no driver.
    let listed = if root == Hooks::sensors() { gpus::listed() } else { Vec::new() };
    listed.into_iter().find(|gpu| gpu.name == name)?.memory.map(Bytes::get)
}

/// The name of a card of NVIDIA, if the catalog has it with about as much memory; without CUDA its memory is not known.
fn by_nvidia(name: &str, memory: Option<f64>) -> Result<String, String> {
    match (card(name, memory), memory) {
        (Some(device), Some(_)) => Ok(device.key.to_string()),
        (None, Some(found)) if catalog::device(name).is_ok() => Err(format!(
            "this machine has the card \"{name}\" with {:.1} GB of memory, and the catalog has it with another size; name the device",
            found / 1e9
        )),
        _ => known(name),
    }
}

/// The name of a card that is not by NVIDIA, if the catalog has it with about as much memory.
fn other_card(root: &Path, sensors: &Sensors, gpu: &Gpu) -> Result<String, String> {
    let memory = gpu.own_memory(sensors);
    if let Some(device) = card(&gpu.model, memory) {
        return Ok(device.key.to_string());
    }
    let processor = processor(root).unwrap_or_else(|| "no name".to_owned());
    let size = memory.map_or_else(String::new, |it| format!(" with {:.1} GB of memory", it / 1e9));
    Err(format!(
        "this machine has the card \"{}\" ({}){size}, and the catalog has no such device; the card was left out, and the processor \
         \"{processor}\" does not stand for it, so name the device",
        gpu.model, gpu.name
    ))
}

/// The name of a board, if its row has about as much memory as there is.
fn fitting(root: &Path, board: &str, device: &Device) -> Result<String, String> {
    let found = memory(root).filter(|_| device.class == DeviceClass::UnifiedGpu);
    match found {
        Some(found) if !has(device, found, MEMORY) => Err(format!(
            "this board is \"{board}\" with {:.1} GB of memory, and {} has {:.1} GB; name the device",
            found / 1e9,
            device.name,
            device.memory.value.get() / 1e9
        )),
        _ => Ok(board.to_owned()),
    }
}

/// Model of a board by its device tree, or product of a machine by its firmware.
fn board(root: &Path) -> Option<String> {
    let read = |path| fs::read_to_string(root.join(path)).ok();
    let tree =
        read("proc/device-tree/model").map(|text| text.trim_matches(['\0', '\n']).to_owned());
    let product = || read("sys/class/dmi/id/product_name").map(|text| text.trim().to_owned());
    tree.or_else(product).filter(|name| !name.is_empty())
}

/// Name of the processor.
fn processor(root: &Path) -> Option<String> {
    let name = name_in(&fs::read_to_string(root.join("proc/cpuinfo")).ok()?)?;
    // "Intel(R) Core(TM) i9-14900K CPU @ 3.20GHz"
    Some(name.split(" CPU @").next().unwrap_or(&name).trim().to_owned())
}

/// Memory of the system [B].
fn memory(root: &Path) -> Option<f64> {
    Sensors::at(root).memory_total().ok()
}

#[cfg(test)]
mod tests;
