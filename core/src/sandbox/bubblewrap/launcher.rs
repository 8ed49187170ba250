//! The launcher: what runs inside, right before the command.

/// The executable; `None` where there is none for the system.
#[cfg(little_ghost_launcher)]
pub(super) const EXECUTABLE: Option<&[u8]> =
    Some(include_bytes!(concat!(env!("OUT_DIR"), "/launcher")));

/// The executable; `None` where there is none for the system.
#[cfg(not(little_ghost_launcher))]
pub(super) const EXECUTABLE: Option<&[u8]> = None;

const CPU: u32 = 0;
const FILE_SIZE: u32 = 1;
const CORE: u32 = 4;
const PROCESSES: u32 = 6;

/// The limits that it sets. They are set inside, since `bwrap` itself writes files and starts processes; and
/// only there does the kernel count the processes of the sandbox alone.
pub(super) fn limits(cpu: Option<u64>, file_bytes: Option<u64>, tasks: Option<u64>) -> Vec<String> {
    let mut steps = vec![format!("l{CORE}:0:0")];
    let cpu = cpu.map(|seconds| format!("l{CPU}:{seconds}:{}", seconds.saturating_add(1)));
    let files = file_bytes.map(|bytes| format!("l{FILE_SIZE}:{bytes}:{bytes}"));
    let tasks = tasks.map(|count| format!("l{PROCESSES}:{count}:{count}"));
    steps.extend([cpu, files, tasks].into_iter().flatten());
    steps
}
