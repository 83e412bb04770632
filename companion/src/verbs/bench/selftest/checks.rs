//! `bench selftest --device`: every kernel of a device against the f64 reference, at small sizes and without timing, and outputs of
//! products against those of another device.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::ArgMatches;
use kernels::backend::{Backend, Cache, Check, Element, Fault, GemmShape, GemvShape, Kernel};
use kernels::backend::{Support, Work};
use kernels::compare::SampledOutput;
use kernels::measure::Stopped;
use protocol::bench::BenchKind;
use report::number_text as n;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::{Value, json};

use super::super::flags::{self, Settings};
use super::super::point::{self, Line};
use super::super::point_file;
use super::vectors::{Agreement, Vectors};
use crate::failure::Failure;
use crate::files;
use crate::measure::products::Products;
use crate::measure::turn::Turn;
use crate::measure::{layers, machine};
use crate::output::{Answer, Form, Rows};

/// Tokens of the products with packed weights.
const TOKENS: [u64; 3] = [1, 4, GemvShape::MAX_TOKENS];
/// Outputs and inputs of a product: whole blocks of every format, and no whole tile of outputs.
const N: u64 = 144;
const K: u64 = 512;
/// Tokens of a product of matrices.
const M: u64 = 48;
/// Array of a stream [B].
const STREAM: u64 = 1 << 20;
/// Sizes of the kernels of a layer, in the order of their names.
const LAYER: [(BenchKind, &[(&str, u64)]); 6] = [
    (
        BenchKind::Attention,
        &[
            ("batch", 1),
            ("context", 300),
            ("head_dim", 128),
            ("heads", 8),
            ("kv_heads", 2),
            ("new", 1),
        ],
    ),
    (
        BenchKind::Attention,
        &[
            ("batch", 1),
            ("context", 80),
            ("head_dim", 128),
            ("heads", 8),
            ("kv_heads", 2),
            ("new", 17),
        ],
    ),
    (BenchKind::Norm, &[("tokens", 5), ("width", 512)]),
    (BenchKind::Rope, &[("head_dim", 128), ("heads", 4), ("tokens", 5)]),
    (BenchKind::Gate, &[("tokens", 5), ("width", 512)]),
    (BenchKind::Embedding, &[("tokens", 5), ("vocab", 1000), ("width", 512)]),
];

/// A kernel with its check.
struct Tested {
    kernel: Kernel,
    /// The check, or the reason why there is none.
    check: Result<Check, String>,
    /// The comparison with another device, of a kernel whose outputs that one wrote.
    agreement: Option<Agreement>,
}

impl Tested {
    fn is_wrong(&self) -> bool {
        self.check.as_ref().is_ok_and(|check| !check.passed())
            || self.agreement.is_some_and(|agreement| !agreement.passed())
    }

    fn name(&self) -> String {
        name(self.kernel)
    }
}

/// Kernel, format and sizes.
fn name(kernel: Kernel) -> String {
    let with_cache = point_file::name(kernel, Cache::Hot);
    with_cache.rsplit_once(' ').map_or_else(String::new, |(name, _)| name.to_owned())
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let settings = Settings { device: flags::device_of(matches)?, ..Settings::STANDARD };
    let path = |name: &str| matches.get_one::<PathBuf>(name);
    let others = path("against").map(|path| Vectors::read(path)).transpose()?;
    let mut device = point::open(settings)?;
    let mut own = Vectors::new(&device.describe().device);
    let all = all(&device.support());
    let _turn = Turn::wait()?;
    let line = Line::new("self-test".into());
    let (mut tested, mut ended) = (Vec::new(), Ok(()));
    for (done, kernel) in all.iter().enumerate() {
        line.write(&format!("{} of {}", done + 1, all.len()));
        let mut tried = test(&mut *device, *kernel, Cache::Hot);
        // A small cache holds no operands; other sets of them are checked, too.
        if matches!(tried, Err(Stopped::Failed(Fault::NoCache { .. }))) {
            tried = test(&mut *device, *kernel, Cache::Cold);
        }
        match tried {
            Ok((check, outputs)) => {
                let name = name(*kernel);
                let other = others.as_ref().and_then(|others| others.of(&name));
                let agreement = other.map(|other| Agreement::of(&outputs, other));
                own.add(name, outputs);
                tested.push(Tested { kernel: *kernel, check: Ok(check), agreement });
            }
            Err(Stopped::Failed(fault)) if machine::is_of_the_point(&fault) => {
                let why = point::failure(&*device, Stopped::Failed(fault)).to_string();
                tested.push(Tested { kernel: *kernel, check: Err(why), agreement: None });
            }
            Err(stopped) => {
                ended = Err(point::failure(&*device, stopped));
                break;
            }
        }
    }
    line.end();
    if ended.is_err() && tested.is_empty() {
        return ended;
    }
    if let Some(path) = path("vectors") {
        files::write(path, own.text().as_bytes())?;
    }
    answer(&device.describe().device, &tested, others.as_ref()).print(Form::of(matches))?;
    ended?;
    if others.is_some() && tested.iter().all(|it| it.agreement.is_none()) {
        return Err(Failure::bad("the file of --against has no product that this device runs"));
    }
    let wrong: Vec<String> = tested.iter().filter(|it| it.is_wrong()).map(Tested::name).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure::Failed(format!("wrong results: {}", wrong.join(", "))))
}

/// Checks a kernel and takes a sample of what it computes.
fn test(
    device: &mut dyn Backend,
    kernel: Kernel,
    cache: Cache,
) -> Result<(Check, Vec<SampledOutput>), Stopped<Fault>> {
    let work = Work { kernel, cache, seed: Settings::STANDARD.seed };
    let mut task = device.allocate(&work).map_err(Stopped::Failed)?;
    task.choose(&mut |_| ControlFlow::Continue(()))?;
    let check = task.check().map_err(Stopped::Failed)?;
    let outputs = task.outputs().map_err(Stopped::Failed)?;
    Ok((check, outputs))
}

/// Every kernel of a device in every format.
fn all(support: &Support) -> Vec<Kernel> {
    let streams = [
        Kernel::Read { bytes: STREAM },
        Kernel::Copy { bytes: STREAM },
        Kernel::Triad { bytes: STREAM },
    ];
    let packed = Products(support.clone())
        .all_layouts()
        .into_iter()
        .flat_map(|layout| TOKENS.map(|m| Kernel::Gemv(GemvShape { layout, m, n: N, k: K })));
    let matrices =
        Element::ALL.map(|element| Kernel::Gemm(GemmShape { element, m: M, n: N, k: K }));
    let layer = LAYER.iter().flat_map(|(kind, sizes)| {
        let sizes: BTreeMap<String, u64> =
            sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect();
        layers::kernels(*kind, &sizes, &[]).expect("these sizes are possible")
    });
    let kernels = streams.into_iter().chain(Kernel::PEAKS).chain(packed);
    kernels.chain(matrices).chain(layer).filter(|kernel| support.has(*kernel)).collect()
}

fn answer(device: &str, tested: &[Tested], others: Option<&Vectors>) -> Answer {
    let mut document = Document::default();
    document.heading(format!("Kernels of {device} against the f64 reference"));
    let mut table = Table::new(&[
        ("kernel", Align::Left),
        ("error over tolerance", Align::Right),
        ("over that of both", Align::Right),
        ("result", Align::Left),
    ]);
    for it in tested {
        let share = |share: f64| n::short(share, 3);
        table.push(vec![
            it.name(),
            it.check
                .as_ref()
                .map_or_else(|_| String::new(), |check| share(check.worst_error / check.tolerance)),
            it.agreement.map_or_else(String::new, |it| share(it.worst)),
            match &it.check {
                Err(why) => format!("left out: {why}"),
                Ok(_) if it.is_wrong() => "wrong".to_owned(),
                Ok(_) => "right".to_owned(),
            },
        ]);
    }
    document.table(table);
    if let Some(others) = others {
        let count = tested.iter().filter(|it| it.agreement.is_some()).count();
        document.line(format!(
            "\"Over that of both\" is the largest difference from the outputs of {} over the tolerances of both, of {count} products.",
            others.device()
        ));
    }
    let row = |it: &Tested| {
        json!({
            "schema": 1,
            "kernel": it.kernel.key(),
            "point": it.name(),
            "check": it.check.as_ref().ok().map(|check| json!({
                "worst_error": check.worst_error,
                "tolerance": check.tolerance,
                "passed": check.passed(),
            })),
            "left_out": it.check.as_ref().err(),
            "against": it.agreement.map(|agreement| json!({
                "worst_share": agreement.worst,
                "outputs": agreement.outputs,
                "passed": agreement.passed(),
            })),
        })
    };
    let value = Value::Array(tested.iter().map(row).collect());
    Answer { document, value, rows: Rows::List }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_of_the_processor_is_tested_in_every_format() {
        let support = kernels::devices::all(None).remove(0).support();
        let all = all(&support);
        for kernel in &support.kernels {
            let tested: Vec<_> = all.iter().filter(|it| it.key() == kernel.key).collect();
            assert!(!tested.is_empty(), "{}", kernel.key);
            for format in &kernel.formats {
                let has = |it: &&Kernel| it.stored_format() == Some(format.weights);
                assert!(
                    tested.iter().copied().any(|it| has(&it)),
                    "{} {}",
                    kernel.key,
                    format.weights
                );
            }
        }
    }
}
