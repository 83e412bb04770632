//! Requests line by line: one answer per line in the same order, a bad line answered in its place.

use std::io::{self, BufRead, BufReader, Read, Write};

use report::input::json_input;
use report::input::request::RequestError;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Longest line that is read.
const MAX_LINE: usize = 1_000_000;
/// Bytes that are read and written at once.
const BUFFER: usize = 1 << 16;

/// What stands on a line.
enum Line {
    Text(Vec<u8>),
    TooLong,
}

/// Answers every line of `input`.
///
/// # Errors
/// When input or output fail; a bad line is an answer.
pub(super) fn answer(
    input: impl Read,
    output: impl Write,
    mut request: impl FnMut(Map<String, Value>) -> Result<Vec<u8>, RequestError>,
) -> Result<(), Failure> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut output = io::BufWriter::with_capacity(BUFFER, output);
    loop {
        // A program that waits for this answer before it asks again must get it.
        if !input.buffer().contains(&b'\n') {
            output.flush()?;
        }
        let Some(line) = next_line(&mut input)? else { break };
        let answer =
            fields(line).and_then(|fields| request(fields).map_err(|error| error.to_string()));
        output.write_all(
            &answer.unwrap_or_else(|error| json!({ "error": error }).to_string().into_bytes()),
        )?;
        output.write_all(b"\n")?;
    }
    Ok(output.flush()?)
}

/// The next line without its end; `None` after the last.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let limit = MAX_LINE as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    } else if line.len() > MAX_LINE {
        skip_line(input)?;
        return Ok(Some(Line::TooLong));
    }
    Ok(Some(Line::Text(line)))
}

/// Reads on to the end of a line and keeps nothing.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(buffer.len(), |end| end + 1);
        let done = end.is_some() || buffer.is_empty();
        input.consume(used);
        if done {
            return Ok(());
        }
    }
}

fn fields(line: Line) -> Result<Map<String, Value>, String> {
    let Line::Text(bytes) = line else {
        return Err(format!("the line is longer than {MAX_LINE} bytes"));
    };
    let fields = json_input::object(&bytes);
    fields.map_err(|error| RequestError::NotJson { reason: error.to_string() }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers each line with its number of keys.
    fn answers(input: &[u8]) -> Vec<String> {
        let mut output = Vec::new();
        answer(input, &mut output, |fields| Ok(fields.len().to_string().into_bytes()))
            .expect("memory");
        String::from_utf8(output).expect("text").lines().map(str::to_owned).collect()
    }

    #[test]
    fn every_line_has_its_answer_in_its_place() {
        let found = answers(b"{\"a\":1}\n\n[1]\nnonsense\n{\"a\":1,\"b\":2}\r\n\xff\n{}");
        let starts = [
            "1",
            "{\"error\":\"not a",
            "{\"error\":\"not a",
            "{\"error\":\"not a",
            "2",
            "{\"error\":\"not a",
            "0",
        ];
        assert_eq!(found.len(), starts.len(), "{found:?}");
        for (line, start) in found.iter().zip(starts) {
            assert!(line.starts_with(start), "{line}");
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_refused_and_skipped() {
        let mut input = vec![b' '; 3 * MAX_LINE];
        input.extend(b"\n{}\n");
        let found = answers(&input);
        assert!(found[0].contains("longer than") && found[1] == "0", "{found:?}");
        let mut longest = vec![b' '; MAX_LINE - 2];
        longest.extend(b"{}\n");
        assert_eq!(answers(&longest), ["0"]);
    }

    #[test]
    fn a_line_nested_a_million_times_is_an_error_like_any_other() {
        assert!(answers(&vec![b'['; 900_000])[0].contains("error"));
    }
}
