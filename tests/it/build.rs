//! Turns the Rust blocks of the README and the guides into a test for each file.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a build script may panic"
)]

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const NEW_PROCESS: &str = "<!-- snippet: new process -->";

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let suite_file = root.join("tests/snippets/snippets.json");
    println!("cargo::rerun-if-changed={}", suite_file.display());
    let suite: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&suite_file).unwrap()).unwrap();
    let server = format!("{:?}", suite["local_server"].as_str().unwrap());
    let mut tests = String::new();
    for (file, output) in suite["output"].as_object().unwrap() {
        if output["rust"].is_null() {
            continue;
        }
        let document = root.join(file);
        println!("cargo::rerun-if-changed={}", document.display());
        let text = fs::read_to_string(&document).unwrap();
        let text = text.replace(&server, "crate::local_server()");
        write_test(&mut tests, file, &programs(&text));
    }
    let folder = env::var("OUT_DIR").unwrap();
    fs::write(Path::new(&folder).join("snippets.rs"), tests).unwrap();
}

/// The Rust blocks, grouped by the program that they are parts of.
fn programs(text: &str) -> Vec<Vec<String>> {
    let mut programs = vec![Vec::new()];
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line == NEW_PROCESS {
            programs.push(Vec::new());
        }
        if line == "```rust" {
            let code: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            programs.last_mut().unwrap().push(code.join("\n"));
        }
    }
    programs.retain(|blocks| !blocks.is_empty());
    programs
}

/// Each block is nested in the one before, so that it sees what that declared and may declare
/// it anew. A block with a `main` is an item, and is called.
fn write_test(tests: &mut String, file: &str, programs: &[Vec<String>]) {
    let name = file.replace(|letter: char| !letter.is_ascii_alphanumeric(), "_");
    writeln!(
        tests,
        "#[tokio::test]\nasync fn {}() {{",
        name.to_lowercase()
    )
    .unwrap();
    writeln!(tests, "crate::prepare().await;").unwrap();
    for blocks in programs {
        tests.push_str("let program = async {\n");
        for block in blocks {
            writeln!(tests, "{{\n{}", block.replace("#[tokio::main]\n", "")).unwrap();
            if block.contains("async fn main()") {
                tests.push_str("main().await?;\n");
            }
        }
        tests.push_str(&"}\n".repeat(blocks.len()));
        tests.push_str("Ok::<(), little_ghost::Error>(())\n};\nprogram.await.unwrap();\n");
    }
    writeln!(tests, "crate::check({file:?}).await;\n}}").unwrap();
}
