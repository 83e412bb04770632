//! A line of CSV as cells.

/// The cells of a line; quotes may enclose commas, and a doubled quote is a quote.
///
/// # Errors
/// A quote that is not closed, as a sentence.
pub fn cells(line: &str) -> Result<Vec<String>, &'static str> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '"' if quoted && rest.peek() == Some(&'"') => push(&mut cells, rest.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => push(&mut cells, Some(c)),
        }
    }
    if quoted { Err("a quote is not closed") } else { Ok(cells) }
}

fn push(cells: &mut [String], c: Option<char>) {
    if let Some(last) = cells.last_mut() {
        last.extend(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_enclose_commas() {
        assert_eq!(
            cells(r#"a,"b, ""c""",,"#),
            Ok(vec!["a".into(), r#"b, "c""#.into(), String::new(), String::new()])
        );
        assert_eq!(cells("\"a"), Err("a quote is not closed"));
    }
}
