"""Run against the installed package, outside the checkout.

One tool call, then a streamed answer, from the scripted server at SCRIPTED_BASE_URL; then the same by a
JavaScript program, which the interpreter in the package runs.
"""

import os
import sys

from little_ghost import Agent, CodeMode, configure, tool

configure(
    providers={
        "scripted": {
            "adapter": "openai_compatible",
            "base_url": os.environ["SCRIPTED_BASE_URL"],
            "api": "chat_completions",
            "api_key": "scripted",
        }
    },
)


@tool
def order_status(number: str) -> str:
    """Look up the status of an order."""
    return f"Order {number} is out for delivery."


class SupportAgent(Agent):
    description = "Answers questions about orders."
    model = "scripted:scripted-model"
    system_prompt = "Look orders up before you answer."
    tools = [order_status]


class ProgrammingAgent(SupportAgent):
    description = "Answers questions about orders by programs."
    code_mode = CodeMode("javascript", sandbox="unrestricted")


for agent in (SupportAgent, ProgrammingAgent):
    stream = agent.stream("Where is order 481?")
    for event in stream:
        if event.type == "text_delta":
            print(event.data["text"], end="", flush=True)
    print()
    if not stream.run.completed:
        sys.exit(f"the run ended as {stream.run.outcome}: {stream.run.error!r}")
