//! Requests and answers, worded once for command line, REST and page. `input` parses requests and users' files; `output` turns
//! answers into JSON and sentences. Formulas are in `calc-core`, drawings in `chart`; nothing here touches files or sockets.

pub mod input;
pub mod number_text;
pub mod output;
pub mod percent;
pub mod refusal_text;
