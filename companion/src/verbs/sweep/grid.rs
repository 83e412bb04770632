//! The points of a sweep: the Cartesian product of its flags' values, each point computed from its index.

use std::borrow::Cow;

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::hf_config::Unread;
use report::input::range::{Axis, MAX_POINTS, Numbers};
use report::input::request::{Library, MODEL_UPPER_BOUND, RequestError};
use report::output::json::SCHEMA;
use serde_json::{Map, Value};

use super::Failure;
use super::figures;
use crate::verbs::flags::{self, Flag, Kind};
use crate::verbs::requests::Verb;
use report::input::request::{
    Fields, USUAL_VALUES, UsualValue, check_count, is_count, memory_unit,
};

#[derive(Debug)]
pub(super) struct Grid {
    verb: Verb,
    axes: Vec<(&'static Flag, Axis)>,
    points: u64,
    id: String,
}

impl Grid {
    /// Reads the flags. An error of the request as a whole is returned here, not repeated in every row.
    pub(super) fn new(
        verb: Verb,
        given: &Map<String, Value>,
        library: &Library<'_>,
    ) -> Result<Self, Failure> {
        let given = &with_usual(verb, given);
        let keys: Vec<&str> = given.keys().map(String::as_str).collect();
        let mut axes = Vec::new();
        for flag in flags::of(&keys) {
            axes.push((flag, axis(flag, &given[flag.key])?));
        }
        let points = axes
            .iter()
            .fold(1_u128, |points, (_, axis)| points.saturating_mul(u128::from(axis.count())));
        let points = u64::try_from(points).ok().filter(|points| *points <= MAX_POINTS).ok_or_else(|| {
            Failure::bad(format!("this sweep has {points} points; at most {MAX_POINTS} are allowed, so shorten a list"))
        })?;
        check_numbers(&axes)?;
        let mut identity = Identity::new(verb);
        for (flag, axis) in &axes {
            identity.add(flag, given, axis, library)?;
        }
        check_modes(&axes, library)?;
        let grid = Self { verb, axes, points, id: identity.text() };
        grid.check_first(library)?;
        Ok(grid)
    }

    pub(super) const fn verb(&self) -> Verb {
        self.verb
    }

    pub(super) const fn points(&self) -> u64 {
        self.points
    }

    /// Fingerprint that identifies the sweep.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// The flags with their values, slowest first.
    pub(super) fn axes(&self) -> &[(&'static Flag, Axis)] {
        &self.axes
    }

    /// The fields of a point.
    pub(super) fn point(&self, point: u64) -> Map<String, Value> {
        let mut rest = point;
        let mut fields: Vec<(String, Value)> = Vec::with_capacity(self.axes.len());
        for (flag, axis) in self.axes.iter().rev() {
            let text = axis.value(rest % axis.count());
            rest /= axis.count();
            let value =
                if flag.kind == Kind::Switch { Value::Bool(true) } else { Value::String(text) };
            fields.push((flag.key.into(), value));
        }
        fields.into_iter().rev().collect()
    }

    /// An unknown or missing field is the same error for all points.
    fn check_first(&self, library: &Library<'_>) -> Result<(), Failure> {
        match figures::answer(self.verb, Fields::new(self.point(0)), library) {
            Ok(_) | Err(RequestError::Core(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Fills in the defaults of missing flags, so that every row states them.
fn with_usual(verb: Verb, given: &Map<String, Value>) -> Map<String, Value> {
    let mut all = given.clone();
    for UsualValue { key, value } in USUAL_VALUES {
        if verb == Verb::Estimate && !all.contains_key(key) {
            all.insert(key.into(), Value::String(value.to_string()));
        }
    }
    all
}

/// An invalid count would be an error in every row that has it.
fn check_numbers(axes: &[(&'static Flag, Axis)]) -> Result<(), Failure> {
    for (flag, axis) in axes.iter().filter(|(flag, _)| flag.kind == Kind::Number) {
        axis.samples().try_for_each(|value| check_count(flag.key, &value))?;
    }
    Ok(())
}

/// A power mode that some devices lack is an error in some rows; one that all lack, in every row.
fn check_modes(axes: &[(&'static Flag, Axis)], library: &Library<'_>) -> Result<(), Failure> {
    let values = |key: &str| {
        let axis = axes.iter().find(|(flag, _)| flag.key == key);
        axis.map_or_else(Vec::new, |(_, axis)| axis.samples().collect())
    };
    let devices = values("hardware");
    let devices: Result<Vec<_>, _> = devices.iter().map(|name| library.device(name)).collect();
    let devices = devices?;
    for mode in values("power_mode") {
        let lacks = |device: &Cow<'_, Device>| device.power_mode(&mode).err();
        let lacking: Vec<_> = devices.iter().filter_map(lacks).collect();
        if let Some(error) = lacking.first().filter(|_| lacking.len() == devices.len()) {
            return Err(error.clone().into());
        }
    }
    Ok(())
}

fn axis(flag: &Flag, given: &Value) -> Result<Axis, Failure> {
    let text = given.as_str().unwrap_or("true");
    let axis = match flag.kind {
        Kind::Number if is_count(flag.key) => Axis::of_numbers(text, Numbers::Counts),
        Kind::Number => {
            let numbers = memory_unit(flag.key).map_or(Numbers::Quantities, Numbers::Memory);
            Axis::of_numbers(text, numbers)
        }
        Kind::File => Ok(Axis::of_name(text)),
        Kind::Hardware | Kind::Model | Kind::Format | Kind::Engine | Kind::Word | Kind::Switch => {
            Axis::of_names(text)
        }
    };
    axis.map_err(|why| Failure::bad(format!("{}: {why}", flag.key)))
}

/// A fingerprint of everything that determines the rows: a file of another sweep is never continued or merged.
struct Identity {
    hash: u64,
}

impl Identity {
    fn new(verb: Verb) -> Self {
        let mut identity = Self { hash: 0xcbf2_9ce4_8422_2325 };
        identity.mix(&format!(
            "{SCHEMA} {} {} {verb:?}",
            env!("CARGO_PKG_VERSION"),
            catalog::VERSION
        ));
        identity
    }

    /// Looks up every name, so that a misspelled one is an error here. The fingerprint covers the named data, files included.
    fn add(
        &mut self,
        flag: &Flag,
        given: &Map<String, Value>,
        axis: &Axis,
        library: &Library<'_>,
    ) -> Result<(), Failure> {
        self.mix(&format!("{}={}", flag.key, given[flag.key]));
        match flag.kind {
            Kind::Hardware => {
                self.mix_all(flag, axis, |name| library.device(&name))?;
            }
            Kind::Model => {
                let bound = given.get(MODEL_UPPER_BOUND).is_some_and(|value| value == true);
                let unread = if bound { Unread::UpperBound } else { Unread::Refuse };
                self.mix_all(flag, axis, |name| library.model(&name, unread))?;
            }
            Kind::Format => {
                self.mix_all(flag, axis, |name| Ok(catalog::format(&name)?))?;
            }
            Kind::File => {
                self.mix_all(flag, axis, |name| library.own_measurements(&name))?;
            }
            Kind::Engine | Kind::Word | Kind::Number | Kind::Switch => {}
        }
        Ok(())
    }

    /// The data behind the names of one flag; an error states the flag.
    fn mix_all<T: core::fmt::Debug>(
        &mut self,
        flag: &Flag,
        axis: &Axis,
        look_up: impl Fn(String) -> Result<T, RequestError>,
    ) -> Result<(), Failure> {
        for name in axis.samples() {
            let found =
                look_up(name).map_err(|error| Failure::bad(format!("{}: {error}", flag.key)))?;
            self.mix(&format!("{found:?}"));
        }
        Ok(())
    }

    /// FNV-1a, 64 bits: the same on every machine and with every compiler.
    fn mix(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&self) -> String {
        format!("{:016x}", self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn grid(fields: &Value) -> Result<Grid, Failure> {
        let fields = fields.as_object().expect("object");
        Grid::new(Verb::Analyze, fields, &Library::CATALOGS)
    }

    #[test]
    fn the_last_flag_changes_fastest() {
        let request =
            json!({"weights": "fp16,int8", "k": "64", "n": "64", "m": "1..3", "hardware": "t4,l4"});
        let grid = grid(&request).unwrap();
        assert_eq!(grid.points(), 12);
        let seen = |i| {
            let point = grid.point(i);
            ["hardware", "m", "weights"].map(|key| point[key].as_str().unwrap().to_owned())
        };
        assert_eq!(seen(0), ["t4", "1", "fp16"]);
        assert_eq!(seen(1), ["t4", "1", "int8"]);
        assert_eq!(seen(2), ["t4", "2", "fp16"]);
        assert_eq!(seen(11), ["l4", "3", "int8"]);
    }

    #[test]
    fn errors_of_all_points_are_refused_at_once() {
        let sound = json!({"hardware": "t4", "m": "1", "n": "64", "k": "64", "weights": "fp16"});
        for (key, value, expected) in [
            ("hardware", "t4,t5", "hardware: unknown hardware `t5`; did you mean"),
            ("weights", "fp16,fp3", "weights: unknown format `fp3`; did you mean"),
            ("weights", "fp16,foo", "weights: unknown format `foo`; the list of formats"),
            ("m", "1..x", "m: `1..x` is not a range"),
            ("m", "1..1000000000", "1000000000 points; at most 100000000"),
            ("tokens", "1", "unknown field `tokens`"),
            ("engine", "warp", "engine must be one of"),
        ] {
            let mut request = sound.clone();
            request[key] = json!(value);
            let Err(Failure::BadInput(line)) = grid(&request) else { panic!("{key} {value}") };
            assert!(line.contains(expected), "{line}");
        }
    }

    #[test]
    fn different_requests_have_different_fingerprints() {
        let sound = json!({"hardware": "t4", "m": "1,2", "n": "64", "k": "64", "weights": "fp16"});
        let mut other = sound.clone();
        other["m"] = json!("1,3");
        let id = |request: &Value| grid(request).unwrap().id().to_owned();
        assert_eq!(id(&sound), id(&sound));
        assert_ne!(id(&sound), id(&other));
    }
}
