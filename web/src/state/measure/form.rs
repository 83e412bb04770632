//! Parses the measuring form: shapes and formats.

use calc_core::catalog;
use calc_core::quant_format::QuantFormat;
use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::limits::LIMITS;
use report::input::number_input;
use report::number_text;

/// Default shapes of a sweep: a vector against the matrices of Llama-3.1-8B, then larger products.
pub const SWEEP: &str = "1 4096 4096\n1 14336 4096\n1 4096 14336\n512 4096 4096\n1024 1024 1024";

/// Formats that can be measured.
pub fn formats() -> impl Iterator<Item = &'static QuantFormat> {
    BenchKind::Gemv.formats().iter().filter_map(|key| catalog::format(key).ok())
}

/// Keys of the chosen formats; an empty choice means all.
fn chosen(choice: &str) -> Vec<String> {
    let keys: Vec<String> = formats().map(|format| format.key.to_owned()).collect();
    if keys.iter().any(|key| key == choice) { vec![choice.to_owned()] } else { keys }
}

/// Parses a shape: three whole numbers, separated by blanks, `x`, `×` or `;`.
fn shape(line: &str) -> Option<Shape> {
    let is_between = |letter: char| letter.is_whitespace() || matches!(letter, 'x' | '×' | ';');
    let mut numbers =
        line.split(is_between).filter(|part| !part.is_empty()).map(number_input::count);
    let mut next = || numbers.next()?.filter(|number| (1..=LIMITS.dimension).contains(number));
    let shape = Shape { m: next()?, n: next()?, k: next()? };
    numbers.next().is_none().then_some(shape)
}

/// Parses shapes, one per line.
///
/// # Errors
/// Returns a sentence that quotes the invalid line.
pub fn shapes(text: &str) -> Result<Vec<Shape>, String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let read = lines.map(|line| {
        shape(line).ok_or_else(|| {
            let line: String = line.chars().take(40).collect();
            let most = number_text::count(LIMITS.dimension);
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
pub fn jobs(shapes: &[Shape], choice: &str) -> Result<Vec<BenchSpec>, String> {
    let formats = chosen(choice);
    let points = shapes.len() * formats.len();
    if points > LIMITS.points as usize {
        let most = number_text::count(LIMITS.points.into());
        let points = number_text::count(points as u64);
        return Err(format!("{points} points; a sweep has at most {most}."));
    }
    let matrices = BenchKind::Gemm.formats();
    let multiplied = formats.iter().filter(|key| matrices.contains(&key.as_str()));
    let multiplied: Vec<String> = multiplied.cloned().collect();
    let job = |what, is_vector: bool, formats| BenchSpec {
        what,
        shapes: shapes.iter().copied().filter(|shape| (shape.m == 1) == is_vector).collect(),
        formats,
        backend: None,
        iterations: None,
    };
    let jobs = [job(BenchKind::Gemv, true, formats), job(BenchKind::Gemm, false, multiplied)];
    let jobs: Vec<BenchSpec> = jobs.into_iter().filter(|job| !job.shapes.is_empty()).collect();
    if jobs.iter().any(|job| job.formats.is_empty()) {
        let names = matrices.iter().filter_map(|key| catalog::format(key).ok());
        let names: Vec<&str> = names.map(|format| format.short_name).collect();
        let names = names.join(" and ");
        return Err(format!(
            "GEMM (M above 1) is measured in {names} only; choose one of these, all precisions, or M = 1."
        ));
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_that_is_timed_is_in_the_catalog() {
        assert_eq!(formats().count(), BenchKind::Gemv.formats().len());
        assert_eq!(chosen("").len(), formats().count());
        assert_eq!(chosen("int8"), ["int8"]);
    }

    #[test]
    fn lines_are_shapes() {
        let read = shapes(" 1 4096 4096\n\n512x1e3×64 ").expect("two shapes");
        assert_eq!(read, [Shape { m: 1, n: 4096, k: 4096 }, Shape { m: 512, n: 1000, k: 64 }]);
        for (text, part) in [
            ("", "At least one"),
            ("1 2", "`1 2` is no shape"),
            ("1 2 3 4", "no shape"),
            ("1 2 0", "from 1 to"),
            ("1 2 65537", "no shape"),
            ("a b c", "no shape"),
        ] {
            let error = shapes(text).expect_err("refused");
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn vectors_and_matrices_are_jobs_of_their_own() {
        let both = jobs(&shapes(SWEEP).expect("shapes"), "int8").expect("few");
        let kinds: Vec<(BenchKind, usize)> =
            both.iter().map(|job| (job.what, job.shapes.len())).collect();
        assert_eq!(kinds, [(BenchKind::Gemv, 3), (BenchKind::Gemm, 2)]);
        assert_eq!(jobs(&[Shape { m: 2, n: 1, k: 1 }], "").expect("few").len(), 1);
        let all = jobs(&[Shape { m: 2, n: 1, k: 1 }], "").expect("two formats");
        assert_eq!(all[0].formats, BenchKind::Gemm.formats());
        let refused = jobs(&shapes(SWEEP).expect("shapes"), "nf4").expect_err("no such kernel");
        assert!(refused.contains("FP32 and INT8"), "{refused}");
        let many = vec![Shape { m: 1, n: 1, k: 1 }; LIMITS.points as usize];
        assert!(jobs(&many, "").expect_err("too many").contains("at most"));
    }
}
