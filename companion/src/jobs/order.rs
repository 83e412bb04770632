//! The order of a worker: what it runs, on which device, and the files that it may use, as open descriptors beside one line on its stdin.
//! It has no path, and it exists between daemon and worker alone: what is stored, logged and shown is the job's spec.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};

use protocol::job::JobSpec;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncWriteExt, Interest};
use tokio::net::UnixStream;

use crate::sandbox::{GivenFile, Label};

/// Most files of an order.
const FILES: usize = 64;
/// Longest line of an order, in bytes.
const LINE: usize = 1 << 20;
/// Received descriptors close with the start of another program; a worker starts none where the system cannot do that.
#[cfg(target_os = "linux")]
const CLOSES: RecvFlags = RecvFlags::CMSG_CLOEXEC;
#[cfg(not(target_os = "linux"))]
const CLOSES: RecvFlags = RecvFlags::empty();

/// The order of a worker: a task and its files.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) task: Task,
    pub(crate) given: Vec<GivenFile>,
}

/// The part of an order that is not a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Task {
    pub(crate) job: JobSpec,
    /// Backend and index of the device, such as `cpu:0`.
    pub(crate) device: String,
    /// First points of the job that are left out, because a job that this one continues measured them.
    pub(crate) done: u32,
}

/// The line of an order.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    task: Task,
    /// The files, in the order of their descriptors.
    files: Vec<Label>,
}

/// An order in the form in which it is sent.
#[derive(Debug)]
pub(super) struct Written {
    line: Vec<u8>,
    descriptors: Vec<OwnedFd>,
}

/// Writes an order down.
///
/// # Errors
/// One that no worker could take.
pub(super) fn written(order: Order) -> io::Result<Written> {
    let Order { task, given } = order;
    if given.len() > FILES {
        return Err(io::Error::other("too many files for a worker"));
    }
    let (files, descriptors): (Vec<Label>, Vec<OwnedFd>) =
        given.into_iter().map(|it| (it.label, it.descriptor)).unzip();
    let mut line = serde_json::to_vec(&Line { task, files })?;
    line.push(b'\n');
    Ok(Written { line, descriptors })
}

/// Sends an order to the stdin of a worker. A worker that does not read may keep this for ever.
pub(super) async fn send(order: Written, to: &mut UnixStream) -> io::Result<()> {
    let Written { line, descriptors } = order;
    let stream = &*to;
    let send = || {
        let borrowed: Vec<_> = descriptors.iter().map(AsFd::as_fd).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
        let mut beside = SendAncillaryBuffer::new(&mut space);
        if !borrowed.is_empty() && !beside.push(SendAncillaryMessage::ScmRights(&borrowed)) {
            return Err(io::Error::other("the files have no room in a message"));
        }
        Ok(sendmsg(stream, &[IoSlice::new(&line)], &mut beside, SendFlags::empty())?)
    };
    let sent = stream.async_io(Interest::WRITABLE, send).await?;
    to.write_all(&line[sent..]).await
}

/// Reads the order from the stdin of this process.
pub(crate) fn receive(stdin: impl AsFd) -> Result<Order, String> {
    let failed = |error: &dyn std::fmt::Display| {
        format!("this command is for the daemon; stdin has no valid order: {error}")
    };
    let (line, descriptors) = read(stdin).map_err(|error| failed(&error))?;
    let Line { task, files } = serde_json::from_slice(&line).map_err(|error| failed(&error))?;
    if files.len() != descriptors.len() {
        return Err(failed(&"its files did not come"));
    }
    let given = files.into_iter().zip(descriptors);
    let given = given.map(|(label, descriptor)| GivenFile { label, descriptor }).collect();
    Ok(Order { task, given })
}

/// A line, and the descriptors that came with it.
fn read(stdin: impl AsFd) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut line, mut descriptors) = (Vec::new(), Vec::new());
    let mut buffer = vec![0; 64 << 10];
    while line.last() != Some(&b'\n') {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES))];
        let mut beside = RecvAncillaryBuffer::new(&mut space);
        let got = recvmsg(&stdin, &mut [IoSliceMut::new(&mut buffer)], &mut beside, CLOSES)?;
        for message in beside.drain() {
            if let RecvAncillaryMessage::ScmRights(files) = message {
                descriptors.extend(files);
            }
        }
        if got.bytes == 0 || line.len() > LINE {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.extend_from_slice(&buffer[..got.bytes]);
    }
    Ok((line, descriptors))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream as Pair;

    use super::*;
    use crate::sandbox::Right;

    const SPEC: &str = r#"{"kind":"bench","what":"bandwidth"}"#;

    fn order(given: Vec<GivenFile>) -> Order {
        let job = serde_json::from_str(SPEC).unwrap();
        Order { task: Task { job, device: "cpu:0".into(), done: 3 }, given }
    }

    fn through_a_socket(order: Order) -> Result<Order, String> {
        let (ours, theirs) = Pair::pair().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let sent = runtime.block_on(async {
            ours.set_nonblocking(true).unwrap();
            send(written(order)?, &mut UnixStream::from_std(ours).unwrap()).await
        });
        sent.map_err(|error| error.to_string())?;
        receive(theirs)
    }

    #[test]
    fn an_order_arrives_with_its_files_open() {
        let path = std::env::temp_dir().join(format!("ridgepoint-order-{}", std::process::id()));
        std::fs::write(&path, "weights").unwrap();
        let given = |name: &str| GivenFile {
            label: Label { name: name.into(), right: Right::Hold },
            descriptor: File::open(&path).unwrap().into(),
        };
        let came = through_a_socket(order(vec![given("a"), given("b")])).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!((came.task.device.as_str(), came.task.done), ("cpu:0", 3));
        let names: Vec<String> = came.given.iter().map(|it| it.label.name.clone()).collect();
        assert_eq!(names, ["a", "b"]);
        for GivenFile { descriptor, .. } in came.given {
            let mut text = String::new();
            File::from(descriptor).read_to_string(&mut text).unwrap();
            assert_eq!(text, "weights");
        }
        assert!(through_a_socket(order(Vec::new())).unwrap().given.is_empty());
        let many = through_a_socket(order((0..=FILES).map(|_| null()).collect()));
        assert!(many.unwrap_err().contains("too many files"));
    }

    fn null() -> GivenFile {
        let label = Label { name: "null".into(), right: Right::Hold };
        GivenFile { label, descriptor: File::open("/dev/null").unwrap().into() }
    }

    #[test]
    fn what_is_no_order_is_refused() {
        let nothing = r#""files":[{"name":"a","right":"hold"}]"#;
        for (text, expected) in [
            ("", "end of file"),
            ("{}\n", "missing field"),
            (
                &*format!(
                    "{{\"task\":{{\"job\":{SPEC},\"device\":\"cpu:0\",\"done\":0}},{nothing}}}\n"
                ),
                "did not come",
            ),
        ] {
            let (mut ours, theirs) = Pair::pair().unwrap();
            ours.write_all(text.as_bytes()).unwrap();
            drop(ours);
            let why = receive(theirs).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
        assert!(receive(File::open("/dev/null").unwrap()).unwrap_err().contains("for the daemon"));
    }
}
