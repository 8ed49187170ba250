//! The Rust blocks of the README and the guides run, and print what they should.
//!
//! `build.rs` makes a test of each file; `tests/snippets/snippets.json` has the scripted answers.
#![allow(
    unused,
    clippy::all,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the blocks are written for readers"
)]

use std::cell::RefCell;
use std::path::Path;

use it::{Scenario, Server};
use little_ghost::Runtime;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

static SCENARIO: OnceCell<Scenario> = OnceCell::const_new();

thread_local! {
    // Each test has a thread of its own, and blocks print only there.
    static PRINTED: RefCell<String> = const { RefCell::new(String::new()) };
}

macro_rules! print {
    ($($text:tt)*) => {{
        let text = format!($($text)*);
        crate::PRINTED.with_borrow_mut(|printed| printed.push_str(&text));
    }};
}

macro_rules! println {
    ($($text:tt)*) => {{ print!($($text)*); print!("\n"); }};
}

macro_rules! eprintln {
    ($($text:tt)*) => { panic!($($text)*) };
}

include!(concat!(env!("OUT_DIR"), "/snippets.rs"));

fn suite() -> Value {
    let file = Path::new(ROOT).join("tests/snippets/snippets.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// A model that answers every question of the blocks.
async fn scenario() -> &'static Scenario {
    let make = || async {
        let suite = suite();
        let copies = suite["copies"].as_u64().unwrap() as usize;
        let exchanges = vec![suite["exchanges"].as_array().unwrap().clone(); copies].concat();
        let script = json!({"exchanges": exchanges, "unordered": true});
        Server::shared().script(&script).await
    };
    SCENARIO.get_or_init(make).await
}

/// Makes the connection `openrouter` of the process lead to the scripted server.
async fn prepare() {
    let runtime = Runtime::from_value(&json!({"providers": {"openrouter": {
        "adapter": "openrouter", "api_key": "test-key", "base_url": scenario().await.base_url,
    }}}));
    // The first of the tests in this process decides, and they are all alike.
    Runtime::share(runtime.unwrap());
}

/// What the blocks read instead of the address of a local server.
fn local_server() -> String {
    SCENARIO.get().unwrap().base_url.clone()
}

async fn check(file: &str) {
    let printed = PRINTED.take();
    let mut rest = printed.as_str();
    let suite = suite();
    for part in suite["output"][file]["rust"].as_array().unwrap() {
        let part = part.as_str().unwrap();
        let at = rest.find(part);
        let at = at.unwrap_or_else(|| panic!("{part:?} is not where it should be in {printed:?}"));
        rest = &rest[at + part.len()..];
    }
    for request in scenario().await.journal().await {
        assert_eq!(request["error"], Value::Null);
    }
}

/// The example answers with the demo's settings, and says by its status when it could not.
#[tokio::test]
async fn the_example_answers() {
    let answering = scenario().await;
    let (status, printed) = example(&answering.base_url, &[]);
    assert_eq!(status, Some(0), "{printed}");
    assert!(
        printed.contains("[looking up: help_center_lookup]"),
        "{printed}"
    );
    let end = "Yes, items can be returned within 30 days.\n[completed, 117 tokens]";
    assert!(printed.contains(end), "{printed}");

    let (status, printed) = example(&answering.base_url, &["Where is order 481?"]);
    assert_eq!(status, Some(0), "{printed}");
    let journal = answering.journal().await;
    let told = |request: &Value| request["body"].to_string().contains("out for delivery");
    assert!(journal.iter().any(told), "the tool's answer was never sent");

    let refusal = json!({"status": 401, "body": {"error": {"message": "bad key"}}});
    let refusing = Server::shared().scenario(&[refusal]).await;
    let (status, printed) = example(&refusing.base_url, &[]);
    assert_eq!(status, Some(1), "{printed}");
    assert!(printed.contains("HTTPError"), "{printed}");
}

fn example(base_url: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let output = std::process::Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--package", "support-agent", "--"])
        .args(arguments)
        .current_dir(ROOT)
        .env("LITTLE_GHOST_DEMO_BASE_URL", base_url)
        .env("LITTLE_GHOST_DEMO_MODEL", "scripted")
        .env("LITTLE_GHOST_DEMO_API", "chat_completions")
        .output()
        .unwrap();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(printed).unwrap())
}
