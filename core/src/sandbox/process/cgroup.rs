//! A control group (version 2) for one process and its descendants, where the system lets this process
//! make one.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The folder below which groups are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CgroupRoot {
    folder: PathBuf,
}

impl CgroupRoot {
    /// The group above that of this process, if it is delegated: this process may make groups there, and
    /// they count memory and tasks. The own group cannot be it, since groups that have members have no
    /// groups with limits inside.
    pub(crate) fn find() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let own = own_group(&mounts, &groups)?;
        Self::at(own.parent()?)
    }

    /// `folder`, if groups can be made there that count memory and tasks.
    pub(crate) fn at(folder: &Path) -> Option<Self> {
        let subtree = folder.join("cgroup.subtree_control");
        let has_both = |text: String| {
            let mut names = text.split_whitespace();
            names.clone().any(|name| name == "memory") && names.any(|name| name == "pids")
        };
        let enabled = fs::read_to_string(&subtree).is_ok_and(has_both);
        let usable = enabled
            || (fs::read_to_string(folder.join("cgroup.controllers")).is_ok_and(has_both)
                && fs::write(&subtree, "+memory +pids").is_ok());
        let writable = rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_ok()
            && OpenOptions::new()
                .write(true)
                .open(folder.join("cgroup.procs"))
                .is_ok();
        (usable && writable).then(|| Self {
            folder: folder.to_owned(),
        })
    }
}

#[cfg(test)]
impl CgroupRoot {
    /// A folder of a real hierarchy, whatever it counts.
    pub(super) fn writable(folder: &Path) -> Option<Self> {
        let folder = folder.to_owned();
        let real = folder.join("cgroup.controllers").exists();
        let probe = folder.join("little-ghost-probe");
        let writable = real && fs::create_dir(&probe).is_ok() && fs::remove_dir(&probe).is_ok();
        writable.then_some(Self { folder })
    }

    pub(super) fn has_groups_of(&self, pid: u32) -> bool {
        let prefix = format!("little-ghost-{pid}-");
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names.any(|name| name.starts_with(&prefix))
    }
}

/// Where the group of this process is mounted.
fn own_group(mounts: &str, groups: &str) -> Option<PathBuf> {
    let path = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    let mount = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then_some(())?;
        let mut fields = place.split(' ').skip(3);
        Some((fields.next()?, fields.next()?))
    });
    let (root, point) = mount?;
    let below = Path::new(path).strip_prefix(root).ok()?;
    // The top of what is mounted has nothing above that this process could use.
    (below != Path::new("")).then(|| Path::new(point).join(below))
}

/// One group. Dropping it ends whoever is still in it, and removes it.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
    door: File,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Cgroup {
    /// A group that may use no more than that, swap included.
    ///
    /// # Errors
    /// What the system says; nothing is left behind then.
    pub(crate) fn new(
        root: &CgroupRoot,
        memory_bytes: Option<u64>,
        tasks: Option<u64>,
    ) -> io::Result<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("little-ghost-{}-{number}", std::process::id());
        let folder = root.folder.join(name);
        fs::create_dir(&folder)?;
        Self::set_up(&folder, memory_bytes, tasks).inspect_err(|_| drop(fs::remove_dir(&folder)))
    }

    fn set_up(folder: &Path, memory: Option<u64>, tasks: Option<u64>) -> io::Result<Self> {
        if let Some(bytes) = memory {
            fs::write(folder.join("memory.max"), bytes.to_string())?;
            // A system without swap has no such file.
            let swap = folder.join("memory.swap.max");
            if swap.exists() {
                fs::write(swap, "0")?;
            }
            // The kernel ends all members together, rather than one of them.
            let together = folder.join("memory.oom.group");
            if together.exists() {
                fs::write(together, "1")?;
            }
        }
        if let Some(count) = tasks {
            fs::write(folder.join("pids.max"), count.to_string())?;
        }
        // The kernel made the file along with the folder; a folder on another file system has none.
        let door = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join("cgroup.procs"))?;
        Ok(Self {
            folder: folder.to_owned(),
            door,
        })
    }

    /// The list of members, to which a process adds itself by writing `0`.
    pub(crate) fn door(&self) -> &File {
        &self.door
    }

    /// Whether the kernel ended somebody because of the limit of memory.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        let mut lines = events
            .lines()
            .filter_map(|line| line.strip_prefix("oom_kill "));
        lines.any(|count| count.trim() != "0")
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // Nothing to do about a failure: the group is empty then, or the system is going down.
        let _ = fs::write(self.folder.join("cgroup.kill"), "1");
        let end = Instant::now() + Duration::from_secs(1);
        while fs::remove_dir(&self.folder)
            .is_err_and(|problem| problem.raw_os_error() == Some(libc::EBUSY))
            && Instant::now() < end
        {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

#[cfg(test)]
#[path = "cgroup_tests.rs"]
mod tests;
