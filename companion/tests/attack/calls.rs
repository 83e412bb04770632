//! G: system calls that the filters of a worker refuse. The worker tells its filters; perl, which has `syscall`, sets them and makes each
//! call with arguments that do no harm. In place of EPERM and ENOSYS the filters answer with numbers that no kernel gives here, so that a
//! refusal is the filter's, not a lack of rights.

#[path = "../../src/sandbox/calls/listed.rs"]
mod listed;

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use libc::c_long;

use crate::harness::{Daemon, scripting};
use crate::sandbox::tried;

/// Stand for EPERM and ENOSYS.
const REFUSED: i32 = 177;
const ABSENT: i32 = 178;

/// Sets the filters and tries the calls, both by lines on stdin; prints the error of each call.
const PROGRAM: &str = r#"
    my (@filters, @calls);
    while (<STDIN>) {
        chomp;
        my ($what, @rest) = split / /;
        if ($what eq "filter") { push @filters, pack("H*", $rest[0]) } else { push @calls, [@rest] }
    }
    my ($prctl, $seccomp) = map { $_ + 0 } @ARGV;
    syscall($prctl, 38, 1, 0, 0, 0) == 0 or die "no_new_privs: $!";
    for my $filter (@filters) {
        my $program = pack("S x6 P", length($filter) / 8, $filter);
        syscall($seccomp, 1, 0, $program) == 0 or die "seccomp: $!";
    }
    $| = 1;
    for my $call (@calls) {
        my ($name, $number, @arguments) = @$call;
        @arguments = map { $_ + 0 } @arguments;
        $! = 0;
        my $result = syscall($number + 0, @arguments);
        print "$name ", ($result == -1 ? $! + 0 : 0), "\n";
    }
"#;

/// Name, number and arguments of a call.
type Call = (String, c_long, Vec<i64>);

fn named(calls: Vec<(&str, c_long, Vec<i64>)>) -> Vec<Call> {
    calls.into_iter().map(|(name, call, arguments)| (name.to_owned(), call, arguments)).collect()
}

/// Calls of which the kernel alone would make a second process that goes on with the lines.
#[cfg(target_arch = "x86_64")]
const FORKS: &[c_long] = &[libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const FORKS: &[c_long] = &[];

/// Calls that must be refused: those of which the test knows that they are in the lists, and all others of the lists.
fn refused() -> Vec<Call> {
    let mut all = known();
    let listed = listed::REFUSED.concat();
    for call in [&listed[..], &listed::ONLY_OWN, &listed::ONLY_ZERO].concat() {
        if all.iter().all(|(_, known, _)| *known != call) {
            all.push((format!("call {call}"), call, harmless(call)));
        }
    }
    all
}

/// Arguments with which the kernel alone would do nothing: no descriptor, no address, no process.
fn harmless(call: c_long) -> Vec<i64> {
    // With -1 its flags would make a queue.
    if call == libc::SYS_msgget { vec![-1, 0] } else { vec![-1; 6] }
}

/// Calls that must be refused, whatever the lists say, with arguments with which the kernel alone would do nothing.
fn known() -> Vec<Call> {
    let all = vec![
        ("socket", libc::SYS_socket, vec![-1, 0, 0]),
        ("connect", libc::SYS_connect, vec![-1, 0, 0]),
        ("sendmsg", libc::SYS_sendmsg, vec![-1, 0, 0]),
        ("io_uring_setup", libc::SYS_io_uring_setup, vec![0, 0]),
        ("io_uring_enter", libc::SYS_io_uring_enter, vec![-1, 0, 0, 0, 0, 0]),
        ("io_uring_register", libc::SYS_io_uring_register, vec![-1, 0, 0, 0]),
        ("execve", libc::SYS_execve, vec![0, 0, 0]),
        ("execveat", libc::SYS_execveat, vec![-1, 0, 0, 0, 0]),
        // CLONE_SIGHAND without CLONE_VM is no clone at all.
        ("clone without CLONE_THREAD", libc::SYS_clone, vec![0x800, 0, 0, 0, 0]),
        ("ptrace", libc::SYS_ptrace, vec![-1, 0, 0, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, vec![-1, 0, 0, 0, 0, 0]),
        ("process_vm_writev", libc::SYS_process_vm_writev, vec![-1, 0, 0, 0, 0, 0]),
        ("pidfd_getfd", libc::SYS_pidfd_getfd, vec![-1, -1, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, vec![0, 0, 0, 0, 0]),
        ("kill of another", libc::SYS_kill, vec![0x3fff_fff0, 0]),
        ("prlimit64 of another", libc::SYS_prlimit64, vec![0x3fff_fff0, 0, 0, 0]),
        ("mount", libc::SYS_mount, vec![0, 0, 0, 0, 0]),
        ("umount2", libc::SYS_umount2, vec![0, 0]),
        ("move_mount", libc::SYS_move_mount, vec![-1, 0, -1, 0, 0]),
        ("fsopen", libc::SYS_fsopen, vec![0, 0]),
        ("open_tree", libc::SYS_open_tree, vec![-1, 0, 0]),
        ("pivot_root", libc::SYS_pivot_root, vec![0, 0]),
        ("chroot", libc::SYS_chroot, vec![0]),
        ("unshare", libc::SYS_unshare, vec![0]),
        ("setns", libc::SYS_setns, vec![-1, 0]),
        ("bpf", libc::SYS_bpf, vec![-1, 0, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, vec![-1]),
        ("add_key", libc::SYS_add_key, vec![0, 0, 0, 0, 0]),
        ("request_key", libc::SYS_request_key, vec![0, 0, 0, 0]),
        ("keyctl", libc::SYS_keyctl, vec![-1, 0, 0, 0, 0]),
        ("finit_module", libc::SYS_finit_module, vec![-1, 0, 0]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, vec![-1, 0, 0]),
        ("fchmodat2", 452, vec![-1, 0, 0, 0]),
    ];
    #[cfg(target_arch = "x86_64")]
    let all =
        [all, vec![("iopl", libc::SYS_iopl, vec![-1]), ("chmod", libc::SYS_chmod, vec![0, 0])]]
            .concat();
    named(all)
}

/// Calls that must seem to be missing.
fn absent() -> Vec<Call> {
    let all = vec![("clone3", libc::SYS_clone3, vec![0, 0])];
    #[cfg(target_arch = "x86_64")]
    let all = {
        let x32 = |call: c_long| 0x4000_0000 | call;
        let more = vec![
            ("x32 getpid", x32(libc::SYS_getpid), vec![]),
            ("x32 ptrace", x32(libc::SYS_ptrace), vec![-1, 0, 0, 0]),
            // Numbers of x32 alone.
            ("x32 execve", x32(520), vec![0, 0, 0]),
        ];
        [all, more].concat()
    };
    named(all)
}

/// Calls that a worker needs.
fn allowed() -> Vec<Call> {
    named(vec![
        ("getpid", libc::SYS_getpid, vec![]),
        ("own limits", libc::SYS_prlimit64, vec![0, 7, 0, 0]),
        ("sched_yield", libc::SYS_sched_yield, vec![]),
    ])
}

/// The filters of a worker, with errors of our own in place of those of the kernel.
fn filters() -> Vec<String> {
    let daemon = Daemon::start(&scripting());
    let lines = tried(&mut daemon.paired().0);
    let of = |at: u32| -> String {
        let begin = format!("filter {at} ");
        lines.iter().filter(|(name, _)| name.starts_with(&begin)).map(|(_, hex)| &**hex).collect()
    };
    [of(0), of(1)].map(|hex| marked(&hex)).into()
}

/// Replaces the errors that a filter returns: `SECCOMP_RET_ERRNO` with EPERM or ENOSYS.
fn marked(hex: &str) -> String {
    let bytes: Vec<u8> = (0..hex.len() / 2)
        .map(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex"))
        .collect();
    let mut marks = 0;
    let mut line = |line: &[u8]| {
        let code = u16::from_ne_bytes([line[0], line[1]]);
        let k = u32::from_ne_bytes([line[4], line[5], line[6], line[7]]);
        let error = |number: i32| 0x0005_0000 | number.unsigned_abs();
        let k = match (code, k) {
            (6, k) if k == error(libc::EPERM) => error(REFUSED),
            (6, k) if k == error(libc::ENOSYS) => error(ABSENT),
            (_, same) => same,
        };
        marks += u32::from(k == error(REFUSED) || k == error(ABSENT));
        [&line[..4], &k.to_ne_bytes()].concat()
    };
    let whole: Vec<u8> = bytes.chunks(8).flat_map(&mut line).collect();
    assert!(marks > 0, "a filter that refuses something: {hex}");
    whole.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The error of each call under some filters; 0 without an error. Where they do not refuse, no call is tried that forks.
fn errors(filters: &[String], refuse: bool) -> BTreeMap<String, i32> {
    let mut child = Command::new("perl")
        .args(["-e", PROGRAM])
        .args([libc::SYS_prctl, libc::SYS_seccomp].map(|call| call.to_string()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("perl is there");
    let mut text: String = filters.iter().map(|hex| format!("filter {hex}\n")).collect();
    for (name, call, arguments) in [refused(), absent(), allowed()].concat() {
        if FORKS.contains(&call) && !refuse {
            continue;
        }
        let numbers: String = arguments.iter().map(|number| format!(" {number}")).collect();
        text += &format!("call {} {call}{numbers}\n", name.replace(' ', "+"));
    }
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
    let ended = child.wait_with_output().expect("it ends");
    assert!(ended.status.success(), "{ended:?}");
    let lines = String::from_utf8(ended.stdout).expect("text");
    let split = |line: &str| {
        let (name, error) = line.split_once(' ').expect("a name and an error");
        (name.replace('+', " "), error.parse().expect("a number"))
    };
    lines.lines().map(split).collect()
}

/// Fails unless these calls, and no others, have this error.
fn have(found: &BTreeMap<String, i32>, calls: &[Call], error: i32) {
    let with = found.iter().filter(|(_, its)| **its == error);
    let with: Vec<String> = with.map(|(name, _)| name.clone()).collect();
    let mut expected: Vec<String> = calls.iter().map(|(name, ..)| name.clone()).collect();
    expected.sort();
    assert_eq!(with, expected, "error {error}: {found:?}");
}

#[test]
fn every_call_of_the_list_is_refused_by_its_filter() {
    let filters = filters();
    let found = errors(&filters, true);
    have(&found, &refused(), REFUSED);
    have(&found, &absent(), ABSENT);
    assert!(allowed().iter().all(|(name, ..)| found[name] == 0), "{found:?}");
    assert!(found.len() > 90, "{} calls", found.len());
    // Each filter left out, and both.
    let found = errors(&filters[1..], true);
    have(&found, &refused(), REFUSED);
    have(&found, &[], ABSENT);
    let found = errors(&filters[..1], false);
    have(&found, &[], REFUSED);
    have(&found, &absent(), ABSENT);
    let found = errors(&[], false);
    have(&found, &[], REFUSED);
    have(&found, &[], ABSENT);
}
