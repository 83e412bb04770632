//! The reasons why a card runs below its largest clock, as bits of NVML in words.

use nvml_wrapper::Device;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::error::{Bits, NvmlError};

/// Bits and words. A GPU that rests has a low clock and is not slowed down, so that bit has no word.
const WORDS: [(ThrottleReasons, Option<&str>); 9] = [
    (ThrottleReasons::GPU_IDLE, None),
    (ThrottleReasons::APPLICATIONS_CLOCKS_SETTING, Some("clocks set by a user")),
    (ThrottleReasons::DISPLAY_CLOCK_SETTING, Some("clocks set for a display")),
    (ThrottleReasons::SW_POWER_CAP, Some("power cap")),
    (ThrottleReasons::HW_SLOWDOWN, Some("hardware slowdown")),
    (ThrottleReasons::SYNC_BOOST, Some("slower card of its group")),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, Some("temperature")),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, Some("temperature, by hardware")),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, Some("power brake")),
];

/// The reasons of now.
pub(super) fn of(card: &Device<'_>) -> Result<Vec<String>, NvmlError> {
    match card.current_throttle_reasons_strict() {
        Ok(known) => Ok(words(known.bits())),
        // Bits of a later driver come as an error that holds all bits.
        Err(NvmlError::IncorrectBits(Bits::U64(bits))) => Ok(words(bits)),
        Err(error) => Err(error),
    }
}

fn words(bits: u64) -> Vec<String> {
    let set = WORDS.iter().filter(|(bit, _)| bits & bit.bits() != 0);
    let mut words: Vec<String> = set.filter_map(|(_, word)| Some((*word)?.to_owned())).collect();
    let known = WORDS.iter().fold(0, |all, (bit, _)| all | bit.bits());
    if bits & !known != 0 {
        words.push(format!("unknown reason {:#x}", bits & !known));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_no_faults_and_heat_and_brakes_are() {
        let faults = WORDS.iter().filter_map(|(bit, word)| Some((bit.bits(), (*word)?)));
        let faults = faults.filter(|(_, word)| crate::measure::sensors::is_fault(word));
        assert_eq!(faults.map(|(bit, _)| bit).sum::<u64>(), 0x8 | 0x10 | 0x20 | 0x40 | 0x80);
    }

    #[test]
    fn every_bit_of_nvml_has_its_words_and_no_other() {
        // The numbers are those of nvmlClocksEventReasons in nvml.h.
        for (bits, expected) in [
            (0, &[][..]),
            (0x1, &[]),
            (0x2, &["clocks set by a user"]),
            (0x4, &["power cap"]),
            (0x8, &["hardware slowdown"]),
            (0x10, &["slower card of its group"]),
            (0x20, &["temperature"]),
            (0x40, &["temperature, by hardware"]),
            (0x80, &["power brake"]),
            (0x100, &["clocks set for a display"]),
            (0x45, &["power cap", "temperature, by hardware"]),
            (0x204, &["power cap", "unknown reason 0x200"]),
        ] {
            assert_eq!(words(bits), expected, "{bits:#x}");
        }
    }
}
