//! The program that runs CUDA kernels on the processor: it is built with g++, and takes calls on its standard input.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{env, fs};

use kernels::backend::StoredFloat;
use kernels::cuda::call::{Argument, Call};
use kernels::cuda::sources::{HEADERS, PROGRAMS};

/// Bytes of a buffer.
#[derive(Debug, Clone)]
pub(crate) struct Data {
    pub(crate) bytes: Vec<u8>,
}

impl Data {
    pub(crate) fn of(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// A buffer of results: NaN until it is written.
    pub(crate) fn unwritten(bytes: usize) -> Self {
        Self { bytes: vec![0xff; bytes] }
    }

    pub(crate) fn floats(&self) -> Vec<f32> {
        self.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    /// Numbers in a format.
    pub(crate) fn numbers(&self, format: StoredFloat) -> Vec<f32> {
        format.read(&self.bytes)
    }
}

/// Order in which the threads of a block run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    Forward,
    Reverse,
}

/// Sanitizers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checks {
    None,
    AddressAndUndefined,
}

/// A change of a source that a test must notice: in a file, one text in place of another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Change {
    pub(crate) file: &'static str,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

/// Builds the program from the embedded sources, or from changed ones.
pub(crate) fn build(name: &str, change: Option<Change>, checks: Checks) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cuda-{name}"));
    let of_tests = folder.join("cpu");
    fs::create_dir_all(&of_tests).unwrap();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/cpu");
    for file in ["all.hpp", "cuda_on_cpu.hpp", "mma_check.hpp", "runner.cpp", "tensor_cores.hpp"] {
        fs::copy(here.join(file), of_tests.join(file)).unwrap();
    }
    for source in PROGRAMS.iter().chain(&HEADERS) {
        let text = match change.filter(|change| change.file == source.name) {
            Some(change) => {
                let count = source.text.matches(change.from).count();
                assert_eq!(count, 1, "`{}` stands once in {}", change.from, source.name);
                source.text.replace(change.from, change.to)
            }
            None => source.text.to_owned(),
        };
        fs::write(folder.join(source.name), text).unwrap();
    }
    let program = folder.join("runner");
    let mut compiler = Command::new(env::var_os("CXX").unwrap_or_else(|| "g++".into()));
    compiler.args(["-std=c++17", "-O1", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror"]);
    compiler.arg("-Wno-unknown-pragmas");
    if checks == Checks::AddressAndUndefined {
        compiler.args(["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    if let Some(change) = change {
        compiler.arg(format!("-DONLY_{}", change.file.trim_end_matches(".cu").to_uppercase()));
    }
    compiler.arg("-o").arg(&program).arg(of_tests.join("runner.cpp"));
    let status = compiler.status().expect("g++ is installed");
    assert!(status.success(), "g++ compiles the kernels");
    program
}

/// The program while it runs.
#[derive(Debug)]
pub(crate) struct Processor {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Processor {
    pub(crate) fn start(program: &Path, order: Order) -> Self {
        let mut child = Command::new(program)
            .env("CUDA_ON_CPU_REVERSE", if order == Order::Reverse { "1" } else { "0" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    /// Runs a call; the buffers then hold what the kernel wrote.
    ///
    /// # Errors
    /// The program stopped; the text is what it said: a deadlock, an access outside a buffer.
    pub(crate) fn run(&mut self, call: &Call, buffers: &mut [Data]) -> Result<(), String> {
        let failed = self.exchange(call, buffers).err();
        failed.map_or(Ok(()), |why| {
            let mut said = String::new();
            if let Some(errors) = &mut self.child.stderr {
                let _ = BufReader::new(errors).take(4000).read_to_string(&mut said);
            }
            Err(format!("{}: {why}: {said}", call.kernel))
        })
    }

    fn exchange(&mut self, call: &Call, buffers: &mut [Data]) -> std::io::Result<()> {
        let [x, y, z] = call.grid;
        let (threads, shared, count) = (call.threads, call.shared, call.arguments.len());
        writeln!(self.input, "{} {x} {y} {z} {threads} 1 1 {shared} {count}", call.kernel)?;
        let mut order = Vec::new();
        for argument in &call.arguments {
            match argument {
                Argument::Buffer(number) => {
                    let bytes = &buffers[*number].bytes;
                    order.push(*number);
                    writeln!(self.input, "b {}", bytes.len())?;
                    self.input.write_all(bytes)?;
                }
                Argument::Absent => writeln!(self.input, "i 0")?,
                Argument::Int(value) => writeln!(self.input, "i {}", value.cast_unsigned())?,
                Argument::Long(value) => writeln!(self.input, "i {value}")?,
                Argument::Float(value) => writeln!(self.input, "i {}", value.to_bits())?,
            }
        }
        self.input.flush()?;
        // An answer begins with a byte of its own, so that an end without one is told from an empty buffer.
        let is_ended = self.output.fill_buf()?.is_empty();
        if is_ended {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        self.output.consume(1);
        for number in order {
            self.output.read_exact(&mut buffers[number].bytes)?;
        }
        Ok(())
    }
}

impl Drop for Processor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
