//! Figures of the Trust view against the rows of the fit.

use super::*;
use crate::state::trust::filter::pairs;

fn answer(query: &str) -> TrustAnswer {
    TrustAnswer::of(&pairs(&crate::state::url::read(query).0))
}

#[test]
fn the_sentence_says_the_errors_of_its_set() {
    let all = answer("");
    let whole = format!("{} of ", plural(rows().rows.len(), "row"));
    assert!(all.sentence.starts_with("Decode with one sequence is within "), "{}", all.sentence);
    let (_, name, cells) = &all.errors[0];
    assert_eq!(*name, "decode, batch 1");
    let [_, _, median, p90, ..] = cells;
    assert!(
        all.sentence.contains(&format!("within {median} half of the time, and within {p90} nine"))
    );
    assert!(all.line.starts_with(&whole), "{}", all.line);
    let one = answer("?fs=prefill&fd=gb10");
    assert!(one.sentence.starts_with("Prefill is within "), "{}", one.sentence);
    assert_eq!(one.errors.len(), 1);
}

#[test]
fn fewer_than_ten_rows_have_their_largest_error_and_no_percentile() {
    for (query, said) in [
        ("?fd=t4", "Decode with one sequence: 1 measurement, "),
        ("?fd=rtx_5070", "Decode with one sequence: 6 measurements, the largest error "),
    ] {
        let few = answer(query);
        assert!(few.sentence.starts_with(said), "{query}: {}", few.sentence);
        for (_, set, [_, _, median, p90, bias, ..]) in &few.errors {
            assert_eq!([median.as_str(), bias], [NO_NUMBER; 2], "{query}: {set}");
            assert!(p90.starts_with("largest "), "{query}: {p90}");
        }
        assert!(!few.wrong.iter().any(|group| group.words.contains("median")), "{query}");
    }
    let many = answer("?fs=gemm&fd=h100_sxm");
    assert!(many.wrong.iter().any(|group| group.words.contains("off in the median")));
}

#[test]
fn a_choice_without_rows_says_so() {
    let none = answer("?fd=t4&ff=nvfp4");
    assert!(none.sentence.contains("No published row"), "{}", none.sentence);
    assert_eq!((none.by_error.len(), none.errors.len(), none.wrong.len()), (0, 0, 0));
}

#[test]
fn rows_are_sorted_by_error_and_by_time() {
    let answer = answer("?fs=decode1");
    let error = |place: &usize| times_off(rows().rows[*place].error(false));
    assert!(answer.by_error.windows(2).all(|pair| error(&pair[0]) >= error(&pair[1])));
    let time = |place: &usize| rows().rows[*place].measured;
    assert!(answer.by_time.windows(2).all(|pair| time(&pair[0]) <= time(&pair[1])));
    assert_eq!(answer.by_error.len(), 75);
}

#[test]
fn the_region_is_that_of_every_interval_and_the_dashes_are_the_widest() {
    let one = answer("?fs=decode1").scatter;
    assert!(one.shared.is_some() && one.widest == one.shared);
    let all = answer("").scatter;
    let ((low, high), (widest_low, widest_high)) =
        (all.shared.expect("rows"), all.widest.expect("several"));
    assert!(widest_low < low && high < widest_high);
    for dot in one.dots {
        let (low, high) = one.shared.expect("rows");
        let ratio = dot.x / dot.y;
        // The file stores four digits, so a ratio at an end may be on either side.
        if (ratio / low - 1.0).abs() > 1e-3 && (ratio / high - 1.0).abs() > 1e-3 {
            // A row above its roof is outside its interval, which ends at the roof.
            let inside = (low..=high).contains(&ratio) && !rows().rows[dot.key].above_roof;
            assert_eq!(dot.filled, inside, "{}", dot.key);
        }
    }
}

#[test]
fn a_wrong_group_chooses_its_own_rows() {
    for query in ["", "?fl=device"] {
        let all = answer(query);
        assert_eq!(all.wrong.len(), WORST);
        for wrong in &all.wrong {
            let chosen = FilterField::ALL.into_iter().zip(wrong.chosen);
            let pairs: Vec<Pair> =
                chosen.map(|(part, value)| (part.key(), value.to_owned())).collect();
            let own = TrustAnswer::of(&pairs);
            assert_eq!(own.wrong.len(), 1, "{}", wrong.name);
            assert_eq!((&own.wrong[0].name, &own.wrong[0].words), (&wrong.name, &wrong.words));
        }
    }
}

#[test]
fn rows_above_the_roof_are_named_with_a_reason() {
    let all = answer("");
    assert!(!all.above_roof.is_empty() && all.above_roof.len() < 20);
    assert!(answer("?fs=gemm").above_roof.is_empty());
}
