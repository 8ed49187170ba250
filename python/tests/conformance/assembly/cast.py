"""The agents and assemblies that a case declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import little_ghost
from little_ghost import (
    Agent,
    Assembly,
    Edge,
    ErrorEdge,
    Graph,
    Member,
    Node,
    ResultSchema,
    Swarm,
    workflow,
)

from ..suite import TOOL
from ..toolbox import Boom, Toolbox
from .body import Body
from .template import of_state

Data = dict[str, Any]


class Cast:
    """Instances by name. With `asynchronous`, code of the case is coroutines."""

    def __init__(self, case: Data, runtime: Any, *, asynchronous: bool) -> None:
        self.case = case
        self.runtime = runtime
        self.asynchronous = asynchronous
        self._box = Toolbox()
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        """The agent or assembly called so."""
        if name not in self._made:
            agents = self.case["agents"]
            make = self._agent if name in agents else self._assembly
            self._made[name] = make(name, agents.get(name) or self.case["assemblies"].get(name, {}))
        return self._made[name]

    def _agent(self, name: str, spec: Data) -> Agent:
        tools: list[Any] = self._box.tools(
            [{**TOOL, **tool} for tool in spec.get("tools", [])], self.asynchronous
        )
        for asked in spec.get("asks", []):
            options = {"run": asked} if isinstance(asked, str) else dict(asked)
            tools.append(self[options.pop("run")].as_tool(**options))
        more = dict(spec.get("limits", {}))
        if "result_schema" in spec:
            more["result"] = ResultSchema(**spec["result_schema"])
        return Agent(
            name=name,
            description=spec.get("description", f"Does {name}."),
            model="scripted:scripted-model",
            system_prompt=spec.get("system_prompt", f"You are {name}."),
            tools=tools,
            **self._given(name),
            **more,
        )

    def _given(self, name: str) -> Data:
        """The runtime, for who is asked."""
        return {"runtime": self.runtime} if name == self.case["ask"] else {}

    def _assembly(self, name: str, spec: Data) -> Assembly:
        ((kind, parts),) = spec.items()
        given = {"name": name, "description": f"Does {name}.", **self._given(name)}
        made: Assembly = getattr(self, f"_{kind}")(parts, given)
        return made

    def _workflow(self, statements: list[Data], given: Data) -> Assembly:
        if self.asynchronous:

            @workflow(**given)
            async def flow(flow: Any) -> Any:
                return await Body(self, flow).run_async(statements)

            return flow

        @workflow(**given)
        def plain_flow(flow: Any) -> Any:
            return Body(self, flow).run(statements)

        return plain_flow

    def _swarm(self, parts: Data, given: Data) -> Swarm:
        members = []
        for member in parts["members"]:
            spec = {"run": member} if isinstance(member, str) else member
            options = {key: spec[key] for key in ("history", "context") if key in spec}
            members.append(
                Member(self[spec["run"]], as_=spec.get("as"), **options, **self.policy(spec))
            )
        options = {key: parts[key] for key in parts.keys() - {"members"}}
        return Swarm(members=members, **options, **given)

    def _graph(self, parts: Data, given: Data) -> Graph:
        nodes = {}
        for name, node in parts["nodes"].items():
            spec = {"run": node} if isinstance(node, str) else node
            options = {key: spec[key] for key in ("history", "context") if key in spec}
            nodes[name] = Node(
                self[spec["run"]], input=self._mapper(spec), **options, **self.policy(spec)
            )
        errors = [
            ErrorEdge(
                *edge["edge"].split(">"),
                on=exceptions(edge["on"]),
                input=self._mapper(edge),
            )
            for edge in parts.get("error_edges", [])
        ]
        names = ("start", "finish", "max_steps", "max_concurrency")
        return Graph(
            nodes=nodes,
            edges=[self._edge(edge) for edge in parts.get("edges", [])],
            error_edges=errors,
            **{key: parts[key] for key in names if key in parts},
            **given,
        )

    def _edge(self, spec: Any) -> Edge:
        route = {"edge": spec} if isinstance(spec, str) else spec
        source, target = (
            side.split(",") if "," in side else side for side in route["edge"].split(">")
        )
        condition = self._condition(route["if"]) if "if" in route else None
        limit = route.get("max_concurrency")
        return Edge(
            source, target, when=condition, input=self._mapper(route), max_concurrency=limit
        )

    def _mapper(self, spec: Data) -> Any:
        text = spec.get("input")
        if text is None:
            return None

        def mapped(state: Any) -> str:
            if text == "!":
                raise Boom("no input")
            return of_state(text, state)

        return self._fitting(mapped)

    def _condition(self, spec: Any) -> Any:
        def holds(state: Any) -> bool:
            if spec == "!":
                raise Boom("no decision")
            return spec if isinstance(spec, bool) else of_state(spec["that"], state) == spec["is"]

        return self._fitting(holds)

    def _fitting(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        if not self.asynchronous:
            return function

        async def awaited(state: Any) -> Any:
            return function(state)

        return awaited

    def policy(self, spec: Data) -> Any:
        """Options that say how long and how often, with classes for names."""
        names = ("timeout", "retries", "retry_on", "retry_delay")
        policy = {key: spec[key] for key in names if key in spec}
        if "retry_on" in policy:
            policy["retry_on"] = exceptions(policy["retry_on"])
        return policy


def exceptions(names: list[str]) -> tuple[type[BaseException], ...]:
    """Classes of exceptions by name."""
    return tuple(Boom if name == "Boom" else getattr(little_ghost, name) for name in names)
