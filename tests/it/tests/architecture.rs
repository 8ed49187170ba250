//! Rules about the sources that no type can enforce.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use little_ghost::ErrorKind;

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_engine_names_no_host_language() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../core");
    let mut files = vec![core.join("Cargo.toml")];
    sources(&core.join("src"), &mut files);
    assert!(files.len() > 30, "only {} files found", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for name in ["magnus", "pyo3", "rb_sys", "rb-sys"] {
            assert!(!text.contains(name), "{} names {name}", file.display());
        }
    }
}

#[test]
fn error_kinds_form_one_tree_with_parents_first() {
    let mut seen = HashSet::new();
    for kind in ErrorKind::ALL {
        if let Some(parent) = kind.parent() {
            assert!(
                seen.contains(&parent),
                "{kind} comes before its parent {parent}"
            );
        }
        assert!(seen.insert(*kind), "{kind} is listed twice");
        assert_eq!(ErrorKind::from_name(kind.name()), Some(*kind));
    }
    let roots = ErrorKind::ALL.iter().filter(|kind| kind.parent().is_none());
    let roots: Vec<&str> = roots.map(|kind| kind.name()).collect();
    assert_eq!(roots, ["Error", "ArgumentError", "HostError"]);
}

#[test]
fn every_documented_exception_has_a_kind() {
    for name in [
        "AbstractMethodError",
        "AdapterLoadError",
        "AgentInterjectionError",
        "AssemblyError",
        "AssemblyLimitError",
        "AssemblyRoutingError",
        "AssemblyStepTimeoutError",
        "CancelledError",
        "CapabilityError",
        "CleanupError",
        "ConfigurationError",
        "ContextWindowOverflowError",
        "CredentialError",
        "DeadlineExceededError",
        "DependencyError",
        "HTTPError",
        "InvalidPromptTemplateError",
        "InvocationError",
        "MalformedToolCallError",
        "MissingPromptLocalError",
        "MissingPromptTemplateError",
        "OutputLimitError",
        "PolicyError",
        "PromptTemplateError",
        "ProtocolError",
        "ProviderError",
        "SandboxConfigurationError",
        "StructuredResultError",
        "ToolError",
        "ToolLoopError",
        "UnsupportedInputError",
        "UnsupportedPlatformError",
    ] {
        assert!(ErrorKind::from_name(name).is_some(), "{name} is missing");
    }
}
