//! Errors of NVML in words.

use nvml_wrapper::error::NvmlError;

/// An error of a function or field as a reason.
pub(super) fn said(asked: &str, error: &NvmlError) -> String {
    match error {
        NvmlError::NotSupported => format!("NVML does not support {asked} on this GPU"),
        NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => {
            format!("the driver is too old: its NVML lacks {asked}")
        }
        NvmlError::GpuLost => {
            "the GPU is lost (NVML, GPU_IS_LOST): it fell off its bus, and the machine must be restarted".into()
        }
        NvmlError::ResetRequired => {
            "the GPU must be reset before it answers (NVML, RESET_REQUIRED)".into()
        }
        NvmlError::LibRmVersionMismatch => {
            "NVML and the kernel module of the driver have different versions; restart the machine".into()
        }
        NvmlError::DriverNotLoaded => "the driver of NVIDIA is not loaded (NVML)".into(),
        NvmlError::NoPermission => format!("this user may not ask NVML for {asked}"),
        NvmlError::NotFound => format!("NVML knows no GPU at this address ({asked})"),
        NvmlError::NoData => format!("NVML has no value for {asked}"),
        other => format!("NVML, {asked}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_names_the_library_and_none_is_silent() {
        for (error, words) in [
            (NvmlError::NotSupported, "does not support nvmlX on this GPU"),
            (NvmlError::FailedToLoadSymbol("no".into()), "too old: its NVML lacks nvmlX"),
            (NvmlError::GpuLost, "is lost"),
            (NvmlError::NoPermission, "may not ask NVML for nvmlX"),
            (NvmlError::Unknown, "NVML, nvmlX: an internal driver error"),
            (NvmlError::UnexpectedVariant(77), "77"),
        ] {
            let said = said("nvmlX", &error);
            assert!(said.contains("NVML") && said.contains(words), "{said}");
        }
    }
}
