//! Changes to inputs.

use fastrand::Rng;
use serde_json::Value;

use crate::{eventstream, json, server_sent};

/// Inputs do not grow beyond this: size finds little and costs much.
const MAX_BYTES: usize = 32 * 1_024;

/// `input` with a few changes; `other` lends parts.
#[must_use]
pub fn mutate(input: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut output = input.to_vec();
    for _ in 0..=rng.u8(..3) {
        output = if rng.u8(..5) == 0 {
            bytes(output, other, rng)
        } else {
            shaped(&output, other, rng).unwrap_or_else(|| bytes(output, other, rng))
        };
    }
    output.truncate(MAX_BYTES);
    output
}

/// Changes within what the input is made of.
fn shaped(input: &[u8], other: &[u8], rng: &mut Rng) -> Option<Vec<u8>> {
    if let Ok(mut value) = serde_json::from_slice::<Value>(input) {
        let donor = serde_json::from_slice(other).unwrap_or_default();
        json::mutate(&mut value, &[donor], rng);
        return Some(value.to_string().into_bytes());
    }
    if let Some(mut events) = eventstream::parse(input) {
        let others = eventstream::parse(other).unwrap_or_default();
        if rng.bool() {
            frames(&mut events, &others, rng);
        } else {
            let donors: Vec<Value> = others
                .into_iter()
                .filter_map(|event| event.payload.ok())
                .collect();
            if let Some(Ok(value)) = rng.choice(&mut events).map(|event| &mut event.payload) {
                json::mutate(value, &donors, rng);
            }
        }
        return Some(eventstream::render(&events));
    }
    let mut events = server_sent::parse(input)?;
    let others = server_sent::parse(other).unwrap_or_default();
    if rng.u8(..3) == 0 {
        frames(&mut events, &others, rng);
    } else {
        let donors: Vec<Value> = others
            .into_iter()
            .filter_map(|event| event.data.ok())
            .collect();
        if let Some(Ok(value)) = rng.choice(&mut events).map(|event| &mut event.data) {
            json::mutate(value, &donors, rng);
        }
    }
    let newline = match rng.u8(..20) {
        0 => "\r\n",
        1 => "\r",
        _ => "\n",
    };
    Some(server_sent::render(&events, newline))
}

/// Takes away, repeats, moves and borrows frames.
fn frames<T: Clone>(events: &mut Vec<T>, others: &[T], rng: &mut Rng) {
    if events.is_empty() {
        return;
    }
    let at = rng.usize(..events.len());
    match rng.u8(..6) {
        0 => {
            events.remove(at);
        }
        1 => events.truncate(at),
        2 => events.insert(rng.usize(..=at), events[at].clone()),
        3 => {
            let with = rng.usize(..events.len());
            events.swap(at, with);
        }
        4 => {
            if let Some(event) = rng.choice(others) {
                events.insert(at, event.clone());
            }
        }
        _ => {
            let rest = others.get(rng.usize(..=others.len())..).unwrap_or_default();
            events.truncate(at);
            events.extend_from_slice(rest);
        }
    }
}

/// Changes that know nothing of what the bytes are.
fn bytes(mut input: Vec<u8>, other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let at = rng.usize(..=input.len());
    let end = (at + rng.usize(..40)).min(input.len());
    match rng.u8(..7) {
        0 => input.truncate(at),
        1 => {
            input.drain(at..end);
        }
        2 => {
            let piece = input[at..end].to_vec();
            input.splice(at..at, piece);
        }
        3 => {
            if let Some(byte) = input.get_mut(at) {
                *byte ^= 1 << rng.u8(..8);
            }
        }
        4 => input.insert(at, rng.u8(..)),
        5 => {
            let begin = rng.usize(..=other.len());
            input.truncate(at);
            input.extend_from_slice(&other[begin..]);
        }
        _ => {
            const TOKENS: &[&[u8]] = &[
                b"\n",
                b"\n\n",
                b"\r",
                b"\r\n",
                b"data:",
                b"data: ",
                b"event: ",
                b":",
                b"\xef\xbb\xbf",
                b"\xff",
                b"\0",
                b"{",
                b"}",
                b"[",
                b"]",
                b"\"",
                b"\\u",
                b"null",
                b"[DONE]",
                b"-",
                b"1e999",
                b"\xe2\x80\xa8",
            ];
            let token = rng.choice(TOKENS.iter()).unwrap();
            input.splice(at..at, token.iter().copied());
        }
    }
    input
}
