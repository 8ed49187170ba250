//! Builds what a sandbox runs besides the user's programs.

#[path = "build/launcher.rs"]
mod launcher;

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    launcher::build()
}
