//! The only graphics card of a server's machine: its power, over the rate of tokens the energy per token, and why it is slowed down. Of
//! several cards it is not known which ones the server uses.

use std::time::Instant;

use crate::measure::sensors::{Gpu, GpuQuantity, GpuReading, PatientSensors, Reading};
use crate::measure::steps::{self, Count, MeanPower};

/// A meter of the card at one reading.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CardMeter {
    source: String,
    /// Whether it counts energy, not power.
    counts: bool,
    /// [J] or [W].
    value: f64,
    at: Instant,
    /// The step of the counter of a card of NVIDIA after this reading.
    step: Option<Reading<Count>>,
}

/// The only card of a machine at one reading.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct OnlyCard {
    pub(super) meter: Option<CardMeter>,
    /// Reasons for which it is slowed down.
    pub(super) reasons: Vec<String>,
}

impl OnlyCard {
    /// The card now; nothing is known without a card that is alone.
    pub(super) fn now(sensors: &PatientSensors) -> Self {
        let Some((gpu, readings)) = readings(sensors) else { return Self::default() };
        let all = readings.iter().filter(|it| it.quantity == GpuQuantity::ThrottleReasons);
        let mut reasons: Vec<String> = all.flat_map(|reading| reading.reasons.clone()).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let mut meter = CardMeter::among(&readings);
        if let Some(meter) = &mut meter
            && meter.counts
            && gpu.is_nvidia()
        {
            let of = format!("the counter of {}", gpu.name);
            meter.step = Some(sensors.ask(&of, move |_| steps::next_step(|| gpu.counter())));
        }
        Self { meter, reasons }
    }
}

fn readings(sensors: &PatientSensors) -> Option<(Gpu, Vec<GpuReading>)> {
    sensors.open_libraries();
    let gpus = sensors.ask("the drivers of GPUs", |sensors| Ok(sensors.gpus())).ok()?;
    let [gpu]: [Gpu; 1] = gpus.try_into().ok()?;
    let asked = gpu.clone();
    let found = sensors.ask(&gpu.name, move |sensors| Ok(asked.readings(sensors))).ok()?;
    Some((gpu, found))
}

/// The card between two readings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CardPower {
    /// Mean power of the whole card [W].
    pub(super) watts: f64,
    pub(super) source: String,
    /// Largest error by the steps of the counter, as a share; `None` where they are not known.
    pub(super) error: Option<f64>,
}

impl CardMeter {
    /// A meter, the counter of energy first.
    fn among(readings: &[GpuReading]) -> Option<Self> {
        let of = |quantity| {
            let mut all = readings.iter().filter(|reading| reading.quantity == quantity);
            all.find_map(|reading| Self::of(reading, quantity))
        };
        of(GpuQuantity::Energy).or_else(|| of(GpuQuantity::Power))
    }

    fn of(reading: &GpuReading, quantity: GpuQuantity) -> Option<Self> {
        Some(Self {
            source: reading.source.clone(),
            counts: quantity == GpuQuantity::Energy,
            value: reading.value.clone().ok()?,
            at: reading.at,
            step: None,
        })
    }

    /// Mean power since an earlier reading.
    ///
    /// # Errors
    /// A counter that does not advance or is too coarse, and another meter than before.
    pub(super) fn since(&self, before: &Self) -> Reading<CardPower> {
        if self.source != before.source {
            return Err("another meter of the card answered".into());
        }
        if let (Some(before), Some(now)) = (&before.step, &self.step) {
            let MeanPower { watts, error } = now.clone()?.power_since(&before.clone()?)?;
            return Ok(CardPower { watts, source: self.source.clone(), error: Some(error) });
        }
        let seconds = self.at.saturating_duration_since(before.at).as_secs_f64();
        let watts = if self.counts {
            (self.value - before.value) / seconds
        } else {
            f64::midpoint(self.value, before.value)
        };
        if watts > 0.0 && watts.is_finite() {
            Ok(CardPower { watts, source: self.source.clone(), error: None })
        } else {
            Err(format!("{} does not advance", self.source))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::measure::sensors::fixtures;
    use crate::measure::sensors::tests::Machine;

    #[test]
    fn a_counter_gives_the_mean_and_a_power_that_of_both_readings() {
        let begin = Instant::now();
        let meter = |counts, value, seconds| CardMeter {
            source: "m".into(),
            counts,
            value,
            at: begin + Duration::from_secs(seconds),
            step: None,
        };
        let watts = |then: CardMeter, now: CardMeter| now.since(&then).map(|found| found.watts);
        assert_eq!(watts(meter(true, 50.0, 0), meter(true, 450.0, 2)), Ok(200.0));
        assert_eq!(watts(meter(false, 100.0, 0), meter(false, 300.0, 2)), Ok(200.0));
        for (then, now, words) in [
            (meter(true, 50.0, 0), meter(true, 50.0, 2), "does not advance"),
            (meter(true, 50.0, 0), meter(true, 20.0, 2), "does not advance"),
            (meter(true, 50.0, 0), meter(true, 60.0, 0), "does not advance"),
            (meter(false, 0.0, 0), meter(false, 0.0, 2), "does not advance"),
        ] {
            assert!(watts(then, now).unwrap_err().contains(words));
        }
        let other = CardMeter { source: "n".into(), ..meter(true, 0.0, 0) };
        assert!(watts(other, meter(true, 9.0, 1)).unwrap_err().contains("another meter"));
    }

    #[test]
    fn only_a_card_that_is_alone_stands_for_the_server() {
        let meter = |machine: &Machine| OnlyCard::now(&machine.patient()).meter;
        let one = meter(&fixtures::arc_card("attach-arc")).expect("a counter");
        assert!(one.counts && one.source.ends_with("energy1_input"), "{one:?}");
        assert_eq!(meter(&fixtures::two_amd_cards("attach-two")), None);
        assert_eq!(meter(&fixtures::no_card("attach-none")), None);
        assert_eq!(meter(&fixtures::nvidia_card("attach-unread")), None);
    }
}
