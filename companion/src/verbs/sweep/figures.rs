//! The columns of a sweep: a selection of an answer's values, under the keys of the answer itself.

use calc_core::analysis::Analysis;
use calc_core::estimate::Estimate;
use calc_core::units::{Bytes, Flops, FlopsPerByte, Joules, Seconds, TokensPerSec};
use report::input::request::{AnalyzeInputs, EstimateInputs, Fields, Library, RequestError};
use report::number_text as n;
use report::output::words;
use serde_json::{Value, json};

use crate::verbs::requests::Verb;

/// A value with its unit.
#[derive(Debug, Clone, Copy)]
pub(super) enum Figure {
    Time(Seconds),
    Volume(Bytes),
    Work(Flops),
    Intensity(FlopsPerByte),
    /// An arithmetic rate [FLOP/s], or [OP/s] for integer classes.
    Rate(f64),
    Tokens(TokensPerSec),
    Energy(Option<Joules>),
    Share(f64),
    Word(&'static str),
    Flag(Option<bool>),
    /// A value that needs a fact which nobody published.
    Unknown,
}

impl Figure {
    /// The value in the published JSON.
    pub(super) fn json(self) -> Value {
        match self {
            Self::Time(value) => json!(value.get()),
            Self::Volume(value) => json!(value.get()),
            Self::Work(value) => json!(value.get()),
            Self::Intensity(value) => json!(value.get()),
            Self::Tokens(value) => json!(value.get()),
            Self::Energy(value) => json!(value.map(Joules::get)),
            Self::Rate(value) | Self::Share(value) => json!(value),
            Self::Word(value) => json!(value),
            Self::Flag(value) => json!(value),
            Self::Unknown => Value::Null,
        }
    }

    /// The text for a table.
    pub(super) fn text(self) -> String {
        match self {
            Self::Time(value) => n::time(value),
            Self::Volume(value) => n::bytes(value),
            Self::Work(value) => n::flops(value),
            Self::Intensity(value) => n::intensity(value),
            Self::Rate(value) => n::flops(Flops::new(value)) + "/s",
            Self::Tokens(value) => n::token_rate(value),
            Self::Energy(value) => value.map_or("unknown".into(), n::energy),
            Self::Share(value) => n::percent(value),
            Self::Word(value) => value.into(),
            Self::Flag(Some(value)) => if value { "yes" } else { "no" }.into(),
            Self::Flag(None) | Self::Unknown => "unknown".into(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Column<A> {
    pub(super) key: &'static str,
    /// Whether tables show the column; machine-readable forms have all.
    pub(super) for_people: bool,
    figure: fn(&A) -> Figure,
}

impl<A> Column<A> {
    const fn shown(key: &'static str, figure: fn(&A) -> Figure) -> Self {
        Self { key, for_people: true, figure }
    }

    const fn more(key: &'static str, figure: fn(&A) -> Figure) -> Self {
        Self { key, for_people: false, figure }
    }
}

/// The columns of an operator.
pub(super) static ANALYZE: [Column<Analysis>; 10] = [
    Column::shown("flops", |a| Figure::Work(a.cost.flops)),
    Column::shown("bytes", |a| Figure::Volume(a.cost.traffic.total())),
    Column::shown("intensity_flop_per_byte", |a| Figure::Intensity(a.cost.intensity())),
    Column::more("ridge_flop_per_byte", |a| Figure::Intensity(a.roofline.ridge())),
    Column::shown("ideal_s", |a| Figure::Time(a.ideal)),
    Column::shown("expected_s", |a| Figure::Time(a.expected.time)),
    Column::more("low_s", |a| Figure::Time(a.expected.low)),
    Column::more("high_s", |a| Figure::Time(a.expected.high)),
    Column::shown("bound", |a| Figure::Word(words::bound(a.time.bound()))),
    Column::shown("attainable_flop_per_s", |a| Figure::Rate(a.attainable.get())),
];

/// The columns of a model.
pub(super) static ESTIMATE: [Column<Estimate>; 21] = [
    Column::shown("ttft_s", |e| Figure::Time(e.ttft.time)),
    Column::more("tpot_s", |e| Figure::Time(e.tpot.time)),
    Column::more("tpot_low_s", |e| Figure::Time(e.tpot.low)),
    Column::more("tpot_high_s", |e| Figure::Time(e.tpot.high)),
    Column::more("generation_s", |e| Figure::Time(e.generation.time)),
    Column::more("end_to_end_s", |e| Figure::Time(e.end_to_end.time)),
    Column::more("throughput_token_per_s", |e| Figure::Tokens(e.throughput)),
    Column::shown("mean_tpot_s", |e| Figure::Time(e.mean.expected.time)),
    Column::shown("mean_throughput_token_per_s", |e| Figure::Tokens(e.mean.throughput())),
    Column::more("prefill_ideal_s", |e| Figure::Time(e.prefill.totals.ideal)),
    Column::more("prefill_bound", |e| Figure::Word(words::bound(e.prefill.bound))),
    Column::more("decode_ideal_s", |e| Figure::Time(e.decode.totals.ideal)),
    Column::shown("decode_bound", |e| Figure::Word(words::bound(e.decode.bound))),
    Column::more("decode_mbu", |e| Figure::Share(e.decode.mbu)),
    Column::shown("memory_total_bytes", |e| Figure::Volume(e.memory.total())),
    Column::more("memory_usable_bytes", |e| Figure::Volume(e.memory.usable.on_device)),
    Column::more("memory_engine_usable_bytes", |e| Figure::Volume(e.memory.usable.bytes)),
    Column::shown("fits", |e| Figure::Flag(e.memory.verdict().fits())),
    Column::more("joule_per_token", |e| Figure::Energy(e.energy.map(|energy| energy.per_token))),
    Column::more("mean_mbu", |e| Figure::Share(e.mean_mbu)),
    Column::shown("mean_joule_per_token", |e| {
        Figure::Energy(e.mean.energy.map(|energy| energy.per_token))
    }),
];

/// The values of an answer, one per column.
pub(super) fn of<A>(columns: &[Column<A>], answer: &A) -> Vec<Figure> {
    columns.iter().map(|column| (column.figure)(answer)).collect()
}

/// Keys of the columns, and whether tables show them.
pub(super) fn keys<A>(columns: &[Column<A>]) -> Vec<(&'static str, bool)> {
    columns.iter().map(|column| (column.key, column.for_people)).collect()
}

/// The figures of a point.
pub(super) fn answer(
    verb: Verb,
    fields: Fields,
    library: &Library<'_>,
) -> Result<Vec<Figure>, RequestError> {
    Ok(match verb {
        Verb::Analyze => of(&ANALYZE, &AnalyzeInputs::parse(fields, library)?.analyze()?),
        Verb::Estimate => {
            let answer = EstimateInputs::parse(fields, library)?.estimate()?;
            let figures = of(&ESTIMATE, &answer);
            if answer.link_unknown { without_times(figures) } else { figures }
        }
    })
}

/// The figures without those that need the bandwidth of the link.
fn without_times(figures: Vec<Figure>) -> Vec<Figure> {
    let known = |figure| match figure {
        Figure::Time(_) | Figure::Tokens(_) | Figure::Share(_) | Figure::Energy(_) => {
            Figure::Unknown
        }
        other => other,
    };
    figures.into_iter().map(known).collect()
}

/// The keys of a verb's figures, and whether tables show each.
pub(super) fn keys_of(verb: Verb) -> Vec<(&'static str, bool)> {
    match verb {
        Verb::Analyze => keys(&ANALYZE),
        Verb::Estimate => keys(&ESTIMATE),
    }
}
