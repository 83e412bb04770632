//! Errors of CUDA's driver as faults with a sentence that says what to do.

use crate::backend::Fault;

/// Errors by number with their sentences; they follow "it failed: ".
const SENTENCES: [(u32, &str); 20] = [
    (
        34,
        "the library is the stub of a toolkit; the driver's own libcuda.so.1 must come first in the loader's path",
    ),
    (
        46,
        "another process has it for itself (compute mode `exclusive`), or it is busy; end that process or see `nvidia-smi -q -d COMPUTE`",
    ),
    (98, "a launch was refused as impossible"),
    (201, "its context is gone; another job must open it anew"),
    (209, "there is no kernel for its architecture"),
    (214, "its memory has an error that could not be corrected; see `nvidia-smi -q -d ECC`"),
    (218, "a kernel in PTX was refused; the driver may be older than the kernels"),
    (
        222,
        "the driver is older than the kernels; update it, or install a toolkit whose NVRTC it knows",
    ),
    (300, "a library is missing or damaged"),
    (
        304,
        "the system refused the driver a file or a socket; in a job the locks of workers may have",
    ),
    (600, "a call has not ended"),
    (700, "a kernel used an address that is not its own; this job ends, and the next one works"),
    (701, "a kernel needs more registers or shared memory than it has"),
    (702, "a kernel ran longer than the system allows; a display may be on this GPU"),
    (719, "a kernel failed; this job ends, and the next one works"),
    (
        800,
        "the system does not permit it; this user may need the group of the device (`video` or `render`)",
    ),
    (802, "its fabric is not ready; is `nvidia-fabricmanager` running?"),
    (
        803,
        "the driver's library and its kernel module differ in version; reboot after an update of the driver",
    ),
    (
        804,
        "this driver does not go with this GPU (forward compatibility is for GPUs of data centers)",
    ),
    (
        999,
        "the driver does not say why; its device nodes may be missing (`nvidia-modprobe -u -c 0` makes them), or the GPU fell off the bus (see `dmesg | grep -i xid`)",
    ),
];

/// Not enough memory.
const OUT_OF_MEMORY: u32 = 2;
/// The driver found no device, or the index names none.
const NO_DEVICE: [u32; 3] = [3, 100, 101];

/// The fault of an error by number; `name` is CUDA's own name of it, and `bytes` are those that were asked for.
pub fn fault(number: u32, name: &str, bytes: u64) -> Fault {
    if number == OUT_OF_MEMORY {
        return Fault::NoMemory { bytes, most: None };
    }
    if NO_DEVICE.contains(&number) {
        return Fault::NoDevice;
    }
    let known = SENTENCES.iter().find(|(of, _)| *of == number);
    let sentence = known.map_or("CUDA's driver refused", |(_, sentence)| sentence);
    Fault::Device(format!("{sentence} ({name})"))
}

/// The fault of a work that failed while the GPU works: it was refused, and other work runs.
pub(super) fn of_this_work(fault: Fault) -> Fault {
    match fault {
        Fault::Device(why) => Fault::Refused(why),
        other => other,
    }
}

/// Whether an error stays with the process: what is asked after it fails, too.
pub fn is_sticky(number: u32) -> bool {
    matches!(number, 201 | 214 | 700 | 702..=719 | 999)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_can_do_is_said() {
        assert_eq!(
            fault(2, "CUDA_ERROR_OUT_OF_MEMORY", 7),
            Fault::NoMemory { bytes: 7, most: None }
        );
        assert_eq!(fault(100, "CUDA_ERROR_NO_DEVICE", 0), Fault::NoDevice);
        for (number, _) in SENTENCES {
            let Fault::Device(said) = fault(number, "CUDA_ERROR_X", 0) else { panic!("{number}") };
            assert!(said.ends_with(" (CUDA_ERROR_X)") && said.len() > 30, "{said}");
        }
        let said = fault(12345, "CUDA_ERROR_NEW", 0);
        assert_eq!(said, Fault::Device("CUDA's driver refused (CUDA_ERROR_NEW)".to_owned()));
        assert!(is_sticky(700) && !is_sticky(2));
    }
}
