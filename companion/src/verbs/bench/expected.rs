//! The expected time beside a measured one: of the device that the user names, else of this one where the catalog has it.

use std::borrow::Cow;

use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::device::{Device, Roof};
use calc_core::provenance::Provenance;
use calc_core::units::Seconds;
use clap::ArgMatches;
use report::input::request::Library;
use report::input::timed_kernel::{TimedPlace, expected};
use report::number_text::counted;
use report::output::json::bench::{BenchExpectedJson, BenchJson};
use report::output::verdict;
use serde_json::json;

use super::flags::Settings;
use crate::failure::Failure;
use crate::weight_files;

/// Key of the reason in the conditions.
const KEY: &str = "expected";

/// The device that records are compared with.
pub(super) struct Expectation {
    /// The named one; `None` for that of each record.
    named: Option<Cow<'static, Device>>,
    /// The reason why no time is expected of a run on a part of the device.
    limited: Option<String>,
}

impl Expectation {
    /// Reads the flag for a run with some settings.
    ///
    /// # Errors
    /// A device that is unknown.
    pub(super) fn of(matches: &ArgMatches, settings: &Settings) -> Result<Self, Failure> {
        let limited = limited(settings);
        let Some(name) = matches.get_one::<String>("hardware") else {
            return Ok(Self { named: None, limited });
        };
        let files = weight_files::user_files();
        Ok(Self { named: Some(Library::with_files(&files).device(name)?), limited })
    }

    /// Adds the expected time to a record, or the reason why there is none.
    pub(super) fn add(&self, record: &mut BenchJson) {
        match self.found(record) {
            Ok(found) => record.expected = Some(found),
            Err(why) => {
                record.conditions.missing.insert(KEY.into(), json!(why));
            }
        }
    }

    fn found(&self, record: &BenchJson) -> Result<BenchExpectedJson, String> {
        if let Some(why) = &self.limited {
            return Err(why.clone());
        }
        let known = record.catalog_key.as_deref().and_then(|key| catalog::device(key).ok());
        let device = self.named.as_deref().or(known).ok_or_else(|| {
            format!(
                "the catalog does not have {}; --hardware names a device or a file",
                record.device
            )
        })?;
        // Peaks are measured in registers and move nothing.
        if record.cache == "hot" && record.bytes > 0.0 {
            return Err(
                "it was measured in the cache, and the model expects times from memory".to_owned()
            );
        }
        let place = TimedPlace { device, mode: None, calibration: &Calibration::FITTED };
        let found = expected(&record.timed_kernel(), place)?;
        Ok(BenchExpectedJson {
            hardware: device.key.to_string(),
            ideal_s: found.ideal.get(),
            time_s: found.time.get(),
            low_s: found.range.map(|(low, _)| low.get()),
            high_s: found.range.map(|(_, high)| high.get()),
            basis: found.factors.map_or("roof", Provenance::key),
            error: found.error(Seconds::new(record.time_s.median)),
            above_roof: verdict::above_roof(found.ideal.get() / record.time_s.median).is_some(),
            disturbed_roof: found.disturbed.map(Roof::key),
        })
    }
}

/// The reason why a run with some settings has no expected time.
fn limited(settings: &Settings) -> Option<String> {
    let threads =
        settings.threads.map(|n| format!("on {}", counted(n as u64, "thread", "threads")));
    let isa = settings.isa.map(|isa| format!("with {}", isa.level().key()));
    let limits: Vec<String> = threads.into_iter().chain(isa).collect();
    let how = limits.join(" ");
    (!limits.is_empty()).then(|| format!("it ran {how}, and the model knows the whole device only"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernels::cpu::isa::Isa;

    #[test]
    fn a_run_on_a_part_of_the_device_has_no_expected_time() {
        let isa = Isa::available().last();
        let key = isa.expect("the portable one").level().key();
        for (threads, isa, expected) in [
            (None, None, None),
            (Some(1), None, Some("on 1 thread".to_owned())),
            (Some(4), isa, Some(format!("on 4 threads with {key}"))),
            (None, isa, Some(format!("with {key}"))),
        ] {
            let said = limited(&Settings { threads, isa, ..Settings::STANDARD });
            let expected = expected
                .map(|how| format!("it ran {how}, and the model knows the whole device only"));
            assert_eq!(said, expected);
        }
    }
}
