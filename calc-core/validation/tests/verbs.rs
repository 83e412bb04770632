//! The public verbs return the numbers of `validate` for every published row, to the bit.

use std::borrow::Cow;

use calc_core::calibration::Calibration;
use calc_core::device::Device;
use calc_core::expected::Expected;
use calc_core::lowering::Phase;
use calc_core::text::Text;
use calc_core::units::Seconds;
use report::input::device_file;
use report::input::request::{AnalyzeInputs, EstimateInputs, Fields, Library};
use validation::row::{PublishedRow, Work};
use validation::{prepared, published};

fn fields(row: &PublishedRow) -> Fields {
    Fields::from_texts(row.request.iter().map(|(key, text)| (*key, text.as_str())))
}

/// Ideal and expected time of the row's step or operator, from `estimate` or `analyze`.
fn asked(row: &PublishedRow) -> (Seconds, Expected) {
    match &row.work {
        Work::Step(work) => {
            let inputs = EstimateInputs::parse(fields(row), &Library::CATALOGS).expect("a request");
            let answer = inputs.estimate().expect("an answer");
            let phase = match work.phase {
                Phase::Prefill => answer.prefill,
                Phase::Decode => answer.decode,
            };
            (phase.totals.ideal, phase.totals.expected)
        }
        Work::Operator(_) => {
            let mut inputs =
                AnalyzeInputs::parse(fields(row), &Library::CATALOGS).expect("a request");
            if inputs.device.bandwidth.value != row.device.bandwidth.value {
                inputs.device = Cow::Owned(card(row));
            }
            let answer = inputs.analyze().expect("an answer");
            (answer.ideal, answer.expected)
        }
    }
}

/// The card of a row as its owner would describe it: a copy of the catalog's device with another bandwidth.
fn card(row: &PublishedRow) -> Device {
    let key = Text::Borrowed("server_edition");
    let own = Device { key, ..row.device.clone().into_owned() };
    let lines = device_file::lines::of_device(&own, Some(&row.device.key));
    device_file::lines::read(&lines).expect("a device file")
}

#[test]
fn every_public_row_gets_the_numbers_of_validate_from_the_verbs() {
    let file = published().expect("our files");
    for row in prepared(&file).expect("every row is understood") {
        let (ideal, expected) = asked(row.row);
        let own = row.expected(&Calibration::FITTED);
        assert_eq!(ideal.get().to_bits(), row.ideal.get().to_bits(), "{}", row.row.id);
        for (verb, own) in
            [(expected.time, own.time), (expected.low, own.low), (expected.high, own.high)]
        {
            assert_eq!(verb.get().to_bits(), own.get().to_bits(), "{}: {verb:?}", row.row.id);
        }
    }
}
