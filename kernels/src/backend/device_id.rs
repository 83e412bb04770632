//! The name of a device in flags, records and messages: its backend and an index.

use core::fmt;

/// A kind of device that runs kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BackendKind {
    /// The processor.
    Cpu,
    /// A GPU with CUDA.
    Cuda,
    /// The scripted device of tests.
    Fake,
}

impl BackendKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Cuda, Self::Fake];

    /// Key in flags and records.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Fake => "fake",
        }
    }

    /// The kind with a key.
    pub fn by_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.key() == key)
    }
}

/// A device of this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceId {
    /// Kind of the device.
    pub backend: BackendKind,
    /// Index among the devices of its backend, from 0.
    pub index: u32,
}

impl DeviceId {
    /// The processor.
    pub const CPU: Self = Self { backend: BackendKind::Cpu, index: 0 };

    /// Reads `cpu` or `cpu:0`; without an index it is 0. `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        let (key, index) = text.split_once(':').unwrap_or((text, "0"));
        // `u32` would also take a sign.
        let index =
            index.bytes().all(|byte| byte.is_ascii_digit()).then(|| index.parse().ok())??;
        Some(Self { backend: BackendKind::by_key(key)?, index })
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.backend.key(), self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_is_written() {
        for backend in BackendKind::ALL {
            for index in [0, 1, 17] {
                let id = DeviceId { backend, index };
                assert_eq!(DeviceId::parse(&id.to_string()), Some(id));
            }
            let first = DeviceId { backend, index: 0 };
            assert_eq!(DeviceId::parse(backend.key()), Some(first));
        }
        for strange in
            ["", "gpu", "cpu:", "cpu:-1", "cpu:+1", "cpu:x", "cpu:0:0", "cpu:99999999999"]
        {
            assert_eq!(DeviceId::parse(strange), None, "{strange}");
        }
    }
}
