//! This machine when a server on it is read: how often heat has slowed its processor down, its modes of power, its clock, and its graphics
//! card.

use std::time::Duration;

use calc_core::units::Hertz;
use report::number_text as n;

use super::energy::{CardPower, OnlyCard};
use crate::measure::sensors::{PatientSensors, Reading, Sensors};

/// Longest wait for its sensors.
const LIMIT: Duration = Duration::from_millis(300);
/// Modes of the firmware and preferences of cores that save power.
const SAVING: [&str; 5] = ["low-power", "quiet", "cool", "power", "balance_power"];
/// The governor that holds the lowest clock, and drivers by which it has no such meaning.
const POWERSAVE: &str = "powersave";
const OWN_CLOCK: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];

/// The state at one reading; what the system does not tell gives no note.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct MachineState {
    throttled: Reading<f64>,
    /// Mode of a Jetson, which is chosen for the whole board.
    board_mode: Reading<String>,
    power_mode: Reading<String>,
    governor: Reading<String>,
    clock_driver: Reading<String>,
    clock: Reading<f64>,
    card: OnlyCard,
}

impl MachineState {
    /// The state now; `None` if the sensors do not answer.
    pub(super) fn now() -> Option<Self> {
        Self::of(&PatientSensors::here(LIMIT))
    }

    fn of(sensors: &PatientSensors) -> Option<Self> {
        let read = |sensors: &Sensors| {
            Ok(Self {
                throttled: sensors.throttle_count(),
                board_mode: sensors.board_mode(),
                power_mode: sensors.power_mode(),
                governor: sensors.governor(),
                clock_driver: sensors.clock_driver(),
                clock: sensors.core_clock(),
                card: OnlyCard::default(),
            })
        };
        let found = sensors.ask("the state of the processor", read).ok()?;
        Some(Self { card: OnlyCard::now(sensors), ..found })
    }

    /// Mean power of the only graphics card since an earlier state; `None` without a meter.
    pub(super) fn card_power(&self, before: &Self) -> Option<Reading<CardPower>> {
        Some(self.card.meter.as_ref()?.since(before.card.meter.as_ref()?))
    }

    /// The mode that saves power, with what sets it.
    fn saving(&self) -> Option<String> {
        if let Some(mode) = self.power_mode.as_ref().ok().filter(|it| SAVING.contains(&&***it)) {
            return Some(format!("power mode {mode}"));
        }
        let is_own = self.clock_driver.as_ref().is_ok_and(|it| OWN_CLOCK.contains(&&**it));
        let governor = self.governor.as_ref().ok().filter(|it| *it == POWERSAVE && !is_own)?;
        Some(format!("clock governor {governor}"))
    }
}

/// Notes on throttling between two readings or at one of them, on the mode of a board, and on a mode that saves power at one of them.
pub(super) fn notes(before: &MachineState, after: &MachineState) -> Vec<String> {
    let clocks = match (&before.clock, &after.clock) {
        (Ok(first), Ok(second)) => {
            let [first, second] = [first, second].map(|clock| n::clock(Hertz::new(*clock)));
            format!("; the mean clock of its cores was {first} and {second} at the two readings")
        }
        _ => String::new(),
    };
    let mut notes = Vec::new();
    if let (Ok(first), Ok(second)) = (&before.throttled, &after.throttled)
        && second > first
    {
        notes.push(format!(
            "heat slowed the processor of this machine down between the two readings (its counters grew by {}), so a server that \
             computes on it is slower than on a cool one{clocks}",
            n::short(second - first, 6)
        ));
    }
    let mut reasons = [&before.card.reasons[..], &after.card.reasons].concat();
    reasons.sort_unstable();
    reasons.dedup();
    if !reasons.is_empty() {
        notes.push(format!(
            "the graphics card of this machine ran below its highest clock at a reading ({}), so a server that computes on it is slower",
            reasons.join(", ")
        ));
    }
    if let Ok(mode) = &after.board_mode {
        notes.push(format!(
            "this board is in power mode {mode}; the expected rate is that of the mode of the comparison, which --power-mode names"
        ));
    }
    if let Some(mode) = after.saving().or_else(|| before.saving()) {
        notes.push(format!(
            "this machine saves power ({mode}), so a server that computes on its processor may be slower than in another mode{clocks}"
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::sensors::fixtures;
    use crate::measure::sensors::tests::Machine;

    const CORE: &str = "sys/devices/system/cpu/cpu0";

    fn state(machine: &Machine) -> MachineState {
        MachineState::of(&machine.patient()).expect("it answers")
    }

    #[test]
    fn throttling_between_the_readings_is_noted_with_the_clocks() {
        let file = |file: &str| format!("{CORE}/{file}");
        let machine = Machine::new("attach-throttled", &[])
            .with_bytes(&file("thermal_throttle/core_throttle_count"), b"3\n")
            .with_bytes(&file("cpufreq/scaling_cur_freq"), b"3600000\n");
        let before = state(&machine);
        assert_eq!(notes(&before, &before), Vec::<String>::new());
        let machine = machine
            .with_bytes(&file("thermal_throttle/core_throttle_count"), b"8\n")
            .with_bytes(&file("cpufreq/scaling_cur_freq"), b"1200000\n");
        let found = notes(&before, &state(&machine));
        let [note] = &found[..] else { panic!("{found:?}") };
        let note = note.replace(n::SPACE, " ");
        assert!(note.contains("(its counters grew by 5)"), "{note}");
        assert!(note.ends_with("was 3 600 MHz and 1 200 MHz at the two readings"), "{note}");
    }

    #[test]
    fn a_mode_that_saves_power_is_noted() {
        let with = |mode: &str, governor: &str, driver: &str| {
            let name = format!("attach-{mode}-{governor}-{driver}");
            let machine = Machine::new(&name, &[])
                .with_bytes("sys/firmware/acpi/platform_profile", mode.as_bytes())
                .with_bytes(&format!("{CORE}/cpufreq/scaling_governor"), governor.as_bytes())
                .with_bytes(&format!("{CORE}/cpufreq/scaling_driver"), driver.as_bytes());
            let state = state(&machine);
            notes(&state, &state)
        };
        for (mode, governor, driver, words) in [
            ("low-power", "performance", "acpi-cpufreq", Some("(power mode low-power)")),
            ("balanced", "powersave", "acpi-cpufreq", Some("(clock governor powersave)")),
            // The usual governor of drivers that choose the clock themselves.
            ("balanced", "powersave", "amd-pstate-epp", None),
            ("performance", "powersave", "intel_pstate", None),
            ("performance", "schedutil", "acpi-cpufreq", None),
        ] {
            let found = with(mode, governor, driver);
            match words {
                Some(words) => assert!(found.len() == 1 && found[0].contains(words), "{found:?}"),
                None => assert!(found.is_empty(), "{found:?}"),
            }
        }
        let board = state(&fixtures::jetson("attach-board"));
        let found = notes(&board, &board);
        assert!(
            found.iter().any(|note| note.starts_with("this board is in power mode 15W;")),
            "{found:?}"
        );
        let card = |reasons: &[&str]| MachineState {
            card: OnlyCard {
                meter: None,
                reasons: reasons.iter().map(|&it| it.to_owned()).collect(),
            },
            ..state(&Machine::new("attach-card", &[]))
        };
        let found = notes(
            &card(&["software power cap"]),
            &card(&["software power cap", "hardware thermal"]),
        );
        let [note] = &found[..] else { panic!("{found:?}") };
        assert!(note.contains("at a reading (hardware thermal, software power cap)"), "{note}");
        let unknown = state(&Machine::new("attach-unknown", &[]));
        assert_eq!(notes(&unknown, &unknown), Vec::<String>::new());
    }
}
