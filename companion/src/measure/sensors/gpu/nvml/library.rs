//! The library of this process, and the sentences about its errors.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kernels::cuda::libraries::{self, Library, VARIABLE};
use nvml_wrapper::Nvml;
use nvml_wrapper::error::NvmlError;

use super::super::super::Reading;

/// Time after which a library that did not open is tried again, because a driver can be loaded meanwhile.
const AGAIN: Duration = Duration::from_secs(5);

/// The library, or the reason why it did not open, and when it was tried.
static OPENED: Mutex<Option<(Instant, Reading<&'static Nvml>)>> = Mutex::new(None);

/// The library, which stays open as long as the process runs.
pub(super) fn opened() -> Reading<&'static Nvml> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, known)) = &*opened
        && (known.is_ok() || at.elapsed() < AGAIN)
    {
        return known.clone();
    }
    let found = open();
    *opened = Some((Instant::now(), found.clone()));
    found
}

fn open() -> Reading<&'static Nvml> {
    // Files of a unit test are not of the machine whose library this would be.
    if cfg!(test) {
        return Err("NVML is not opened in unit tests".into());
    }
    let library = libraries::alone(Library::Nvml).ok_or_else(|| {
        let [name] = Library::Nvml.names() else { unreachable!("it has one name") };
        format!("NVML ({name}) was not found; the variable {VARIABLE} can name its folder")
    })?;
    let found = Nvml::builder().lib_path(library.file.as_os_str()).init();
    let nvml = found.map_err(|error| said("nvmlInit", &error))?;
    Ok(Box::leak(Box::new(nvml)))
}

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
