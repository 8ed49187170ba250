#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Map, json};

use super::*;
use crate::message::Message;

/// A directory that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let name = format!(
            "little-ghost-{}-{:x}",
            std::process::id(),
            fastrand::u64(..)
        );
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn root(&self) -> PathBuf {
        self.0.join("sessions")
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.root())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn said(text: &str) -> Snapshot {
    let mut state = Map::new();
    state.insert("last".into(), json!(text));
    Snapshot {
        messages: vec![Message::user(text)],
        state,
        metadata: Map::new(),
    }
}

fn key(actor: Option<&str>) -> SessionKey {
    SessionKey::new("conversation-42", actor.map(str::to_owned))
}

#[tokio::test]
async fn keeps_a_conversation_in_private_files_under_names_that_say_nothing() {
    let folder = Folder::new();
    let store = FilesystemStore::new(folder.root()).unwrap();
    let key = key(Some("user-7"));
    assert_eq!(store.load(&key).await.unwrap(), None);
    store.append(&key, said("one"), 0).await.unwrap();
    let name = document::name("conversation-42");
    assert_eq!(
        folder.files(),
        [format!("{name}.json"), format!("{name}.lock")]
    );
    for file in folder.files() {
        let mode = fs::metadata(folder.root().join(file))
            .unwrap()
            .permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
    let mode = fs::metadata(folder.root()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let again = FilesystemStore::new(folder.root()).unwrap();
    assert_eq!(again.load(&key).await.unwrap(), Some(said("one")));
}

#[tokio::test]
async fn a_writer_that_was_too_slow_and_another_actor_change_nothing() {
    let folder = Folder::new();
    let (a, b) = (
        FilesystemStore::new(folder.root()).unwrap(),
        FilesystemStore::new(folder.root()).unwrap(),
    );
    let mine = key(Some("user-7"));
    assert_eq!(a.load(&key(Some("other"))).await.unwrap(), None);
    a.append(&mine, said("one"), 0).await.unwrap();
    let error = b.append(&mine, said("two"), 0).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    for other in [key(Some("user-8")), key(None)] {
        for error in [
            b.load(&other).await.map(drop).unwrap_err(),
            b.append(&other, said("x"), 1).await.unwrap_err(),
            b.replace(&other, said("x")).await.unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Error);
        }
    }
    assert_eq!(b.load(&mine).await.unwrap(), Some(said("one")));
}

#[tokio::test]
async fn refuses_files_that_are_not_its_own() {
    let folder = Folder::new();
    let store = FilesystemStore::new(folder.root()).unwrap();
    let key = key(None);
    store.replace(&key, said("one")).await.unwrap();
    let file = folder
        .root()
        .join(format!("{}.json", document::name(&key.id)));
    let refused = async |what: &str| {
        let error = store.load(&key).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{what}");
        let error = store.replace(&key, said("two")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{what}");
    };
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    refused("readable by others").await;
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() - 9]).unwrap();
    refused("cut off").await;
    assert_eq!(fs::read(&file).unwrap(), &bytes[..bytes.len() - 9]);
    let elsewhere = folder.0.join("elsewhere.json");
    fs::write(&elsewhere, &bytes).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o600)).unwrap();
    fs::remove_file(&file).unwrap();
    symlink(&elsewhere, &file).unwrap();
    refused("a symbolic link").await;
    assert_eq!(fs::read(&elsewhere).unwrap(), bytes);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    refused("a directory").await;
    fs::remove_dir(&file).unwrap();
    store.replace(&key, said("two")).await.unwrap();
    assert_eq!(store.load(&key).await.unwrap(), Some(said("two")));
}

#[test]
fn refuses_directories_that_are_not_private() {
    let folder = Folder::new();
    let open = folder.0.join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o750)).unwrap();
    let private = folder.0.join("private");
    fs::create_dir(&private).unwrap();
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).unwrap();
    let link = folder.0.join("link");
    symlink(&private, &link).unwrap();
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    let mut slash = link.clone().into_os_string();
    slash.push("/");
    for root in [
        PathBuf::new(),
        open,
        link,
        slash.into(),
        file,
        "/dev/null/x".into(),
    ] {
        let error = FilesystemStore::new(&root).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{root:?}: {error}");
    }
    FilesystemStore::new(private).unwrap();
}

#[tokio::test]
async fn what_cannot_be_read_again_is_not_written() {
    let folder = Folder::new();
    let store = FilesystemStore::new(folder.root()).unwrap();
    store.replace(&key(None), said("one")).await.unwrap();
    let mut deep = said("two");
    let mut value = json!(0);
    for _ in 0..200 {
        value = json!([value]);
    }
    deep.state.insert("deep".into(), value);
    let error = store.append(&key(None), deep, 1).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    assert_eq!(store.load(&key(None)).await.unwrap(), Some(said("one")));
}

#[tokio::test]
async fn runs_wait_for_each_other_while_readers_go_on() {
    let folder = Folder::new();
    let (a, b) = (
        FilesystemStore::new(folder.root()).unwrap(),
        Arc::new(FilesystemStore::new(folder.root()).unwrap()),
    );
    let key = key(None);
    a.replace(&key, said("one")).await.unwrap();
    let running = a.synchronize(&key).await.unwrap();
    let waiter = tokio::spawn({
        let (b, key) = (Arc::clone(&b), key.clone());
        async move { b.synchronize(&key).await }
    });
    // Several attempts of the waiter, all in vain.
    for _ in 0..5 {
        assert_eq!(b.load(&key).await.unwrap(), Some(said("one")));
        tokio::time::sleep(RETRY).await;
        assert!(!waiter.is_finished());
    }
    running.release().await.unwrap();
    waiter.await.unwrap().unwrap().release().await.unwrap();
}

#[tokio::test]
async fn what_a_dead_writer_left_is_removed_and_what_a_living_one_writes_is_not() {
    let folder = Folder::new();
    let store = FilesystemStore::new(folder.root()).unwrap();
    store.replace(&key(None), said("one")).await.unwrap();
    let name = document::name("conversation-42");
    let left = folder
        .root()
        .join(format!("{name}.json.1.0123456789abcdef.tmp"));
    fs::write(&left, "half").unwrap();
    let lock = FileLock::try_acquire(&store.root, &format!("{name}.lock"))
        .unwrap()
        .unwrap();
    FilesystemStore::new(folder.root()).unwrap();
    assert!(left.exists());
    drop(lock);
    FilesystemStore::new(folder.root()).unwrap();
    assert!(!left.exists());
    assert_eq!(store.load(&key(None)).await.unwrap(), Some(said("one")));
}
