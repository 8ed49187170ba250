"""Declarations of assemblies that cannot be meant: what is said about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from participants import WAYS, agent

from little_ghost import (
    Agent,
    AssemblyLimitError,
    ConfigurationError,
    Edge,
    Error,
    ErrorEdge,
    Graph,
    Member,
    Node,
    Swarm,
    Workflow,
    Workspace,
)

A: Any = agent("a", "A")
B: Any = agent("b", "B")


def graph(**options: Any) -> Graph:
    declared = {"nodes": {"a": A, "b": B}, "edges": [("a", "b")], "start": "a", "finish": "b"}
    return Graph(**{"name": "g", **declared, **options})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"nodes": [A, B]}, "nodes of g must be a dict"),
        ({"nodes": {"a": A, "b": 3}}, "node 'b' of g: a participant must be"),
        ({"nodes": {1: A, "b": B}}, "a node of g must be the name of a node, not 1"),
        ({"nodes": {"a": A, "b": B, " ": B}}, "a node of g must be the name of a node, not ' '"),
        ({"start": A}, "start of g must be the name of a node"),
        ({"finish": ["b"]}, "finish of g must be the name of a node"),
        ({"error_edges": [("a", "b")]}, "error_edges of g must be ErrorEdge values"),
    ],
)
def test_graphs_say_which_declaration_is_wrong(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        graph(**options).validate()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Edge("a", None), "leads from a name or a list of names to another, not None"),  # type: ignore[arg-type]
        (lambda: Edge(A, "b"), "leads from a name"),
        (lambda: Edge("a", ["b", 3]), "leads from a name"),  # type: ignore[list-item]
        (lambda: Edge("a", ["b", "c"], max_concurrency="2"), "max_concurrency must be a whole"),  # type: ignore[arg-type]
        (lambda: ErrorEdge("a", "b", on=None), "on must hold exception classes, not None"),  # type: ignore[arg-type]
        (lambda: ErrorEdge("a", "b", on="Error"), "on must hold exception classes, not 'Error'"),  # type: ignore[arg-type]
        (lambda: Node(A, retry=2), "a participant has no option retry; use timeout, retries"),  # type: ignore[call-arg]
        (lambda: Member(A, times=2), "a participant has no option times"),  # type: ignore[call-arg]
        (lambda: Member(A, as_=" "), "as_ must be a name, not ' '"),
        (lambda: Workspace("work", ["a"]), "paths must be a dict of names and paths, not list"),  # type: ignore[arg-type]
    ],
)
def test_parts_are_checked_where_they_are_made(make: Callable[[], Any], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        make()


def nested(levels: int) -> Any:
    inner: Any = agent("leaf", "hi")
    for level in range(1, levels + 1):
        inner = Graph(name=f"level_{level}", nodes={"a": inner}, start="a", finish="a")
    return inner


def test_a_hundred_graphs_nest() -> None:
    deep = nested(100)
    deep.validate()
    run = deep.ask("go")
    assert run.completed and run.response == "hi", run.error


@pytest.mark.parametrize(
    ("levels", "innermost"), [(101, "leaf"), (102, "level_1"), (400, "level_299")]
)
def test_more_graphs_than_that_are_refused(levels: int, innermost: str) -> None:
    run = nested(levels).ask("go")
    assert isinstance(run.error, AssemblyLimitError)
    assert f'"{innermost}" is inside of more than 100 others' in str(run.error)


def test_a_swarm_in_a_graph_takes_no_graph_as_a_member() -> None:
    swarm = Swarm(name="s", members=[A, graph(name="inner")], start="a")
    with pytest.raises(ConfigurationError, match='"inner" of the swarm "s" is no agent'):
        graph(nodes={"a": swarm, "b": B}).validate()


@pytest.mark.parametrize("name", ["", "  "])
@pytest.mark.parametrize(
    "make",
    [
        lambda name: Agent(name=name),
        lambda name: Workflow(name=name),
        lambda name: Swarm(name=name, members=[A, B], start="a"),
        lambda name: graph(name=name),
        lambda name: type("Named", (Agent,), {"name": name}),
        lambda name: type("Named", (Workflow,), {"name": name}),
    ],
)
def test_names_are_not_blank(make: Callable[[str], Any], name: str) -> None:
    with pytest.raises(ConfigurationError, match="name must not be blank"):
        make(name)


def test_swarms_say_what_handoffs_are() -> None:
    handoffs: Any = [("a", "b")]
    with pytest.raises(ConfigurationError, match="handoffs of swarm must be a dict"):
        Swarm(members=[A, B], start="a", handoffs=handoffs).validate()
    with pytest.raises(ConfigurationError, match='names "c" in its handoffs, which is no member'):
        Swarm(members=[A, B], start="a", handoffs={"a": ["c"]}).validate()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda flow: flow.invoke(A, timeot=3), "a participant has no option timeot"),
        (lambda flow: flow.invoke(A, as_=3), "as_ must be a name, not 3"),
        (lambda flow: flow.invoke(A, history="abc"), "history must be a list of messages, not str"),
        (
            lambda flow: flow.invoke(A, history=[None]),
            "history[0]: must be a Message or a dict, not NoneType",
        ),
        (lambda flow: flow.invoke(A, context=[1]), "context must be a dict, not list"),
        (lambda flow: flow.parallel([flow.invoke(A)]), "parallel takes what invoke returned"),
    ],
)
def test_workflows_check_what_they_are_asked_for(call: Callable[[Any], Any], said: str) -> None:
    class Flow(Workflow):
        def perform(self) -> Any:
            return call(self)

    run = Flow().ask("go")
    assert isinstance(run.error, TypeError)
    assert said in str(run.error)


@pytest.mark.parametrize("way", WAYS)
def test_a_plain_body_cannot_await(way: str) -> None:
    import asyncio

    async def output(flow: Workflow) -> Any:
        return await flow.invoke(A)

    class Flow(Workflow):
        def perform(self) -> Any:
            asyncio.run(output(self))

    run = WAYS[way](Flow(), "go")
    assert type(run.error) is Error
    assert "this perform is no coroutine" in str(run.error)
