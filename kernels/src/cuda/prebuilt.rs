//! Binaries of the kernels that the build embedded: those of `cargo xtask kernels`, if RIDGEPOINT_CUDA_KERNELS named their folder.

/// A program that is ready to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prebuilt {
    /// Name of its source, as in [`super::sources::PROGRAMS`].
    pub program: &'static str,
    /// Version of the compiler.
    pub compiler: &'static str,
    /// Architecture as compilers write it: `87`, `90a`, `120f`.
    pub architecture: &'static str,
    /// PTX, which a driver compiles, in place of a cubin.
    pub is_ptx: bool,
    /// The binary, or the text of PTX.
    pub bytes: &'static [u8],
}

/// All programs of this build; none in a build without the variable.
pub const PREBUILT: &[Prebuilt] = include!(concat!(env!("OUT_DIR"), "/prebuilt.rs"));

/// Version of an architecture's name: 90 of `90a`.
fn number(architecture: &str) -> Option<u32> {
    architecture.trim_end_matches(|end: char| end.is_ascii_lowercase()).parse().ok()
}

/// Whether a cubin runs on a device: its own version, and for the letter f all of the same major version from it on.
fn runs(cubin: &Prebuilt, (major, minor): (u32, u32)) -> bool {
    let device = 10 * major + minor;
    number(cubin.architecture).is_some_and(|number| {
        let is_family = cubin.architecture.ends_with('f');
        number == device || is_family && number / 10 == major && number <= device
    })
}

/// Binaries of a program for a device, the best first: cubins of its own architecture, those with features of it alone before others, then
/// PTX of the latest architecture that is not later than the device.
pub fn candidates<'a>(
    all: &'a [Prebuilt],
    program: &str,
    capability: (u32, u32),
) -> Vec<&'a Prebuilt> {
    let of_program = || all.iter().filter(|it| it.program == program);
    let mut cubins: Vec<&Prebuilt> =
        of_program().filter(|it| !it.is_ptx && runs(it, capability)).collect();
    cubins.sort_by_key(|it| core::cmp::Reverse((number(it.architecture), it.architecture)));
    let device = 10 * capability.0 + capability.1;
    let is_older = |it: &&Prebuilt| number(it.architecture).is_some_and(|it| it <= device);
    let mut texts: Vec<&Prebuilt> = of_program().filter(|it| it.is_ptx).filter(is_older).collect();
    texts.sort_by_key(|it| core::cmp::Reverse(number(it.architecture)));
    cubins.extend(texts);
    cubins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_gets_its_own_binary_before_what_its_driver_compiles() {
        let of = |architecture, is_ptx| Prebuilt {
            program: "gemv.cu",
            compiler: "12.9",
            architecture,
            is_ptx,
            bytes: &[],
        };
        let all = [
            of("80", false),
            of("87", false),
            of("90", false),
            of("90a", false),
            of("120f", false),
            of("121a", false),
            of("70", true),
            of("80", true),
        ];
        let names = |capability| -> Vec<String> {
            let found = candidates(&all, "gemv.cu", capability);
            let name = |it: &&Prebuilt| {
                format!("{}{}", if it.is_ptx { "ptx " } else { "" }, it.architecture)
            };
            found.iter().map(name).collect()
        };
        assert_eq!(names((9, 0)), ["90a", "90", "ptx 80", "ptx 70"]);
        // A cubin of 8.0 is not promised to run on the GPU of Orin.
        assert_eq!(names((8, 7)), ["87", "ptx 80", "ptx 70"]);
        assert_eq!(names((12, 1)), ["121a", "120f", "ptx 80", "ptx 70"]);
        assert_eq!(names((12, 0)), ["120f", "ptx 80", "ptx 70"]);
        assert_eq!(names((7, 2)), ["ptx 70"]);
        assert_eq!(names((6, 1)), [] as [&str; 0]);
        assert!(candidates(&all, "peak.cu", (9, 0)).is_empty());
    }
}
