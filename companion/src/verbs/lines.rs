//! Requests line by line: one answer per line in the same order; a malformed line gets an error in its place.

use std::io::{self, BufRead, BufReader, Read, Write};

use report::input::json_input;
use report::input::request::RequestError;
use serde_json::{Map, Value, json};

use crate::failure::Failure;

/// Longest line, in bytes.
pub(crate) const MAX_LINE: usize = 1_000_000;
/// Size of the input and output buffers, in bytes.
const BUFFER: usize = 1 << 16;

/// The content of one input line.
pub(crate) enum InputLine {
    Text(Vec<u8>),
    TooLong,
}

/// Answers every line of `input`.
///
/// # Errors
/// A failure of input or output; a malformed line is answered, not an error.
pub(super) fn answer(
    input: impl Read,
    output: impl Write,
    mut request: impl FnMut(Map<String, Value>) -> Result<Vec<u8>, RequestError>,
) -> Result<(), Failure> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    let mut output = io::BufWriter::with_capacity(BUFFER, output);
    loop {
        // Flush now: a program may wait for this answer before it sends the next request.
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

/// The next line without its line end; `None` after the last.
pub(crate) fn next_line(input: &mut impl BufRead) -> io::Result<Option<InputLine>> {
    let mut line = Vec::new();
    let limit = MAX_LINE as u64 + 1;
    if input.by_ref().take(limit).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.ends_with(b"\n") {
        line.pop();
    } else if line.len() > MAX_LINE {
        skip_line(input)?;
        return Ok(Some(InputLine::TooLong));
    }
    Ok(Some(InputLine::Text(line)))
}

/// Skips the rest of a line.
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

fn fields(line: InputLine) -> Result<Map<String, Value>, String> {
    let InputLine::Text(bytes) = line else {
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
    fn answers_keep_the_order_of_lines() {
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
    fn a_line_nested_a_million_times_is_an_error() {
        assert!(answers(&vec![b'['; 900_000])[0].contains("error"));
    }
}
