//! How much a tree of processes uses at this moment.

use std::io;

/// What a process and its descendants use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sample {
    /// Bytes of memory that are resident. Pages that processes share count for each of them.
    pub(crate) memory_bytes: u64,
    /// Processes and threads.
    pub(crate) tasks: u64,
}

/// Looks at the tree below a process.
pub(crate) type Sampler = Box<dyn FnMut(u32) -> io::Result<Sample> + Send>;

/// The sampler of this system.
///
/// # Errors
/// [`Dependency`](crate::ErrorKind::Dependency) when the system does not say what processes use.
#[cfg(target_os = "linux")]
pub(crate) fn system() -> crate::error::Result<Sampler> {
    if !std::path::Path::new("/proc/self/statm").exists() {
        return Err(crate::error::Error::new(
            crate::error::ErrorKind::Dependency,
            "limits of memory and tasks need /proc, which is not mounted here; mount it, or leave the limits out",
        ));
    }
    Ok(Box::new(linux::sample))
}

/// The sampler of this system.
///
/// # Errors
/// [`Dependency`](crate::ErrorKind::Dependency) when the system does not say what processes use.
#[cfg(target_os = "macos")]
pub(crate) fn system() -> crate::error::Result<Sampler> {
    if !std::path::Path::new("/bin/ps").exists() {
        return Err(crate::error::Error::new(
            crate::error::ErrorKind::Dependency,
            "limits of memory and tasks need /bin/ps, which is missing; leave the limits out",
        ));
    }
    Ok(Box::new(macos::sample))
}

/// The sampler of this system.
///
/// # Errors
/// [`UnsupportedPlatform`](crate::ErrorKind::UnsupportedPlatform).
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) fn system() -> crate::error::Result<Sampler> {
    Err(crate::error::Error::new(
        crate::error::ErrorKind::UnsupportedPlatform,
        "limits of memory and tasks need Linux or macOS; leave the limits out",
    ))
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashMap;
    use std::fs;
    use std::io;

    use super::Sample;

    /// Follows the kernel's lists of children; without them, the parents in a list of all processes.
    pub(super) fn sample(root: u32) -> io::Result<Sample> {
        let mut sample = measure(root)?;
        let Some(first) = children(root)? else {
            return sample_all(root, sample);
        };
        let mut left = first;
        while let Some(pid) = left.pop() {
            // A process that ended meanwhile uses nothing.
            if let Ok(own) = measure(pid) {
                sample.memory_bytes += own.memory_bytes;
                sample.tasks += own.tasks;
                left.extend(children(pid).ok().flatten().unwrap_or_default());
            }
        }
        Ok(sample)
    }

    fn measure(pid: u32) -> io::Result<Sample> {
        let statm = fs::read_to_string(format!("/proc/{pid}/statm"))?;
        let pages = statm.split(' ').nth(1).and_then(|text| text.parse().ok());
        let pages: u64 = pages.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
        Ok(Sample {
            memory_bytes: pages * rustix::param::page_size() as u64,
            tasks: fs::read_dir(format!("/proc/{pid}/task"))?.count() as u64,
        })
    }

    /// `None` when the kernel keeps no such lists.
    fn children(pid: u32) -> io::Result<Option<Vec<u32>>> {
        let mut found = Vec::new();
        for task in fs::read_dir(format!("/proc/{pid}/task"))? {
            match fs::read_to_string(task?.path().join("children")) {
                Ok(text) => found.extend(text.split(' ').filter_map(|id| id.parse::<u32>().ok())),
                Err(problem) if problem.kind() == io::ErrorKind::NotFound => {
                    let known = fs::exists(format!("/proc/{pid}/task/{pid}/children"))?;
                    if !known && fs::exists(format!("/proc/{pid}/task/{pid}"))? {
                        return Ok(None);
                    }
                }
                Err(_) => {}
            }
        }
        Ok(Some(found))
    }

    fn sample_all(root: u32, mut sample: Sample) -> io::Result<Sample> {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for entry in fs::read_dir("/proc")? {
            let name = entry?.file_name();
            if let Some(pid) = name.to_str().and_then(|name| name.parse().ok())
                && let Some(stat) = super::stat::Stat::of(pid)
            {
                children.entry(stat.parent).or_default().push(pid);
            }
        }
        let mut left = children.remove(&root).unwrap_or_default();
        while let Some(pid) = left.pop() {
            if let Ok(own) = measure(pid) {
                sample.memory_bytes += own.memory_bytes;
                sample.tasks += own.tasks;
            }
            left.extend(children.remove(&pid).unwrap_or_default());
        }
        Ok(sample)
    }
}

#[cfg(target_os = "linux")]
pub(crate) mod stat {
    use std::fs;

    /// A line of `/proc/<pid>/stat`.
    pub(crate) struct Stat {
        pub(crate) state: u8,
        pub(crate) parent: u32,
        pub(crate) group: u32,
    }

    impl Stat {
        /// `None` when there is no such process.
        pub(crate) fn of(pid: u32) -> Option<Self> {
            let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            // The name in parentheses may hold anything.
            let (_, rest) = text.rsplit_once(") ")?;
            let mut fields = rest.split(' ');
            Some(Self {
                state: *fields.next()?.as_bytes().first()?,
                parent: fields.next()?.parse().ok()?,
                group: fields.next()?.parse().ok()?,
            })
        }

        /// It ended, and only waits for its parent to notice.
        pub(crate) fn is_gone(&self) -> bool {
            matches!(self.state, b'Z' | b'X')
        }
    }
}

#[cfg(target_os = "macos")]
mod macos {
    use std::io;
    use std::process::{Command, Stdio};

    use super::Sample;

    pub(super) fn sample(root: u32) -> io::Result<Sample> {
        let output = Command::new("/bin/ps")
            .args(["-axo", "pid=,ppid=,rss="])
            .env_clear()
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let rows: Vec<[u64; 3]> = text.lines().filter_map(row).collect();
        let mut tree = vec![u64::from(root)];
        let mut sample = Sample::default();
        while let Some(pid) = tree.pop() {
            for [child, parent, kilobytes] in &rows {
                if *child == pid {
                    sample.memory_bytes += kilobytes * 1024;
                    sample.tasks += 1;
                } else if *parent == pid {
                    tree.push(*child);
                }
            }
        }
        match sample.tasks {
            0 => Err(io::Error::from(io::ErrorKind::NotFound)),
            _ => Ok(sample),
        }
    }

    fn row(line: &str) -> Option<[u64; 3]> {
        let mut fields = line.split_whitespace().map(str::parse);
        Some([
            fields.next()?.ok()?,
            fields.next()?.ok()?,
            fields.next()?.ok()?,
        ])
    }
}
