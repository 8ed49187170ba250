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

#[test]
fn every_adapter_has_enough_cassettes() {
    let cases = load();
    for (adapter, enough) in [
        ("anthropic", 25),
        ("bedrock", 25),
        ("gemini", 25),
        ("openai", 25),
        ("openai_compatible", 25),
        ("openrouter", 25),
        // The format is Gemini's; what differs is where requests go and how they are authorized.
        ("vertex_ai", 25),
    ] {
        let count = cases.iter().filter(|case| case.adapter == adapter).count();
        assert!(
            count >= enough,
            "{adapter} has {count} of {enough} cassettes"
        );
    }
}
