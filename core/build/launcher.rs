//! Compiles `launcher/`, the last step before a program inside a sandbox.

use std::env;
use std::path::PathBuf;
use std::process::Command;

/// Writes the executable `launcher` to the output folder and sets `little_ghost_launcher`, for Linux on
/// x86_64 and aarch64. Other targets have no launcher: what it does is then not among the walls.
pub(super) fn build() -> Result<(), String> {
    println!("cargo::rerun-if-changed=launcher");
    println!("cargo::rustc-check-cfg=cfg(little_ghost_launcher)");
    let system = variable("CARGO_CFG_TARGET_OS")?;
    let architecture = variable("CARGO_CFG_TARGET_ARCH")?;
    if system != "linux" || !["x86_64", "aarch64"].contains(&architecture.as_str()) {
        return Ok(());
    }
    let target = variable("TARGET")?;
    let source = PathBuf::from(variable("CARGO_MANIFEST_DIR")?).join("launcher/main.rs");
    let output = PathBuf::from(variable("OUT_DIR")?).join("launcher");
    let mut rustc = Command::new(variable("RUSTC")?);
    rustc
        .args(["--edition", "2024", "--crate-type", "bin"])
        .args(["--crate-name", "launcher", "--target", &target])
        .args([
            "-C",
            "panic=abort",
            "-C",
            "opt-level=s",
            "-C",
            "strip=symbols",
        ])
        // It has to load wherever it is put, without a loader and without libraries.
        .args(["-C", "relocation-model=static"])
        .args(["-C", "link-arg=-nostdlib", "-C", "link-arg=-nostartfiles"])
        .args([
            "-C",
            "link-arg=-static",
            "-C",
            "link-arg=-Wl,--build-id=none",
        ]);
    if target.contains("musl") {
        rustc.args(["-C", "link-self-contained=no"]);
    }
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.arg("-C").arg(format!("linker={linker}"));
    }
    let status = rustc
        .arg("-o")
        .arg(&output)
        .arg(&source)
        .status()
        .map_err(|problem| format!("cannot run rustc for the launcher of sandboxes: {problem}"))?;
    if !status.success() {
        return Err("the launcher of sandboxes does not build; the message is above".to_owned());
    }
    println!("cargo::rustc-cfg=little_ghost_launcher");
    Ok(())
}

fn variable(name: &str) -> Result<String, String> {
    env::var(name).map_err(|_| format!("Cargo did not set {name}"))
}
