//! What it may use.

use super::*;

#[tokio::test]
async fn the_kernel_limits_files_and_processor_time() {
    let mut options = shell("ulimit -f; ulimit -t; ulimit -c; head -c 4096 /dev/zero > /dev/null");
    options.cpu_seconds = Some(9);
    options.file_bytes = Some(51_200);
    let process = start(options).await;
    let output = String::from_utf8(read_all(&process).await.stdout).unwrap();
    assert_eq!(output, "100\n9\n0\n");
    process.close().await.unwrap();
}

#[tokio::test]
async fn too_much_memory_ends_it() {
    let mut options =
        shell("head -c 200000000 /dev/zero | tail -c 200000000 > /dev/null; sleep 60");
    options.memory_bytes = Some(50_000_000);
    let process = start(options).await;
    tool_error(
        process.wait(Some(LONG), true).await,
        "more than 50000000 bytes of memory",
    );
    process.close().await.unwrap();
}

#[tokio::test]
async fn too_many_tasks_end_it() {
    let mut options = shell("for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait");
    options.tasks = Some(4);
    let process = start(options).await;
    tool_error(
        process.wait(Some(LONG), true).await,
        "more than 4 processes",
    );
    process.close().await.unwrap();
}

#[tokio::test]
async fn three_failures_to_look_in_a_row_end_it() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    let mut options = shell("sleep 60");
    options.memory_bytes = Some(u64::MAX);
    options.sampler = Some(Box::new(move |_| {
        // The third look succeeds, so that the count starts again.
        match counted.fetch_add(1, Ordering::Relaxed) {
            2 => Ok(Sample::default()),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }));
    let process = start(options).await;
    tool_error(process.wait(Some(LONG), true).await, "three times in a row");
    assert_eq!(calls.load(Ordering::Relaxed), 6);
    process.close().await.unwrap();
}

#[test]
fn a_sample_covers_the_tree() {
    let mut sampler = sample::system().unwrap();
    let own = sampler(std::process::id()).unwrap();
    assert!(own.memory_bytes > 100_000 && own.tasks >= 1);
    assert!(sampler(u32::MAX).is_err());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_real_group_takes_the_process_and_is_removed() {
    let Some(folder) = own_unified_folder() else {
        eprintln!("skipped: no writable cgroup v2 on this machine");
        return;
    };
    let mut options = shell("cat /proc/self/cgroup; setsid sleep 600 & echo; cat");
    options.cgroup = Some(cgroup::Cgroup::new(&folder, None, None).unwrap());
    let process = start(options).await;
    let heard = hear(&process, "\n\n").await;
    assert!(
        heard.contains(&format!("little-ghost-{}-", std::process::id())),
        "{heard}"
    );
    process.close().await.unwrap();
    assert!(!folder.has_groups_of(std::process::id()));
}

#[cfg(target_os = "linux")]
fn own_unified_folder() -> Option<cgroup::CgroupRoot> {
    cgroup::CgroupRoot::writable("/sys/fs/cgroup/unified".as_ref())
        .or_else(|| cgroup::CgroupRoot::writable("/sys/fs/cgroup".as_ref()))
}
