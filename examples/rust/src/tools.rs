//! What the agent may do, and for whom.

use little_ghost::{Error, Result, RunContext};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Topic {
    Refunds,
    Shipping,
}

#[derive(Deserialize, JsonSchema)]
pub struct Article {
    topic: Topic,
}

pub async fn help_center_lookup(article: Article, _context: RunContext) -> Result<&'static str> {
    Ok(match article.topic {
        Topic::Refunds => "Items can be returned for a full refund within 30 days of purchase.",
        Topic::Shipping => "Standard shipping takes three to five business days.",
    })
}

#[derive(Deserialize, JsonSchema)]
pub struct Order {
    /// The number on the customer's receipt, such as 481.
    order_number: String,
}

pub async fn order_status(order: Order, context: RunContext) -> Result<&'static str> {
    // Who asks is known to the application; the model only chooses the number.
    let request = context.invocation();
    let account = request
        .context()
        .get("account_id")
        .and_then(|id| id.as_str());
    match (request.actor_id(), account, &*order.order_number) {
        (Some("user-7"), Some("account-2"), "481") => Ok("out for delivery"),
        _ => Err(Error::tool("This customer has no such order.")),
    }
}
