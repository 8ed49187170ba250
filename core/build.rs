//! Builds what a sandbox runs besides the user's programs.

#[path = "build/launcher.rs"]
mod launcher;
#[path = "build/program.rs"]
mod program;

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    launcher::build()?;
    program::build()
}
