//! Parses the measuring form: shapes and formats.

use std::sync::Arc;

use calc_core::catalog;
use protocol::ability::Abilities;
use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::limits::Limits;
use report::input::number_input;
use report::number_text;

use crate::link::session::DaemonSession;

/// Default shapes of a sweep: a vector against the matrices of Llama-3.1-8B, then larger products.
pub const SWEEP: &str = "1 4096 4096\n1 14336 4096\n1 4096 14336\n512 4096 4096\n1024 1024 1024";

/// A format that the connected machine measures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeasuredFormat {
    pub key: String,
    /// Its short name in the catalog; the key where this page does not know the format.
    pub name: String,
}

/// The abilities of the connected daemon; those of the first daemons where it tells none.
fn abilities(session: &DaemonSession) -> Arc<Abilities> {
    session.can.clone().unwrap_or_else(|| Arc::new(Abilities::untold()))
}

/// The formats of matrix-vector products on a machine, widest first.
pub fn formats(session: &DaemonSession) -> Vec<MeasuredFormat> {
    let format =
        |key: &String| MeasuredFormat { key: key.clone(), name: short_name(key).to_owned() };
    abilities(session).formats(BenchKind::Gemv).iter().map(format).collect()
}

fn short_name(key: &str) -> &str {
    catalog::format(key).map_or(key, |format| format.short_name)
}

/// Keys of the chosen formats; an empty choice means all.
fn chosen(choice: &str, can: &Abilities) -> Vec<String> {
    let keys = can.formats(BenchKind::Gemv);
    if keys.iter().any(|key| key == choice) { vec![choice.to_owned()] } else { keys.to_vec() }
}

/// Parses a shape: three whole numbers, separated by blanks, `x`, `×` or `;`.
fn shape(line: &str, limits: &Limits) -> Option<Shape> {
    let is_between = |letter: char| letter.is_whitespace() || matches!(letter, 'x' | '×' | ';');
    let mut numbers =
        line.split(is_between).filter(|part| !part.is_empty()).map(number_input::count);
    let mut next = || numbers.next()?.filter(|number| (1..=limits.dimension).contains(number));
    let shape = Shape { m: next()?, n: next()?, k: next()? };
    numbers.next().is_none().then_some(shape)
}

/// Parses shapes, one per line.
///
/// # Errors
/// Returns a sentence that quotes the invalid line.
pub fn shapes(text: &str, limits: &Limits) -> Result<Vec<Shape>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = lines.map(|line| {
        shape(line, limits).ok_or_else(|| {
            let line: String = line.chars().take(40).collect();
            let most = number_text::count(limits.dimension);
            format!("`{line}` is no shape; a line has M, N and K, whole numbers from 1 to {most}.")
        })
    });
    let shapes = read.collect::<Result<Vec<_>, _>>()?;
    if shapes.is_empty() {
        return Err("At least one shape is needed: M, N and K on a line.".to_owned());
    }
    Ok(shapes)
}

/// Jobs that measure shapes in one format or in all. Vectors and matrices are separate jobs, because their kernels differ.
///
/// # Errors
/// Returns a sentence if there are too many points, or if no matrix kernel has the format.
pub fn jobs(
    shapes: &[Shape],
    choice: &str,
    session: &DaemonSession,
) -> Result<Vec<BenchSpec>, String> {
    let can = abilities(session);
    let formats = chosen(choice, &can);
    let (points, most) = (shapes.len() * formats.len(), session.limits.points);
    if points > most as usize {
        let points = number_text::count(points as u64);
        return Err(format!(
            "{points} points; a sweep has at most {}.",
            number_text::count(most.into())
        ));
    }
    let matrices = can.formats(BenchKind::Gemm);
    let multiplied: Vec<String> =
        formats.iter().filter(|key| matrices.contains(key)).cloned().collect();
    let job = |what, is_vector: bool, formats| BenchSpec {
        what,
        shapes: shapes.iter().copied().filter(|shape| (shape.m == 1) == is_vector).collect(),
        formats,
        sizes: Vec::new(),
        backend: None,
        iterations: None,
    };
    let jobs = [job(BenchKind::Gemv, true, formats), job(BenchKind::Gemm, false, multiplied)];
    let jobs: Vec<BenchSpec> = jobs.into_iter().filter(|job| !job.shapes.is_empty()).collect();
    if jobs.iter().any(|job| job.formats.is_empty()) {
        let names: Vec<&str> = matrices.iter().map(|key| short_name(key)).collect();
        let names = names.join(" and ");
        return Err(format!(
            "GEMM (M above 1) is measured in {names} only; choose one of these, all precisions, or M = 1."
        ));
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use protocol::ability::{DeviceAbility, KernelAbility};
    use protocol::limits::LIMITS;

    use super::*;

    fn session() -> DaemonSession {
        DaemonSession::simulated(Vec::new(), "", "")
    }

    #[test]
    fn the_daemon_says_which_formats_there_are() {
        let untold = Abilities::untold();
        let all = formats(&session());
        assert!(all.iter().all(|format| catalog::format(&format.key).is_ok()), "{all:?}");
        assert_eq!(chosen("", &untold).len(), all.len());
        assert_eq!(chosen("int8", &untold), ["int8"]);
        let kernels = vec![KernelAbility {
            kernel: "gemv".into(),
            formats: vec!["int8".into(), "int1_g9".into()],
        }];
        let device = DeviceAbility { backend: "cuda".into(), index: 0, kernels };
        let later = Abilities { devices: vec![device], ..Abilities::default() };
        let session = DaemonSession { can: Some(Arc::new(later)), ..session() };
        let names: Vec<String> = formats(&session).into_iter().map(|format| format.name).collect();
        assert_eq!(names, ["INT8", "int1_g9"], "one of a later version has its key");
        let jobs = jobs(&[Shape { m: 1, n: 64, k: 64 }], "", &session).expect("one job");
        assert_eq!(jobs[0].formats, ["int8", "int1_g9"]);
    }

    #[test]
    fn lines_are_shapes() {
        let read = shapes(" 1 4096 4096\n\n512x1e3×64 ", &LIMITS).expect("two shapes");
        assert_eq!(read, [Shape { m: 1, n: 4096, k: 4096 }, Shape { m: 512, n: 1000, k: 64 }]);
        for (text, part) in [
            ("", "At least one"),
            ("1 2", "`1 2` is no shape"),
            ("1 2 3 4", "no shape"),
            ("1 2 0", "from 1 to"),
            ("1 2 65537", "no shape"),
            ("a b c", "no shape"),
        ] {
            let error = shapes(text, &LIMITS).expect_err("refused");
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn vectors_and_matrices_are_jobs_of_their_own() {
        let both = jobs(&shapes(SWEEP, &LIMITS).expect("shapes"), "int8", &session()).expect("few");
        let kinds: Vec<(BenchKind, usize)> =
            both.iter().map(|job| (job.what, job.shapes.len())).collect();
        assert_eq!(kinds, [(BenchKind::Gemv, 3), (BenchKind::Gemm, 2)]);
        assert_eq!(jobs(&[Shape { m: 2, n: 1, k: 1 }], "", &session()).expect("few").len(), 1);
        let all = jobs(&[Shape { m: 2, n: 1, k: 1 }], "", &session()).expect("two formats");
        assert_eq!(all[0].formats, Abilities::untold().formats(BenchKind::Gemm));
        let refused = jobs(&shapes(SWEEP, &LIMITS).expect("shapes"), "nf4", &session())
            .expect_err("no such kernel");
        assert!(refused.contains("FP32 and INT8"), "{refused}");
        let many = vec![Shape { m: 1, n: 1, k: 1 }; LIMITS.points as usize];
        assert!(jobs(&many, "", &session()).expect_err("too many").contains("at most"));
    }
}
