"""Graphs: participants at named nodes, and the routes between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..entrypoint import Entrypoint
from ..errors import ConfigurationError
from .route import Edge, ErrorEdge, Node
from .routed import Routed
from .table import check_assembly

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .routed import RoutedOptions
    from .table import HostTable

Nodes: TypeAlias = Mapping[str, Any]
"""By name: an `Agent`, `Workflow`, `Swarm` or `Graph`, a class of those, or a `Node`."""

Edges: TypeAlias = "Sequence[Edge | tuple[str | Sequence[str], str | Sequence[str]]]"
"""Routes; a pair of names is a plain one."""


class Graph(Routed):
    """Participants at named nodes, and the routes between them.

        class SupportFlow(Graph):
            nodes = {"triage": TriageAgent, "billing": BillingAgent, "respond": SupportAgent}
            start = "triage"
            edges = [
                Edge("triage", "billing", when=lambda state: state.result("triage").output == "billing"),
                ("triage", "respond"),
                ("billing", "respond"),
            ]
            finish = "respond"

        run = SupportFlow.ask("Why was I charged twice?")

    or on the spot: `Graph(name=..., nodes={...}, edges=[...], start=..., finish=...)`. Several unconditional routes
    from one node run in parallel and meet at their first unambiguous common successor, which gets the
    results of all. Nodes get neither history nor context of the caller unless their `Node` says so.

    Attributes:
        nodes: Participants by name; a `Node` where one takes part in its own way.
        edges: Routes: an `Edge`, or a pair of names.
        error_edges: Routes for failures.
        start: The node that begins.
        finish: The node whose answer is that of the graph.
        max_steps: The most executions of nodes; 20 by default.
        max_concurrency: The most branches at work at once; 8 by default.
    """

    _kind = "graph"

    nodes: Nodes = {}
    edges: Edges = ()
    error_edges: Sequence[ErrorEdge] = ()
    start: str | None = None
    finish: str | None = None
    max_concurrency: int | None = None

    def __init__(
        self,
        *,
        nodes: Nodes | None = None,
        edges: Edges | None = None,
        error_edges: Sequence[ErrorEdge] | None = None,
        start: str | None = None,
        finish: str | None = None,
        max_concurrency: int | None = None,
        **options: Unpack[RoutedOptions],
    ) -> None:
        """Makes a graph; what is left out comes from the class. See the attributes.

        Args:
            nodes: Participants by name.
            edges: Routes.
            error_edges: Routes for failures.
            start: The node that begins.
            finish: The node whose answer is that of the graph.
            max_concurrency: The most branches at work at once.
            **options: See `RoutedOptions`.
        """
        super().__init__(
            options,
            nodes=nodes,
            edges=edges,
            error_edges=error_edges,
            start=start,
            finish=finish,
            max_concurrency=max_concurrency,
        )

    @Entrypoint
    def to_mermaid(self) -> str:
        """The routes as source of a Mermaid flowchart.

        Raises:
            ConfigurationError: Nodes and routes cannot work.
        """
        return check_assembly(self) or ""

    def _describe(self, table: HostTable) -> dict[str, Any]:
        self._check_declared()
        return {
            **super()._describe(table),
            "nodes": [self._node(name, node, table) for name, node in self.nodes.items()],
            "edges": [self._edge(edge).describe(table) for edge in self.edges],
            "error_edges": [edge.describe(table) for edge in self.error_edges],
            "start": self.start,
            "finish": self.finish,
            "max_concurrency": self.max_concurrency,
        }

    def _check_declared(self) -> None:
        if not isinstance(self.nodes, Mapping):
            raise ConfigurationError(
                f"nodes of {self.assembly_id} must be a dict of names and participants, "
                f"not {type(self.nodes).__name__}"
            )
        named = [("start", self.start), ("finish", self.finish)]
        for what, name in (*named, *(("a node", name) for name in self.nodes)):
            if name is not None and not (isinstance(name, str) and name.strip()):
                raise ConfigurationError(
                    f"{what} of {self.assembly_id} must be the name of a node, not {name!r}"
                )
        for edge in self.error_edges:
            if not isinstance(edge, ErrorEdge):
                raise ConfigurationError(
                    f"error_edges of {self.assembly_id} must be ErrorEdge values, not {edge!r}"
                )

    def _node(self, name: str, node: Any, table: HostTable) -> dict[str, Any]:
        try:
            return (node if isinstance(node, Node) else Node(node)).describe(name, table)
        except ConfigurationError as error:
            raise ConfigurationError(f"node {name!r} of {self.assembly_id}: {error}") from error

    def _edge(self, edge: Any) -> Edge:
        if isinstance(edge, Edge):
            return edge
        if isinstance(edge, tuple) and len(edge) == 2:
            return Edge(*edge)
        raise ConfigurationError(
            f"edges of {self.assembly_id} must be Edge values or pairs of names, not {edge!r}"
        )
