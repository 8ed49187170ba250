"""The loop one would write without a library: http.client and json, one connection kept alive."""

import http.client
import json
import os
from pathlib import Path
from urllib.parse import urlsplit

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "help_center_lookup",
            "description": "Look up a help center entry by topic.",
            "parameters": {
                "type": "object",
                "properties": {"topic": {"type": "string"}},
                "required": ["topic"],
                "additionalProperties": False,
            },
        },
    }
]


class PlainClient:
    def __init__(self, base_url):
        base = urlsplit(base_url)
        self.path = base.path
        self.http = http.client.HTTPConnection(base.hostname, base.port)

    def stream(self, messages, tools=None):
        """Yields each decoded chunk of one streamed chat completion."""
        body = {
            "model": "scripted-model",
            "stream": True,
            "messages": messages,
            "stream_options": {"include_usage": True},
        }
        if tools:
            body["tools"] = tools
        self.http.request(
            "POST",
            f"{self.path}chat/completions",
            json.dumps(body),
            {
                "content-type": "application/json",
                "accept": "text/event-stream",
                "authorization": "Bearer test",
            },
        )
        response = self.http.getresponse()
        for line in response:
            if line.startswith(b"data: ") and line != b"data: [DONE]\n":
                yield json.loads(line[6:])
        response.read()

    def text(self, messages):
        for chunk in self.stream(messages):
            if chunk["choices"]:
                text = chunk["choices"][0]["delta"].get("content")
                if text:
                    yield text

    def answer(self, history):
        """One answer to a conversation of `history` and a question."""
        return "".join(self.text([*history, {"role": "user", "content": "Hello"}]))

    def run_with_tool(self, result=None):
        """One run with one tool, which answers `result`: two model calls."""
        messages = [
            {"role": "system", "content": "Answer clearly."},
            {"role": "user", "content": "Can I get a refund?"},
        ]
        while True:
            answer, calls = [], {}
            for chunk in self.stream(messages, TOOLS):
                if not chunk["choices"]:
                    continue
                delta = chunk["choices"][0]["delta"]
                if delta.get("content"):
                    answer.append(delta["content"])
                for call in delta.get("tool_calls") or ():
                    entry = calls.setdefault(call["index"], {"id": "", "name": "", "arguments": ""})
                    entry["id"] += call.get("id") or ""
                    function = call.get("function") or {}
                    entry["name"] += function.get("name") or ""
                    entry["arguments"] += function.get("arguments") or ""
            if not calls:
                return "".join(answer)
            messages.append(
                {
                    "role": "assistant",
                    "content": "".join(answer),
                    "tool_calls": [
                        {
                            "id": call["id"],
                            "type": "function",
                            "function": {"name": call["name"], "arguments": call["arguments"]},
                        }
                        for call in calls.values()
                    ],
                }
            )
            for call in calls.values():
                topic = json.loads(call["arguments"])["topic"]
                messages.append(
                    {
                        "role": "tool",
                        "tool_call_id": call["id"],
                        "content": result or f"{topic}: within 30 days.",
                    }
                )


class PlainSession:
    """A conversation in a file, as one would keep it: read, change, write beside it, rename."""

    def __init__(self, path):
        self.path = Path(path)

    def append(self, messages):
        stored = []
        if self.path.exists():
            stored = json.loads(self.path.read_text("utf-8"))
        temporary = self.path.with_suffix(".tmp")
        with temporary.open("w", encoding="utf-8") as file:
            json.dump(stored + messages, file)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(self.path)
