"""Callbacks at work: what they are told, and what they decide."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from scripted import calls, says, texts

from little_ghost import (
    AfterInvocation,
    AfterModel,
    AfterModelError,
    AfterTool,
    Agent,
    BeforeInvocation,
    BeforeModel,
    BeforeTool,
    Binding,
    Cancel,
    CancelledError,
    ConfigurationError,
    Hook,
    Message,
    ProviderError,
    Replace,
    Run,
    RunContext,
    ToolOutcome,
    Usage,
    after_initialize,
    after_invocation,
    after_model,
    after_model_error,
    after_tool,
    before_invocation,
    before_model,
    before_tool,
    tool,
)
from little_ghost.callbacks import CallbackChain

WAYS = ("ask", "ask_async")


def ask(agent: Agent, way: str, message: str = "x", **options: Any) -> Any:
    if way == "ask":
        return agent.ask(message, **options)
    return asyncio.run(agent.ask_async(message, **options))


@tool
def look(what: str) -> dict[str, str]:
    """Look."""
    if what == "nothing":
        raise LookupError(what)
    return {"seen": what}


class Watched(Agent):
    """Notes what its callbacks are told."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.told: list[Any] = []

    @after_initialize
    def prepare(self, binding: Binding) -> None:
        assert binding.agent is self and binding.run is not None
        binding.run.state["prepared"] = True
        self.told.append("after_initialize")

    @before_invocation
    def before_all(self, payload: BeforeInvocation, context: RunContext) -> None:
        assert context.state["prepared"]
        self.told.append(payload)

    @after_invocation
    def after_all(self, payload: AfterInvocation) -> None:
        self.told.append(payload)

    @before_model
    async def asking(self, payload: BeforeModel) -> None:
        await asyncio.sleep(0)
        self.told.append(payload)

    @after_model
    def answered(self, payload: AfterModel) -> None:
        self.told.append(payload)

    @before_tool
    def calling(self, payload: BeforeTool) -> None:
        self.told.append(payload)

    @after_tool
    async def called(self, payload: AfterTool, context: RunContext) -> None:
        assert context.run.agent is self
        self.told.append(payload)


@pytest.mark.parametrize("way", WAYS)
def test_what_callbacks_are_told(scenario: Any, way: str) -> None:
    provider = scenario(calls(("look", {"what": "sea"})), says("blue"))
    agent = Watched(runtime=provider.runtime(), tools=[look], system_prompt="Be brief.")
    run = ask(agent, way)
    assert run.response == "blue"
    assert agent.told[0] == "after_initialize"
    told = agent.told[1:]
    assert [type(payload) for payload in told] == [
        BeforeInvocation,
        BeforeModel,
        AfterModel,
        BeforeTool,
        AfterTool,
        BeforeModel,
        AfterModel,
        AfterInvocation,
    ]
    assert [message.role for message in told[0].messages] == ["system", "user"]
    request = told[1].request
    assert request.messages[1].text == "x" and request.tools[0]["name"] == "look"
    assert not request.cancellation_token.cancelled or run.outcome
    assert (told[1].turn, told[5].turn) == (0, 1)
    assert told[2].response.message.tool_uses[0].name == "look"
    assert told[3].tool is look and told[3].tool_use.input == {"what": "sea"}
    assert told[4].operation_id == told[3].operation_id
    outcome = told[4].result
    # The application's own value, not what JSON made of it.
    assert outcome == ToolOutcome({"seen": "sea"}, '{"seen":"sea"}', "success")
    assert told[6].response.message.text == "blue"
    assert told[7].result.text == "blue" and told[7].result.state is run.state


@pytest.mark.parametrize("way", WAYS)
def test_what_callbacks_replace(scenario: Any, way: str) -> None:
    class Changing(Agent):
        @before_invocation
        def more(self, payload: BeforeInvocation) -> Replace[list[Message]]:
            return Replace([*payload.messages, Message("user", "and y")])

        @before_model
        def cooler(self, payload: BeforeModel) -> Replace[Any]:
            return Replace(replace(payload.request, settings={"temperature": 0.5}))

        @after_tool
        async def short(self, payload: AfterTool) -> Replace[Any]:
            if payload.tool_use.input["what"] == "sea":
                return Replace({"short": True})
            return Replace(replace(payload.result, content="hidden"))

        @after_model
        def louder(self, payload: AfterModel) -> Replace[Any] | None:
            if payload.response.message.tool_uses:
                return None
            message = Message("assistant", payload.response.message.text.upper())
            return Replace(replace(payload.response, message=message))

        @after_invocation
        def signed(self, payload: AfterInvocation) -> Replace[Any]:
            assert payload.result.message is not None
            message = Message("assistant", payload.result.message.text + "!")
            return Replace(replace(payload.result, message=message))

    provider = scenario(calls(("look", {"what": "sea"}), ("look", {"what": "sky"})), says("blue"))
    agent = Changing(runtime=provider.runtime(), tools=[look])
    run = ask(agent, way)
    assert run.response == "BLUE!"
    first, second = provider.journal()
    assert texts(first)[-2:] == ["x", "and y"]
    assert first["body"]["temperature"] == 0.5
    assert texts(second)[-2:] == ['{"short":true}', "hidden"]


@pytest.mark.parametrize("way", WAYS)
def test_refusing_a_tool(scenario: Any, way: str) -> None:
    seen: list[str] = []

    class Guarded(Agent):
        @before_tool
        def guard(self, payload: BeforeTool, context: RunContext) -> Cancel | None:
            if context.state.get("verified"):
                return None
            return Cancel("Verify the customer first.")

        @after_tool
        def note(self, payload: AfterTool) -> None:
            seen.append(payload.result.status)

    provider = scenario(
        calls(("look", {"what": "sea"})), says("a"), calls(("look", {"what": "sea"})), says("b")
    )
    agent = Guarded(runtime=provider.runtime(), tools=[look])
    assert ask(agent, way).completed
    assert seen == []
    assert ask(agent, way, context={"verified": True}).completed
    assert seen == ["success"]
    assert texts(provider.journal()[1])[-1] == "Verify the customer first."


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", [before_invocation, after_invocation, before_model, after_model])
def test_cancelling_the_run(scenario: Any, way: str, where: Any) -> None:
    @where
    def stop() -> Cancel:
        return Cancel("out of budget")

    provider = scenario(says("a"))
    run = ask(provider.agent(callbacks=[stop]), way)
    assert run.cancelled and isinstance(run.error, CancelledError)
    assert "out of budget" in str(run.error)


@pytest.mark.parametrize("way", WAYS)
def test_failures_of_tools_and_models(scenario: Any, way: str) -> None:
    told: list[Any] = []

    class Careful(Agent):
        @after_tool
        def failed(self, payload: AfterTool) -> None:
            told.append(payload.result)

        @after_model_error
        async def retry(self, payload: AfterModelError) -> Replace[Any] | None:
            told.append(payload.error)
            if payload.request.settings.get("attempt"):
                return None
            settings = {"temperature": 0.1, "attempt": 1}
            return Replace(replace(payload.request, settings=settings))

    provider = scenario(
        {"status": 400, "body": {"error": {"message": "too warm"}}},
        calls(("look", {"what": "nothing"}), ("look", {"wrong": 1})),
        says("ok"),
        {"status": 400, "body": {"error": {"message": "no"}}},
        {"status": 400, "body": {"error": {"message": "still no"}}},
    )
    agent = Careful(runtime=provider.runtime(), tools=[look])
    run = ask(agent, way)
    assert run.response == "ok"
    error, *outcomes = told
    assert isinstance(error, ProviderError) and error.status == 400
    failed = next(outcome for outcome in outcomes if isinstance(outcome.error, LookupError))
    assert (failed.value, failed.status) == (None, "error")
    assert "LookupError" in failed.content
    assert [outcome.status for outcome in outcomes] == ["error", "error"]
    told.clear()
    run = ask(agent, way)
    assert run.failed and run.error is told[-1] and len(told) == 2


@pytest.mark.parametrize("way", WAYS)
def test_an_exception_of_a_callback_fails_the_run(scenario: Any, way: str) -> None:
    error = KeyError("mine")

    @before_model
    def broken() -> None:
        raise error

    @before_model
    async def broken_later() -> None:
        raise error

    for callback in (broken, broken_later):
        run = ask(scenario().agent(callbacks=[callback]), way)
        assert run.failed and run.error is error


@pytest.mark.parametrize(
    ("where", "decision", "text"),
    [
        (before_model, "x", "returned str; return Replace"),
        (before_model, Replace("x"), "takes a ModelRequest, not str"),
        (before_invocation, Replace("x"), "takes a list of messages, not str"),
        (before_invocation, Replace(["x"]), "takes messages, not str"),
        (before_tool, Replace("x"), "cannot replace anything"),
        (after_tool, Cancel(), "cannot cancel anything"),
        (after_initialize, Cancel(), "cannot cancel anything"),
    ],
)
def test_decisions_that_are_none(scenario: Any, where: Any, decision: Any, text: str) -> None:
    @where
    def odd() -> Any:
        return decision

    provider = scenario(calls(("look", {"what": "sea"})))
    run = provider.agent(tools=[look], callbacks=[odd]).ask("x")
    assert isinstance(run.error, ConfigurationError)
    assert text in str(run.error) and "odd" in str(run.error)


def test_the_order_of_callbacks(scenario: Any) -> None:
    order: list[str] = []

    class Parent(Agent):
        @before_model
        def first(self) -> None:
            order.append("first")

        @before_model
        def second(self) -> None:
            order.append("second")

    class Child(Parent):
        # In its parent's place.
        def second(self) -> None:
            order.append("other second")

        @before_model
        def third(self) -> None:
            order.append("third")

        @before_model(prepend=True)
        def zeroth(self) -> None:
            order.append("zeroth")

    class Grandchild(Child):
        first = None  # type: ignore[assignment]

    @before_model
    def last() -> None:
        order.append("last")

    provider = scenario(says("a"), says("b"), says("c"))
    runtime = provider.runtime()
    assert Child(runtime=runtime, callbacks=[last, last]).ask("x").completed
    assert order == ["zeroth", "first", "other second", "third", "last"]
    order.clear()
    assert Grandchild(runtime=runtime).ask("x").completed
    assert order == ["zeroth", "other second", "third"]
    order.clear()
    assert Parent(runtime=runtime).ask("x").completed
    assert order == ["first", "second"]


def test_later_callbacks_see_what_earlier_ones_replaced(scenario: Any) -> None:
    seen: list[Any] = []

    @before_model
    def change(payload: BeforeModel) -> Replace[Any]:
        return Replace(replace(payload.request, settings={"temperature": 1.0}))

    @before_model
    def look_at(payload: BeforeModel) -> None:
        seen.append(payload.request.settings["temperature"])

    assert scenario(says("a")).agent(callbacks=[change, look_at]).ask("x").completed
    assert seen == [1.0]


def test_contexts_know_what_the_run_used(scenario: Any) -> None:
    seen: list[Any] = []

    @tool
    def think(context: RunContext) -> str:
        """Think."""
        assert context.agent_operation_id
        context.record_usage(Usage(reasoning_tokens=7))
        seen.append(context.usage)
        return "ok"

    used = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
    first = calls(("think", {}))
    first["chat"]["usage"] = used
    run = scenario(first, says("done")).agent(tools=[think]).ask("x")
    assert run.completed
    assert seen == [Usage(input_tokens=10, output_tokens=2, reasoning_tokens=7)]
    assert run.context().usage == run.usage + Usage(reasoning_tokens=7)


def test_a_mistake_in_a_callback_fails_the_run(scenario: Any) -> None:
    closed: list[str] = []

    class Opening(Hook):
        def prepare_run(self, run: Run) -> None:
            run.register("resource", closed.append)

    class Wrong(Agent):
        @before_model
        def too_much(self, payload: Any, context: Any, more: Any) -> None:
            """Wants more than there is."""

    runtime = scenario().runtime().build(hooks=[Opening])
    run = Wrong(runtime=runtime).ask("x")
    assert run.failed and "nothing for more" in str(run.error)
    assert closed == ["resource"]


def test_mistakes_in_declarations() -> None:
    with pytest.raises(ConfigurationError, match="@before_tool takes a function"):
        before_tool(3)  # type: ignore[call-overload]
    with pytest.raises(ConfigurationError, match="write @before_tool"):
        Agent(callbacks=[lambda: None])
    with pytest.raises(ConfigurationError, match="list of functions"):
        Agent(callbacks=len)  # type: ignore[arg-type]

    @before_tool
    def too_much(payload: Any, context: Any, more: Any) -> None:
        """Wants more than there is."""

    with pytest.raises(ConfigurationError, match="nothing for more"):
        CallbackChain(Agent(), [too_much])

    @before_tool
    def named(*, payload: Any) -> None:
        """Wants a name."""

    with pytest.raises(ConfigurationError, match="remove the star"):
        CallbackChain(Agent(), [named])
    assert repr(before_tool) == "<callback before_tool>"


def test_what_prepares_a_run_decides_nothing(scenario: Any) -> None:
    @after_initialize
    def prepare() -> Any:
        return Replace("x")

    @before_tool
    def yields() -> Any:
        yield 1

    run = scenario().agent(callbacks=[prepare]).ask("x")
    assert "cannot replace anything; return None" in str(run.error)
    agent = scenario(calls(("look", {"what": "x"}))).agent(callbacks=[yields], tools=[look])
    assert "it yields; return Replace" in str(agent.ask("x").error)
