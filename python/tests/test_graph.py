"""Graphs: declared routes between participants."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

import little_ghost
from little_ghost import (
    Agent,
    Edge,
    ErrorEdge,
    Graph,
    GraphState,
    Member,
    Message,
    ModelRequest,
    Node,
    RunContext,
    RunResult,
    Swarm,
    Usage,
    Workflow,
    WorkflowInvocation,
    tool,
    workflow,
)
from little_ghost.testing import ScriptedModel


def agent(name: str, *turns: Any, **options: Any) -> Agent:
    return Agent(name=name, model=ScriptedModel(*turns, repeat=True), **options)


def echo(name: str) -> Agent:
    """An agent that answers by its name and what it was asked."""

    def answer(request: ModelRequest) -> str:
        return f"{name}({request.messages[-1].text})"

    return agent(name, answer)


class Failing(Exception):
    pass


class SupportFlow(Graph):
    """Sends questions about invoices to billing."""

    nodes = {
        "triage": agent("triage", "billing"),
        "billing": echo("billing"),
        "respond": echo("respond"),
    }
    start = "triage"
    edges = (
        Edge("triage", "billing", when=lambda state: state.result("triage").output == "billing"),
        ("triage", "respond"),
        Edge("billing", "respond", input=lambda state: f"Say {state.previous_result.text}"),
    )
    finish = "respond"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_conditions_choose_the_route(asynchronous: bool) -> None:
    run = asyncio.run(SupportFlow.ask_async("Why?")) if asynchronous else SupportFlow.ask("Why?")
    assert run.error is None
    assert run.response.startswith("respond(Say billing(Original Task:")
    assert run.result is not None
    assert [step.participant for step in run.result.steps] == ["triage", "billing", "respond"]


def test_a_graph_shows_its_routes() -> None:
    lines = SupportFlow.to_mermaid().splitlines()
    assert lines[0] == "flowchart TD"
    assert "  START((start)) --> n_triage" in lines
    assert "  n_triage -->|condition| n_billing" in lines
    assert SupportFlow.validate().assembly_id == "support_flow"


def test_functions_see_a_copy_of_the_state() -> None:
    seen: list[GraphState] = []

    async def observe(state: GraphState) -> bool:
        seen.append(state)
        state.results["one"].state["changed"] = True
        return False

    def ask(state: GraphState) -> Message:
        seen.append(state)
        return Message("user", "mapped")

    graph = Graph(
        name="watched",
        nodes={"one": echo("one"), "two": Node(echo("two"), input=ask)},
        edges=[Edge("one", "two", when=observe), ("one", "two")],
        start="one",
        finish="two",
    )
    # Two routes to the same node: only the one without a condition is taken.
    run = graph.ask("go", context={"tenant": "a"}, history=[{"role": "user", "content": "Before"}])
    assert (run.error, run.response) == (None, "two(mapped)")
    condition, mapper = seen
    assert (condition.current, condition.step) == ("one", 1)
    assert condition.input.text == "go"
    assert [message.text for message in condition.history] == ["Before"]
    assert dict(condition.context) == {"tenant": "a"}
    assert isinstance(condition.result("one"), RunResult)
    assert (mapper.current, mapper.previous, mapper.predecessors) == ("two", "one", ("one",))
    assert mapper.previous_result is not None
    assert mapper.previous_result.output == "one(go)"
    assert "changed" not in mapper.results["one"].state
    with pytest.raises(TypeError):
        condition.context["tenant"] = "b"  # type: ignore[index]
    with pytest.raises(AttributeError):
        condition.step = 7  # type: ignore[misc]


def test_a_state_can_be_made_by_hand() -> None:
    result = RunResult(Message("assistant", "billing"), "end_turn", Usage(), ())
    state = GraphState(
        Message("user", "Why?"), results={"triage": result}, predecessors=("triage",)
    )
    condition = SupportFlow.edges[0].when  # type: ignore[union-attr]
    assert condition is not None
    assert condition(state)
    assert state.incoming_results == {"triage": result}
    with pytest.raises(KeyError):
        state.result("billing")


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("coroutine", [False, True])
def test_branches_run_side_by_side_and_meet(coroutine: bool, asynchronous: bool) -> None:
    together = threading.Barrier(2, timeout=10)

    @tool
    def meet() -> str:
        """Meets the other branch."""
        together.wait()
        return "met"

    @tool(name="meet")
    async def meet_async() -> str:
        """Meets the other branch."""
        await asyncio.to_thread(together.wait)
        return "met"

    used = meet_async if coroutine else meet

    def branch(name: str) -> Agent:
        return Agent(
            name=name, model=ScriptedModel({"tool": used, "input": {}}, name), tools=[used]
        )

    left, right = branch("left"), branch("right")
    graph = Graph(
        nodes={"ask": echo("ask"), "left": left, "right": right, "join": echo("join")},
        edges=[("ask", "left"), ("ask", "right"), ("left", "join"), ("right", "join")],
        start="ask",
        finish="join",
    )
    run = asyncio.run(graph.ask_async("go")) if asynchronous else graph.ask("go")
    assert run.error is None
    assert "From left:\nleft" in run.response
    for each in (left, right):
        model: Any = each.model
        assert model.requests[1].messages[-1].content[0].content == "met"
    assert run.result is not None
    steps = {step.participant: step for step in run.result.steps}
    assert steps["left"].branch_id == "left"
    assert run.result.trajectory.concurrent(steps["left"].id, steps["right"].id)
    assert set(steps["join"].predecessor_ids) == {steps["left"].id, steps["right"].id}


def test_declared_forks_and_joins_are_told() -> None:
    graph = Graph(
        nodes={name: echo(name) for name in "abcd"},
        edges=[
            Edge("a", ["b", "c"], max_concurrency=1),
            Edge(["b", "c"], "d", input=lambda state: ",".join(state.incoming_results)),
        ],
        start="a",
        finish="d",
    )
    events = {event.type: event.data for event in graph.stream("go")}
    assert events["assembly_fork"]["branches"] == ["b", "c"]
    assert (events["assembly_join"]["from"], events["assembly_join"]["to"]) == (["b", "c"], "d")
    assert events["run_stop"]["result"].text == "d(b,c)"
    assert "-->|fork|" in graph.to_mermaid()


def test_failures_take_their_own_route() -> None:
    broken = Failing("no")
    graph = Graph(
        nodes={"try": agent("try", broken), "save": echo("save"), "end": echo("end")},
        edges=[("try", "end"), ("save", "end")],
        error_edges=[
            ErrorEdge("try", "save", on=Failing, input=lambda state: f"after {state.error}")
        ],
        start="try",
        finish="end",
    )
    events = list(graph.stream("go"))
    moved = [event.data for event in events if event.type == "assembly_transition"]
    assert [(data["from"], data["to"], data["error"]) for data in moved] == [
        ("try", "save", True),
        ("save", "end", False),
    ]
    result = events[-1].data["result"]
    assert "save(after no)" in result.text
    assert result.steps[0].status == "failed"
    assert result.steps[0].attempts[0].error == "Failing"
    elsewhere = Graph(
        nodes=graph.nodes,
        edges=graph.edges,
        error_edges=[ErrorEdge("try", "save", on=[KeyError])],
        start="try",
        finish="end",
    )
    assert elsewhere.ask("go").error is broken


def test_several_matching_routes_are_no_choice() -> None:
    graph = Graph(
        nodes={name: echo(name) for name in "abc"},
        edges=[
            Edge("a", "b", when=lambda state: True),
            Edge("a", "c", when=lambda state: True),
            ("b", "c"),
        ],
        start="a",
        finish="c",
    )
    assert isinstance(graph.ask("go").error, little_ghost.AssemblyRoutingError)


def test_a_condition_that_raises_fails_the_run() -> None:
    broken = Failing("no")

    def condition(state: GraphState) -> bool:
        raise broken

    graph = Graph(
        nodes={name: echo(name) for name in "ab"},
        edges=[Edge("a", "b", when=condition)],
        start="a",
        finish="b",
    )
    assert graph.ask("go").error is broken


def test_nodes_get_the_context_only_where_declared() -> None:
    seen: list[dict[str, Any]] = []

    @tool
    def look(context: RunContext) -> str:
        """Looks."""
        seen.append(dict(context.state))
        return "ok"

    def node(name: str) -> Agent:
        return Agent(
            name=name, model=ScriptedModel({"tool": look, "input": {}}, name), tools=[look]
        )

    graph = Graph(
        nodes={"closed": node("closed"), "open": Node(node("open"), context=True, history=True)},
        edges=[("closed", "open")],
        start="closed",
        finish="open",
    )
    run = graph.ask("go", context={"tenant": "a"})
    assert run.error is None
    assert seen == [{}, {"tenant": "a"}]
    assert run.result is not None
    assert run.result.state == {"tenant": "a"}


def test_every_assembly_can_be_a_node() -> None:
    inner = Graph(
        name="inner",
        nodes={name: echo(name) for name in "ab"},
        edges=[("a", "b")],
        start="a",
        finish="b",
    )
    swarm = Swarm(name="swarm", members=[Member(echo("one")), echo("two")], start="one")

    @workflow
    async def body(flow: Workflow) -> WorkflowInvocation:
        said = await flow.invoke(echo("first"))
        return flow.invoke(echo("second"), input=said)

    graph = Graph(
        nodes={"graph": inner, "swarm": swarm, "flow": body},
        edges=[
            Edge("graph", "swarm", input=lambda state: "to the swarm"),
            Edge("swarm", "flow", input=lambda state: state.previous_result.text),
        ],
        start="graph",
        finish="flow",
    )
    run = graph.ask("go")
    assert (run.error, run.response) == (None, "second(first(one(to the swarm)))")


def test_parallel_bodies_of_workflows_do_not_wait_for_each_other() -> None:
    together = threading.Barrier(2, timeout=10)

    def flow_named(name: str) -> Workflow:
        one, two = echo("one"), echo("two")

        @workflow(name=name)
        def flow(flow: Workflow) -> WorkflowInvocation:
            flow.invoke(one).output()
            together.wait()
            return flow.invoke(two, input=name)

        return flow

    graph = Graph(
        nodes={"a": echo("a"), "b": flow_named("b"), "c": flow_named("c"), "d": echo("d")},
        edges=[("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")],
        start="a",
        finish="d",
    )
    run = graph.ask("go")
    assert run.error is None
    assert "two(b)" in run.response
    assert "two(c)" in run.response


def test_a_graph_is_checked_before_it_runs() -> None:
    nodes = {name: echo(name) for name in "abc"}
    for graph, problem in [
        (Graph(), "has no nodes"),
        (Graph(nodes=nodes), "has no start"),
        (Graph(nodes=nodes, start="a"), "has no finish"),
        (Graph(nodes=nodes, start="a", finish="z"), "no node of it"),
        (Graph(nodes=nodes, start="a", finish="b", edges=[("a", "z")]), "one of which is no node"),
        (Graph(nodes=nodes, start="a", finish="b", edges=["ab"]), "pairs of names"),  # type: ignore[list-item]
        (Graph(nodes={"a": 7}, start="a", finish="a"), "must be an Agent"),
    ]:
        with pytest.raises(little_ghost.ConfigurationError, match=problem):
            graph.validate()
        with pytest.raises(little_ghost.ConfigurationError, match=problem):
            graph.to_mermaid()
        assert isinstance(graph.ask("go").error, little_ghost.ConfigurationError)

    class Endless(Graph):
        start = finish = "self"

    Endless.nodes = {"self": Endless}
    with pytest.raises(little_ghost.ConfigurationError, match="contains itself"):
        Endless.validate()


def test_routes_are_checked_where_they_are_declared() -> None:
    for declare, problem in [
        (lambda: Edge(["a", "b"], ["c", "d"]), "put a node between"),
        (lambda: Edge(["a", "b"], "c", when=bool), "no condition"),
        (lambda: Edge("a", "b", max_concurrency=2), "no max_concurrency"),
        (lambda: Edge("a", ["b", "c"], max_concurrency=0), "at least 1"),
        (lambda: Edge("a", ["b"]), "at least two nodes"),
        (lambda: Edge("a", ["b", "b"]), "each of them once"),
    ]:
        with pytest.raises(ValueError, match=problem):
            declare()
    with pytest.raises(TypeError, match="when must be a function"):
        Edge("a", "b", when="yes")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="on must hold exception classes"):
        ErrorEdge("a", "b", on="Broken")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="input must be a function"):
        Node(echo("a"), input="text")  # type: ignore[arg-type]
