//! The abilities of a daemon, which its hello tells: devices with their kernels and formats, kinds of jobs, and what turns a scope on.
//! Keys are texts, so that those of a later version are read, too.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bench::BenchKind;
use crate::device;
use crate::scope::Scope;
use crate::tolerant::known_items;

/// The abilities of a daemon.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Abilities {
    /// Devices that it measures; the first one is measured where an order names none.
    #[serde(default, deserialize_with = "known_items")]
    pub devices: Vec<DeviceAbility>,
    /// Kinds of jobs that it starts, such as `bench`.
    #[serde(default, deserialize_with = "known_items")]
    pub jobs: Vec<String>,
    /// Inference servers that it reads for a session, such as `llama.cpp`; none for older daemons.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "known_items")]
    pub engines: Vec<String>,
    /// Scopes that none of its sessions has.
    #[serde(default, deserialize_with = "known_items")]
    pub off: Vec<ScopeOff>,
    /// Scopes that `ridgepoint keys grant` adds to a key; none where it has no such verb.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "known_items")]
    pub grants: Vec<Scope>,
    /// Whether its keys are in another folder than the usual one, so that commands on them need `--state`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own_state: bool,
    /// Whether `list_jobs` takes `later`, which daemons of before refuse as unknown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lists_later: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// A device with its kernels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceAbility {
    /// Key of the backend, such as `cpu`.
    pub backend: String,
    /// Number of the device among those of its backend.
    #[serde(default)]
    pub index: u32,
    #[serde(default, deserialize_with = "known_items")]
    pub kernels: Vec<KernelAbility>,
}

/// A kernel with the formats that it is measured in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelAbility {
    /// Key of a [`BenchKind`], or one of a later version.
    pub kernel: String,
    /// Keys of formats, widest first; none for kernels without weights.
    #[serde(default, deserialize_with = "known_items")]
    pub formats: Vec<String>,
    /// Most tokens of a product with packed weights, more than one; absent for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_tokens: Option<u64>,
}

/// A scope that no session has, and how the daemon is started so that sessions may have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScopeOff {
    pub scope: Scope,
    /// The change of its command line, such as ``without `--read-only` ``.
    pub start: String,
}

impl Abilities {
    /// The abilities of a daemon that tells none: the first ones.
    pub fn untold() -> Self {
        let owned = |keys: &[&str]| keys.iter().map(|&key| key.to_owned()).collect();
        let kernel = |kind: BenchKind| KernelAbility {
            kernel: kind.key().to_owned(),
            formats: match kind {
                BenchKind::Gemv => owned(&UNTOLD_GEMV),
                BenchKind::Gemm => owned(&UNTOLD_GEMM),
                _ => Vec::new(),
            },
            most_tokens: None,
        };
        let kernels = BenchKind::FIRST.into_iter().map(kernel).collect();
        Self {
            devices: [DeviceAbility { backend: "cpu".to_owned(), index: 0, kernels }].into(),
            jobs: owned(&["bench", "calibrate"]),
            engines: Vec::new(),
            off: Vec::new(),
            grants: Vec::new(),
            own_state: false,
            lists_later: false,
        }
    }

    /// Formats in which the device that is measured by default has a kernel; none where it has no such kernel.
    pub fn formats(&self, kernel: BenchKind) -> &[String] {
        self.devices.first().map_or(&[], |device| device.formats(kernel))
    }
}

impl DeviceAbility {
    /// The name in orders and readings, such as `cpu:0`.
    pub fn id(&self) -> String {
        device::id(&self.backend, self.index)
    }

    /// Formats in which the device has a kernel; none where it has no such kernel.
    pub fn formats(&self, kernel: BenchKind) -> &[String] {
        let known = self.kernels.iter().find(|known| known.kernel == kernel.key());
        known.map_or(&[], |known| &known.formats)
    }
}

/// Formats in which daemons that tell no abilities measure GEMV.
const UNTOLD_GEMV: [&str; 15] = [
    "fp32",
    "fp16",
    "bf16",
    "fp8_e4m3",
    "fp8_e5m2",
    "int8",
    "int8_g128",
    "int4_g32",
    "int4_g128",
    "int4_g128_sym",
    "nf4",
    "mxfp4",
    "nvfp4",
    "gguf_q8_0",
    "gguf_q4_0",
];

/// Formats in which daemons that tell no abilities measure GEMM on every processor.
const UNTOLD_GEMM: [&str; 2] = ["fp32", "int8"];
