"""What agents declare about their results, and what they return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field
from scripted_llm import scripted_llm

from little_ghost import (
    Agent,
    ConfigurationError,
    ContextManagement,
    ResultSchema,
    Runtime,
    StructuredResultError,
    Tool,
    ToolLoop,
    tool,
)

CLOSED = {
    "type": "object",
    "properties": {"urgent": {"type": "boolean"}},
    "required": ["urgent"],
    "additionalProperties": False,
}


@dataclass
class Place:
    """Where something is."""

    city: str
    floor: int | None = None


@dataclass
class Triage:
    """Where a request goes."""

    category: Literal["billing", "delivery"]
    place: Place
    pair: tuple[str, int] = ("a", 1)


@dataclass
class Tree:
    name: str
    children: list[Tree]


class Answer(TypedDict):
    urgent: bool


class Report(BaseModel):
    """One report."""

    title: str = Field(max_length=5)
    parent: Report | None = None


def runtime(scenario: Any) -> Runtime:
    connection = {
        "adapter": "openai_compatible",
        "api": "chat_completions",
        "base_url": scenario.base_url,
        "api_key": "test-key",
    }
    return Runtime(providers={"scripted": connection})


def ask(result: Any, *texts: str) -> Any:
    scenario = scripted_llm().script([{"chat": {"text": text}} for text in texts])
    agent = Agent(
        name="triage",
        model="scripted:scripted-model",
        system_prompt="Sort.",
        result=result,
        runtime=runtime(scenario),
    )
    return agent.ask("Now!"), scenario.journal()


def test_a_dataclass_comes_back_as_itself() -> None:
    text = '{"category":"delivery","place":{"city":"Bern","floor":null},"pair":["b",2]}'
    run, journal = ask(Triage, text)
    assert run.error is None
    assert run.result.output == Triage("delivery", Place("Bern"), ("b", 2))
    assert run.result.structured.name == "triage_result"
    assert run.result.structured.strategy == "provider"
    assert run.result.structured.value["place"] == {"city": "Bern", "floor": None}
    assert run.result.output is run.result.output
    sent = journal[0]["body"]["response_format"]["json_schema"]
    assert sent["description"] == "Where a request goes."
    assert sent["schema"]["required"] == ["category", "place", "pair"]
    assert sent["schema"]["properties"]["place"]["required"] == ["city", "floor"]


def test_recursion_is_followed() -> None:
    run, _ = ask(Tree, '{"name":"a","children":[{"name":"b","children":[]}]}')
    assert run.result.output == Tree("a", [Tree("b", [])])


def test_a_typed_dict_and_a_schema_come_back_as_dicts() -> None:
    for declared in (Answer, CLOSED, ResultSchema(CLOSED, name="answer")):
        run, _ = ask(declared, '{"urgent":true}')
        assert run.result.output == {"urgent": True}
        assert run.response == '{"urgent":true}'


def test_a_pydantic_model_is_checked_against_its_whole_schema() -> None:
    too_long = '{"title":"too long","parent":null}'
    run, journal = ask(Report, too_long, '{"title":"ok","parent":{"title":"up","parent":null}}')
    assert run.result.output == Report(title="ok", parent=Report(title="up"))
    schema = journal[0]["body"]["response_format"]["json_schema"]["schema"]
    assert schema["type"] == "object"
    assert "maxLength" not in schema["properties"]["title"]
    assert len(journal) == 2


def test_a_failure_names_the_schema_and_the_violations() -> None:
    run, _ = ask(ResultSchema(CLOSED, name="answer"), "no", '{"urgent":"secret"}')
    assert isinstance(run.error, StructuredResultError)
    assert run.error.schema_name == "answer"
    assert run.error.validation_errors[0].startswith("$.urgent")
    assert "secret" not in str(run.error)


def test_text_is_the_output_without_a_declaration() -> None:
    run, _ = ask(None, "Hello")
    assert run.result.output == "Hello"
    assert run.result.structured is None


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({**CLOSED, "additionalProperties": True}, r"\$\.additionalProperties"),
        ({**CLOSED, "required": []}, r"\$\.required.*\"urgent\""),
        (str, "dataclass"),
        ("a schema", "dataclass"),
    ],
)
def test_unusable_declarations_say_where(declared: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):

        class TriageAgent(Agent):
            result = declared


def test_free_keys_cannot_be_a_contract() -> None:
    @dataclass
    class Loose:
        anything: dict[str, str]

    with pytest.raises(ConfigurationError, match=r"anything\.additionalProperties"):
        ResultSchema(Loose)
    with pytest.raises(ConfigurationError, match="guess"):
        ResultSchema(CLOSED, strategy="guess")  # type: ignore[arg-type]


def test_declarations_are_inherited() -> None:
    class Parent(Agent):
        result = Answer
        context_management = ContextManagement(preserve_recent_messages=12)
        tool_loop = ToolLoop()

    class Child(Parent):
        tool_loop = ToolLoop(terminate_at=9)

    assert Child.result is Answer
    assert Child.context_management == Parent.context_management
    assert (Child.tool_loop, Parent.tool_loop) == (ToolLoop(terminate_at=9), ToolLoop())


@pytest.mark.parametrize(
    "options",
    [
        {"context_window_tokens": 0},
        {"compression_threshold": 0},
        {"summary_ratio": 0.05},
        {"preserve_recent_messages": 1},
    ],
)
def test_context_management_checks_its_numbers(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        ContextManagement(**options)


def test_tool_loop_checks_its_numbers_and_names_its_exceptions() -> None:
    @tool
    def lookup() -> str:
        """Looks up."""
        return ""

    class Refresh(Tool):
        """Refreshes."""

        def call(self) -> str:
            return ""

    options = ToolLoop(except_=["poll", lookup, Refresh, Refresh()]).to_dict()
    assert options["except"] == ["poll", "lookup", "refresh", "refresh"]
    with pytest.raises(ValueError, match="terminate_at"):
        ToolLoop(warning_at=5)
    with pytest.raises(ValueError, match="except_"):
        ToolLoop(except_=[3])
    with pytest.raises(ConfigurationError, match="ToolLoop"):
        Agent(tool_loop={"warning_at": 3})  # type: ignore[arg-type, typeddict-item]
