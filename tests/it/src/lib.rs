//! What the integration tests share: the scripted LLM server, and the conformance cases.
//!
//! Everything here may panic, because a panic is how a test fails.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

pub mod conformance;
mod control;
pub mod graphs;
pub mod local_model;
pub mod server;
pub mod wire;

pub use server::{Scenario, Server};

use std::sync::Arc;

use little_ghost::Runtime;
use serde_json::json;

/// The model of a [`runtime`].
pub const MODEL: &str = "scripted:scripted-model";

/// A runtime whose one connection, `scripted`, is the given scenario, in Chat Completions.
pub fn runtime(scenario: &Scenario) -> Arc<Runtime> {
    Runtime::from_value(&json!({"providers": {"scripted": {
        "adapter": "openai_compatible", "api": "chat_completions",
        "base_url": scenario.base_url, "api_key": "test-key",
    }}}))
    .unwrap()
}
