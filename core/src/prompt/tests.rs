use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use uuid::Uuid;

use super::*;
use crate::error::ErrorKind;
use crate::lookup::Root;

/// A folder of templates that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("little-ghost-{}", Uuid::new_v4()));
        fs::create_dir_all(&path).unwrap();
        let folder = Self(path.canonicalize().unwrap());
        for (name, text) in files {
            folder.write(name, text);
        }
        folder
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

fn render(folder: &Folder, name: &str) -> Result<String, (ErrorKind, String)> {
    PromptResolver::new(folder.as_ref())
        .render(name, &json!({"product": "Acme"}))
        .map_err(|error| (error.kind(), error.message().to_owned()))
}

#[test]
fn renders_a_file_with_its_locals_unescaped() {
    let folder = Folder::new(&[("support/system.j2", "For {{ product }} & <friends>.\n")]);
    assert_eq!(
        render(&folder, "support/system"),
        Ok("For Acme & <friends>.".into())
    );
    assert_eq!(
        render(&folder, "support/system.j2"),
        Ok("For Acme & <friends>.".into())
    );
}

#[test]
fn takes_the_first_suffix_and_the_first_root() {
    let first = Folder::new(&[("a.jinja", "first jinja")]);
    let second = Folder::new(&[
        ("a.j2", "second j2"),
        ("b.jinja", "jinja"),
        ("b.j2", "j2"),
        ("c", "plain"),
    ]);
    let prompts = PromptResolver::new([first.as_ref(), second.as_ref()]);
    let text = |name| prompts.render(name, &json!(null)).unwrap();
    assert_eq!(
        (text("a"), text("b"), text("c")),
        ("first jinja".into(), "j2".into(), "plain".into())
    );

    let own = Folder::new(&[("b.j2", "own")]);
    let trusted = TrustedPath::new(&own).unwrap();
    assert_eq!(
        prompts.render_with("b", &json!({}), &[trusted]).unwrap(),
        "own"
    );
}

#[test]
fn partials_see_only_what_they_are_given() {
    let folder = Folder::new(&[
        (
            "support/system.j2",
            "{{ partial('shared/voice', tone='warm') }} {{ partial('rules', locals={'product': product}) }}",
        ),
        ("shared/_voice.j2", "A {{ tone }} voice."),
        ("support/_rules.j2", "Rules of {{ product.upper() }}."),
        (
            "support/bad.j2",
            "first line\n{{ partial('shared/leaky') }}",
        ),
        ("shared/_leaky.j2", "{{ product }}"),
    ]);
    assert_eq!(
        render(&folder, "support/system"),
        Ok("A warm voice. Rules of ACME.".into())
    );
    let (kind, message) = render(&folder, "support/bad").unwrap_err();
    assert_eq!(kind, ErrorKind::MissingPromptLocal);
    assert!(
        message.contains("shared/_leaky.j2:1") && message.contains("product"),
        "{message}"
    );
}

#[test]
fn a_missing_local_or_function_is_named_with_its_place() {
    let folder = Folder::new(&[
        ("local.j2", "one\n{{ company }}"),
        ("function.j2", "{{ lookup(1) }}"),
        ("attribute.j2", "{{ product.owner.name }}"),
    ]);
    for (template, name) in [
        ("local", "company"),
        ("function", "lookup"),
        ("attribute", "owner"),
    ] {
        let (kind, message) = render(&folder, template).unwrap_err();
        assert_eq!(kind, ErrorKind::MissingPromptLocal, "{message}");
        assert!(
            message.contains(name) && message.contains(&format!("{template}.j2:")),
            "{message}"
        );
    }
}

#[test]
fn optional_locals_can_be_asked_for() {
    let folder = Folder::new(&[(
        "a.j2",
        "{% if plan is defined %}{{ plan }}{% else %}none{% endif %} {{ tone | default('calm') }}",
    )]);
    assert_eq!(render(&folder, "a"), Ok("none calm".into()));
}

#[test]
fn a_syntax_error_says_where() {
    let folder = Folder::new(&[("a.j2", "one\ntwo {% if %}"), ("b.j2", "{% include 'a' %}")]);
    let (kind, message) = render(&folder, "a").unwrap_err();
    assert_eq!(kind, ErrorKind::InvalidPromptTemplate);
    assert!(message.contains("a.j2:2"), "{message}");
    let (kind, message) = render(&folder, "b").unwrap_err();
    assert_eq!(kind, ErrorKind::InvalidPromptTemplate);
    assert!(message.contains("partial("), "{message}");
}

#[test]
fn a_missing_file_names_the_places() {
    let folder = Folder::new(&[]);
    let (kind, message) = render(&folder, "support/system").unwrap_err();
    assert_eq!(kind, ErrorKind::MissingPromptTemplate);
    assert!(
        message.contains(&*folder.0.to_string_lossy()) && message.contains("support/system.j2"),
        "{message}"
    );
}

#[test]
fn unsafe_names_are_refused() {
    let folder = Folder::new(&[("a.j2", "{{ partial('../b') }}"), ("b.j2", "secret")]);
    for name in [
        "",
        " ",
        "/etc/passwd",
        "../b",
        "x/../b",
        "x/..",
        "b\0",
        "x//b",
        "\\b",
        "x\\..\\b",
    ] {
        assert_eq!(
            render(&folder, name).unwrap_err().0,
            ErrorKind::InvalidPromptTemplate,
            "{name:?}"
        );
    }
    assert_eq!(
        render(&folder, "a").unwrap_err().0,
        ErrorKind::InvalidPromptTemplate
    );
}

#[test]
fn links_out_of_a_root_are_passed_over_and_said() {
    let outside = Folder::new(&[("secret.j2", "secret")]);
    let folder = Folder::new(&[("real.j2", "inside")]);
    std::os::unix::fs::symlink(outside.0.join("secret.j2"), folder.0.join("a.j2")).unwrap();
    std::os::unix::fs::symlink(folder.0.join("real.j2"), folder.0.join("b.j2")).unwrap();
    let (kind, message) = render(&folder, "a").unwrap_err();
    assert_eq!(kind, ErrorKind::MissingPromptTemplate);
    assert!(
        message.contains("a.j2") && message.contains("leads out"),
        "{message}"
    );
    assert_eq!(render(&folder, "b"), Ok("inside".into()));
}

#[test]
fn a_root_must_stay_inside_its_boundary() {
    let outside = Folder::new(&[("a.j2", "secret")]);
    let application = Folder::new(&[("app/views/a.j2", "fine")]);
    std::os::unix::fs::symlink(&outside.0, application.0.join("app/prompts")).unwrap();
    let root = |path: &str| Root::new(application.0.join(path)).within(&application.0);
    let escaped = PromptResolver::new([root("app/prompts")]);
    let error = escaped.render("a", &json!({})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidPromptTemplate);
    let fine = PromptResolver::new([root("app/views")]);
    assert_eq!(fine.render("a", &json!({})).unwrap(), "fine");
}

#[test]
fn cycles_and_depth_are_bounded() {
    let folder = Folder::new(&[
        ("a.j2", "{{ partial('b') }}"),
        ("_b.j2", "{{ partial('c') }}"),
        ("_c.j2", "{{ partial('b') }}"),
    ]);
    let (kind, message) = render(&folder, "a").unwrap_err();
    assert_eq!(kind, ErrorKind::InvalidPromptTemplate);
    assert!(message.contains("itself"), "{message}");

    for index in 0..25 {
        folder.write(
            &format!("_deep{index}.j2"),
            &format!("{{{{ partial('deep{}') }}}}", index + 1),
        );
    }
    folder.write("_deep25.j2", "end");
    folder.write("deep.j2", "{{ partial('deep0') }}");
    let (kind, message) = render(&folder, "deep").unwrap_err();
    assert_eq!(kind, ErrorKind::InvalidPromptTemplate);
    assert!(message.contains("20"), "{message}");
    let deeper = PromptResolver::with_max_depth(folder.as_ref(), 30);
    assert_eq!(deeper.render("deep", &json!({})).unwrap(), "end");
}

#[test]
fn a_changed_file_is_read_again() {
    let folder = Folder::new(&[("a.j2", "old")]);
    let prompts = PromptResolver::new(folder.as_ref());
    assert_eq!(prompts.render("a", &json!({})).unwrap(), "old");
    folder.write("a.j2", "new text");
    assert_eq!(prompts.render("a", &json!({})).unwrap(), "new text");
}

#[test]
fn locals_need_usable_names() {
    let folder = Folder::new(&[("a.j2", "x")]);
    let prompts = PromptResolver::new(folder.as_ref());
    for locals in [
        json!({"Name": 1}),
        json!({"a-b": 1}),
        json!({"partial": 1}),
        json!([1]),
    ] {
        let error = prompts.render("a", &locals).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{locals}");
    }
}

#[test]
fn a_trusted_path_must_be_a_folder() {
    let folder = Folder::new(&[("a.j2", "x")]);
    assert_eq!(
        TrustedPath::new(folder.0.join("none")).unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(
        TrustedPath::new(folder.0.join("a.j2")).unwrap_err().kind(),
        ErrorKind::Argument
    );
    let link = folder.0.join("link");
    std::os::unix::fs::symlink(&folder.0, &link).unwrap();
    assert_eq!(TrustedPath::new(link).unwrap().path(), folder.0);
}

#[test]
fn finds_a_file_without_rendering_it() {
    let folder = Folder::new(&[("a.j2", "{{ unknown }}")]);
    let prompts = PromptResolver::new(folder.as_ref());
    assert_eq!(prompts.find("a", &[]).unwrap(), Some(folder.0.join("a.j2")));
    assert_eq!(prompts.find("b", &[]).unwrap(), None);
    assert!(prompts.find("../a", &[]).is_err());
}
