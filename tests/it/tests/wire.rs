//! Every wire cassette, byte for byte and in other bytes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use futures_util::{StreamExt, stream};
use it::wire::{Case, Variant, load, play};

/// How many are played at once.
const AT_ONCE: usize = 32;

#[tokio::test(flavor = "multi_thread")]
async fn every_cassette_holds_in_every_variant() {
    // `WIRE=part of a name` plays only those.
    let only = std::env::var("WIRE").unwrap_or_default();
    let cases = load();
    let chosen: Vec<&Case> = cases
        .iter()
        .filter(|case| case.name.contains(&only))
        .collect();
    assert!(!chosen.is_empty(), "no cassette has {only:?} in its name");
    let plays = chosen
        .iter()
        .flat_map(|case| Variant::ALL.map(|variant| play(case, variant)));
    let played = stream::iter(plays).buffered(AT_ONCE);
    let failures: Vec<String> = played
        .filter_map(|failure| async { failure })
        .collect()
        .await;
    println!("{} wire cassettes", chosen.len());
    assert!(
        failures.is_empty(),
        "{} failures\n\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}
