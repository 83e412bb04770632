//! A limit on the memory of a task.

use calc_core::recommend::Task;
use calc_core::units::Bytes;

/// A task with a limit on the memory that may be used.
pub(crate) fn limited(mut task: Task<'static>, limit: Option<Bytes>) -> Task<'static> {
    match &mut task {
        Task::Shape(task) => task.memory_limit = limit,
        Task::Model(task) => task.request.memory_limit = limit,
    }
    task
}
