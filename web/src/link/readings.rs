//! Readings of sensors while a job ran, joined over its events.

use protocol::telemetry::SensorSeries;

/// The readings of one sensor while a job ran.
#[derive(Debug, Clone, PartialEq)]
pub struct SensorReadings {
    /// Name with its unit, such as `cpu_power_watt`.
    pub name: String,
    /// Device that it belongs to; `None` for the whole machine.
    pub device: Option<String>,
    /// Supply that a meter covers.
    pub rail: Option<String>,
    /// Wall-clock time in ms, and the value.
    pub points: Vec<(u64, f64)>,
}

/// Adds the readings of an event. A value without a moment is left out, and a moment without a value.
pub fn join(known: &mut Vec<SensorReadings>, at_ms: &[u64], sensors: Vec<SensorSeries>) {
    for SensorSeries { name, device, rail, values } in sensors {
        let moments = at_ms.iter().copied().zip(values);
        let points = moments.filter_map(|(at, value)| Some((at, value?)));
        let is_same =
            |it: &&mut SensorReadings| (&it.name, &it.device, &it.rail) == (&name, &device, &rail);
        if let Some(same) = known.iter_mut().find(is_same) {
            same.points.extend(points);
        } else {
            let points = points.collect();
            known.push(SensorReadings { name, device, rail, points });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_of_a_sensor_are_joined_over_events() {
        let series = |rail: &str, values: &[Option<f64>]| SensorSeries {
            name: "cpu_power_watt".into(),
            device: Some("cpu:0".into()),
            rail: Some(rail.into()),
            values: values.to_vec(),
        };
        let mut known = Vec::new();
        join(&mut known, &[1, 2], vec![series("a", &[None, Some(4.0)])]);
        let more = vec![series("a", &[Some(5.0), Some(6.0), Some(7.0)]), series("b", &[Some(1.0)])];
        join(&mut known, &[3, 4], more);
        let points: Vec<&[(u64, f64)]> = known.iter().map(|it| &*it.points).collect();
        let expected: [&[(u64, f64)]; 2] = [&[(2, 4.0), (3, 5.0), (4, 6.0)], &[(3, 1.0)]];
        assert_eq!(points, expected);
    }
}
