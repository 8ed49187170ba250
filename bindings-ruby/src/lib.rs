//! Ruby extension of LittleGhost: the module `LittleGhost::Native`.
//!
//! Only values cross here. Ruby keeps every callable and every exception under an id of its own
//! (see `docs/bridge.md`), so nothing in this crate holds a Ruby object.

mod answer;
mod catalog;
mod code_mode;
mod credentials;
mod definition;
mod engine;
mod event;
mod guard;
mod handle;
mod inquiry;
mod module;
mod network;
mod prompt;
mod questions;
mod sandbox;
mod session;
mod subagents;
mod support;
mod testing;
mod ticket;
mod token;
mod value;

use magnus::{Error, Ruby, prelude::*};

#[magnus::init]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let native = ruby.define_module("LittleGhost")?.define_module("Native")?;
    event::define(ruby)?;
    module::define(native)?;
    catalog::define(ruby, native)?;
    code_mode::define(ruby, native)?;
    credentials::define(ruby, native)?;
    definition::define(ruby, native)?;
    engine::define(ruby, native)?;
    handle::define(ruby, native)?;
    inquiry::define(ruby, native)?;
    network::define(ruby, native)?;
    prompt::define(native)?;
    questions::define(ruby, native)?;
    subagents::define(native)?;
    sandbox::define(ruby, native)?;
    support::define(ruby, native)?;
    session::define(ruby, native)?;
    ticket::define(ruby, native)?;
    testing::define(ruby, native)?;
    token::define(ruby, native)
}
