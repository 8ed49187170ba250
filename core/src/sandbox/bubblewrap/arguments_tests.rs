use super::*;

fn mount(path: &str, access: Access) -> Mount {
    Mount {
        source: path.to_owned(),
        target: path.to_owned(),
        access,
        identity: None,
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// How this system has the folders beside `/usr`.
fn system_folders() -> String {
    let mut words = Vec::new();
    for folder in ["/bin", "/sbin", "/lib", "/lib64"] {
        match std::fs::read_link(folder) {
            Ok(target) => words.push(format!("--symlink {} {folder}", target.display())),
            Err(_) if Path::new(folder).is_dir() => {
                words.push(format!("--ro-bind {folder} {folder}"));
            }
            Err(_) => {}
        }
    }
    words.join(" ")
}

const BEGINNING: &str = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try \
    --new-session --die-with-parent --cap-drop ALL";

fn usual<'a>(mounts: &'a [Mount], tmpfs: &'a [String], roots: &'a [String]) -> Arguments<'a> {
    Arguments {
        root: RootFilesystem::Isolated,
        network: NetworkMode::None,
        launcher_is_first: false,
        runtime_roots: roots,
        proc: ProcFilesystem::New,
        tmpfs,
        tmpfs_bytes: None,
        mounts,
        masks: &[],
        data: &[],
        cwd: "/srv/run",
        inherit_environment: false,
        environment: &[],
        uid: None,
        gid: None,
    }
}

#[test]
fn everything_has_its_place() {
    let mounts = mount::in_order(vec![
        mount("/srv/run/skills", Access::ReadOnly),
        mount("/srv/run", Access::ReadWrite),
    ]);
    let (tmpfs, roots) = (words("/tmp /run"), words("/usr"));
    let masks = words("/srv/run/secret");
    let environment = [
        ("LANG".to_owned(), "C.UTF-8".to_owned()),
        ("A".to_owned(), "1".to_owned()),
    ];
    let data = [(7, "/opt/program".to_owned())];
    let arguments = Arguments {
        masks: &masks,
        environment: &environment,
        data: &data,
        uid: Some(1000),
        gid: Some(100),
        ..usual(&mounts, &tmpfs, &roots)
    };
    let expected = format!(
        "{BEGINNING} --tmpfs / --unshare-net --ro-bind /usr /usr {} --dev /dev --proc /proc \
         --tmpfs /tmp --tmpfs /run --dir /srv --dir /srv/run --bind /srv/run /srv/run \
         --ro-bind /srv/run/skills /srv/run/skills --tmpfs /srv/run/secret --remount-ro /srv/run/secret \
         --perms 0555 --ro-bind-data 7 /opt/program --chdir /srv/run --remount-ro / --clearenv \
         --setenv LANG C.UTF-8 --setenv A 1 --uid 1000 --gid 100",
        system_folders()
    );
    assert_eq!(arguments.list(), words(&expected));
}

#[test]
fn a_visible_host_needs_no_runtime_and_few_folders() {
    let mounts = [mount("/tmp/run/x", Access::ReadWrite)];
    let (tmpfs, roots) = (words("/tmp"), words("/usr"));
    let arguments = Arguments {
        root: RootFilesystem::ReadOnly,
        network: NetworkMode::Inherit,
        proc: ProcFilesystem::Bind,
        inherit_environment: true,
        cwd: "/tmp/run/x",
        ..usual(&mounts, &tmpfs, &roots)
    };
    let expected = format!(
        "{BEGINNING} --ro-bind / / --dev /dev --ro-bind /proc /proc --tmpfs /tmp --dir /tmp/run \
         --bind /tmp/run/x /tmp/run/x --chdir /tmp/run/x"
    );
    assert_eq!(arguments.list(), words(&expected));
}

#[test]
fn a_writable_host_is_bound_writable() {
    let arguments = Arguments {
        root: RootFilesystem::ReadWrite,
        proc: ProcFilesystem::Absent,
        ..usual(&[], &[], &[])
    };
    let expected =
        format!("{BEGINNING} --bind / / --unshare-net --dev /dev --chdir /srv/run --clearenv");
    assert_eq!(arguments.list(), words(&expected));
}

#[test]
fn a_limit_of_memory_bounds_temporary_files() {
    let tmpfs = words("/tmp");
    let arguments = Arguments {
        root: RootFilesystem::ReadOnly,
        tmpfs_bytes: Some(4096),
        ..usual(&[], &tmpfs, &[])
    };
    let expected = format!(
        "{BEGINNING} --ro-bind / / --unshare-net --dev /dev --size 4096 --tmpfs /dev/shm --remount-ro /dev \
         --proc /proc --size 4096 --tmpfs /tmp --chdir /srv/run --clearenv"
    );
    assert_eq!(arguments.list(), words(&expected));
}

#[test]
fn temporary_files_have_no_larger_bound_than_bwrap_takes() {
    let tmpfs = words("/tmp");
    let arguments = Arguments {
        tmpfs_bytes: Some(u64::MAX),
        ..usual(&[], &tmpfs, &[])
    };
    let list = arguments.list();
    let sizes = list.windows(2).filter(|pair| pair[0] == "--size");
    let sizes: Vec<&str> = sizes.map(|pair| &*pair[1]).collect();
    assert!(!sizes.is_empty() && sizes.iter().all(|size| *size == "9223372036854775807"));
}

#[test]
fn of_two_equal_targets_the_read_only_one_stays() {
    for order in [
        [Access::ReadOnly, Access::ReadWrite],
        [Access::ReadWrite, Access::ReadOnly],
    ] {
        let mounts = mount::in_order(order.map(|access| mount("/w", access)).to_vec());
        assert_eq!(mounts, [mount("/w", Access::ReadOnly)]);
    }
}
