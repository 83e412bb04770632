//! Sentences about the basis of expected times.

use calc_core::calibration::fitted::MEASURED;
use calc_core::calibration::{Basis, Engine, InFit, MeasuredRows};
use calc_core::device::MemoryKind;
use calc_core::order::sort_short;
use calc_core::provenance::Provenance;

use super::apply::engine_name;
use crate::number_text;

/// Number of devices that a sentence names; the others are counted.
const NAMED: usize = 3;

/// Sources of the factors behind an expected time: measurements of this device and with this engine, or the devices that stand
/// for it.
pub fn factors_source(provenance: Provenance, basis: &Basis) -> String {
    match provenance {
        Provenance::Measured => "your own measurements of this device".to_owned(),
        Provenance::Assumed => transferred(basis),
        Provenance::Derived => AT_THE_ROOF.to_owned(),
        Provenance::Fitted => fitted(basis),
        Provenance::Read | Provenance::Reported | Provenance::Recalled | Provenance::Mixed => {
            mixed(basis)
        }
    }
}

/// Kernels without correction factors.
const AT_THE_ROOF: &str = "kernels at the roof, as requested";

/// Factors of several origins: own measurements and the fit, kernels and transfers between devices, whose interval is assumed, or
/// a card and its host.
fn mixed(basis: &Basis) -> String {
    let kernels = match basis.engine {
        Engine::IdealKernels => AT_THE_ROOF.to_owned(),
        _ if basis.in_fit != InFit::Nothing => fitted(basis),
        _ => transferred(basis),
    };
    if basis.has_own && basis.engine != Engine::IdealKernels {
        return format!("your own measurements, and for the rest: {kernels}");
    }
    if !basis.exchanges {
        return format!("{kernels}; on the host from published runs of llama.cpp");
    }
    format!(
        "{kernels}; transfers between devices at the bandwidth of their links, with an assumed interval"
    )
}

/// Devices of the fit, for a device that is like none of them.
fn transferred(basis: &Basis) -> String {
    let rest = rest(basis);
    format!(
        "transferred from NVIDIA GPUs, the only ones with published measurements; {}{rest}",
        of_engine(basis.engine)
    )
}

/// `from 31 published measurements of this device with llama.cpp, and 10 with ExLlamaV2 and PyTorch`
fn fitted(basis: &Basis) -> String {
    let rest = rest(basis);
    let is_own =
        |rows: &&MeasuredRows| basis.in_fit == InFit::Device && Some(rows.device) == basis.device;
    let (direct, others): (Vec<_>, Vec<_>) =
        MEASURED.iter().filter(is_own).partition(|rows| rows.engine == Some(basis.engine));
    let (direct_count, other_count) = (total(&direct), total(&others));
    let engine = engine_name(basis.engine);
    if direct_count > 0 {
        let beside = if other_count > 0 {
            format!(", and {other_count} with {}", engines(&others))
        } else {
            String::new()
        };
        return format!(
            "from {} of this device with {engine}{beside}{rest}",
            published(direct_count)
        );
    }
    let device = if other_count > 0 {
        format!("from {} of this device with {}", published(other_count), engines(&others))
    } else {
        let of_kind = |rows: &&MeasuredRows| rows.kind == basis.kind;
        let alike: Vec<&MeasuredRows> = MEASURED.iter().filter(of_kind).collect();
        let kind = match basis.kind {
            MemoryKind::Unified => "unified memory",
            MemoryKind::Gddr => "GDDR",
            MemoryKind::Hbm => "HBM",
        };
        let (count, names) = (published(total(&alike)), devices(&alike));
        format!("transferred from {count} of other devices with {kind} ({names})")
    };
    format!("{device}; {}{rest}", of_engine(basis.engine))
}

/// `those with llama.cpp are of GB10, GeForce RTX 4090, GeForce RTX 5070 and 2 more`
fn of_engine(engine: Engine) -> String {
    let rows: Vec<&MeasuredRows> =
        MEASURED.iter().filter(|rows| rows.engine == Some(engine)).collect();
    let name = engine_name(engine);
    if rows.is_empty() {
        return format!("no published measurement is with {name}");
    }
    format!("those with {name} are of {}", devices(&rows))
}

fn total(rows: &[&MeasuredRows]) -> usize {
    rows.iter().map(|rows| rows.count).sum()
}

fn published(count: usize) -> String {
    number_text::counted(count as u64, "published measurement", "published measurements")
}

/// Names of the devices, those with most rows first.
fn devices(rows: &[&MeasuredRows]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for row in rows {
        match counts.iter_mut().find(|(name, _)| *name == row.name) {
            Some((_, count)) => *count += row.count,
            None => counts.push((row.name, row.count)),
        }
    }
    sort_short(&mut counts, |(_, a), (_, b)| a > b);
    let mut names: Vec<String> =
        counts.iter().take(NAMED).map(|(name, _)| (*name).to_owned()).collect();
    if counts.len() > NAMED {
        names.push(format!("{} more", counts.len() - NAMED));
    }
    listed(&names)
}

/// Names of the engines, each once; programs without factors last.
fn engines(rows: &[&MeasuredRows]) -> String {
    let mut names: Vec<String> = Vec::new();
    for engine in rows.iter().filter_map(|row| row.engine) {
        let name = engine_name(engine).to_owned();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if rows.iter().any(|row| row.engine.is_none()) {
        names.push("other programs".to_owned());
    }
    listed(&names)
}

/// `A, B and C`
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Measured ceilings of the device, and the engine whose kernels are expected.
fn rest(basis: &Basis) -> String {
    let known = basis.ceilings;
    let has_peak = [known.half, known.eight, known.four].iter().any(Option::is_some);
    let ceilings = match (known.read.is_some(), has_peak) {
        (true, true) => "; its bandwidth and a peak were measured",
        (true, false) => "; its bandwidth was measured",
        (false, true) => "; a peak of it was measured",
        (false, false) => "",
    };
    let engine = basis.engine.key();
    let named = if basis.is_named { "" } else { ", the usual one here" };
    format!("{ceilings}; engine {engine}{named}")
}

#[cfg(test)]
mod tests {
    use calc_core::calibration::{Calibration, FactorRow};
    use calc_core::catalog;
    use calc_core::catalog::formats::{BF16, GGUF_Q4_K};

    use super::*;

    fn source(device: &str, engine: Option<Engine>) -> String {
        let device = catalog::device(device).expect("catalog key");
        let format = if engine == Some(Engine::Vllm) { &BF16 } else { &GGUF_Q4_K };
        let tuned = Calibration::FITTED.tuned(device, None, engine, (format, format));
        factors_source(Provenance::Fitted, &tuned.basis)
    }

    #[test]
    fn own_measurements_are_named_only_where_there_are_some() {
        let device = catalog::device("rtx_3090").expect("catalog key");
        let mixed = |calibration: &Calibration, engine| {
            let mut tuned = calibration.tuned(device, None, engine, (&GGUF_Q4_K, &GGUF_Q4_K));
            tuned.basis.exchanges = true;
            factors_source(Provenance::Mixed, &tuned.basis)
        };
        let text = mixed(&Calibration::FITTED, None);
        assert!(!text.contains("own") && text.contains("links"), "{text}");
        let text = mixed(&Calibration::FITTED, Some(Engine::IdealKernels));
        assert!(text.starts_with("kernels at the roof") && text.contains("links"), "{text}");
        for (key, is_own) in [("rtx_3090", true), ("rtx_4090", false)] {
            let row = FactorRow { device: Some(key.into()), ..FactorRow::OPEN };
            let calibration = Calibration { rows: vec![row].into(), ..Calibration::FITTED };
            let text = mixed(&calibration, None);
            assert_eq!(text.starts_with("your own measurements, and for"), is_own, "{key}: {text}");
        }
    }

    #[test]
    fn measurements_of_the_device_and_of_the_engine_are_told_apart() {
        let text = source("rtx_4090", None);
        assert!(text.contains("of this device with llama.cpp, and 4 with ExLlamaV2;"), "{text}");
        let text = source("rtx_4090", Some(Engine::Vllm));
        assert!(text.starts_with("from 36 published measurements of this device with llama.cpp and ExLlamaV2; those with vLLM are of B200"), "{text}");
        let text = source("rtx_3090", Some(Engine::Sglang));
        assert!(text.contains("of other devices with GDDR (RTX PRO 6000 Blackwell"), "{text}");
        assert!(text.contains("no published measurement is with SGLang"), "{text}");
        let text = source("h100_sxm", Some(Engine::GptFast));
        assert!(
            text.contains("TensorRT-LLM, vLLM and other programs; those with gpt-fast are of A100"),
            "{text}"
        );
    }
}
