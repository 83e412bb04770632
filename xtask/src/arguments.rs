//! The command line of xtask: jobs and their flags as words.

use std::path::PathBuf;

use anyhow::{Context, bail};

pub(crate) const USAGE: &str = "\
usage: cargo xtask JOB

  serve [--port N]   set up what is missing, build the page and the binary, serve the page on this machine
  site [--out DIR]   build the deployable static site (default: dist)
  docs [--out DIR]   render the documents alone, in a second (default: dist-docs)
  release [--out DIR]  the binary with the page inside, packed with its guides, and its checksum (default: dist-release)
  test [--quick]     every check in stages; --quick leaves out the slow ones and says which
  soak               the property tests with many more cases, the fuzz targets for minutes, the daemon under load, and mutants
  kernels            compile the CUDA kernels for every architecture, without a GPU: binaries, and a table of registers and spills
  lighthouse         build the page and print Lighthouse's medians of five runs for every place
  fit                fit the constants of expected times to the published measurements, and score them
  bench              the benchmarks, which print figures and judge nothing
  tidy [--tables]    edges of crates and modules, docs, names, sizes, leftovers;
                     --tables prints the uses of each module";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Job {
    Help,
    Serve { port: Option<u16> },
    Site { out: Option<PathBuf> },
    Docs { out: Option<PathBuf> },
    Release { out: Option<PathBuf> },
    Test { quick: bool },
    Kernels,
    Soak,
    Bench,
    Lighthouse,
    Fit,
    Tidy,
    Tables,
}

pub(crate) fn parse(words: &[String]) -> anyhow::Result<Job> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(match words.as_slice() {
        [] | ["help" | "--help" | "-h"] => Job::Help,
        ["serve"] => Job::Serve { port: None },
        ["serve", "--port", port] => Job::Serve { port: Some(parse_port(port)?) },
        ["site"] => Job::Site { out: None },
        ["site", "--out", folder] => Job::Site { out: Some(std::path::absolute(folder)?) },
        ["docs"] => Job::Docs { out: None },
        ["docs", "--out", folder] => Job::Docs { out: Some(std::path::absolute(folder)?) },
        ["release"] => Job::Release { out: None },
        ["release", "--out", folder] => Job::Release { out: Some(std::path::absolute(folder)?) },
        ["test"] => Job::Test { quick: false },
        ["test", "--quick"] => Job::Test { quick: true },
        ["kernels"] => Job::Kernels,
        ["soak"] => Job::Soak,
        ["bench"] => Job::Bench,
        ["lighthouse"] => Job::Lighthouse,
        ["fit"] => Job::Fit,
        ["tidy"] => Job::Tidy,
        ["tidy", "--tables"] => Job::Tables,
        other => bail!("`{}` is not a job of cargo xtask\n\n{USAGE}", other.join(" ")),
    })
}

fn parse_port(word: &str) -> anyhow::Result<u16> {
    word.parse().with_context(|| format!("`{word}` is not a port; give a number from 0 to 65535"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> anyhow::Result<Job> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        parse(&words)
    }

    #[test]
    fn every_job_is_understood() {
        assert_eq!(parsed("").unwrap(), Job::Help);
        assert_eq!(parsed("serve --port 8123").unwrap(), Job::Serve { port: Some(8123) });
        assert_eq!(parsed("site --out /a/b").unwrap(), Job::Site { out: Some("/a/b".into()) });
        assert_eq!(parsed("docs --out /a").unwrap(), Job::Docs { out: Some("/a".into()) });
        assert_eq!(parsed("release --out /a").unwrap(), Job::Release { out: Some("/a".into()) });
        assert_eq!(parsed("tidy --tables").unwrap(), Job::Tables);
        assert_eq!(parsed("test --quick").unwrap(), Job::Test { quick: true });
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in [
            "sevre",
            "serve --port",
            "serve --port 70000",
            "test --fast",
            "tidy now",
            "site dist",
            "release now",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
