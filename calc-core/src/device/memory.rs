//! Memory that a device leaves to a model: the single rule behind every "fits" answer.

use super::{Device, DeviceClass};
use crate::provenance::Fact;
use crate::units::Bytes;

/// Who shares the memory of a device; this determines the fraction a model may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryPlatform {
    /// Dedicated memory: a model may use all of it.
    Dedicated,
    /// Shared with a host, whose operating system occupies part of it.
    Shared,
    /// A Mac: Metal limits the part of the shared memory that the GPU may use.
    Metal,
    /// Modules in the host's sockets. The catalog has the supported maximum; the installed amount is unknown.
    Sockets,
}

/// Kinds of memory; each reaches a different share of its bandwidth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say what each is")]
pub enum MemoryKind {
    Unified,
    Gddr,
    Hbm,
}

impl MemoryKind {
    /// The kind of a device's memory. Memory of a CPU counts as unified.
    pub fn of(device: &Device) -> Self {
        if device.memory_platform.is_shared() || device.class == DeviceClass::Cpu {
            Self::Unified
        } else if device.memory_type.starts_with("HBM") {
            Self::Hbm
        } else {
            Self::Gddr
        }
    }
}

/// Fraction left by an operating system: 7.4 of 8 GiB on Orin Nano.
const BESIDE_THE_SYSTEM: f64 = 0.925;
/// Largest Mac memory of which Metal grants two thirds; of larger ones it grants three quarters.
///
/// `recommendedMaxWorkingSetSize` as llama.cpp prints it: 10,922 MiB of 16 GiB, 21,845 MiB of 32 GiB
/// (ollama/ollama#434), 49,152 MiB of 64 GiB (ggml-org/llama.cpp#1870).
const SMALL_MAC: Bytes = Bytes::from_gib(36.0);

impl MemoryPlatform {
    /// All platforms with their keys in JSON.
    pub const ALL: [(&'static str, Self); 4] = [
        ("dedicated", Self::Dedicated),
        ("shared", Self::Shared),
        ("metal", Self::Metal),
        ("sockets", Self::Sockets),
    ];

    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        Self::ALL[self as usize].0
    }

    /// Fraction of the installed memory that a model may use.
    pub fn share(self, installed: Bytes) -> f64 {
        match self {
            Self::Dedicated => 1.0,
            Self::Shared | Self::Sockets => BESIDE_THE_SYSTEM,
            Self::Metal if installed <= SMALL_MAC => 2.0 / 3.0,
            Self::Metal => 0.75,
        }
    }

    /// True when host and device share the memory.
    pub const fn is_shared(self) -> bool {
        match self {
            Self::Dedicated => false,
            Self::Shared | Self::Metal | Self::Sockets => true,
        }
    }
}

/// Memory that a model may use, and whether it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UsableMemory {
    /// Usable bytes; where the installed amount is unknown, those of the supported maximum.
    pub bytes: Bytes,
    /// Bytes that the device and the limit of the request leave, whatever engine runs.
    pub on_device: Bytes,
    /// False if the installed amount is unknown.
    pub is_known: bool,
    /// Share of the installed memory that the engine allots at most, where that is what caps the bytes.
    pub engine_share: Option<f64>,
}

impl UsableMemory {
    /// At most a share of the installed memory for weights, KV cache and activations; the reserve is outside of it.
    #[must_use]
    pub fn allotted(self, device: &Device, share: Option<f64>, reserve: Bytes) -> Self {
        let most = share.zip(device.installed_memory());
        let most = most.map(|(share, installed)| (share, installed * share + reserve));
        match most {
            Some((share, most)) if most < self.bytes => {
                Self { bytes: most, engine_share: Some(share), ..self }
            }
            _ => self,
        }
    }
}

impl Device {
    /// Memory that a model may use, capped by the limit of a request.
    ///
    /// ```text
    /// usable = min(limit, installed * share of the platform)
    /// share  = 1 of dedicated memory; 0.925 shared with a host;
    ///          Metal 2/3 up to 36 GiB, 3/4 above
    /// ```
    ///
    /// A limit states the usable amount, so with a limit the answer is known even where the installed memory is not.
    ///
    /// ```
    /// let mac = calc_core::catalog::device("apple_m2").unwrap(); // 24 GiB
    /// assert_eq!(mac.usable_memory(None).bytes.get(), 17_179_869_184.0); // 16 GiB
    /// ```
    pub fn usable_memory(&self, limit: Option<Bytes>) -> UsableMemory {
        let installed = self.memory.value;
        let all = installed * self.memory_platform.share(installed);
        let bytes = limit.map_or(all, |limit| limit.min(all));
        UsableMemory {
            bytes,
            on_device: bytes,
            is_known: self.installed_memory().is_some() || limit.is_some_and(|limit| limit < all),
            engine_share: None,
        }
    }

    /// Installed memory; `None` if it is socketed and the amount was not given.
    pub const fn installed_memory(&self) -> Option<Bytes> {
        match self.memory_platform {
            MemoryPlatform::Sockets => None,
            MemoryPlatform::Dedicated | MemoryPlatform::Shared | MemoryPlatform::Metal => {
                Some(self.memory.value)
            }
        }
    }

    /// This device with the given amount of memory installed.
    #[must_use]
    pub fn with_memory(self, installed: Bytes) -> Self {
        let memory_platform = match self.memory_platform {
            MemoryPlatform::Sockets => MemoryPlatform::Shared,
            known
            @ (MemoryPlatform::Dedicated | MemoryPlatform::Shared | MemoryPlatform::Metal) => known,
        };
        Self { memory: Fact::assumed(installed), memory_platform, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    #[test]
    fn every_platform_has_its_own_key() {
        for (key, platform) in MemoryPlatform::ALL {
            assert_eq!(platform.key(), key);
        }
    }

    #[test]
    fn a_platform_leaves_its_share() {
        let usable = |device: &str, installed: f64| {
            let device = catalog::device(device).expect("catalog key").clone();
            device.with_memory(Bytes::from_gib(installed)).usable_memory(None).bytes
        };
        for (device, installed, share) in [
            ("h100_sxm", 80.0, 1.0),
            ("jetson_orin_nano_8gb_super", 8.0, 0.925),
            ("epyc_9654", 64.0, 0.925),
            ("apple_m4_pro", 24.0, 2.0 / 3.0),
            ("apple_m4_pro", 36.0, 2.0 / 3.0),
            ("apple_m4_pro", 48.0, 0.75),
            ("apple_m2_ultra", 192.0, 0.75),
        ] {
            let expected = Bytes::from_gib(installed) * share;
            assert_eq!(usable(device, installed), expected, "{device} with {installed} GiB");
        }
    }

    #[test]
    fn a_limit_caps_what_a_model_may_use_and_a_larger_one_changes_nothing() {
        let device = catalog::device("rtx_4090").expect("catalog key");
        let all = device.usable_memory(None);
        assert_eq!(device.usable_memory(Some(Bytes::from_gb(100.0))), all);
        assert_eq!(device.usable_memory(Some(Bytes::from_gb(10.0))).bytes, Bytes::from_gb(10.0));
    }

    #[test]
    fn sockets_are_unknown_until_somebody_says_what_is_in_them() {
        let device = catalog::device("epyc_9654").expect("catalog key");
        assert!(!device.usable_memory(None).is_known);
        assert!(device.usable_memory(Some(Bytes::from_gb(64.0))).is_known);
        assert!(
            !device.usable_memory(Some(Bytes::from_gb(1e6))).is_known,
            "a limit that limits nothing"
        );
        assert!(device.clone().with_memory(Bytes::from_gib(64.0)).usable_memory(None).is_known);
        let board = catalog::device("raspberry_pi_5").expect("catalog key");
        assert!(board.usable_memory(None).is_known, "the product fixes it");
    }
}
