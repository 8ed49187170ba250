use std::fs;
use std::path::{Path, PathBuf};

use super::*;

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!("little-ghost-cgroup-{}", uuid::Uuid::new_v4());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn delegated(controllers: &str, subtree: &str) -> Self {
        let folder = Self::new();
        fs::write(folder.0.join("cgroup.controllers"), controllers).unwrap();
        fs::write(folder.0.join("cgroup.subtree_control"), subtree).unwrap();
        fs::write(folder.0.join("cgroup.procs"), "").unwrap();
        folder
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn a_delegated_folder_that_counts_memory_and_tasks_is_used() {
    let folder = Folder::delegated("cpu memory pids", "memory pids");
    assert!(CgroupRoot::at(&folder.0).is_some());
}

#[test]
fn controllers_that_are_there_are_switched_on() {
    let folder = Folder::delegated("cpu memory pids", "");
    assert!(CgroupRoot::at(&folder.0).is_some());
    assert_eq!(folder.text("cgroup.subtree_control"), "+memory +pids");
}

#[test]
fn a_folder_without_the_controllers_is_not_used() {
    let folder = Folder::delegated("cpu pids", "cpu pids");
    assert_eq!(CgroupRoot::at(&folder.0), None);
    assert_eq!(CgroupRoot::at(&Folder::new().0), None);
}

#[test]
fn a_group_holds_its_limits() {
    let folder = Folder::delegated("memory pids", "memory pids");
    let root = CgroupRoot::at(&folder.0).unwrap();
    let group = Cgroup::new(&root, Some(64_000_000), Some(32)).unwrap();
    let name = group
        .folder
        .file_name()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned();
    assert_eq!(folder.text(&format!("{name}/memory.max")), "64000000");
    assert_eq!(folder.text(&format!("{name}/pids.max")), "32");
    drop(group);
    assert_eq!(folder.text(&format!("{name}/cgroup.kill")), "1");
}

#[test]
fn what_is_not_limited_is_not_written() {
    let folder = Folder::delegated("memory pids", "memory pids");
    let root = CgroupRoot::at(&folder.0).unwrap();
    let group = Cgroup::new(&root, None, Some(7)).unwrap();
    assert!(!group.folder.join("memory.max").exists());
}

#[test]
fn the_own_group_is_found_below_the_mount() {
    let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
    let own = |groups| own_group(mounts, groups);
    assert_eq!(
        own("0::/user.slice/app\n").as_deref(),
        Some(Path::new("/sys/fs/cgroup/user.slice/app"))
    );
    assert_eq!(own("0::/\n"), None);
    assert_eq!(own("4:memory:/x\n"), None);
    let inner = "30 23 0:26 /box /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    assert_eq!(
        own_group(inner, "0::/box/app\n").as_deref(),
        Some(Path::new("/sys/fs/cgroup/app"))
    );
    assert_eq!(own_group(inner, "0::/elsewhere\n"), None);
}
