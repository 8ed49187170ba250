"""Reads the streams of the Bedrock cassettes with the vendor's own client.

Usage: python bedrock_oracle.py PATH_TO_SCRIPTED_LLM

Needs the `botocore` package. Exits with a traceback when the client reads
something else than a cassette expects of us, and prints `ok` otherwise.
"""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from botocore.config import Config
from botocore.eventstream import ChecksumMismatch
from botocore.exceptions import ClientError, EventStreamError
from botocore.session import Session

CASSETTES = Path(__file__).parents[1] / "cassettes" / "bedrock"
STOP_REASONS = {
    "stop_sequence": "end_turn",
    "model_context_window_exceeded": "max_tokens",
    "guardrail_intervened": "content_filter",
    "content_filtered": "content_filter",
}
# What the client cannot read, because it is none of the vendor's doing.
FOREIGN = {
    "document": "an answer that is no stream",
    "drop_after_usage_is_missing": "a connection that closes early",
    "frame_too_large": "a limit of ours",
    "not_an_event_stream": "a page of a proxy",
}
# What the client passes on, because it does not judge what models write.
UNJUDGED = {"malformed_arguments", "max_tokens_within_a_call"}


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    with urllib.request.urlopen(request) as reply:
        answer: dict[str, Any] = json.load(reply)
        return answer


class Oracle:
    """The vendor's client, and the scripted server that it asks."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._session = Session()
        self._session.set_credentials("AKIDEXAMPLE", "test-secret-key")

    def events(self, exchange: dict[str, Any]) -> list[dict[str, Any]]:
        answer = {key: value for key, value in exchange.items() if key != "expect"}
        scenario = post(f"{self._server}/_scenarios", {"exchanges": [answer]})
        client = self._session.create_client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=scenario["base_url"],
            config=Config(retries={"max_attempts": 0}, read_timeout=20),
        )
        question = [{"role": "user", "content": [{"text": "Hi"}]}]
        answered = client.converse_stream(modelId="amazon.nova-pro-v1:0", messages=question)
        return list(answered["stream"])


class Reader:
    """The message that a client's events make."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.stop_reason = ""
        self.additional: Any = None
        self.usage: dict[str, int] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        for event in events:
            ((kind, data),) = event.items()
            take = {
                "messageStart": self._message_start,
                "contentBlockStart": self._content_block_start,
                "contentBlockDelta": self._content_block_delta,
                "contentBlockStop": self._content_block_stop,
                "messageStop": self._message_stop,
                "metadata": self._metadata,
            }
            take[kind](data)

    def content(self) -> list[dict[str, Any]]:
        """The blocks as ours are written; those of the service's own tools have none."""
        blocks: list[dict[str, Any]] = []
        for _, block in sorted(self._blocks.items()):
            if block["type"] == "tool_use":
                block["input"] = json.loads(block["input"] or "{}")
            if block["type"] != "foreign":
                blocks.append(block)
        return blocks

    def _message_start(self, data: dict[str, Any]) -> None:
        assert data == {"role": "assistant"}

    def _content_block_start(self, data: dict[str, Any]) -> None:
        call = data["start"].get("toolUse", {"type": "server_tool_use"})
        block = {"type": "foreign", "input": "", "text": ""}
        if "type" not in call:
            block = {"type": "tool_use", "id": call["toolUseId"], "name": call["name"], "input": ""}
        self._blocks[data["contentBlockIndex"]] = block

    def _content_block_delta(self, data: dict[str, Any]) -> None:
        ((kind, delta),) = data["delta"].items()
        index = data["contentBlockIndex"]
        if kind == "text":
            self._append(index, "text", "text", delta)
        elif kind == "toolUse":
            self._blocks[index]["input"] += delta["input"]
        elif kind == "reasoningContent":
            ((part, value),) = delta.items()
            if part == "redactedContent":
                data = base64.b64encode(value).decode()
                opaque = {"type": "reasoning", "text": "", "data": data, "encoding": "base64"}
                assert index not in self._blocks, "redacted content comes in one piece here"
                self._blocks[index] = opaque
            else:
                self._append(index, "reasoning", part, value)

    def _append(self, index: int, kind: str, field: str, value: str) -> None:
        block = self._blocks.setdefault(index, {"type": kind})
        block[field] = block.get(field, "") + value

    def _content_block_stop(self, data: dict[str, Any]) -> None:
        assert set(data) == {"contentBlockIndex"}

    def _message_stop(self, data: dict[str, Any]) -> None:
        self.stop_reason = data["stopReason"]
        self.additional = data.get("additionalModelResponseFields")

    def _metadata(self, data: dict[str, Any]) -> None:
        said = data["usage"]
        read = said.get("cacheReadInputTokens", 0)
        write = said.get("cacheWriteInputTokens", 0)
        included = said["totalTokens"] == said["inputTokens"] + said["outputTokens"]
        counts = {
            "input_tokens": said["inputTokens"] - (read + write if included else 0),
            "output_tokens": said["outputTokens"],
            "cache_read_tokens": read,
            "cache_write_tokens": write,
        }
        self.usage = {name: count for name, count in counts.items() if count}


def answers(name: str, oracle: Oracle, case: dict[str, Any]) -> None:
    """The last answer of a case, which is the one that succeeded."""
    expected = case["expect"]["response"]
    reader = Reader(oracle.events(case["exchanges"][-1]))
    content = reader.content()
    assert content == expected["message"]["content"], (name, content)
    reason = STOP_REASONS.get(reader.stop_reason, reader.stop_reason)
    assert reason == expected["stop_reason"], (name, reader.stop_reason)
    assert reader.usage == expected["usage"], (name, reader.usage)
    additional = expected["metadata"].get("additional_model_response_fields")
    assert reader.additional == additional, (name, reader.additional)


def fails(name: str, oracle: Oracle, case: dict[str, Any]) -> None:
    """The last answer of a case, which is the one that was given up."""
    exchange = case["exchanges"][-1]
    expected = case["expect"]["error"]
    try:
        reader = Reader(oracle.events(exchange))
    except ChecksumMismatch:
        assert name == "damaged_frame", name
    except EventStreamError as error:
        (frame,) = [frame for frame in exchange["eventstream"] if "exception" in frame]
        assert error.response["Error"]["Code"] == frame["exception"], (name, error)
        assert frame["data"]["message"] in str(error), (name, error)
    except ClientError as error:
        metadata = error.response["ResponseMetadata"]
        assert metadata["HTTPStatusCode"] == expected["status"], (name, error)
        code = "".join(part.title() for part in expected.get("code", "").split("_"))
        # Ours says what came of it when a request is too long.
        assert code in ("", error.response["Error"]["Code"]), (name, error)
        assert exchange["body"]["message"] in str(error), (name, error)
    else:
        assert name in UNJUDGED or reader.stop_reason.startswith("malformed"), name
        assert reader.usage == expected["usage"], (name, reader.usage)


def main() -> None:
    process = subprocess.Popen(
        [sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout and process.stdin
    try:
        oracle = Oracle(process.stdout.readline().split()[1])
        for path in sorted(CASSETTES.glob("*.json")):
            case = json.loads(path.read_text())
            if path.stem in FOREIGN or not case["exchanges"]:
                continue
            if "response" in case["expect"]:
                answers(path.stem, oracle, case)
            else:
                fails(path.stem, oracle, case)
    finally:
        process.stdin.close()
        assert process.wait(5) == 0
    print("ok")


main()
