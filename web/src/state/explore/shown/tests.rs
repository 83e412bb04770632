//! Tests of the answer as the page shows it.

use super::*;
use crate::state::explore::sweep;

fn answered(query: &str) -> (Inputs, ExploreAnswer) {
    let (inputs, notes) = url::read(query);
    assert!(notes.is_empty(), "{notes:?}");
    let mut worker = None;
    let mut ask = |function: &str| sweep::answer(&mut worker, function, &address(&inputs), 1.0);
    let mut said = ask("begin").expect("begun");
    loop {
        let mut parts = said.split('\t');
        if parts.next() == parts.next() {
            break;
        }
        said = ask("next").expect("explored");
    }
    let reply = ask("rows").expect("rows");
    let answer = ExploreAnswer::read(&reply, &inputs);
    (inputs, answer)
}

const QUERY: &str = "?view=explore&d=t4&batches=1,8&v=1";

#[test]
fn the_table_has_the_front_or_the_best_of_each_and_a_brush_narrows_it() {
    let (_, answer) = answered(QUERY);
    let front = answer.visible(RowFilter::Front, None);
    assert!(front.len() > 2 && front.iter().all(|place| answer.rows[*place].is_on_front));
    let each = answer.visible(RowFilter::Each, None);
    let mut names: Vec<&str> = each.iter().map(|place| &*answer.rows[*place].name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert!(count > 30 && names.len() == count, "once each");
    let best = answer.visible(RowFilter::Each, None)[0];
    assert!(front.contains(&best), "the fastest of all is on the front");
    let all = Brush { x: (0.0, f64::MAX), y: (0.0, f64::MAX) };
    assert_eq!(answer.visible(RowFilter::Front, Some(&all)).len(), answer.rows.len());
    let [x, y] = [0, 1].map(|axis| answer.value(&answer.rows[best], axis));
    let part = Brush { x: (0.99 * x, 1.01 * x), y: (0.0, y) };
    let brushed = answer.visible(RowFilter::Each, Some(&part));
    assert!(brushed.contains(&best) && brushed.len() < answer.rows.len());
}

#[test]
fn columns_sort_up_and_down() {
    let (_, answer) = answered(QUERY);
    let mut rows = answer.visible(RowFilter::Each, None);
    for column in PointColumn::ALL {
        assert!(!column.head(Subject::Devices).is_empty());
        sort(&mut rows, &answer, (column, true));
        let numbers: Vec<f64> = rows.iter().map(|row| column.number(&answer.rows[*row])).collect();
        assert!(numbers.is_sorted_by(|a, b| a.total_cmp(b) != Ordering::Less), "{column:?}");
    }
    sort(&mut rows, &answer, (PointColumn::Name, false));
    let names: Vec<String> = rows.iter().map(|row| answer.rows[*row].name.to_lowercase()).collect();
    assert!(names.is_sorted());
}

#[test]
fn a_point_says_itself_and_opens_where_it_was_found() {
    let (inputs, answer) = answered(QUERY);
    let place = answer.rows.iter().position(|row| row.batch == 8 && !row.mode.is_empty());
    let row = &answer.rows[place.expect("a row in a power mode")];
    let said = spoken(row).replace(text::SPACE, " ");
    assert!(said.starts_with(&format!("{} at {} with ", row.name, row.mode)), "{said}");
    assert!(
        said.contains("8 users") && said.contains(" in all") && said.contains("loss"),
        "{said}"
    );
    let opened = opened(&inputs, row);
    assert_eq!((&*opened.device.key, opened.view), (&*row.subject, View::Plan));
    assert_eq!(opened.mode.as_deref(), Some(&*row.mode));
    assert_eq!(opened.explore, inputs.explore, "the way back keeps the exploration");
    assert_eq!(answer.row(Some("x")), None);
}

#[test]
fn what_does_not_change_the_answer_does_not_ask_again() {
    let (inputs, _) = url::read(QUERY);
    let asked = address(&inputs);
    for same in [
        "&best=each",
        "&sort=-rate",
        "&brush=1..2,1..2",
        "&tab=memory",
        "&batch=many",
        "&claim=60",
        "&scheme=half",
    ] {
        let query = format!("{QUERY}{}", same.replace("claim", crate::state::claim::CLAIM[0]));
        assert_eq!(address(&url::read(&query).0), asked, "{same}");
    }
    for other in ["&prompt=512", "&engine=vllm", "&ex=memory", "&loss=1", "&watts=70"] {
        assert_ne!(address(&url::read(&format!("{QUERY}{other}")).0), asked, "{other}");
    }
}

#[test]
fn the_link_of_an_exploration_comes_back() {
    let query = "?view=explore&d=t4&loss=1&rate=50&ask=models&batches=1..8&prompts=1k,2k&watts=70&ex=whole&ey=memory&best=front&sort=-first&brush=1..20%2C6e9..2e10&v=1";
    let (inputs, notes) = url::read(query);
    assert!(notes.is_empty(), "{notes:?}");
    assert_eq!(url::read(&url::write(&inputs)).0, inputs);
    assert!(url::write(&inputs).starts_with("?view=explore&d=t4&"));
}
