use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

#[tokio::test]
async fn links_are_not_followed() {
    let place = Place::new().await;
    let secret = place.folder.file("secret/key", "secret");
    let root = place.workspace.root();
    place.folder.file("root/dir/file", "inside");
    symlink(&secret, root.join("file")).unwrap();
    symlink(secret.parent().unwrap(), root.join("folder")).unwrap();
    symlink("dir", root.join("alias")).unwrap();
    symlink(root.join("missing"), root.join("dangling")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    for path in [
        "file",
        "folder/key",
        "alias/file",
        "dangling",
        "magic/etc/passwd",
    ] {
        place.refused(place.read(path).await, "symbolic link");
        place.refused(place.write(path, "x").await, "symbolic link");
        place.refused(place.replace(path, "s", "x").await, "symbolic link");
    }
    place.refused(place.list("folder").await, "symbolic link");
    place.refused(place.list("alias/").await, "symbolic link");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
    assert!(!root.join("missing").exists());
    // A link is listed as what it is.
    assert_eq!(
        place.list(".").await.unwrap(),
        "alias\ndangling\ndir/\nfile\nfolder\nmagic"
    );
}

#[tokio::test]
async fn files_with_another_name_are_refused() {
    let place = Place::new().await;
    let secret = place.folder.file("secret", "secret");
    fs::hard_link(&secret, place.workspace.root().join("linked")).unwrap();
    place.refused(place.read("linked").await, "more than one hard link");
    place.refused(place.write("linked", "x").await, "more than one hard link");
    place.refused(
        place.replace("linked", "secret", "x").await,
        "more than one hard link",
    );
    assert_eq!(fs::read_to_string(&secret).unwrap(), "secret");
}

#[tokio::test]
async fn special_files_are_refused_at_once() {
    let place = Place::new().await;
    let fifo = place.workspace.root().join("fifo");
    assert!(
        Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    place.refused(place.read("fifo").await, "not a regular file");
    place.refused(place.write("fifo", "x").await, "not a regular file");
    let _socket =
        std::os::unix::net::UnixListener::bind(place.workspace.root().join("socket")).unwrap();
    place.refused(place.read("socket").await, "not a regular file");
}

#[tokio::test]
async fn a_protected_path_inside_of_a_writable_one_stays_protected() {
    let policy = json!({
        "files": {"root": "read_write", "skills": "read_only", "open": "read_write"},
        "runtime_paths": {"home": "read_write"},
    });
    let paths = [
        ("skills", "skills"),
        ("open", "skills/open"),
        ("home", "private/home"),
    ];
    let place = Place::with(&paths, policy).await;
    place.folder.file("root/skills/a.md", "skill");
    place.folder.file("root/private/home/.profile", "x");
    // By either name.
    for path in [
        "skills/a.md",
        "workspace://skills/a.md",
        "workspace://root/skills/a.md",
    ] {
        assert_eq!(place.read(path).await.unwrap(), "skill");
        place.refused(place.write(path, "x").await, "is read-only");
    }
    for path in ["private/home/.profile", "workspace://home/.profile"] {
        place.refused(place.read(path).await, "outside of the files");
        place.refused(place.write(path, "x").await, "outside of the files");
    }
    place.refused(place.list("private/home").await, "outside of the files");
    assert_eq!(place.list("private").await.unwrap(), "");
    // The closest path decides.
    place.write("skills/open/b.md", "x").await.unwrap();
    place.write("private/c.md", "x").await.unwrap();
    assert!(
        !place
            .files()
            .allows("skills/a.md", crate::sandbox::Access::ReadWrite)
    );
    assert!(
        place
            .files()
            .allows("skills/a.md", crate::sandbox::Access::ReadOnly)
    );
    assert!(
        !place
            .files()
            .allows("private/home", crate::sandbox::Access::ReadOnly)
    );
}

#[tokio::test]
async fn what_is_not_granted_is_outside() {
    let policy = json!({"files": {"source": "read_only"}});
    let place = Place::with(&[("source", "source"), ("other", "^other")], policy).await;
    place.folder.file("root/a", "a");
    place.folder.file("other/b", "b");
    place.refused(place.read("a").await, "outside of the files");
    place.refused(place.list(".").await, "outside of the files");
    place.refused(
        place.read("workspace://other/b").await,
        "outside of the files",
    );
    assert_eq!(place.list("source").await.unwrap(), "");
}

#[tokio::test]
async fn a_replaced_directory_closes_everything() {
    let place = Place::with(
        &[("source", "source")],
        json!({"files": {"root": "read_write", "source": "read_only"}}),
    )
    .await;
    place.folder.file("root/source/a", "a");
    let source = place.workspace.root().join("source");
    fs::rename(&source, place.workspace.root().join("moved")).unwrap();
    place.refused(place.read("source/a").await, "was replaced");
    fs::create_dir(&source).unwrap();
    for path in ["source/a", "moved/a", "."] {
        place.refused(place.read(path).await, "was replaced");
    }
    fs::remove_dir(&source).unwrap();
    symlink(place.workspace.root().join("moved"), &source).unwrap();
    place.refused(place.read("source/a").await, "was replaced");
    fs::remove_file(&source).unwrap();
    fs::rename(place.workspace.root().join("moved"), &source).unwrap();
    assert_eq!(place.read("source/a").await.unwrap(), "a");
}

#[tokio::test]
async fn a_workspace_that_is_not_open_has_no_files() {
    let folder = Folder::new();
    let workspace = folder.workspace().build().unwrap();
    let files = Files::new(workspace, Policy::writable(), Limits::default());
    let problem = files.read("a").await.unwrap_err();
    assert!(problem.message().contains("not open"));
}

#[tokio::test]
async fn read_only_means_read_only() {
    let mut place = Place::new().await;
    place.policy = Policy::from_value(&root_read_only()).unwrap();
    place.folder.file("root/a", "a");
    place.refused(place.write("a", "b").await, "is read-only");
    place.refused(place.write("b", "b").await, "is read-only");
    place.refused(place.replace("a", "a", "b").await, "is read-only");
    assert_eq!(place.read("a").await.unwrap(), "a");
    assert!(!place.workspace.root().join("b").exists());
}
