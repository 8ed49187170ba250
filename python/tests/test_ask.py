"""`ask`: runs, their outcomes, and the options of a call."""

from __future__ import annotations

import datetime
import threading
import time
from typing import Any

import pytest
from scripted import ENDLESS, SILENT, calls, says, texts

from little_ghost import (
    Agent,
    CancellationToken,
    CancelledError,
    CleanupError,
    ConfigurationError,
    CredentialError,
    DeadlineExceededError,
    Error,
    HTTPError,
    Image,
    Invocation,
    InvocationError,
    Message,
    ProtocolError,
    RunContext,
    Runtime,
    Text,
    Tool,
    ToolError,
    Usage,
    tool,
)


@tool
def add(a: int, b: int, context: RunContext) -> int:
    """Add two numbers."""
    context.state["sums"] = context.state.get("sums", 0) + 1
    return a + b


def test_an_answer(scenario: Any) -> None:
    provider = scenario(says(["Hel", "lo"]))
    run = provider.agent(system_prompt="Be kind.").ask("Hi")
    assert (run.outcome, run.response, run.error) == ("completed", "Hello", None)
    assert run.completed and not (run.failed or run.partial or run.cancelled)
    assert run.usage == Usage(input_tokens=10, output_tokens=5)
    assert run.usage.total_tokens == 15
    assert run.result is not None
    assert (run.result.text, run.result.output) == ("Hello", "Hello")
    assert run.result.stop_reason == "end_turn"
    assert [message.role for message in run.result.messages] == ["system", "user", "assistant"]
    assert run.raise_for_outcome() is run
    (request,) = provider.journal()
    assert texts(request) == ["Be kind.", "Hi"]


def test_a_tool_call(scenario: Any) -> None:
    provider = scenario(calls(("add", {"a": 1, "b": 2})), says("3"))
    run = provider.agent(tools=[add]).ask("1 + 2?", context={"account": 7})
    assert run.response == "3"
    assert run.state == {"account": 7, "sums": 1}
    assert run.result is not None
    assert run.result.state is run.state
    assert run.invocation.context == {"account": 7}
    body = provider.journal()[1]["body"]
    assert body["messages"][-1]["content"] == "3"
    assert body["tools"][0]["function"]["parameters"]["required"] == ["a", "b"]


def test_a_class_answers_like_its_instance(scenario: Any) -> None:
    provider = scenario(says("one"), says("two"), cycle=True)

    class SupportAgent(Agent):
        system_prompt = "Be kind."

        def __init__(self) -> None:
            super().__init__(runtime=provider.runtime())

    assert SupportAgent.ask("x").response == "one"
    assert SupportAgent().ask("x").response == "two"
    assert SupportAgent.ask("x").agent.agent_id == "support"


def test_a_failed_run_carries_the_error(scenario: Any) -> None:
    provider = scenario({"status": 401, "body": {"error": {"message": "bad key"}}})
    run = provider.agent().ask("x")
    assert run.failed
    assert isinstance(run.error, HTTPError)
    assert run.error.status == 401
    assert "test-key" not in repr(run.error) + str(run.error.body)
    with pytest.raises(HTTPError) as raised:
        run.raise_for_outcome()
    assert raised.value is run.error


def test_expected_and_unexpected_failures_of_tools(scenario: Any) -> None:
    @tool
    def expected() -> None:
        """Fail."""
        raise ToolError("try another number")

    @tool
    def unexpected() -> None:
        """Fail."""
        raise KeyError("s3cret")

    provider = scenario(calls(("expected", {})), calls(("unexpected", {})), says("done"))
    assert provider.agent(tools=[expected, unexpected]).ask("x").completed
    second, third = (
        request["body"]["messages"][-1]["content"] for request in provider.journal()[1:]
    )
    assert second == "try another number"
    assert "KeyError" in third and "s3cret" not in third


def test_a_cancelled_error_from_a_tool_is_the_runs_error(scenario: Any) -> None:
    error = CancelledError("enough")

    @tool
    def stop() -> None:
        """Stop."""
        raise error

    run = scenario(calls(("stop", {}))).agent(tools=[stop]).ask("x")
    assert run.cancelled
    assert run.error is error


def test_an_exception_of_a_prompt_is_the_very_object(scenario: Any) -> None:
    class Unusual(Exception):
        pass

    error = Unusual("prompt")

    def prompt() -> str:
        raise error

    run = scenario().agent(system_prompt=prompt).ask("x")
    assert run.failed
    assert run.error is error
    with pytest.raises(Unusual) as raised:
        run.raise_for_outcome()
    assert raised.value is error


def test_prompts_and_models_may_be_computed(scenario: Any) -> None:
    provider = scenario(says("a"), says("b"), says("c"))

    class Computed(Agent):
        def system_prompt(self, context: RunContext) -> str:
            return f"Account {context.state['account']}, {self.agent_id}."

        def model(self, invocation: Any) -> str:
            return f"scripted:{invocation.settings['size']}"

    class Awaited(Agent):
        async def system_prompt(self) -> str:
            return "awaited"

    Computed(runtime=provider.runtime()).ask("x", context={"account": 7}, settings={"size": "big"})
    Awaited(runtime=provider.runtime()).ask("x")
    provider.agent(system_prompt=lambda: "plain").ask("x")
    journal = provider.journal()
    assert [texts(request)[0] for request in journal] == [
        "Account 7, computed.",
        "awaited",
        "plain",
    ]
    assert journal[0]["body"]["model"] == "big"


def test_options_reach_the_run(scenario: Any) -> None:
    provider = scenario(says("a"))
    history = [Message("user", "before"), {"role": "assistant", "content": "earlier"}]
    run = provider.agent(model_settings={"temperature": 0.5, "max_tokens": 7}).ask(
        "now",
        history=history,
        settings={"temperature": 0.1},
        metadata={"trace": "t"},
        session_id="s1",
        actor_id="u1",
        run_id="r1",
    )
    invocation = run.invocation
    assert (invocation.session_id, invocation.actor_id, invocation.run_id) == ("s1", "u1", "r1")
    assert invocation.metadata == {"trace": "t"}
    assert [message.text for message in invocation.history] == ["before", "earlier"]
    body = provider.journal()[0]["body"]
    assert texts(provider.journal()[0]) == ["before", "earlier", "now"]
    assert body["temperature"] == 0.1
    assert 7 in (body.get("max_tokens"), body.get("max_completion_tokens"))


@pytest.mark.parametrize(
    "message",
    [
        "Hi",
        Text("Hi"),
        ["Hi"],
        [Text("Hi")],
        Message("user", "Hi"),
        {"role": "user", "content": "Hi"},
        {"content": [{"type": "text", "text": "Hi"}]},
    ],
)
def test_ways_to_write_a_message(scenario: Any, message: Any) -> None:
    provider = scenario(says("a"))
    assert provider.agent().ask(message).completed
    assert texts(provider.journal()[0]) == ["Hi"]


def test_images_are_sent(scenario: Any) -> None:
    provider = scenario(says("a"))
    assert provider.agent().ask(["What is it?", Image(b"\x89PNG", "image/png")]).completed
    content = provider.journal()[0]["body"]["messages"][0]["content"]
    assert content[1]["image_url"]["url"] == "data:image/png;base64,iVBORw=="


@pytest.mark.parametrize("message", ["", " \n", None, [], {}, Message("user", "")])
def test_a_blank_message_is_refused_before_any_run(scenario: Any, message: Any) -> None:
    provider = scenario()
    with pytest.raises(InvocationError, match="blank"):
        provider.agent().ask(message)
    assert provider.journal() == []


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"timout": 3}, TypeError, "no option timout; did you mean timeout?"),
        ({"zzz": 3}, TypeError, "no option zzz; use history, context"),
        ({"history": "no"}, TypeError, "history must be a list"),
        ({"history": 3}, TypeError, "history must be a list of messages, not int"),
        ({"history": ["no"]}, TypeError, r"history\[0\]: must be a Message or a dict, not str"),
        ({"history": [None]}, TypeError, r"history\[0\]: must be a Message or a dict, not None"),
        ({"history": [{"content": "x"}]}, ValueError, "role is missing"),
        (
            {"history": [{"role": "assistant", "tool_calls": []}]},
            ValueError,
            "unknown key 'tool_calls'",
        ),
        ({"history": [{"role": "user", "content": 3}]}, TypeError, "content blocks, not int"),
        ({"history": [{"role": "user", "content": [None]}]}, TypeError, "not NoneType"),
        ({"history": [{"role": "user", "metadata": 3}]}, TypeError, "metadata must be a dict"),
        (
            {"history": [{"role": "user", "content": {"type": "image", "data": 3}}]},
            TypeError,
            "image: data must be a str, not int",
        ),
        (
            {"history": [{"role": "nobody", "content": "x"}]},
            (ValueError, InvocationError),
            "nobody",
        ),
        ({"context": []}, TypeError, "context must be a dict"),
        ({"context": {1: 2}}, TypeError, "keys of context"),
        ({"settings": {"a": float("nan")}}, ValueError, "NaN"),
        ({"metadata": {"a": object()}}, TypeError, "object"),
        ({"deadline_at": "tomorrow"}, TypeError, "deadline_at must be a datetime"),
        ({"timeout": float("inf")}, ValueError, "finite"),
        ({"timeout": 10**400}, ValueError, "finite"),
        ({"session_id": 3}, TypeError, "session_id must be a str"),
        ({"cancellation_token": 3}, TypeError, "CancellationToken"),
    ],
)
def test_bad_options(scenario: Any, options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        scenario().agent().ask("x", **options)


def test_history_of_messages_dicts_and_blocks(scenario: Any) -> None:
    provider = scenario(says("ok"))
    history = [Message("user", "a"), {"role": "assistant", "content": [Text("b"), "c"]}]
    assert provider.agent().ask("x", history=history, context=None).completed
    assert texts(provider.journal()[0]) == ["a", "bc", "x"]


@pytest.mark.parametrize(
    "options",
    [
        lambda: {"timeout": 0.15},
        lambda: {"deadline_at": time.time() + 0.15},
        lambda: {"deadline_at": datetime.datetime.now() + datetime.timedelta(seconds=0.15)},
        lambda: {
            "deadline_at": datetime.datetime.now(datetime.timezone.utc)
            + datetime.timedelta(seconds=0.15),
            "timeout": 60,
        },
    ],
)
def test_a_deadline_keeps_the_text_so_far(scenario: Any, options: Any) -> None:
    provider = scenario(ENDLESS)
    run = provider.agent().ask("x", **options())
    assert (run.outcome, run.response) == ("partial", "first second")
    assert isinstance(run.error, DeadlineExceededError)
    assert provider.wait(disconnects=1)[0]["disconnected_ms"] is not None


def test_a_deadline_in_the_past(scenario: Any) -> None:
    provider = scenario()
    run = provider.agent().ask("x", deadline_at=time.time() - 1)
    assert run.partial
    assert provider.journal() == []


def test_a_lone_tool_is_told_when_the_deadline_passes(scenario: Any) -> None:
    told = []

    @tool
    def waiting(context: RunContext) -> None:
        """Waits to be told."""
        patience = time.monotonic() + 30
        while not context.cancellation_token.cancelled and time.monotonic() < patience:
            pass
        told.append(context.cancellation_token.cancelled)

    provider = scenario({"chat": {"tool_calls": [{"name": "waiting", "arguments": {}}]}})
    run = provider.agent(tools=[waiting]).ask("x", deadline_at=time.time() + 0.2)
    assert run.partial
    assert told == [True]
    assert not run.cancellation_token.cancelled


def test_a_token_cancels_from_another_thread(scenario: Any) -> None:
    provider = scenario(SILENT)
    token = CancellationToken()
    threading.Thread(target=lambda: (provider.wait(requests=1), token.cancel())).start()
    run = provider.agent().ask("x", cancellation_token=token)
    assert run.cancelled
    assert run.response == ""
    assert isinstance(run.error, CancelledError)
    provider.wait(disconnects=1)
    assert run.cancellation_token.cancelled


def test_a_cancelled_run_leaves_the_callers_token_alone(scenario: Any) -> None:
    token = CancellationToken()

    @tool
    def stop(context: RunContext) -> None:
        """Stop."""
        context.run.cancel()

    run = scenario(calls(("stop", {}))).agent(tools=[stop]).ask("x", cancellation_token=token)
    assert run.cancelled
    assert not token.cancelled


def test_tokens_form_a_tree() -> None:
    parent = CancellationToken()
    child = parent.child()
    assert "active" in repr(child)
    child.cancel()
    assert child.cancelled and not parent.cancelled
    other = parent.child()
    parent.cancel()
    assert other.cancelled and parent.child().cancelled


def test_limits(scenario: Any) -> None:
    provider = scenario(calls(("add", {"a": 1, "b": 2})), cycle=True)
    run = provider.agent(tools=[add], max_turns=3).ask("x")
    assert isinstance(run.error, ProtocolError)
    assert len(provider.journal()) == 3


def test_resources_close_in_reverse_order_whatever_happens(scenario: Any) -> None:
    order: list[str] = []

    class Connection:
        def close(self) -> None:
            order.append("connection")

    class Session:
        async def aclose(self) -> None:
            order.append("session")

    class Counter(Tool):
        """Count."""

        def call(self, context: RunContext) -> str:
            run = context.run
            run.register(Connection())
            run.register(Session())
            run.register("file", lambda name: order.append(name))
            with pytest.raises(TypeError, match="no close method"):
                run.register(object())
            return "counted"

        def close(self) -> None:
            order.append("tool")

    provider = scenario(calls(("counter", {})), {"status": 400, "body": {}})
    run = provider.agent(tools=[Counter]).ask("x")
    assert run.failed
    assert order == ["file", "session", "connection", "tool"]
    with pytest.raises(Error, match="closed"):
        run.register(Connection())


def test_a_failed_closer_is_raised_after_all_others_ran(scenario: Any) -> None:
    closed: list[str] = []

    @tool
    def opens(context: RunContext) -> str:
        """Open."""
        context.run.register("first", closed.append)
        context.run.register("second", _fails)
        return "opened"

    def _fails(_: str) -> None:
        raise OSError("disk")

    agent = scenario(calls(("opens", {})), says("ok")).agent(tools=[opens])
    with pytest.raises((CleanupError, OSError)):
        agent.ask("x")
    assert closed == ["first"]


def test_once(scenario: Any) -> None:
    sent: list[str] = []

    @tool
    def send(context: RunContext) -> str:
        """Send a mail."""
        with pytest.raises(ValueError):
            context.run.once("failing", lambda: int("x"))
        return str(context.run.once("mail", lambda: sent.append("mail") or "sent"))

    provider = scenario(calls(("send", {}), ("send", {})), calls(("send", {})), says("ok"))
    assert provider.agent(tools=[send]).ask("x").completed
    assert sent == ["mail"]


def test_the_context_of_a_tool(scenario: Any) -> None:
    seen: dict[str, Any] = {}

    @tool
    def look(context: RunContext) -> str:
        """Look."""
        context.check()
        seen.update(
            remaining=context.remaining_time(),
            capped=context.remaining_time(5),
            metadata=context.metadata,
            actor=context.run.invocation.actor_id,
            run=context.run,
        )
        return "seen"

    agent = scenario(calls(("look", {})), says("ok")).agent(tools=[look])
    run = agent.ask("x", timeout=60, metadata={"a": 1}, actor_id="u")
    assert 5 < seen["remaining"] <= 60
    assert seen["capped"] == 5
    assert (seen["metadata"], seen["actor"], seen["run"]) == ({"a": 1}, "u", run)


def test_a_context_by_hand() -> None:
    context = RunContext()
    context.check()
    assert context.remaining_time() is None
    assert context.remaining_time(3) == 3
    with pytest.raises(Error, match="belongs to no run"):
        _ = context.run
    context.cancellation_token.cancel()
    with pytest.raises(CancelledError):
        context.check()
    with pytest.raises(DeadlineExceededError):
        RunContext(deadline_at=time.time() - 1).check()


def test_without_any_credential() -> None:
    run = Agent(runtime=Runtime()).ask("x")
    assert isinstance(run.error, CredentialError)
    assert "OPENROUTER_API_KEY" in str(run.error)


@pytest.mark.parametrize(
    "model", ["nowhere:x", "no-such-role", {"provider": "nowhere", "model": "x"}]
)
def test_an_unknown_model(scenario: Any, model: Any) -> None:
    run = scenario().agent(model=model).ask("x")
    assert isinstance(run.error, ConfigurationError)


def test_no_secret_shows(scenario: Any) -> None:
    provider = scenario(says("a"))
    runtime = provider.runtime(api_key="sk-very-secret")
    run = Agent(runtime=runtime).ask("x")
    assert "secret" not in f"{runtime!r} {run!r} {run.agent!r} {runtime._native!r}"
    assert provider.journal()[0]["headers"]["authorization"] == "Bearer sk-very-secret"


def test_a_dormant_run_closes_what_was_registered(scenario: Any) -> None:
    closed: list[int] = []
    stream = scenario().agent().stream("x")
    stream.run.register(1, closed.append)
    stream.run.register(2, closed.append)
    stream.run.close()
    stream.run.close()
    assert closed == [2, 1]
    with pytest.raises(Error, match="only once"):
        next(stream)


def test_an_invocation_of_text_and_a_token_of_another_kind(scenario: Any) -> None:
    agent = scenario(says("hi"), says("hi")).agent()
    text: Any = "x"
    assert agent.ask(Invocation(text)).response == "hi"
    with pytest.raises(TypeError, match="message: content must be text"):
        agent.ask(Invocation(5))  # type: ignore[arg-type]
    earlier: Any = [{"role": "user", "content": "before"}, None]
    with pytest.raises(TypeError, match=r"history\[1\]: must be a Message or a dict, not NoneType"):
        agent.ask(Invocation(text, history=earlier))
    with pytest.raises(TypeError, match="history must be a list of messages, not str"):
        agent.ask(Invocation(text, history="before"))  # type: ignore[arg-type]
    assert agent.ask(Invocation(text, history=earlier[:1])).response == "hi"
    with pytest.raises(TypeError, match="cancellation_token must be a CancellationToken, not int"):
        agent.ask("x", cancellation_token=5)
