use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

#[tokio::test]
async fn files_are_written_read_and_listed() {
    let place = Place::new().await;
    fs::create_dir(place.workspace.root().join("notes")).unwrap();
    let said = place.write("notes/today.md", "Grüße\n").await.unwrap();
    assert_eq!(said, "Wrote 8 bytes to notes/today.md.");
    assert_eq!(place.read("./notes//today.md").await.unwrap(), "Grüße\n");
    assert_eq!(place.list(".").await.unwrap(), "notes/");
    assert_eq!(place.list("notes/").await.unwrap(), "today.md");
    place.write("notes/b.md", "").await.unwrap();
    place.write("notes/.hidden", "").await.unwrap();
    assert_eq!(
        place.list("workspace://root/notes").await.unwrap(),
        ".hidden\nb.md\ntoday.md"
    );
    let mode = fs::metadata(place.workspace.root().join("notes/b.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o7777 & !0o644, 0);
    assert_eq!(
        place.write("notes/today.md", "x").await.unwrap(),
        "Wrote 1 bytes to notes/today.md."
    );
    assert_eq!(place.read("notes/today.md").await.unwrap(), "x");
}

#[tokio::test]
async fn an_empty_directory_is_an_empty_text() {
    let place = Place::new().await;
    assert_eq!(place.list(".").await.unwrap(), "");
}

#[tokio::test]
async fn a_replacement_is_literal_and_unique() {
    let place = Place::new().await;
    place.write("a", "one two one").await.unwrap();
    assert_eq!(
        place.replace("a", "two", r"\0 \1 $& \\").await.unwrap(),
        "Wrote 19 bytes to a."
    );
    assert_eq!(place.read("a").await.unwrap(), r"one \0 \1 $& \\ one");
    place.refused(place.replace("a", "one", "1").await, "more than once");
    place.refused(
        place.replace("a", "three", "3").await,
        "does not contain old_text",
    );
    place.refused(place.replace("a", "", "3").await, "old_text is empty");
    place.write("b", "aaa").await.unwrap();
    place.refused(place.replace("b", "aa", "b").await, "more than once");
    place.replace("b", "aaa", "").await.unwrap();
    assert_eq!(place.read("b").await.unwrap(), "");
}

#[tokio::test]
async fn named_paths_have_references() {
    let policy =
        json!({"files": {"root": "read_only", "skills": "read_write", "source": "read_only"}});
    let place = Place::with(&[("skills", "s/k"), ("source", "^source")], policy).await;
    place.folder.file("source/deep/main.rb", "puts 1");
    place
        .write("workspace://skills/a.md", "text")
        .await
        .unwrap();
    assert_eq!(place.read("s/k/a.md").await.unwrap(), "text");
    assert_eq!(
        place.read("workspace://source/deep/main.rb").await.unwrap(),
        "puts 1"
    );
    assert_eq!(place.list("workspace://source").await.unwrap(), "deep/");
    place.refused(
        place.write("workspace://source/x", "").await,
        "is read-only",
    );
    place.refused(place.write("x", "").await, "is read-only");
    // Declared, or in the workspace, but never granted.
    let unknown = place
        .files()
        .read("workspace://nothing/x")
        .await
        .unwrap_err();
    assert_eq!(unknown.class_name(), "KeyError");
}

#[tokio::test]
async fn paths_are_logical() {
    let place = Place::new().await;
    let host = place.folder.file("root/a.txt", "a");
    for (path, problem) in [
        (host.to_str().unwrap(), "is absolute"),
        ("/etc/passwd", "is absolute"),
        ("", "is empty"),
        ("..", "must not contain"),
        ("a/../../etc", "must not contain"),
        ("workspace://", "names no path"),
        ("workspace:///a", "names no path"),
        ("a\0b", "NUL"),
        ("a.txt/b", "not a directory"),
        ("nothing", "does not exist"),
        ("nothing/at/all", "does not exist"),
    ] {
        let text = place.read(path).await.unwrap_err();
        assert!(text.contains(problem), "{path:?} gave {text:?}");
    }
    let long = "x/".repeat(3_000);
    place.refused(place.read(&long).await, "longer than");
    let name = "n".repeat(300);
    place.refused(place.read(&name).await, "is too long");
}

#[tokio::test]
async fn what_is_no_text_file_is_refused() {
    let place = Place::new().await;
    place.folder.file("root/binary", [0xff, 0xfe, 0x00]);
    place.folder.file("root/dir/file", "x");
    place.refused(place.read("binary").await, "not valid UTF-8");
    place.refused(place.replace("binary", "a", "b").await, "not valid UTF-8");
    place.refused(place.read("dir").await, "is a directory");
    place.refused(place.read(".").await, "is a directory");
    place.refused(place.write("dir", "x").await, "is a directory");
    place.refused(place.write(".", "x").await, "is a directory");
    place.refused(place.list("dir/file").await, "not a directory");
    place.refused(place.write("dir/new/file", "x").await, "none is created");
    place.refused(place.list("missing").await, "does not exist");
}

#[tokio::test]
async fn sizes_are_bounded() {
    let mut place = Place::new().await;
    place.limits = Limits {
        read_bytes: 10,
        write_bytes: 12,
        list_entries: 3,
        ..Limits::default()
    };
    place.folder.file("root/ten", "0123456789");
    place.folder.file("root/eleven", "0123456789a");
    assert_eq!(place.read("ten").await.unwrap().len(), 10);
    place.refused(place.read("eleven").await, "limit of 10 bytes");
    place.refused(
        place.write("new", "0123456789abc").await,
        "limit of 12 bytes",
    );
    assert!(!place.workspace.root().join("new").exists());
    place.refused(
        place.replace("ten", "9", "9abcd").await,
        "limit of 12 bytes",
    );
    assert_eq!(place.read("ten").await.unwrap(), "0123456789");
    place.folder.file("root/three", "");
    assert_eq!(place.list(".").await.unwrap(), "eleven\nten\nthree");
    place.folder.file("root/four", "");
    place.refused(place.list(".").await, "limit of 3 entries");
}

#[tokio::test]
async fn names_cannot_pretend_to_be_several() {
    let place = Place::new().await;
    place.folder.file("root/a\nb", "");
    assert_eq!(place.list(".").await.unwrap(), "a\\nb");
}
