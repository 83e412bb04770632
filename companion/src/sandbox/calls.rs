//! System calls that a worker is refused, enforced by seccomp. They fail with EPERM instead of ending the process, so that a library that
//! tries one goes on without it or says what it lacks.

mod listed;

use std::collections::BTreeMap;
use std::process;

use super::Drives;
use listed::{ONLY_OWN, ONLY_ZERO, REFUSED};

use seccompiler::{
    SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter, sock_filter,
};

/// Numbers from here on are the 32-bit calls that x86-64 has beside its own.
const X32: u32 = 0x4000_0000;

/// An old kind of raw socket, which `libc` calls deprecated.
const SOCK_PACKET: i32 = 10;

/// Locks the calling thread.
pub(super) fn lock(drives: Drives) -> Result<(), String> {
    for program in programs(drives)? {
        apply_filter(&program)
            .map_err(|error| format!("the kernel refused the filter ({error})"))?;
    }
    Ok(())
}

/// The filters of this process, in the order in which they are set.
fn programs(drives: Drives) -> Result<[Vec<sock_filter>; 2], String> {
    let arch = std::env::consts::ARCH;
    let arch = TargetArch::try_from(arch).map_err(|_error| format!("no filter for {arch}"))?;
    let eperm = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = rules(drives)
        .and_then(|rules| SeccompFilter::new(rules, SeccompAction::Allow, eperm, arch));
    let filter: Vec<sock_filter> =
        filter.and_then(TryInto::try_into).map_err(|error| error.to_string())?;
    Ok([absent().to_vec(), filter])
}

/// The instructions of each filter, as the kernel gets them; a test sets them in a program that tries all calls.
#[cfg(debug_assertions)]
pub(crate) fn instructions(drives: Drives) -> Result<[Vec<[u8; 8]>; 2], String> {
    let bytes = |line: &sock_filter| {
        let ([a, b], [c, d, e, f]) = (line.code.to_ne_bytes(), line.k.to_ne_bytes());
        [a, b, line.jt, line.jf, c, d, e, f]
    };
    Ok(programs(drives)?.map(|program| program.iter().map(bytes).collect()))
}

fn rules(drives: Drives) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    // An empty list of rules refuses a call whatever its arguments are.
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().flat_map(|list| list.iter()).map(|call| (*call, Vec::new())).collect();
    let first = |op, value| {
        SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Dword, op, value)?])
    };
    // Threads are clones, and processes are clones that are not threads.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    rules.insert(libc::SYS_clone, vec![first(SeccompCmpOp::MaskedEq(thread), 0)?]);
    for call in ONLY_OWN {
        rules.insert(call, vec![first(SeccompCmpOp::Ne, process::id().into())?]);
    }
    // Zero is this process.
    for call in ONLY_ZERO {
        rules.insert(call, vec![first(SeccompCmpOp::Ne, 0)?]);
    }
    if drives == Drives::Gpu {
        for call in [libc::SYS_bind, libc::SYS_listen] {
            rules.remove(&call);
        }
        rules.insert(libc::SYS_socket, sockets_but_of_drivers()?);
    }
    Ok(rules)
}

/// Sockets that a driver does not need: all but sequences of packets between processes of this machine.
fn sockets_but_of_drivers() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let condition = |argument, op, value: i32| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, op, value.unsigned_abs().into())
    };
    let other_family = condition(0, SeccompCmpOp::Ne, libc::AF_UNIX)?;
    let mut refused = vec![SeccompRule::new(vec![other_family])?];
    // The upper bits of the type are flags.
    let kinds = SeccompCmpOp::MaskedEq(0xf);
    for kind in [
        libc::SOCK_STREAM,
        libc::SOCK_DGRAM,
        libc::SOCK_RAW,
        libc::SOCK_RDM,
        libc::SOCK_DCCP,
        SOCK_PACKET,
    ] {
        refused.push(SeccompRule::new(vec![condition(1, kinds.clone(), kind)?])?);
    }
    Ok(refused)
}

/// Calls that fail as if the kernel did not have them: `clone3`, whose flags a filter cannot see, so that threads are made with `clone`;
/// and those of [`X32`].
#[expect(
    clippy::cast_possible_truncation,
    reason = "codes of BPF have 16 bits, and numbers of calls 32"
)]
fn absent() -> [sock_filter; 5] {
    const LOAD: u16 = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS) as u16;
    const EQUAL: u16 = (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16;
    const AT_LEAST: u16 = (libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K) as u16;
    const RETURN: u16 = (libc::BPF_RET | libc::BPF_K) as u16;
    let line = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let enosys = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    [
        // The number of the call stands first.
        line(LOAD, 0, 0, 0),
        line(EQUAL, 2, 0, libc::SYS_clone3 as u32),
        line(AT_LEAST, 1, 0, X32),
        line(RETURN, 0, 0, SeccompAction::Allow.into()),
        line(RETURN, 0, 0, enosys.into()),
    ]
}
