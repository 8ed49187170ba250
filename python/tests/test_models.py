"""Models as objects: selections, facts, requests outside a run."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from scripted import ENDLESS, Provider, calls, says

from little_ghost import (
    AdaptedModel,
    AdapterLoadError,
    Agent,
    AnthropicSource,
    BedrockSource,
    CancellationToken,
    CancelledError,
    CatalogSource,
    ConfigurationError,
    CredentialError,
    GeminiSource,
    HTTPError,
    Image,
    Message,
    Model,
    ModelCapabilities,
    ModelConnection,
    ModelRequest,
    ModelResponse,
    ModelsDevSource,
    OpenRouterSource,
    ResolvedModel,
    Runtime,
    StreamEvent,
    UnsupportedInputError,
    Usage,
)

PROVIDERS = {
    "primary": {"adapter": "openrouter", "api_key": "sk-hidden-12345"},
    "direct": {"adapter": "openai", "api_key": "sk-hidden-12345"},
}
MODELS = {
    "support": {
        "target": "primary:openai/gpt-5.6-luna",
        "settings": {"temperature": 0.2, "max_tokens": 9_000_000},
    },
    "careful": {"inherits": "support", "settings": {"temperature": 0}},
}


def runtime(**settings: Any) -> Runtime:
    return Runtime(**{"providers": PROVIDERS, "models": MODELS, **settings})


def question(text: str = "Hi", **options: Any) -> ModelRequest:
    return ModelRequest([Message("user", text)], **options)


def test_roles_targets_and_mappings() -> None:
    models = runtime(default_model="careful").models
    model = models.resolve("support.urgent")
    assert isinstance(model, ResolvedModel)
    assert (model.target, model.role) == ("primary:openai/gpt-5.6-luna", "support.urgent")
    assert (model.model_id, model.adapter) == ("openai/gpt-5.6-luna", "openrouter")
    assert model.settings == {"temperature": 0.2, "max_tokens": 128_000}
    assert model.capabilities.native_structured_output
    assert model.details.context_window == 1_050_000
    assert "image" in (model.details.input_modalities or ())
    assert model.details.pricing["input"] > 0
    default = models.resolve(None)
    assert (default.role, models.default_model) == ("careful", "careful")
    inline = models.resolve({"provider": "direct", "model": "m", "seed": 1})
    assert isinstance(inline, ResolvedModel)
    assert (inline.role, inline.settings) == (None, {"seed": 1})
    assert not inline.details.known
    overlaid = models.resolve("support", profiles={"support": {"settings": {"temperature": 1}}})
    assert isinstance(overlaid, ResolvedModel)
    assert overlaid.settings["temperature"] == 1
    assert models.resolve(model) is model
    assert models.adapters == {"primary": "openrouter", "direct": "openai"}
    for value in (model, models, runtime()):
        assert "sk-hidden" not in repr(value)


def test_what_is_unknown() -> None:
    models = runtime().models
    for selection in ("nobody", "nowhere:m", "primary:", {"provider": "primary"}):
        with pytest.raises(ConfigurationError):
            models.resolve(selection)
    with pytest.raises(AdapterLoadError, match="nothing"):
        runtime(providers={"a": {"adapter": "nothing"}})
    with pytest.raises(ConfigurationError, match="base_uri"):
        runtime(providers={"a": {"adapter": "openai", "base_uri": "x"}})


def test_facts_by_target() -> None:
    models = runtime().models
    assert models.details("primary:openai/gpt-5.6-luna").known
    assert models.details("openai:gpt-5.6-luna").max_output_tokens == 128_000
    unknown = models.details("primary:nobody")
    assert (unknown.known, unknown.context_window, unknown.pricing) == (False, None, {})
    details = models.details("direct:gpt-5.6-luna")
    assert details.provenance["pricing"] == "bundled:litellm+genai-prices"
    assert details.to_dict()["target"] == "direct:gpt-5.6-luna"


def test_a_request_outside_a_run(scenario: type[Provider]) -> None:
    provider = scenario(says(["Hel", "lo"]))
    model = provider.runtime().models.resolve("scripted:scripted-model")
    assert isinstance(model, ResolvedModel)
    events = list(model.stream(question(settings={"seed": 3})))
    kinds = [event.type for event in events]
    assert kinds == ["message_start", "text_delta", "text_delta", "usage", "message_stop"]
    response = events[-1].data["response"]
    assert (response.message.text, response.stop_reason) == ("Hello", "end_turn")
    assert provider.journal()[0]["body"]["seed"] == 3


async def test_a_request_on_a_loop(scenario: type[Provider]) -> None:
    model = scenario(says("Hello")).runtime().models.resolve(None)
    assert isinstance(model, ResolvedModel)
    texts = [event.data.get("text") async for event in model.stream_async(question())]
    assert "Hello" in texts


def test_leaving_a_request_closes_its_connection(scenario: type[Provider]) -> None:
    provider = scenario(ENDLESS)
    model = provider.runtime().models.resolve(None)
    assert isinstance(model, ResolvedModel)
    events = model.stream(question())
    assert next(event for event in events if event.type == "text_delta").data["text"] == "first"
    events.close()
    provider.wait(disconnects=1)


def test_failures_of_a_request_are_raised(scenario: type[Provider]) -> None:
    model = scenario({"status": 400, "body": "no"}).runtime().models.resolve(None)
    assert isinstance(model, ResolvedModel)
    with pytest.raises(HTTPError) as raised:
        list(model.stream(question()))
    assert raised.value.status == 400
    token = CancellationToken()
    token.cancel()
    with pytest.raises(CancelledError):
        list(model.stream(question(cancellation_token=token)))


def test_attachments_are_checked(scenario: type[Provider]) -> None:
    provider = scenario(says("no"))
    connection = {"adapter": "openai_compatible", "base_url": provider.base_url}
    models = {"blind": {"target": "local:m", "details": {"input_modalities": ["text"]}}}
    model = Runtime(providers={"local": connection}, models=models).models.resolve("blind")
    assert isinstance(model, ResolvedModel)
    image = Message("user", [Image(b"x", "image/png")])
    with pytest.raises(UnsupportedInputError, match="image input; it takes text"):
        list(model.stream(ModelRequest([image])))
    assert provider.journal() == []


def test_credentials_are_asked_for_whenever_a_model_is_made(scenario: type[Provider]) -> None:
    provider = scenario(says("a"), says("b"))
    asked: list[tuple[str, str]] = []

    def credentials(connection: str, adapter: str) -> dict[str, Any]:
        asked.append((connection, adapter))
        return {"api_key": f"key-{len(asked)}"}

    connection = {
        "adapter": "openai_compatible",
        "api": "chat_completions",
        "base_url": provider.base_url,
    }
    own = Runtime(
        providers={"local": connection},
        models={"default": {"target": "local:m", "settings": {"seed": 5}}},
        provider_credentials=credentials,
    )
    agent = Agent(runtime=own)
    assert [agent.ask("x").response for _ in range(2)] == ["a", "b"]
    sent = provider.journal()
    assert [request["headers"]["authorization"] for request in sent] == [
        "Bearer key-1",
        "Bearer key-2",
    ]
    assert [request["body"]["seed"] for request in sent] == [5, 5]
    assert asked == [("local", "openai_compatible")] * 2
    broken = runtime(provider_credentials=lambda connection, adapter: "key")
    with pytest.raises(CredentialError):
        broken.models.resolve("support")


class GatewayModel(Model):
    """Answers with its tenant."""

    def __init__(self, connection: ModelConnection) -> None:
        self.connection = connection
        self.requests: list[ModelRequest] = []

    @property
    def capabilities(self) -> ModelCapabilities:
        return ModelCapabilities(tools=True)

    def stream(self, request: ModelRequest) -> Iterator[StreamEvent]:
        self.requests.append(request)
        text = f"{self.connection.model} for {self.connection.options['tenant']}"
        response = ModelResponse(Message("assistant", text), "end_turn", Usage())
        yield StreamEvent("message_stop", {"response": response})


def test_adapters_of_the_application() -> None:
    made: list[GatewayModel] = []

    def gateway(connection: ModelConnection) -> Model:
        made.append(GatewayModel(connection))
        return made[-1]

    own = Runtime(
        providers={"gate": {"adapter": "gateway", "tenant": "blue", "api_key": "sk-hidden-12345"}},
        models={
            "large": {
                "target": "gate:m",
                "settings": {"seed": 1, "max_tokens": 10},
                "details": {"max_output_tokens": 5},
            }
        },
        default_model="large",
        provider_adapters={"gateway": gateway},
    )
    assert Agent(runtime=own).ask("x").response == "m for blue"
    assert made[0].requests[0].settings == {"seed": 1, "max_tokens": 5}
    model = own.models.resolve("large")
    assert isinstance(model, AdaptedModel)
    assert (model.target, model.role, model.adapter) == ("gate:m", "large", "gateway")
    assert (model.capabilities.tools, model.capabilities.tool_choice) == (True, False)
    assert "sk-hidden" not in repr(made[0].connection)
    wrong = Runtime(
        providers={"gate": {"adapter": "gateway"}},
        provider_adapters={"gateway": lambda connection: connection.model},  # type: ignore[dict-item,return-value]
    )
    with pytest.raises(AdapterLoadError):
        wrong.models.resolve("gate:m")


class FixedSource(CatalogSource):
    """Answers, or raises, what it was given."""

    def __init__(self, name: str, answer: Any, **strategies: str) -> None:
        self.name = name
        self.answer = answer
        self.merge_strategies = strategies

    def refresh(self, target: str | None) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_sources_of_the_application() -> None:
    sources = [
        FixedSource("first", {"direct:m": {"context_window": 1, "input_modalities": ["text"]}}),
        FixedSource("down", OSError("down")),
        FixedSource("wrong", {"direct:m": {"supported_parameters": "tools"}}),
        FixedSource("strategy", {"direct:m": {"pricing": {}}}, pricing="largest"),
        FixedSource(
            "second", {"direct:m": {"input_modalities": ["image"]}}, input_modalities="union"
        ),
    ]
    models = runtime(catalog_sources=sources).models
    refreshed = models.refresh()
    assert refreshed.updated == ("direct:m",)
    assert [type(error) for error in refreshed.errors] == [
        OSError,
        ConfigurationError,
        ConfigurationError,
    ]
    details = models.details("direct:m")
    assert (details.context_window, details.input_modalities) == (1, ("text", "image"))
    assert details.provenance["input_modalities"] == "first+second"


@contextmanager
def served(document: Any) -> Iterator[str]:
    """A server of one JSON document."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_lists_of_services() -> None:
    document = {
        "openai": {"models": {"m": {"limit": {"context": 7}, "tool_call": True}}},
        "data": [{"id": "v/m", "context_length": 9, "supported_parameters": ["tool_choice"]}],
    }
    with served(document) as address:
        sources = [
            ModelsDevSource({"direct": "openai"}, base_url=address),
            OpenRouterSource("primary", {"base_url": address, "api_key": "sk-hidden-12345"}),
        ]
        models = runtime(catalog_sources=sources).models
        refreshed = asyncio.run(asyncio.to_thread(models.refresh))
    assert (refreshed.updated, refreshed.errors) == (("direct:m", "primary:v/m"), ())
    assert models.details("direct:m").supported_parameters == ("tools",)
    assert models.resolve("primary:v/m").capabilities.tool_choice
    gone = ModelsDevSource({"direct": "openai"}, base_url=address)
    failed = runtime(catalog_sources=[gone]).models.refresh()
    assert [type(error) for error in failed.errors] == [HTTPError]


@pytest.mark.parametrize(
    ("source", "document"),
    [
        (AnthropicSource, {"data": [{"id": "m", "max_input_tokens": 9}]}),
        (
            GeminiSource,
            {
                "models": [
                    {
                        "name": "models/m",
                        "inputTokenLimit": 9,
                        "supportedGenerationMethods": ["generateContent"],
                    }
                ]
            },
        ),
    ],
)
def test_lists_of_models_that_need_a_key(source: Any, document: Any) -> None:
    with served(document) as address:
        options = {"base_url": address, "api_key": "sk-hidden-12345", "unknown": object()}
        models = runtime(catalog_sources=[source("direct", lambda: options)]).models
        refreshed = models.refresh()
    assert (refreshed.updated, refreshed.errors) == (("direct:m",), ())
    details = models.details("direct:m")
    assert (details.context_window, details.attributes["available"]) == (9, True)
    keyless = runtime(catalog_sources=[source("direct")]).models.refresh()
    assert [type(error) for error in keyless.errors] == [CredentialError]


def test_bedrocks_list_of_models_on_this_machine() -> None:
    model = {"modelId": "a.m", "inputModalities": ["TEXT"], "outputModalities": ["TEXT"]}
    with served({"modelSummaries": [model]}) as address:
        keys = {"access_key_id": "AKIDEXAMPLE", "secret_access_key": "sk-hidden-12345"}
        options = {"region": "us-east-1", "endpoint": address, "credentials": keys}
        models = runtime(catalog_sources=[BedrockSource("direct", options)]).models
        refreshed = models.refresh()
    assert (refreshed.updated, refreshed.errors) == (("direct:a.m",), ())
    assert models.details("direct:a.m").input_modalities == ("text",)


def test_a_tool_call_outside_a_run(scenario: type[Provider]) -> None:
    model = scenario(calls(("look", {"what": "up"}))).runtime().models.resolve(None)
    assert isinstance(model, ResolvedModel)
    look = {"name": "look", "description": "Look.", "input_schema": {"type": "object"}}
    events = list(model.stream(question(tools=[look], tool_choice="required")))
    stop = next(event for event in events if event.type == "tool_call_stop")
    assert stop.data["tool_use"].input == {"what": "up"}
