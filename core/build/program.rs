//! Builds `program/`, which runs JavaScript for code mode.
//!
//! `LITTLE_GHOST_PROGRAM` names one that was built before, of the same sources. Without the feature there is nothing to do.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

const PREBUILT: &str = "LITTLE_GHOST_PROGRAM";
const NAME: &str = "little-ghost-program";

type Outcome<T> = Result<T, String>;

/// Writes the program to the output folder, where the crate takes it from.
pub(super) fn build() -> Outcome<()> {
    println!("cargo::rerun-if-changed=program");
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    if env::var_os("CARGO_FEATURE_CODE_MODE").is_none() {
        return Ok(());
    }
    let out = PathBuf::from(variable("OUT_DIR")?);
    let program = out.join(NAME);
    let is_supported = env::var_os("CARGO_CFG_UNIX").is_some();
    // Documentation is built without a network, and needs no program.
    if !is_supported || env::var_os("DOCS_RS").is_some() {
        return fs::write(&program, b"").map_err(|problem| failed(&program, &problem));
    }
    let built = match env::var_os(PREBUILT).filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None => make(&out)?,
    };
    copy_file(&built, &program)
}

fn make(out: &Path) -> Outcome<PathBuf> {
    let folder = out.join("program");
    let sources = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("program");
    copy(&sources.join("src"), &folder.join("src"))?;
    copy_file(&sources.join("program.toml"), &folder.join("Cargo.toml"))?;
    copy_file(&sources.join("program.lock"), &folder.join("Cargo.lock"))?;
    let target = variable("TARGET")?;
    // A static program starts faster and finds what it needs in every sandbox, but not every system has static libraries.
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    let flags: &[&str] = if is_linux {
        &["-C target-feature=+crt-static", ""]
    } else {
        &[""]
    };
    let target_folder = out.join("target");
    for flags in flags {
        if compile(&folder, &target_folder, &target, flags)? {
            return Ok(target_folder.join(target).join("release").join(NAME));
        }
    }
    Err(
        "the program that runs JavaScript for code mode cannot be built; see above for the reason"
            .into(),
    )
}

/// Whether the program could be built.
fn compile(folder: &Path, target_folder: &Path, target: &str, flags: &str) -> Outcome<bool> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| OsStr::new("cargo").to_owned());
    let mut command = Command::new(cargo);
    // What the outer build was told is about the crate, not about the program.
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let is_of_build = name.starts_with("CARGO_PROFILE_")
            || name.starts_with("CARGO_FEATURE_")
            || name.starts_with("CARGO_CFG_")
            || name.starts_with("CARGO_PKG_")
            || name.starts_with("DEP_");
        let is_one = [
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTFLAGS",
            "CARGO_TARGET_DIR",
            "CARGO_BUILD_TARGET",
            "CARGO_BUILD_TARGET_DIR",
            "CARGO_BUILD_RUSTFLAGS",
            "CARGO_MANIFEST_DIR",
            "CARGO_MANIFEST_PATH",
            "CARGO_MAKEFLAGS",
            "RUSTC_WORKSPACE_WRAPPER",
            "CLIPPY_ARGS",
            "OPT_LEVEL",
            "DEBUG",
            "PROFILE",
            "OUT_DIR",
            "NUM_JOBS",
        ]
        .contains(&name.as_str());
        if is_of_build || is_one {
            command.env_remove(name);
        }
    }
    let status = command
        .current_dir(folder)
        .env("RUSTFLAGS", flags)
        .args([
            "build",
            "--release",
            "--locked",
            "--quiet",
            "--target",
            target,
            "--target-dir",
        ])
        .arg(target_folder)
        .status()
        .map_err(|problem| {
            format!("cannot run cargo for the program that runs JavaScript: {problem}")
        })?;
    Ok(status.success())
}

fn copy(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to).map_err(|problem| failed(to, &problem))?;
    for entry in fs::read_dir(from).map_err(|problem| failed(from, &problem))? {
        let entry = entry.map_err(|problem| failed(from, &problem))?;
        copy_file(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Outcome<()> {
    let copied = fs::copy(from, to);
    copied.map(drop).map_err(|problem| failed(from, &problem))
}

fn failed(path: &Path, problem: &io::Error) -> String {
    format!("{}: {problem}", path.display())
}

fn variable(name: &str) -> Outcome<String> {
    env::var(name).map_err(|_| format!("cargo did not say what {name} is"))
}
