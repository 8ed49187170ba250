//! Prices as numbers.

use serde_json::{Value, json};

/// The price of `units` things, given that of one. None for what is no price: a router's own price is negative,
/// because it depends on the model that is chosen.
pub(super) fn scaled(price: f64, units: f64) -> Option<Value> {
    if !price.is_finite() || price < 0.0 {
        return None;
    }
    // Ten digits are more than any price has, and leave out the noise of binary fractions.
    let scaled: f64 = format!("{:.9e}", price * units).parse().ok()?;
    Some(json!(scaled))
}
