"""A support agent with two tools, asked on behalf of a customer that the application knows.

python examples/python/support_agent.py "Where is order 481?"
"""

import os
import sys
from typing import Literal

from little_ghost import Agent, RunContext, ToolError, configure, tool

# The server that LITTLE_GHOST_DEMO_BASE_URL names, else the default model of the first key in
# the environment.
if base_url := os.environ.get("LITTLE_GHOST_DEMO_BASE_URL"):
    api = os.environ.get("LITTLE_GHOST_DEMO_API") or "chat_completions"
    model = os.environ.get("LITTLE_GHOST_DEMO_MODEL") or "default"
    configure(
        providers={"local": {"adapter": "openai_compatible", "base_url": base_url, "api": api}},
        default_model=f"local:{model}",
    )

ARTICLES = {
    "refunds": "Items can be returned for a full refund within 30 days of purchase.",
    "shipping": "Standard shipping takes three to five business days.",
}
STATUSES = {("user-7", "account-2", "481"): "out for delivery"}


@tool
def help_center_lookup(topic: Literal["refunds", "shipping"]) -> str:
    """Look up a help center article by topic."""
    return ARTICLES[topic]


@tool
def order_status(order_number: str, context: RunContext) -> str:
    """Look up the status of an order of the current customer.

    Args:
        order_number: Such as 481.
    """
    # Who asks is known to the application; the model only chooses the number.
    request = context.run.invocation
    key = (request.actor_id, request.context.get("account_id"), order_number)
    if key not in STATUSES:
        raise ToolError("This customer has no such order.")
    return STATUSES[key]


class SupportAgent(Agent):
    description = "Answers questions of a shop's customers."
    system_prompt = (
        "You answer customers of a shop in one or two sentences. Look facts up with the tools "
        "before you state them, and never invent any."
    )
    tools = [help_center_lookup, order_status]


question = sys.argv[1] if sys.argv[1:] else "Can I get a refund?"
stream = SupportAgent.stream(question, actor_id="user-7", context={"account_id": "account-2"})
for event in stream:
    if event.type == "text_delta":
        print(event.data["text"], end="", flush=True)
    elif event.type == "tool_start":
        print(f"[looking up: {event.data['tool_use'].name}]", flush=True)

run = stream.run
print(f"\n[{run.outcome}, {run.usage.total_tokens} tokens]")
if not run.completed:
    sys.exit(f"{type(run.error).__name__}: {run.error}")
