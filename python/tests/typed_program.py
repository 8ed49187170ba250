"""A program as a user with a type checker writes it: `script/check python` checks it, and nothing runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

from typing_extensions import Unpack

from little_ghost import (
    AfterTool,
    Agent,
    AgentBuilder,
    BeforeModel,
    BeforeTool,
    Binding,
    Cancel,
    CancellationToken,
    CodeMode,
    ContextManagement,
    Decision,
    Edge,
    ErrorEdge,
    Graph,
    GraphState,
    Hook,
    Invocation,
    Member,
    MemoryStore,
    Message,
    Model,
    ModelRequest,
    ModelResponse,
    Node,
    ProviderError,
    Replace,
    ResultSchema,
    Run,
    RunContext,
    Sandbox,
    Session,
    SessionStore,
    Snapshot,
    StreamEvent,
    Subagent,
    SubagentLimits,
    SubagentRequest,
    Swarm,
    Text,
    Tool,
    ToolLoop,
    Usage,
    Workflow,
    WorkflowInvocation,
    Workspace,
    after_tool,
    before_model,
    before_tool,
    configure,
    prompt_local,
    shared_runtime,
    testing,
    tool,
    with_configuration,
    workflow,
)
from little_ghost.instrumentation import Subscriber
from little_ghost.sandbox import Limits, Policy, ProcessSession, ProgramOptions
from little_ghost.sandboxes import Bubblewrap, Unrestricted
from little_ghost.tools import Filesystem, Shell


class Place(TypedDict):
    city: str


@dataclass
class Triage:
    category: Literal["billing", "other"]


@tool
def order_status(number: int, context: RunContext, verbose: bool = False) -> str:
    """Look up an order."""
    context.state["asked"] = number
    return f"{number} {verbose} {context.run.invocation.actor_id} {context.remaining_time()}"


@tool(name="refund_order", exclusive=True)
async def refund(number: int) -> dict[str, int]:
    """Refund an order."""
    return {"number": number}


class Escalate(Tool):
    """Hand over to a human."""

    @classmethod
    def available_if(cls, binding: Binding) -> bool:
        return bool(binding.run.invocation.context.get("agents_online"))

    def call(self, reason: str) -> str:
        return f"{self.binding.agent.agent_id}: {reason}"


class SupportAgent(Agent):
    model = "openrouter:openai/gpt-5.6-luna"
    system_prompt = "Be brief."
    prompt_locals = {"company": "Northstar"}
    tools = [order_status, refund, Escalate]
    max_turns = 3
    model_settings = {"temperature": 0.1}
    result = Triage
    tool_loop = ToolLoop(except_=[order_status])
    context_management = ContextManagement(compression_threshold=0.5)

    @before_model
    async def trim(self, payload: BeforeModel, context: RunContext) -> Decision[ModelRequest]:
        return Replace(replace(payload.request, settings={}))

    @before_tool
    def refuse(self, payload: BeforeTool) -> Decision[None]:
        return Cancel("no") if payload.tool_use.name == "refund_order" else None

    @after_tool
    def report(self, payload: AfterTool) -> None:
        print(payload.tool_use.name, payload.result.error)

    @prompt_local
    def opening_hours(self) -> str:
        return "9 to 5"


class TieredAgent(Agent):
    result = ResultSchema(Place, name="place", strategy="provider")

    def model(self, invocation: Invocation) -> str:
        return "premium" if invocation.context.get("premium") else "support"

    async def system_prompt(self, context: RunContext) -> str:
        return f"Greet {context.run.invocation.actor_id}."

    async def tools(self, binding: Binding) -> list[Any]:
        return [order_status, Escalate]


class EchoModel(Model):
    def stream(self, request: ModelRequest) -> Iterator[StreamEvent]:
        text = request.messages[-1].text
        yield StreamEvent("text_delta", {"text": text})
        response = ModelResponse(Message("assistant", text), "end_turn", Usage())
        yield StreamEvent("message_stop", {"response": response})


class AsyncEchoModel(Model):
    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        response = ModelResponse(Message("assistant", "x"), "end_turn", Usage())
        yield StreamEvent("message_stop", {"response": response})


class DatabaseStore(SessionStore):
    async def load(self, id: str, *, actor_id: str | None = None) -> Snapshot | None:
        return None

    def append(
        self,
        id: str,
        *,
        messages: Sequence[Message],
        state: Mapping[str, Any],
        metadata: Mapping[str, Any],
        expected_count: int,
        actor_id: str | None = None,
    ) -> None: ...


class TenantHook(Hook):
    def prepare_run(self, run: Run) -> None:
        run.register(run.invocation, lambda request: print(request.actor_id))


class Timing(Subscriber):
    def finish(self, name: str, attributes: Mapping[str, Any]) -> None: ...


def main() -> None:
    configure(hooks=[TenantHook], subscribers=[Timing()], session_store=DatabaseStore())
    with with_configuration(default_model="x") as configuration:
        print(configuration.locked)
    run: Run = SupportAgent.ask(
        "x", history=[{"role": "user", "content": "x"}], context={"a": 1}, timeout=3
    )
    if run.result is not None:
        print(run.result.output.category, run.usage.total_tokens)
    with SupportAgent().stream("x") as stream:
        texts: list[str] = [event.data["text"] for event in stream if event.type == "text_delta"]
    token = CancellationToken()
    with SupportAgent.start_execution("x", print, cancellation_token=token) as execution:
        print(execution.interject("y", timeout=1).text, execution.wait(timeout=3).response, texts)
    builder = AgentBuilder(name="x")
    builder.model, builder.tools, builder.result = EchoModel(), [order_status], Triage
    builder.tool_loop, builder.context_management = ToolLoop(), ContextManagement()
    builder.prompt_locals, builder.system_template = {"a": 1}, "x/system"

    @builder.on(before_tool)
    def check(payload: BeforeTool) -> None: ...

    status: str = order_status(1, RunContext())
    Agent(model=AsyncEchoModel(), runtime=shared_runtime().build(hooks=[TenantHook()])).ask(status)
    with testing.use_model({"tool": order_status, "input": {}}, lambda request: "y") as model:
        print(model.requests[0].messages[-1].text, order_status.execute({"number": 1}).status)
    session = Session("x", MemoryStore(), actor_id="u")
    with session.synchronize():
        session.append([Message("user", [Text("x")])])


class ResponseWorkflow(Workflow):
    def perform(self) -> WorkflowInvocation:
        texts: list[str] = self.parallel(
            self.invoke(SupportAgent, as_="a", timeout=3),
            self.invoke(TieredAgent, retries=1, retry_on=ProviderError),
        )
        return self.invoke(SupportAgent, input=[self.input.text, *texts], context={})


class AsyncWorkflow(Workflow):
    async def perform(self) -> WorkflowInvocation:
        evidence: str = await self.invoke(ResponseWorkflow, history=self.history)
        return self.invoke(SupportAgent, input=evidence)


@workflow
def respond(flow: Workflow) -> WorkflowInvocation:
    return flow.invoke(SupportAgent, input=flow.invoke(TieredAgent).output())


@workflow(name="other")
async def respond_async(flow: Workflow) -> WorkflowInvocation:
    return flow.invoke(SupportAgent, input=await flow.invoke(respond))


class Desk(Swarm):
    members = [SupportAgent, Member(TieredAgent, as_="tiered", context=True, timeout=3)]
    start = SupportAgent
    handoffs = {SupportAgent: ["tiered"], "tiered": SupportAgent}
    max_steps = 5


def is_billing(state: GraphState) -> bool:
    return state.result("triage").text == "billing" and state.error is None


class Flow(Graph):
    nodes = {
        "triage": SupportAgent,
        "desk": Node(Desk, input=lambda state: state.input),
        "end": respond,
    }
    edges = [Edge("triage", "desk", when=is_billing), ("triage", "end"), ("desk", "end")]
    error_edges = [ErrorEdge("desk", "end", on=[ProviderError])]
    start, finish = "triage", "end"


def assemblies() -> None:
    graph = Flow.validate()
    print(graph.to_mermaid(), Flow.to_mermaid(), Desk().validate().assembly_id)
    for assembly in (ResponseWorkflow(), respond, respond_async, Desk(), graph, SupportAgent()):
        result = assembly.ask("x", include_agent_events=True).raise_for_outcome().result
        if result is not None:
            trajectory = result.trajectory
            print([step.participant for step in trajectory], trajectory.transitions)
    Agent(tools=[Flow.as_tool(name="flow", preserve_context=True)])


def made(request: SubagentRequest) -> Agent:
    return SupportAgent(name=request.path.rpartition("/")[2])


class Delegating(Agent):
    subagents = [SupportAgent, Subagent(factory=made, kind="made", persist=False)]
    subagent_limits = SubagentLimits(max_concurrent=2, wait_timeout=10)


class Chosen(Agent):
    async def subagents(self, context: RunContext) -> Sequence[Subagent]:
        return [Subagent(SupportAgent, model="small", tools=lambda run: [])]


async def async_main() -> None:
    async for event in TieredAgent.stream_async("x"):
        print(event.type)

    async def heard(event: StreamEvent) -> None: ...

    async with TieredAgent.start_execution_async("x", heard) as execution:
        print((await execution.interject("x")).text)
        print((await execution.wait()).raise_for_outcome().response)
    async with Session("x", MemoryStore()).synchronize():
        print((await SupportAgent.ask_async("x")).outcome)


class Careful(Sandbox):
    """A sandbox of the application."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, Policy(files={"root": "read_write"}), limits=Limits())
        self._host = Unrestricted(workspace)

    def start_program(
        self,
        command: Sequence[str],
        *,
        context: RunContext | None = None,
        **options: Unpack[ProgramOptions],
    ) -> ProcessSession:
        return self._host.start_program(["nice", *command], context=context, **options)


def places() -> tuple[str, bytes]:
    """Files and programs."""
    with Workspace("tmp/run", {"source": "source"}) as workspace, Careful(workspace) as sandbox:
        scope = sandbox.scope(files=["root"], network=False)
        left: int | None = sandbox.execute_program(["true"], timeout=5, cpu_seconds=1).exit_code
        with scope.start_program(["cat"]) as session:
            session.write("hello")
            return scope.read("notes.md") + str(left), session.read(timeout=1).stdout


async def places_async() -> str:
    """The same for asyncio."""
    async with Workspace("tmp/run") as workspace, Bubblewrap(workspace, uid=1) as sandbox:
        return (await sandbox.execute_async("id", timeout=5)).stdout


class Coder(Agent):
    """Writes programs."""

    tools = [Filesystem, Shell]
    sandbox = {"provider": "native", "files": {"root": "read_write"}}
    code_mode = CodeMode("javascript", limits={"wall_seconds": 5}, excluding=["shell"])
