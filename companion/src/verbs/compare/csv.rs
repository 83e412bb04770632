//! Measurements as CSV: a header, and one line each. Unknown columns are ignored.

use report::input::csv_line::cells;

use super::measured::{Measured, checked};

/// Columns that give the time, with the number of their units per second: dividing keeps 120 µs at 0.00012 s.
const TIMES: [(&str, f64); 3] = [("time_s", 1.0), ("time_ms", 1e3), ("time_us", 1e6)];

/// Column indices.
struct Head {
    weights: usize,
    activations: Option<usize>,
    time: (usize, f64),
    shape: Option<(usize, usize, usize)>,
}

pub(super) fn parse(text: &str) -> Result<Vec<Measured>, String> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let (_, head) = lines.next().ok_or("the file is empty")?;
    let head = Head::read(head)?;
    lines
        .map(|(i, line)| head.row(line).map_err(|reason| format!("line {}: {reason}", i + 1)))
        .collect()
}

impl Head {
    fn read(line: &str) -> Result<Self, String> {
        let names: Vec<String> =
            cells(line)?.iter().map(|name| name.trim().to_ascii_lowercase()).collect();
        let column = |name: &str| names.iter().position(|known| known == name);
        let mut times =
            TIMES.iter().filter_map(|(name, per_second)| column(name).map(|at| (at, *per_second)));
        let (Some(weights), Some(time), None) = (column("weights"), times.next(), times.next())
        else {
            return Err("the header must have weights and one of time_s, time_ms, time_us".into());
        };
        let shape = match (column("m"), column("n"), column("k")) {
            (None, None, None) => None,
            (Some(m), Some(n), Some(k)) => Some((m, n, k)),
            _ => return Err("the header must have all of m, n, k or none".into()),
        };
        Ok(Self { weights, activations: column("activations"), time, shape })
    }

    fn row(&self, line: &str) -> Result<Measured, String> {
        let cells = cells(line)?;
        let cell =
            |at: usize| cells.get(at).map(|cell| cell.trim()).filter(|cell| !cell.is_empty());
        let (at, per_second) = self.time;
        let time = cell(at).ok_or("the time is missing")?;
        let time: f64 = time
            .parse()
            .map_err(|error| format!("the time must be a number; got `{time}` ({error})"))?;
        let count = |at: usize| {
            let text = cell(at).unwrap_or_default();
            text.parse::<u64>().map_err(|error| {
                format!("m, n and k must be whole numbers; got `{text}` ({error})")
            })
        };
        let shape = self
            .shape
            .map(|(m, n, k)| Ok::<_, String>((count(m)?, count(n)?, count(k)?)))
            .transpose()?;
        Ok(Measured {
            weights: cell(self.weights).ok_or("the format of the weights is missing")?.into(),
            activations: self.activations.and_then(cell).map(str::to_owned),
            time: checked(time / per_second)?,
            shape,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::units::Seconds;

    #[test]
    fn a_table_of_microseconds_is_read() {
        let rows = parse(
            "device, Weights ,time_us,m,n,k\r\nt4,\"fp16\",87.5,1,2,3\n\n\"a, \"\"b\"\"\",int8,1,1,1,1\n",
        );
        let rows = rows.expect("sound");
        assert_eq!((rows[0].weights.as_str(), rows[0].shape), ("fp16", Some((1, 2, 3))));
        assert!((rows[0].time / Seconds::new(87.5e-6) - 1.0).abs() < 1e-12);
        assert_eq!(rows.len(), 2);
    }

    #[test]
    fn errors_of_a_table_name_the_line() {
        for (text, expected) in [
            ("weights,speed\nfp16,1", "the header must have weights"),
            ("weights,time_s,time_us\nfp16,1,1", "one of"),
            ("weights,time_s,m\nfp16,1,1", "all of m, n, k"),
            ("weights,time_s\nfp16,fast", "line 2: the time must be a number; got `fast`"),
            ("weights,time_s\nfp16,NaN", "line 2: a time must be positive"),
            ("weights,time_s\n\n,1", "line 3: the format"),
            ("weights,time_s\nfp16", "line 2: the time is missing"),
            ("weights,time_s,m,n,k\nfp16,1,1,2,1.5", "whole numbers; got `1.5`"),
            ("weights,time_s\n\"fp16,1", "a quote is not closed"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
