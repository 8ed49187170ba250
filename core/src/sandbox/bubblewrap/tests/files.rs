//! What of the host programs see, and what of it they can write.

use std::fs;

use super::*;

#[tokio::test]
async fn nested_paths_keep_their_own_access() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let workspace = folder.workspace().path("skills", "skills").build().unwrap();
    workspace.open(None).await.unwrap();
    let policy = Policy {
        files: vec![
            ("root".to_owned(), Access::ReadWrite),
            ("skills".to_owned(), Access::ReadOnly),
        ],
        ..Policy::default()
    };
    let sandbox = Bubblewrap::new(workspace, policy).unwrap();
    let execution = shell(
        &sandbox,
        "echo a > ok; echo b > skills/no || echo refused; rm -r skills",
    )
    .await;
    assert_eq!(execution.stdout, "refused\n");
    assert!(folder.path().join("root/ok").exists() && folder.path().join("root/skills").exists());
}

#[tokio::test]
async fn masks_hide_what_they_cover() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let secret = folder.file("root/secret/key", "secret");
    let mask = secret.parent().unwrap().to_str().unwrap();
    let sandbox = Bubblewrap::new(folder.opened().await, Policy::writable())
        .unwrap()
        .masks([mask])
        .unwrap();
    let execution = shell(&sandbox, "ls -A secret; echo x > secret/y || echo refused").await;
    assert_eq!(execution.stdout, "refused\n");
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
}

#[tokio::test]
async fn the_visible_host_is_read_only() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let outside = folder.file("outside", "to be read");
    let policy = Policy {
        root_filesystem: RootFilesystem::ReadOnly,
        ..Policy::writable()
    };
    // The folder of this test lies in the usual place for temporary files, which would be empty.
    let sandbox = Bubblewrap::new(folder.opened().await, policy)
        .unwrap()
        .tmpfs(["/run"])
        .unwrap();
    let path = outside.display();
    let execution = shell(
        &sandbox,
        &format!("cat {path}; echo no > {path} || echo refused; echo y > here"),
    )
    .await;
    assert_eq!(execution.stdout, "to be readrefused\n");
    assert_eq!(fs::read_to_string(&outside).unwrap(), "to be read");
}

#[tokio::test]
async fn a_directory_that_is_replaced_before_the_mount_is_noticed() {
    if !can_run().await {
        return;
    }
    let folder = Folder::new();
    let sandbox = Arc::new(sandbox(&folder, Policy::writable()).await);
    let root = folder.path().join("root");
    let policy = sandbox.effective_policy();
    let launch = sandbox
        .launch(&policy, &Program::new(["true"]), true)
        .unwrap();
    fs::rename(&root, folder.path().join("moved")).unwrap();
    fs::create_dir(&root).unwrap();
    let process = ProcessSession::start(launch.options).await.unwrap();
    let problem = process.wait(Some(LONG), true).await.unwrap_err();
    assert!(problem.message().contains("replaced"), "{problem}");
    process.close().await.unwrap();
}
