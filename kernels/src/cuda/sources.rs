//! The sources of the kernels, embedded: what NVRTC compiles on a machine whose architecture no build had.

/// A source file with its name, by which others include it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Name in `kernels/cuda`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! source {
    ($name:literal) => {
        Source { name: $name, text: include_str!(concat!("../../cuda/", $name)) }
    };
}

/// Programs, each with a header that says what it computes.
pub const PROGRAMS: [Source; 10] = [
    source!("attention.cu"),
    source!("attention_mma.cu"),
    source!("clock.cu"),
    source!("gemv.cu"),
    source!("gemv_8bit.cu"),
    source!("gemv_mma.cu"),
    source!("layer.cu"),
    source!("peak.cu"),
    source!("quantize.cu"),
    source!("stream.cu"),
];

/// Headers that programs include.
pub const HEADERS: [Source; 2] = [source!("device.cuh"), source!("formats.cuh")];

impl Source {
    /// The text of a line of the header, `// name  text`, with the lines that continue it.
    pub fn header(&self, name: &str) -> Option<String> {
        let lines = self.text.lines().take_while(|line| line.starts_with("//"));
        let mut found: Option<String> = None;
        for line in lines {
            let line = &line[2..];
            let is_named = line.strip_prefix(' ').is_some_and(|line| !line.starts_with(' '));
            match (&mut found, line.trim().strip_prefix(name)) {
                (None, Some(text)) if is_named && text.starts_with(' ') => {
                    found = Some(text.trim().to_owned());
                }
                (Some(text), _) if !is_named && !line.is_empty() => {
                    text.push(' ');
                    text.push_str(line.trim());
                }
                (Some(_), _) => break,
                (None, _) => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_says_what_it_computes_and_how_near_it_is_to_the_limit() {
        for program in PROGRAMS {
            for name in ["what", "formula", "tile", "arch", "registers", "limit"] {
                let text = program.header(name).unwrap_or_default();
                assert!(text.len() >= 4, "{} has no header line `{name}`: {text:?}", program.name);
            }
        }
        assert_eq!(PROGRAMS[5].header("arch").as_deref(), Some(">=80"));
        let tile = PROGRAMS[9].header("tile").unwrap();
        assert!(tile.ends_with("in flight"), "{tile}");
        assert_eq!(PROGRAMS[9].header("til"), None);
    }

    #[test]
    fn inline_ptx_is_in_one_file() {
        for program in PROGRAMS.iter().chain(&HEADERS).filter(|it| it.name != "device.cuh") {
            assert!(!program.text.contains("asm"), "{} has inline PTX", program.name);
        }
    }
}
