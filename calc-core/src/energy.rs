//! Power and energy, estimated from the fraction of the time in which the roof is busy.
//! Derivation: `docs/theory/energy.md`.

use crate::device::{Device, DeviceClass, PowerMode};
use crate::parallel::Parallel;
use crate::units::{Joules, Seconds, Watts};

/// Mean power of the devices that run one model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    /// Power of one device.
    pub device: Watts,
    /// Power of all devices.
    pub all: Watts,
    pub devices: u64,
}

/// Power and energy during decode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Energy {
    /// Mean power during decode.
    pub power: Power,
    /// Energy per token over all devices.
    pub per_token: Joules,
}

impl Energy {
    /// Energy of a step that gives each sequence of the batch a token.
    ///
    /// ```text
    /// J/token = devices * P * TPOT / B
    /// ```
    pub fn of_token(power: Power, tpot: Seconds, batch: u64) -> Self {
        Self { power, per_token: power.all * tpot / batch as f64 }
    }
}

/// Idle power as a fraction of the thermal design power; assumed.
pub const fn idle_share(class: DeviceClass) -> f64 {
    match class {
        DeviceClass::DiscreteGpu => 0.2,
        DeviceClass::UnifiedGpu => 0.35,
        DeviceClass::Cpu => 0.4,
    }
}

/// Mean power of work whose ideal time is `ideal` and whose expected time is `expected`.
///
/// ```text
/// P     = idle + (TDP - idle) * t_ideal / (stages * t_expected)      of one device
/// group = devices * P
/// ```
///
/// In a power mode, its budget replaces the TDP. The times of a pipeline cover all its stages, of which one works at a time.
/// `None` if neither budget nor TDP is published.
pub fn mean_power(
    (device, mode): (&Device, Option<&PowerMode>),
    parallel: &Parallel,
    ideal: Seconds,
    expected: Seconds,
) -> Option<Power> {
    let budget = mode.and_then(|mode| mode.watts).or(device.tdp.map(|tdp| tdp.value))?;
    let idle = budget * idle_share(device.class);
    let busy = ideal / parallel.pipeline.stages() as f64;
    let (device, devices) = (idle + (budget - idle) * (busy / expected), parallel.devices());
    Some(Power { device, all: device * devices as f64, devices })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn a_group_draws_the_power_of_all_its_devices() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let of = |tensor, pipeline| {
            let parallel =
                Parallel { tensor, pipeline: crate::parallel::Pipeline::of(pipeline), expert: 1 };
            let times = (Seconds::new(0.5), Seconds::new(1.0));
            mean_power((device, None), &parallel, times.0, times.1).expect("known power")
        };
        assert_eq!((of(1, 1).device.get(), of(1, 1).all.get()), (420.0, 420.0)); // 140 + 560 / 2
        assert_eq!((of(4, 1).device.get(), of(4, 1).all.get()), (420.0, 1680.0));
        // With two stages one waits: 140 + 560 / 4 each.
        assert_eq!((of(1, 2).device.get(), of(1, 2).all.get()), (280.0, 560.0));
    }
}
