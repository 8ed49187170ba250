//! Tests with a real Envoy. Its executable is in `LITTLE_GHOST_ENVOY`; without that they say that they were skipped.

mod connect;
mod inspection;
mod lifecycle;
#[cfg(target_os = "linux")]
mod sandboxed;
mod world;
