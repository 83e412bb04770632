//! Conditions of a card, or of the GPU of a board, that computes: of NVIDIA's driver while samples are taken, of others when sampling begins and when it ends.

use std::sync::Arc;

use kernels::measure::{Flag, Stage};

use super::super::sensors::{
    Gpu, GpuQuantity, GpuReading, PatientSensors, RailPower, Reading, Sensors, is_fault, is_memory,
};
use super::meters::{self, CardRun, Difference, Follower};
use super::{MeterPlace, NOT_SAMPLED, Power, Settings, ends};

/// The reason why a condition of the processor is not given for a card.
pub(super) const NOT_ITS_OWN: &str = "of the processor, not of this device";

/// A card whose sensors are read.
#[derive(Debug)]
pub(super) struct WatchedCard {
    gpu: Reading<Gpu>,
    /// The thread that reads it while samples are taken.
    follower: Reading<Arc<Follower>>,
    /// Readings of that thread.
    run: Option<CardRun>,
    /// Difference of its two meters when sampling ended.
    difference: Reading<Difference>,
    begin: Option<Reading<Vec<GpuReading>>>,
    end: Option<Reading<Vec<GpuReading>>>,
    /// The rail of the board whose GPU it is; `None` for a card, which has a meter of its own.
    rail: Option<WatchedRail>,
}

/// Power of the rail of a board when sampling began and when it ended.
#[derive(Debug, Default)]
struct WatchedRail {
    begin: Option<Reading<RailPower>>,
    end: Option<Reading<RailPower>>,
}

/// A reading when sampling began, and the same one when it ended.
type Both<'a> = (&'a GpuReading, &'a GpuReading);

impl WatchedCard {
    /// The card at a place on its bus, or the only GPU of a board; `None` for the processor.
    pub(super) fn at(sensors: &PatientSensors, place: MeterPlace<'_>) -> Option<Self> {
        let address = match place {
            MeterPlace::Processor => return None,
            MeterPlace::Bus(address) => Some(address.to_owned()),
            MeterPlace::Board => None,
        };
        let rail = address.is_none().then(WatchedRail::default);
        let gpu = sensors.ask("the drivers of GPUs", move |sensors| match &address {
            Some(address) => Gpu::at(&sensors.gpus(), address).cloned(),
            None => Gpu::of_board(&sensors.gpus()).cloned(),
        });
        sensors.open_libraries();
        let none = || NOT_SAMPLED.to_owned();
        let (follower, difference) = (Err(none()), Err(none()));
        Some(Self { gpu, follower, run: None, difference, begin: None, end: None, rail })
    }

    /// Reads the card at a stage.
    pub(super) fn note(&mut self, stage: Stage, sensors: &PatientSensors) {
        match stage {
            Stage::Begin => {
                if let Some(rail) = &mut self.rail {
                    rail.begin = Some(sensors.ask("the rails of the board", Sensors::gpu_rail));
                }
                self.begin = Some(self.read(sensors));
                // A card that slept is awake by now, because it has warmed up.
                let gpu = self.gpu.as_ref().map_err(Clone::clone);
                self.follower = gpu.and_then(|gpu| meters::follow(sensors, gpu));
                // The card rests while all of it is read, and what it tells of then is not of the samples.
                if let Ok(follower) = &self.follower {
                    follower.begin();
                }
            }
            Stage::End => {
                if let Some(rail) = &mut self.rail {
                    rail.end = Some(sensors.ask("the rails of the board", Sensors::gpu_rail));
                }
                let follower = self.follower.as_ref().map_err(Clone::clone);
                self.run = follower.as_ref().ok().and_then(|follower| follower.end());
                self.difference = follower.and_then(|follower| follower.difference());
                self.end = Some(self.read(sensors));
            }
            Stage::Choosing(_) | Stage::WarmUp(_) | Stage::Sampling { .. } => {}
        }
    }

    fn read(&self, sensors: &PatientSensors) -> Reading<Vec<GpuReading>> {
        let gpu = self.gpu.clone()?;
        sensors.ask(&gpu.name.clone(), move |sensors| Ok(gpu.readings(sensors)))
    }

    /// All readings of a quantity that are there at begin and end, with values or reasons.
    fn both(&self, quantity: GpuQuantity) -> Reading<Vec<Both<'_>>> {
        let gpu = self.gpu.as_ref().map_err(Clone::clone)?;
        let (begin, end) = ends(self.begin.as_ref(), self.end.as_ref())?;
        let (begin, end) = (begin.as_ref(), end.as_ref());
        let (begin, end) = (begin.map_err(Clone::clone)?, end.map_err(Clone::clone)?);
        let again = |one: &GpuReading| {
            end.iter().find(|it| it.quantity == one.quantity && it.rail == one.rail)
        };
        let all = begin.iter().filter(|it| it.quantity == quantity);
        let all: Vec<_> = all.filter_map(|one| Some((one, again(one)?))).collect();
        if all.is_empty() { Err(format!("{} tells none", gpu.name)) } else { Ok(all) }
    }

    /// The reading that stands for the whole card: the first one.
    fn first(&self, quantity: GpuQuantity) -> Reading<Both<'_>> {
        self.both(quantity).map(|all| all[0])
    }

    /// The source of a quantity.
    fn source(&self, quantity: GpuQuantity) -> Reading<String> {
        self.first(quantity).map(|(begin, _)| begin.source.clone())
    }

    /// Mean power while samples were taken: by the card's counter of energy, else by its power of then.
    fn power_of(&self, run: &CardRun) -> Reading<Power> {
        if let Ok((counter, _)) = self.first(GpuQuantity::Energy)
            && counter.value.is_ok()
        {
            let found = run.power()?;
            let source = counter.source.clone();
            return Ok(Power { watts: found.watts, error: Some(found.error), source });
        }
        let (watts, number) = run.mean_of_powers()?;
        let source = self.source(GpuQuantity::Power)?;
        let source = format!("{source}; mean of {number} readings while sampling");
        Ok(Power { watts, error: None, source })
    }

    /// Whether it is the GPU of a board.
    pub(super) const fn is_of_board(&self) -> bool {
        self.rail.is_some()
    }

    /// Mean power while sampling: by the card's counter of energy, else of its power; of a board by the rail that feeds its GPU.
    pub(super) fn power(&self) -> Reading<Power> {
        if let Some(rail) = &self.rail {
            self.gpu.as_ref().map_err(Clone::clone)?;
            return rail.power();
        }
        if let Some(run) = &self.run {
            return self.power_of(run);
        }
        if let Ok((begin, end)) = self.first(GpuQuantity::Energy)
            && let (Ok(before), Ok(after)) = (&begin.value, &end.value)
        {
            let joules = after - before;
            let seconds = end.at.saturating_duration_since(begin.at).as_secs_f64();
            // A counter that falls has begun anew, and nothing runs without energy.
            return if joules > 0.0 && seconds > 0.0 {
                Ok(Power { watts: joules / seconds, error: None, source: begin.source.clone() })
            } else {
                Err(format!("{} does not advance", begin.source))
            };
        }
        let (begin, end) = self.first(GpuQuantity::Power)?;
        let watts = f64::midpoint(begin.value.clone()?, end.value.clone()?);
        let source = format!("{}; mean of readings before and after the samples", begin.source);
        if watts > 0.0 {
            Ok(Power { watts, error: None, source })
        } else {
            Err(format!("{} shows 0 W", begin.source))
        }
    }

    /// Its settings: the limit of its power when sampling ended, and the mode of the whole machine.
    pub(super) fn settings(&self, sensors: &PatientSensors) -> Settings {
        let cap = self.first(GpuQuantity::PowerCap);
        Settings {
            governor: Err(NOT_ITS_OWN.into()),
            clock_driver: Err(NOT_ITS_OWN.into()),
            power_mode: sensors.ask("the power mode", |sensors| {
                sensors.board_mode().or_else(|_| sensors.platform_profile())
            }),
            power_cap: cap.and_then(|(_, end)| end.value.clone()),
        }
    }

    /// Version of its driver.
    pub(super) fn driver(&self, sensors: &PatientSensors) -> Reading<String> {
        let gpu = self.gpu.clone()?;
        sensors.ask(&gpu.name.clone(), move |sensors| gpu.driver_version(sensors))
    }

    /// Clocks of the whole card or of its first part.
    pub(super) fn clocks(&self) -> Reading<(f64, f64)> {
        let (begin, end) = self.first(GpuQuantity::Clock)?;
        Ok((begin.value.clone()?, end.value.clone()?))
    }

    /// Name and readings of the thermometer that was warmest at the begin, without those of memory.
    pub(super) fn temperature(&self) -> Reading<(String, f64, Reading<f64>)> {
        let all = self.both(GpuQuantity::Temperature)?;
        let mut missing = None;
        let mut warmest: Option<(f64, Both<'_>)> = None;
        for both in all.into_iter().filter(|(begin, _)| !is_memory(begin.rail.as_deref())) {
            match &both.0.value {
                Ok(celsius) if warmest.is_none_or(|(most, _)| *celsius > most) => {
                    warmest = Some((*celsius, both));
                }
                Ok(_) => {}
                Err(why) => missing = Some(why.clone()),
            }
        }
        let gpu = self.gpu.as_ref().map_err(Clone::clone)?;
        let (celsius, (begin, end)) = warmest.ok_or_else(|| {
            missing.unwrap_or_else(|| format!("{} has no thermometer but of its memory", gpu.name))
        })?;
        let part = begin.rail.as_ref().map_or_else(String::new, |rail| format!(" {rail}"));
        Ok((format!("{}{part}", gpu.name), celsius, end.value.clone()))
    }

    /// Difference of its meters over the measurements that ended with these samples, as a share of the counted energy.
    pub(super) fn difference(&self) -> Reading<f64> {
        self.difference.clone().map(|difference| difference.share)
    }

    /// Lowest and highest clock while samples were taken [Hz], and the number of readings; `None` for a driver that is not read then.
    pub(super) fn range_of_clocks(&self) -> Option<Reading<(f64, f64)>> {
        self.run.as_ref().map(CardRun::clocks)
    }

    /// Number of readings while samples were taken.
    pub(super) fn readings(&self) -> Option<usize> {
        self.run.as_ref().map(CardRun::readings)
    }

    /// Flags of the result: heat or a brake slowed it down, or its meters disagree.
    pub(super) fn flags(&self) -> Vec<Flag> {
        let is_slowed = if let Some(run) = &self.run {
            run.reasons().is_ok_and(|(all, _)| all.into_keys().any(is_fault))
        } else {
            let all = self.both(GpuQuantity::ThrottleReasons).unwrap_or_default().into_iter();
            let mut all = all.flat_map(|(begin, end)| begin.reasons.iter().chain(&end.reasons));
            all.any(|reason| is_fault(reason))
        };
        let is_apart = self.difference.as_ref().is_ok_and(|it| it.is_apart());
        let throttled = is_slowed.then_some(Flag::Throttled);
        throttled.into_iter().chain(is_apart.then_some(Flag::MetersApart)).collect()
    }

    /// Reasons for which it was slowed down, each with the number of readings that had it, or of a driver that is read at both ends
    /// alone of all parts; "none" if there was no reason.
    pub(super) fn throttle_reasons(&self) -> Reading<String> {
        if let Some(run) = &self.run {
            let (all, number) = run.reasons()?;
            let said =
                all.iter().map(|(reason, of)| format!("{reason} ({of} of {number} readings)"));
            let said: Vec<String> = said.collect();
            return Ok(if said.is_empty() { "none".to_owned() } else { said.join(", ") });
        }
        let mut found: Vec<&str> = Vec::new();
        for (begin, end) in self.both(GpuQuantity::ThrottleReasons)? {
            for reading in [begin, end] {
                let number = reading.value.clone()?;
                found.extend(reading.reasons.iter().map(String::as_str));
                if number > 0.0 && reading.reasons.is_empty() {
                    found.push("not named");
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(if found.is_empty() { "none".to_owned() } else { found.join(", ") })
    }
}

impl WatchedRail {
    /// Mean power of the rail.
    fn power(&self) -> Reading<Power> {
        let (begin, end) = ends(self.begin.as_ref(), self.end.as_ref())?;
        let (begin, end) = (begin.clone()?, end.clone()?);
        if begin.source != end.source {
            return Err(format!("{} was not read when sampling ended", begin.source));
        }
        let source = format!("{}; mean of readings before and after the samples", begin.source);
        Ok(Power { watts: f64::midpoint(begin.watts, end.watts), error: None, source })
    }
}

#[cfg(test)]
mod tests;
