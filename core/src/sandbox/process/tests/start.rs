//! What a process is started with.

use super::*;

#[tokio::test]
async fn the_environment_is_only_what_is_given() {
    let mut options = ProcessOptions::new(["/usr/bin/env"]);
    options.environment = vec![("A".into(), "1".into()), ("B".into(), "x=y z".into())];
    let process = start(options).await;
    let output = read_all(&process).await;
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "A=1\nB=x=y z\n");
    process.close().await.unwrap();
}

#[tokio::test]
async fn the_environment_of_this_process_is_inherited_on_demand() {
    let mut options = ProcessOptions::new(["/usr/bin/env"]);
    options.inherit_environment = true;
    let process = start(options).await;
    let output = String::from_utf8(read_all(&process).await.stdout).unwrap();
    assert!(output.lines().any(|line| line.starts_with("PATH=")));
    process.close().await.unwrap();
}

#[tokio::test]
async fn no_descriptor_is_inherited() {
    let (reader, _writer) = rustix::pipe::pipe().unwrap();
    let high = rustix::io::fcntl_dupfd_cloexec(&reader, 900).unwrap();
    rustix::io::fcntl_setfd(&high, rustix::io::FdFlags::empty()).unwrap();
    let (stdout, ..) = run("for fd in /proc/self/fd/*; do echo ${fd##*/}; done").await;
    let open: Vec<&str> = stdout.lines().collect();
    // The shell opens one of its own to list the folder.
    assert!(
        open.starts_with(&["0", "1", "2"]) && open.len() <= 4,
        "{open:?}"
    );
    assert!(!open.contains(&"900"));
}

#[tokio::test]
async fn given_descriptors_are_inherited_and_nothing_else() {
    let (reader, writer) = pipe::new().unwrap();
    let number = writer.as_raw_fd();
    let mut options = shell(&format!("echo through > /proc/self/fd/{number}"));
    options.inherited = vec![writer];
    let process = start(options).await;
    process.wait(Some(LONG), true).await.unwrap();
    let mut bytes = [0; 16];
    let count = rustix::io::read(&reader, &mut bytes).unwrap();
    assert_eq!(&bytes[..count], b"through\n");
    process.close().await.unwrap();
}

#[tokio::test]
async fn it_leads_a_group_of_its_own() {
    let process = start(shell("cat")).await;
    assert_eq!(
        sample::stat::Stat::of(process.pid()).unwrap().group,
        process.pid()
    );
    process.close().await.unwrap();
}

#[tokio::test]
async fn it_starts_where_it_is_told() {
    let mut options = ProcessOptions::new(["/bin/pwd"]);
    options.chdir = Some("/usr".into());
    let process = start(options).await;
    assert_eq!(read_all(&process).await.stdout, b"/usr\n");
    process.close().await.unwrap();
}

#[tokio::test]
async fn a_program_that_is_missing_is_an_error_of_the_system() {
    let problem = ProcessSession::start(ProcessOptions::new(["/nowhere/at-all"]))
        .await
        .unwrap_err();
    assert_eq!(problem.code(), Some("ENOENT"));
}

#[tokio::test]
async fn unusable_options_are_refused() {
    let mut names = ProcessOptions::new(["true"]);
    names.environment = vec![("A=B".into(), "c".into())];
    let empty: [&str; 0] = [];
    for options in [
        ProcessOptions::new(empty),
        ProcessOptions::new(["a\0b"]),
        names,
    ] {
        let problem = ProcessSession::start(options).await.unwrap_err();
        assert_eq!(problem.kind(), ErrorKind::Argument);
    }
}

#[tokio::test]
async fn a_start_that_nobody_waits_for_leaves_nothing() {
    let file = std::env::temp_dir().join(format!("little-ghost-{}", uuid::Uuid::new_v4()));
    let line = format!(
        "echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600",
        file.display()
    );
    let started = ProcessSession::start(shell(&line));
    tokio::select! {
        biased;
        _ = started => panic!("it cannot have started yet"),
        () = std::future::ready(()) => {}
    }
    // It may or may not come as far as to write its number.
    let end = Instant::now() + Duration::from_secs(2);
    while !file.exists() && Instant::now() < end {
        tokio::task::yield_now().await;
    }
    if let Ok(pid) = fs::read_to_string(&file) {
        gone(pid.trim().parse().unwrap()).await;
        fs::remove_file(&file).unwrap();
    }
}
