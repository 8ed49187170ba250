//! The wire cassettes: `tests/cassettes/<adapter>/*.json`, described in the README there.

mod body;
mod case;
mod check;
mod connection;
mod layout;
mod question;
mod seen;
mod services;
mod variant;

pub use body::{Stream, streams};
pub use case::{Case, load};
pub use connection::model;
pub use question::{Asked, ask};
pub use services::{Service, services};
pub use variant::Variant;

use crate::Server;

/// Plays `case` and returns how it differs from what it says; `None` when it does not.
///
/// With `WIRE_SEEN=1` the case is also written anew, as it was seen, to a file beside it.
pub async fn play(case: &Case, variant: Variant) -> Option<String> {
    let exchanges = variant.exchanges(case)?;
    let scenario = Server::shared().scenario(&exchanges).await;
    let asked = question::ask(case, &scenario.base_url).await;
    let journal = scenario.journal().await;
    let found = check::differences(case, &asked, &journal);
    if variant == Variant::Written && std::env::var_os("WIRE_SEEN").is_some() {
        seen::write(case, &asked, &journal);
    }
    (!found.is_empty()).then(|| format!("{} ({variant:?})\n{}", case.name, found.join("\n")))
}
