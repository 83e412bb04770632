//! The wait of a job for its turn to measure.

use protocol::job::{JobEvent, JobId, JobState, ProgressUnit};
use tokio::time::{Instant, sleep_until};

use super::Jobs;
use crate::jobs::limits::{Ended, failed};
use crate::jobs::store::OPEN;
use crate::measure::turn::{self, LONGEST_WAIT, Patience, Turn};
use crate::reason::Reason;

impl Jobs {
    /// Waits until no other ridgepoint measures on this machine; `None` where nobody knows, and for jobs that are played.
    pub(super) async fn turn(&self, job: JobId) -> Result<Option<Turn>, Ended> {
        let (mut patience, mut is_told) = (Patience::new(LONGEST_WAIT), false);
        while self.workers.are_processes() {
            match Turn::take() {
                Ok(Some(turn)) => return Ok(Some(turn)),
                Ok(None) if patience.is_over() => {
                    return Err(failed(Reason::TurnTaken, &[&LONGEST_WAIT.as_secs()]));
                }
                Ok(None) => {}
                Err(error) => {
                    eprintln!("{}", turn::unknown(&error));
                    break;
                }
            }
            if !is_told {
                let note = turn::WAITS.to_owned();
                let unit = ProgressUnit::Points;
                let event = JobEvent::Progress { done: 0, total: 0, unit, note };
                // If this cannot be stored, the next event cannot either, and ends the job.
                let _ = self.store.append(job, event, &OPEN).await;
                is_told = true;
            }
            tokio::select! {
                () = self.cancel.notified() => if let Some(ended) = self.is_called_off(job) {
                    return Err(ended);
                },
                () = sleep_until(Instant::now() + turn::LOOK) => {}
            }
        }
        Ok(None)
    }

    /// The end of a job that is canceled, or whose daemon ends.
    fn is_called_off(&self, job: JobId) -> Option<Ended> {
        if self.is_ending() {
            return Some((JobState::Interrupted, Some(Reason::EndedWhileRunning.fault())));
        }
        self.store.is_canceled(job).then_some((JobState::Canceled, None))
    }
}
