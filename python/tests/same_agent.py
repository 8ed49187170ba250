"""The agent of tests/it/tests/same_bytes.rs in Python: asks each connection of its argument once."""

import json
import sys
from typing import Any

from little_ghost import Agent, Message, ResultSchema, Runtime, Tool


class OrderStatus(Tool):
    """The tool of the history."""

    name = "order_status"
    description = "Look up the status – if any – of an order."
    input_schema = {
        "type": "object",
        "properties": {
            "zulu": {"type": "string", "description": "Größe in „mm“", "maxLength": 40},
            "alpha": {"type": "number", "minimum": 0.5, "maximum": 1_000_000},
            "mike": {"type": "array", "items": {"type": "string", "enum": ["z", "a", "é"]}},
        },
        "required": ["zulu"],
        "additionalProperties": False,
    }

    def call(self, input: dict[str, Any]) -> dict[str, Any]:
        """The values that formats write differently, if any does."""
        return {
            "zulu": 1,
            "alpha": 1.0,
            "text": 'Größe \u2028😀 </b> "\\\u0001\t',
            "none": None,
            "numbers": [0.1, 1e21, 1e-7, -2.5, 12_345_678_901_234_567_890, -7],
            "list": [True, False, [], {}],
        }


class Another(OrderStatus):
    """A second one, out of order."""

    name = "another"
    description = "Do nothing."
    input_schema = {"type": "object", "properties": {}}


RESULT = ResultSchema(
    {
        "type": "object",
        "properties": {"zulu": {"type": "string"}, "alpha": {"type": "integer"}},
        "required": ["zulu", "alpha"],
        "additionalProperties": False,
    },
    name="status",
    description="How it is going.",
)

HISTORY = [
    {"role": "user", "content": "Hi, it's \u007fme 😀"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "A moment."},
            {
                "type": "tool_use",
                "id": "call_0",
                "name": "order_status",
                "input": {"zulu": "480", "alpha": 2.0, "mike": ["é", "z"]},
            },
        ],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "call_0",
                "content": 'No such order: "480"',
                "status": "error",
            }
        ],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "There is none."}]},
]

for target in json.loads(sys.argv[1]):
    agent = Agent(
        name="same",
        model=f"service:{target['model']}",
        system_prompt="You look things up.\n\nTell „it“ plainly: <b>&amp;</b> ✓",
        tools=[OrderStatus, Another],
        model_settings={
            "temperature": 0.2,
            "max_tokens": 256,
            "top_p": 0.95,
            **target["settings"],
        },
        result=RESULT,
        runtime=Runtime(providers={"service": target["connection"]}),
    )
    run = agent.ask(
        "Where is order 481? — 日本", history=[Message.from_dict(message) for message in HISTORY]
    )
    if run.error:
        raise run.error
    print(run.response)
