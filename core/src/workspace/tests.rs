#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::fs;
use std::future::Future;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};

use super::*;
use crate::ErrorKind;
use crate::sandbox::tests::folder::Folder;

#[tokio::test]
async fn opening_makes_what_is_the_workspaces_own() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("source")).unwrap();
    let workspace = folder
        .workspace()
        .path("skills", "skills/all")
        .path("source", folder.path().join("source"))
        .build()
        .unwrap();
    assert!(!workspace.root().exists());
    workspace.open(None).await.unwrap();
    workspace.open(None).await.unwrap();
    assert!(workspace.path("skills").unwrap().is_dir());
    workspace.validate().unwrap();
    workspace.close(None).await.unwrap();
    assert!(workspace.root().exists(), "files stay");
    assert!(workspace.open(None).await.is_err());
}

#[tokio::test]
async fn references_and_paths_turn_into_each_other() {
    let folder = Folder::new();
    let workspace = folder
        .workspace()
        .path("skills", "skills")
        .path("deep", "skills/deep")
        .path("source", folder.path().join("source"))
        .build()
        .unwrap();
    let root = workspace.root().to_owned();
    for (reference, path) in [
        (".", root.clone()),
        ("notes/a.md", root.join("notes/a.md")),
        ("workspace://skills", root.join("skills")),
        ("workspace://skills/a", root.join("skills/a")),
        ("workspace://deep/b", root.join("skills/deep/b")),
        ("workspace://source/c", folder.path().join("source/c")),
    ] {
        // As texts, where a slash at the end makes a difference.
        let resolved = workspace.resolve(reference).unwrap();
        assert_eq!(resolved.to_str(), path.to_str());
        assert_eq!(workspace.reference(&path).unwrap(), reference);
    }
    for reference in [
        "",
        "/etc",
        "..",
        "a/../b",
        "workspace://",
        "workspace:///a",
        "a\0",
    ] {
        let problem = workspace.resolve(reference).unwrap_err();
        assert_eq!(problem.kind(), ErrorKind::Argument, "{reference:?}");
    }
    assert_eq!(
        workspace
            .resolve("workspace://x/y")
            .unwrap_err()
            .class_name(),
        "KeyError"
    );
    assert_eq!(workspace.path("x").unwrap_err().class_name(), "KeyError");
    assert_eq!(
        workspace.reference(folder.path()).unwrap_err().kind(),
        ErrorKind::Argument
    );
}

#[test]
fn names_and_paths_are_checked() {
    let build = |name: &str, path: &str| Workspace::builder("/tmp/w").path(name, path).build();
    for (name, path) in [
        ("", "a"),
        ("root", "a"),
        ("a/b", "a"),
        ("..", "a"),
        ("a\n", "a"),
        ("a", ".."),
        ("a", "b/../../c"),
        ("a", ""),
    ] {
        let problem = build(name, path).unwrap_err();
        assert_eq!(problem.kind(), ErrorKind::Argument, "{name:?} {path:?}");
    }
    assert!(build("a-b", "x/../y").is_ok());
    let twice = Workspace::builder("/tmp/w")
        .path("a-b", "x")
        .path("A.B", "y")
        .build();
    assert!(
        twice
            .unwrap_err()
            .message()
            .contains("environment variable")
    );
    let workspace = build("my-skills.1", "x").unwrap();
    assert_eq!(
        workspace.environment()[1],
        (
            "LITTLE_GHOST_WORKSPACE_MY_SKILLS_1".to_owned(),
            "/tmp/w/x".to_owned()
        )
    );
}

#[tokio::test]
async fn two_names_of_one_directory_are_refused() {
    let folder = Folder::new();
    let elsewhere = folder.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    symlink(&elsewhere, folder.path().join("link")).unwrap();
    let both = folder
        .workspace()
        .path("one", &elsewhere)
        .path("two", folder.path().join("link"))
        .build()
        .unwrap();
    let problem = both.open(None).await.unwrap_err();
    assert_eq!(problem.kind(), ErrorKind::Argument);
    assert!(
        problem.message().contains("\"two\" and \"one\""),
        "{problem}"
    );
    let missing = folder
        .workspace()
        .path("one", folder.path().join("missing"))
        .build()
        .unwrap();
    assert!(
        missing
            .open(None)
            .await
            .unwrap_err()
            .message()
            .contains("does not exist")
    );
    // A relative path that an earlier tenant turned into a way out.
    let root = folder.path().join("root");
    fs::create_dir_all(&root).unwrap();
    symlink(&elsewhere, root.join("skills")).unwrap();
    let leading_out = folder.workspace().path("skills", "skills").build().unwrap();
    assert!(
        leading_out
            .open(None)
            .await
            .unwrap_err()
            .message()
            .contains("through a link")
    );
}

#[tokio::test]
async fn setup_and_teardown_happen_once() {
    let folder = Folder::new();
    static SET_UP: AtomicU32 = AtomicU32::new(0);
    static TORN_DOWN: AtomicU32 = AtomicU32::new(0);
    let workspace = folder
        .workspace()
        .setup(|workspace, _| async move {
            SET_UP.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            assert!(!workspace.root().exists(), "the setup comes first");
            Ok(())
        })
        .teardown(|_, _| async {
            TORN_DOWN.fetch_add(1, Ordering::SeqCst);
            Ok(())
        })
        .build()
        .unwrap();
    let (one, two) = tokio::join!(workspace.open(None), workspace.open(None));
    one.unwrap();
    two.unwrap();
    let (one, two) = tokio::join!(workspace.close(None), workspace.close(None));
    one.unwrap();
    two.unwrap();
    assert_eq!(
        (
            SET_UP.load(Ordering::SeqCst),
            TORN_DOWN.load(Ordering::SeqCst)
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn a_partial_setup_is_torn_down_once() {
    let folder = Folder::new();
    let marker = folder.path().join("marker");
    let (made, removed) = (marker.clone(), marker.clone());
    let workspace = folder
        .workspace()
        .path("missing", folder.path().join("missing"))
        .setup(move |_, _| {
            fs::write(&made, "").unwrap();
            async { Ok(()) }
        })
        .teardown(move |_, _| {
            // Fails the second time.
            let removed = fs::remove_file(&removed);
            async move { removed.map_err(|_| Error::tool("torn down twice")) }
        })
        .build()
        .unwrap();
    assert!(
        workspace
            .open(None)
            .await
            .unwrap_err()
            .message()
            .contains("\"missing\"")
    );
    assert!(!marker.exists());
    workspace.close(None).await.unwrap();
    let failing = folder
        .workspace()
        .setup(|_, _| async { panic!("in the setup") })
        .build()
        .unwrap();
    assert!(
        failing
            .open(None)
            .await
            .unwrap_err()
            .message()
            .contains("setup of a workspace panicked")
    );
}

#[tokio::test]
async fn an_opening_that_is_cut_off_is_torn_down_by_closing() {
    let folder = Folder::new();
    let torn_down = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&torn_down);
    let workspace = folder
        .workspace()
        .setup(|_, _| std::future::pending())
        .teardown(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            async { Ok(()) }
        })
        .build()
        .unwrap();
    let mut opening = Box::pin(workspace.open(None));
    let mut context = Context::from_waker(Waker::noop());
    assert!(opening.as_mut().poll(&mut context).is_pending());
    drop(opening);
    assert!(workspace.open(None).await.is_err());
    workspace.close(None).await.unwrap();
    workspace.close(None).await.unwrap();
    assert_eq!(torn_down.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn what_was_never_opened_has_nothing_to_tear_down() {
    let folder = Folder::new();
    let workspace = folder
        .workspace()
        .teardown(|_, _| async { Err(Error::tool("nothing was set up")) })
        .build()
        .unwrap();
    workspace.close(None).await.unwrap();
}
