"""Models that follow a script, put over an application's own agents."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

import little_ghost
from little_ghost import Agent, ModelRequest, StreamEvent, Usage, testing, tool
from little_ghost.testing import ScriptedModel, UnmetExpectation


@tool
def lookup(topic: str) -> str:
    """Looks a topic up."""
    return f"about {topic}"


class SupportAgent(Agent):
    model = "nowhere:model"
    system_prompt = "Be brief."
    tools = [lookup]


class Unexpected(Exception):
    pass


def test_an_agent_is_tested_without_a_change() -> None:
    turn = {
        "text": ["Let me ", "look."],
        "reasoning": "Hm.",
        "tool": lookup,
        "input": {"topic": "x"},
    }
    with testing.use_model(turn, "Done") as model:
        run = SupportAgent.ask("Hi")
    assert (run.outcome, run.response) == ("completed", "Done")
    first, second = model.requests
    assert [message.role for message in first.messages] == ["system", "user"]
    assert first.tools[0]["name"] == "lookup"
    assert second.messages[2].text == "Let me look."
    assert second.messages[3].content[0].content == "about x"  # type: ignore[union-attr]


def test_events_arrive_as_from_any_model() -> None:
    wanted = {"message_start", "text_delta", "usage", "message_stop"}
    with testing.use_model({"text": ["a", "b"], "usage": Usage(input_tokens=3)}):
        stream = SupportAgent.stream("Hi")
        events: list[StreamEvent] = list(stream)
    kinds = [event.type for event in events if event.type in wanted]
    assert kinds == ["message_start", "text_delta", "text_delta", "usage", "message_stop"]
    assert stream.run.usage.input_tokens == 3


def test_a_script_that_is_not_followed_is_reported() -> None:
    with (
        pytest.raises(UnmetExpectation, match="asked 1 time, but its script has 2 turns"),
        testing.use_model("One", "Two"),
    ):
        SupportAgent.ask("Hi")
    with (
        pytest.raises(UnmetExpectation, match="asked 2 times, but its script has only 1 turn"),
        testing.use_model("One"),
    ):
        SupportAgent.ask("Hi")
        SupportAgent.ask("Hi")
    with testing.use_model("One", "Two", verify=False):
        pass
    with testing.use_model("Always", repeat=True):
        assert {SupportAgent.ask("Hi").response for _ in range(3)} == {"Always"}
    # An exception of the test itself is what the test sees.
    with pytest.raises(Unexpected), testing.use_model("One"):
        raise Unexpected


def test_failures_are_raised_as_they_are() -> None:
    mine = Unexpected("mine")
    busy = little_ghost.HTTPError("busy", status=529, body="{}")
    half = {"text": "Half", "error": little_ghost.OutputLimitError}
    with testing.use_model(mine, busy, half, {"error": "no"}):
        errors = [SupportAgent.ask("Hi").error for _ in range(4)]
    assert errors[0] is mine
    assert isinstance(errors[1], little_ghost.HTTPError)
    assert (str(errors[1]), errors[1].status, errors[1].body) == ("busy", 529, "{}")
    assert type(errors[2]) is little_ghost.OutputLimitError
    assert type(errors[3]) is little_ghost.ProviderError
    with pytest.raises(ValueError, match="can only fail with a little_ghost.Error"):
        ScriptedModel({"text": "Half", "error": mine})


def shout(request: ModelRequest) -> Any:
    last = request.messages[-1]
    if last.role == "tool":
        return last.content[0].content.upper()  # type: ignore[union-attr]
    return {"tool": "lookup", "input": {"topic": last.text}}


async def slow_shout(request: ModelRequest) -> Any:
    await asyncio.sleep(0)
    return shout(request)


@pytest.mark.parametrize("function", [shout, slow_shout])
def test_a_function_makes_turns_from_requests(function: Any) -> None:
    with testing.use_model(function, repeat=True):
        assert SupportAgent.ask("cats").response == "ABOUT CATS"


async def test_asyncio_tasks_have_the_model_too() -> None:
    with testing.use_model(slow_shout, repeat=True):
        runs = await asyncio.gather(*(SupportAgent.ask_async(text) for text in ("a", "b")))
        task = asyncio.create_task(SupportAgent.ask_async("c"))
        runs.append(await task)
    assert [run.response for run in runs] == ["ABOUT A", "ABOUT B", "ABOUT C"]


def test_a_function_may_fail_or_answer_with_a_failure() -> None:
    def fails(_request: ModelRequest) -> Any:
        raise Unexpected("inside")

    answers = [fails, lambda _: Unexpected("answered"), lambda _: lambda _: "deep", lambda _: 42]
    with testing.use_model(*answers):
        runs = [SupportAgent.ask("Hi") for _ in answers]
    assert [type(run.error) for run in runs] == [Unexpected, Unexpected, type(None), ValueError]
    assert runs[2].response == "deep"


def test_a_block_applies_to_its_own_context_unless_it_says_everywhere() -> None:
    answers: list[str | None] = []

    def ask() -> None:
        answers.append(SupportAgent.ask("Hi").outcome)

    for everywhere in (False, True):
        with testing.use_model("Mine", repeat=True, everywhere=everywhere, verify=False):
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
    assert answers == ["failed", "completed"]
    assert SupportAgent.ask("Hi").failed


def test_blocks_nest_and_streams_keep_theirs() -> None:
    with testing.use_model("Outer"):
        with testing.use_model("Inner", verify=False):
            stream = SupportAgent.stream("Hi")
        assert SupportAgent.ask("Hi").response == "Outer"
        assert list(stream)
    assert stream.run.response == "Inner"


def test_an_agent_may_be_given_it() -> None:
    model = ScriptedModel("Given", "Declared")
    assert Agent(model=model).ask("Hi").response == "Given"
    declared: Any = type("Declared", (SupportAgent,), {"model": model})
    assert declared.ask("Hi").response == "Declared"
    model.verify()
    agent = Agent(model=ScriptedModel(lambda _: "kept by the agent"))
    gc.collect()
    assert agent.ask("Hi").response == "kept by the agent"


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        (1, "a turn is a text"),
        ({}, "a turn needs one of"),
        ({"texts": "a"}, 'no "texts"'),
        ({"tool": "a", "input": 1}, "input must be an object"),
    ],
)
def test_what_is_no_turn_is_refused(turn: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ScriptedModel(turn)


def test_unknown_capabilities_are_refused() -> None:
    with pytest.raises(ValueError, match="no capability"):
        ScriptedModel("a", capabilities={"flying": True})
