//! The answer at the bare address as HTML: `cargo xtask site` puts it into index.html, so that a reader has text before the
//! program is there, or without it. The Plan view shows the same words.

use super::inputs::{Inputs, View};
use super::plan::{self, Card, PlanAnswer, SchemeRow};
use super::scenario::parts;

/// Element of the first answer, which the program removes when it starts.
pub const ID: &str = "first-answer";

/// Said instead of the answer while the program of an address with a scenario is fetched.
const COMING: &str = "Ridgepoint computes the answer of this link here in your browser, once its program is loaded: whether \
     the model fits into the device's memory, how many tokens per second to expect and what limits them, and which \
     precision to take. Every number says where it comes from, and its companion checks it on the device itself.";

/// The header and the Plan view of the default scenario. Nothing of it can be changed yet.
pub fn first_answer() -> String {
    let inputs = Inputs::default();
    let answer = plan::next(None, &inputs).answer;
    let PlanAnswer { sentence, line, cards, rows, time_column, .. } = &answer;
    let line_of_scenario: String = parts(&inputs)
        .iter()
        .map(|(_, before, said)| format!("{before}<b class=\"part\">{}</b>", escaped(said)))
        .collect();
    let cards: String = cards.iter().map(card).collect();
    let rows: String = rows.iter().map(row).collect();
    format!(
        "<div id=\"{ID}\">{}<p class=\"coming\" role=\"status\">{COMING}</p><div role=\"main\" class=\"plan model\">\
         <section class=\"scenario\" aria-label=\"Scenario\"><p class=\"line\">{line_of_scenario}</p><div class=\"compare-later\"></div></section>\
         <section class=\"answer\" aria-label=\"Answer\"><div class=\"verdict\"><h1>{}</h1><p>{}</p></div>\
         <div class=\"cards\">{cards}</div>\
         <table class=\"formats schemes\" aria-label=\"All schemes\"><thead><tr>\
         <th scope=\"col\">Scheme</th><th scope=\"col\">{time_column}</th><th scope=\"col\">Memory</th><th scope=\"col\">Loss</th>\
         </tr></thead><tbody>{rows}</tbody></table></section></div></div>",
        header(),
        escaped(sentence),
        escaped(line),
    )
}

fn header() -> String {
    let links: String = View::ALL
        .iter()
        .map(|view| {
            let current = if *view == View::default() { " aria-current=\"page\"" } else { "" };
            let query = if *view == View::default() {
                String::new()
            } else {
                format!("?view={}", view.key())
            };
            format!("<a href=\"./{query}\"{current}>{}</a>", view.name())
        })
        .collect();
    format!(
        "<header class=\"top\"><p class=\"brand\">Ridgepoint</p>\
         <nav aria-label=\"Views\">{links}<a href=\"./learn/\">Learn</a></nav></header>"
    )
}

fn card(card: &Card) -> String {
    let Card { name, number, beside, lines } = card;
    let lines: String = lines.iter().map(|line| format!("<p>{}</p>", escaped(line))).collect();
    format!(
        "<section class=\"card\" aria-label=\"{name}\"><h2>{name}</h2>\
         <p class=\"number\"><b class=\"explained\">{}</b> <span>{}</span></p>{lines}</section>",
        escaped(&number.text),
        escaped(beside),
    )
}

fn row(row: &SchemeRow) -> String {
    let numbers = match &row.refused {
        Some(reason) => format!("<td class=\"refused\" colspan=\"3\">{}</td>", escaped(reason)),
        None => format!(
            "<td>{} <small class=\"interval\">{}</small></td><td>{}</td><td>{} {}</td>",
            escaped(&row.whole),
            escaped(&row.interval),
            escaped(&row.memory),
            escaped(&row.loss),
            escaped(&row.metric),
        ),
    };
    format!("<tr><th scope=\"row\">{}</th>{numbers}</tr>", escaped(&row.name))
}

/// Text as HTML shows it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_words_of_the_plan_view() {
        let html = first_answer();
        let answer = plan::next(None, &Inputs::default()).answer;
        let cards = answer.cards.iter().map(|card| &card.number.text);
        for said in cards.chain(answer.rows.iter().map(|row| &row.name)).chain([&answer.sentence]) {
            assert!(html.contains(&escaped(said)), "{said}: {html}");
        }
        for tag in ["div", "section", "table", "tbody", "tr", "td", "p", "b", "nav"] {
            let opened = html.matches(&format!("<{tag}>")).count()
                + html.matches(&format!("<{tag} ")).count();
            assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        assert!(!html.contains("=./") && html.contains("href=\"./?view=kernel\""));
    }

    #[test]
    fn text_is_never_markup() {
        assert_eq!(escaped("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
    }
}
