"""Tools of a run: bindings, registries, providers, and tools that are not always there."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from scripted import calls, says, texts

from little_ghost import (
    Agent,
    Binding,
    ConfigurationError,
    Run,
    RunContext,
    Tool,
    ToolError,
    ToolRegistry,
    tool,
)
from little_ghost.tools import WriteTodos
from little_ghost.tools.write_todos import STATE_KEY


@tool
def look() -> str:
    """Look."""
    return "seen"


class Counter(Tool):
    """Count."""

    closed: list[str] = []

    def call(self) -> int:
        assert self.binding.run is not None
        return len(self.binding.run.invocation.message.text)

    def close(self) -> None:
        self.closed.append(self.name)


class Shelf:
    """A provider of tools."""

    def tools(self, binding: Binding) -> list[Any]:
        return [Counter, look] if binding.agent is not None else [look]


class SlowShelf:
    async def tools(self, binding: Binding) -> list[Any]:
        await asyncio.sleep(0)
        return [Counter]


def test_a_registry_makes_binds_and_closes() -> None:
    Counter.closed = []
    binding = Binding(agent=Agent())
    given = Counter()
    given.name = "given"
    registry = ToolRegistry([[look, Counter], given], binding)
    assert registry.names == ("look", "counter", "given")
    assert [type(one) for one in registry] == [type(look), Counter, Counter]
    assert registry.fetch("look") is look
    assert registry.fetch("counter").binding is registry.fetch("given").binding is binding
    assert given.binding.agent is None
    assert "look" in registry and len(registry) == 3
    assert registry.specifications[1]["name"] == "counter"
    with pytest.raises(ToolError, match="no tool nothing"):
        registry.fetch("nothing")
    registry.close()
    registry.close()
    assert Counter.closed == ["counter"]


def test_names_are_checked_and_replaced() -> None:
    Counter.closed = []
    registry = ToolRegistry([Counter])
    with pytest.raises(ConfigurationError, match="two tools are called counter"):
        registry.register(Counter)
    # What was made for it is closed.
    assert Counter.closed == ["counter"]
    first = registry.fetch("counter")
    assert registry.register(Counter, replace=True) is registry
    assert registry.fetch("counter") is not first
    assert Counter.closed == ["counter", "counter"]
    bad = Counter()
    for name in ("", "no spaces", "x" * 65, "ü"):
        bad.name = name
        with pytest.raises(ConfigurationError, match="no name of a tool"):
            ToolRegistry([bad])
    with pytest.raises(ConfigurationError, match="is no tool"):
        ToolRegistry([3])
    with pytest.raises(ConfigurationError, match="only in an agent's run"):
        ToolRegistry([SlowShelf])


def test_bindings() -> None:
    agent = Agent()
    binding = Binding(agent=agent)
    other = binding.replace(model="a:b")
    assert (other.agent, other.model, binding.model) == (agent, "a:b", None)
    (made,) = other.build(Counter)
    assert made.binding is other
    assert Counter().binding == Binding()


@pytest.mark.parametrize("way", ["ask", "ask_async"])
@pytest.mark.parametrize("shelf", [Shelf, Shelf(), SlowShelf])
def test_providers_in_a_run(scenario: Any, way: str, shelf: Any) -> None:
    Counter.closed = []
    provider = scenario(calls(("counter", {})), says("ok"))
    agent = provider.agent(tools=[shelf])
    run = agent.ask("four") if way == "ask" else asyncio.run(agent.ask_async("four"))
    assert run.completed
    assert texts(provider.journal()[1])[-1] == "4"
    assert Counter.closed == ["counter"]


@pytest.mark.parametrize("way", ["ask", "ask_async"])
@pytest.mark.parametrize("slow", [False, True])
def test_tools_that_a_method_chooses(scenario: Any, way: str, slow: bool) -> None:
    class Shop(Agent):
        def tools(self, binding: Binding) -> Any:  # type: ignore[override]
            assert binding.run is not None and binding.runtime is binding.run.runtime
            chosen = [look] if binding.run.invocation.actor_id == "staff" else None
            if not slow:
                return chosen

            async def wait() -> Any:
                return chosen

            return wait()

    provider = scenario(says("a"), says("b"))
    shop = Shop(runtime=provider.runtime(), model="scripted:scripted-model")
    for actor in ("staff", "guest"):
        if way == "ask":
            shop.ask("x", actor_id=actor)
        else:
            asyncio.run(shop.ask_async("x", actor_id=actor))
    staff, guest = provider.journal()
    assert [one["function"]["name"] for one in staff["body"]["tools"]] == ["look"]
    assert not guest["body"].get("tools")


def test_tools_that_are_not_always_there(scenario: Any) -> None:
    def for_staff(binding: Binding) -> bool:
        return binding.run is not None and binding.run.invocation.actor_id == "staff"

    @tool(available_if=for_staff)
    def refund() -> str:
        """Refund."""
        return "done"

    class Never(Counter):
        @classmethod
        def available_if(cls, binding: Binding) -> bool:
            return False

        def __init__(self) -> None:
            raise AssertionError("made although it is not there")

    class Staff(Counter):
        available_if = for_staff

    provider = scenario(says("a"), says("b"))
    agent = provider.agent(tools=[refund, Never, Staff, look])
    for actor in ("staff", "guest"):
        assert agent.ask("x", actor_id=actor).completed
    names = [
        [one["function"]["name"] for one in request["body"]["tools"]]
        for request in provider.journal()
    ]
    assert names == [["refund", "staff", "look"], ["look"]]
    shared = Staff()
    assert ToolRegistry([shared, refund]).names == ()
    with pytest.raises(ConfigurationError, match="function of the binding"):
        tool(available_if=3)(lambda: None)  # type: ignore[arg-type]


def test_a_tool_that_cannot_be_made_leaves_nothing_open(scenario: Any) -> None:
    Counter.closed = []

    class Broken(Tool):
        """Break."""

        def __init__(self) -> None:
            raise LookupError("no connection")

        def call(self) -> str:
            return ""

    provider = scenario()
    run = provider.agent(tools=[Counter, Broken]).ask("x")
    assert run.failed and isinstance(run.error, LookupError)
    assert Counter.closed == ["counter"]
    assert provider.agent(tools=[look, look]).ask("x").error.args[0].startswith("two tools are")
    assert provider.journal() == []


def test_each_run_binds_its_own_copy_of_an_instance(scenario: Any) -> None:
    seen: list[Run | None] = []

    class Notes(Tool):
        """Note."""

        def call(self) -> str:
            seen.append(self.binding.run)
            return "ok"

    notes = Notes()
    provider = scenario(calls(("notes", {})), says("a"), calls(("notes", {})), says("b"))
    agent = provider.agent(tools=[notes])
    runs = [agent.ask("x"), agent.ask("y")]
    assert seen == runs
    assert notes.binding.run is None


def test_todos(scenario: Any) -> None:
    plan = {
        "plan_title": " Ship it ",
        "todos": [
            {"id": "a", "title": "Test ", "status": "in_progress", "details": None},
            {"id": "b", "title": "Land", "status": "pending"},
        ],
    }
    provider = scenario(calls(("write_todos", plan)), says("ok"))
    run = provider.agent(tools=[WriteTodos]).ask("x")
    assert run.completed
    kept = run.state[STATE_KEY]
    assert kept["plan_title"] == "Ship it"
    assert [todo["title"] for todo in kept["todos"]] == ["Test", "Land"]
    todos = WriteTodos()
    context = RunContext()
    outcome = todos.execute(plan, context)
    outcome.value["todos"].clear()
    assert len(context.state[STATE_KEY]["todos"]) == 2
    for change, text in (
        ({"todos": [plan["todos"][1], plan["todos"][1]]}, "an id of its own"),
        ({"todos": [{**todo, "status": "in_progress"} for todo in plan["todos"]]}, "at most one"),  # type: ignore[dict-item]
        ({"plan_title": "  "}, "must not be blank"),
        ({"plan_title": "a\nb"}, "plan_title"),
        ({"todos": [{**plan["todos"][0], "id": "A b"}]}, "id"),  # type: ignore[dict-item]
        ({"todos": [plan["todos"][1]] * 21}, "todos"),
    ):
        failed = todos.execute({**plan, **change}, context)
        assert failed.status == "error" and text in str(failed.content)


def test_availability_is_no_coroutine_function(scenario: Any) -> None:
    class Unsure(Counter):
        @classmethod
        async def available_if(cls, binding: Binding) -> bool:  # type: ignore[override]
            return False

    run = scenario(says("x")).agent(tools=[Unsure]).ask("x")
    assert isinstance(run.error, ConfigurationError)
    assert "available_if of Unsure must be a plain function" in str(run.error)
