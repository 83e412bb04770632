//! Devices that a worker holds which was killed and has not ended, as in a call of a driver that does not return.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use kernels::backend::{BackendKind, DeviceId};
use protocol::fault::Fault;

use crate::reason::Reason;

/// The device of each such worker.
#[derive(Debug, Clone, Default)]
pub(super) struct Wedged(Arc<Mutex<Vec<DeviceId>>>);

impl Wedged {
    fn lock(&self) -> MutexGuard<'_, Vec<DeviceId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a worker holds a device until `gone` completes; returns the reason for its job and for those that are refused.
    pub(super) fn hold(
        &self,
        device: DeviceId,
        gone: impl Future<Output = ()> + Send + 'static,
    ) -> Fault {
        self.lock().push(device);
        let fault = Reason::Wedged.with(&[&device]);
        eprintln!("{}", fault.message);
        let held = self.clone();
        tokio::spawn(async move {
            gone.await;
            let mut held = held.lock();
            if let Some(at) = held.iter().position(|it| *it == device) {
                held.swap_remove(at);
            }
            eprintln!("the worker on {device} that was killed has ended");
        });
        fault
    }

    /// Refuses a device that is held, and each GPU while one is: they have one driver.
    pub(super) fn lets(&self, device: DeviceId) -> Result<(), Fault> {
        let has_one_driver =
            |held: &DeviceId| held.backend == device.backend && held.backend == BackendKind::Cuda;
        let held = self.lock().iter().copied().find(|it| *it == device || has_one_driver(it));
        held.map_or(Ok(()), |held| Err(Reason::Wedged.with(&[&held])))
    }

    /// The reason of the first device that is held.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.lock().first().map(|held| Reason::Wedged.with(&[held]))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_worker_that_does_not_end_holds_its_device_and_with_one_gpu_all() {
        let device = |backend, index| DeviceId { backend, index };
        let [cpu, first, second] = [
            device(BackendKind::Cpu, 0),
            device(BackendKind::Cuda, 0),
            device(BackendKind::Cuda, 1),
        ];
        for (held, refused, free) in
            [(cpu, &[cpu][..], &[first, second][..]), (second, &[first, second], &[cpu])]
        {
            let wedged = Wedged::default();
            let (end, gone) = oneshot::channel::<()>();
            let fault = wedged.hold(held, async move { drop(gone.await) });
            assert!(fault.message.starts_with(&format!("the worker on {held} was killed")));
            assert_eq!(wedged.fault(), Some(fault.clone()));
            assert!(refused.iter().all(|it| wedged.lets(*it) == Err(fault.clone())), "{held}");
            assert!(free.iter().all(|it| wedged.lets(*it) == Ok(())), "{held}");
            drop(end);
            while wedged.fault().is_some() {
                tokio::task::yield_now().await;
            }
            assert!(refused.iter().all(|it| wedged.lets(*it) == Ok(())), "{held}");
        }
    }
}
