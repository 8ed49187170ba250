"""LLM agents inside ordinary Python applications.

An agent is a class, a tool is a function:

    from little_ghost import Agent, tool

    @tool
    def order_status(order_number: str) -> str:
        \"\"\"Look up where an order is.\"\"\"
        return "out for delivery"

    class SupportAgent(Agent):
        model = "openrouter:openai/gpt-5.6-luna"
        system_prompt = "Answer customer questions clearly."
        tools = [order_status]

    run = SupportAgent.ask("Where is order 481?")
    print(run.response)
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import code_mode as code_mode
    from . import errors as errors
    from . import events as events
    from . import instrumentation as instrumentation
    from . import network as network
    from . import providers as providers
    from . import sandbox as sandbox
    from . import sandboxes as sandboxes
    from . import tools as tools
    from ._native import CancellationToken
    from .agent import Agent
    from .assembly.agent_stream import AgentStreamSource, AgentStreamStep
    from .assembly.base import Assembly
    from .assembly.graph import Graph
    from .assembly.graph_state import GraphState
    from .assembly.policy import StepPolicy
    from .assembly.route import Edge, ErrorEdge, Node
    from .assembly.swarm import Member, Swarm
    from .assembly.tool import AssemblyTool
    from .assembly.trajectory import Attempt, Step, Trajectory
    from .assembly.workflow import Workflow, workflow
    from .assembly.workflow_invocation import WorkflowInvocation
    from .async_execution import AsyncExecution
    from .builder import AgentBuilder
    from .callbacks import (
        after_initialize,
        after_invocation,
        after_model,
        after_model_error,
        after_tool,
        before_invocation,
        before_model,
        before_tool,
    )
    from .capture import ContentCapture
    from .code_mode.code_mode import CodeMode
    from .configuration import (
        Configuration,
        Settings,
        configure,
        current_configuration,
        shared_runtime,
        with_configuration,
    )
    from .content import Content, Document, Image, Reasoning, Text, ToolResult, ToolUse
    from .context import RunContext
    from .context_management import ContextManagement
    from .credentials import AwsCredentials, AwsKeyPair, GoogleCredentials
    from .decision import Cancel, Decision, Replace
    from .declaration import Declarations, ModelChoice
    from .errors import (
        AbstractMethodError,
        AdapterLoadError,
        AgentInterjectionError,
        AssemblyError,
        AssemblyLimitError,
        AssemblyRoutingError,
        AssemblyStepTimeoutError,
        CancelledError,
        CapabilityError,
        CleanupError,
        ConfigurationError,
        ContextWindowOverflowError,
        CredentialError,
        DeadlineExceededError,
        DependencyError,
        Error,
        HTTPError,
        InvalidPromptTemplateError,
        InvocationError,
        MalformedToolCallError,
        MissingPromptLocalError,
        MissingPromptTemplateError,
        OutputLimitError,
        PolicyError,
        PromptTemplateError,
        ProtocolError,
        ProviderError,
        SandboxConfigurationError,
        StructuredResultError,
        ToolError,
        ToolLoopError,
        UnsupportedInputError,
        UnsupportedPlatformError,
    )
    from .event import StreamEvent
    from .execution import Execution
    from .hook import Hook
    from .instructions import prompt_local
    from .interjection import InterjectionAnswer, InterjectionOptions
    from .invocation import Invocation, MessageLike, RunOptions
    from .lookup import LookupRoot, PathSet
    from .message import Message, Role
    from .model_request import ModelRequest
    from .models.capabilities import ModelCapabilities
    from .models.catalog import CatalogSource, ModelsDevSource, Refreshed
    from .models.details import ModelDetails
    from .models.model import Model
    from .models.resolved import AdaptedModel, ModelAdapter, ModelConnection, ResolvedModel
    from .models.resolver import ModelResolver
    from .models.service_lists import (
        AnthropicSource,
        BedrockSource,
        GeminiSource,
        OpenRouterSource,
    )
    from .payload import (
        AfterInvocation,
        AfterModel,
        AfterModelError,
        AfterTool,
        BeforeInvocation,
        BeforeModel,
        BeforeTool,
    )
    from .prompt import PromptResolver, TrustedPath
    from .redaction import Redactor
    from .result import ModelResponse, RunResult, StructuredResult
    from .result_schema import ResultSchema, ResultStrategy
    from .run import Outcome, Run
    from .runtime import Runtime
    from .sandbox.sandbox import Sandbox
    from .session import Session
    from .session_store import FilesystemStore, MemoryStore, SessionStore
    from .snapshot import Snapshot
    from .stream import AsyncRunStream, RunStream
    from .subagent import Subagent, SubagentLimits, SubagentRequest
    from .subagent_manager import SubagentManager
    from .tool_loop import ToolLoop
    from .tools.base import Tool
    from .tools.binding import Binding
    from .tools.function import FunctionTool, tool
    from .tools.outcome import ToolOutcome
    from .tools.registry import ToolRegistry
    from .truncation import (
        approx_bytes_for_tokens,
        approx_token_count,
        approx_tokens_from_byte_count,
        truncate_middle_with_token_budget,
    )
    from .usage import Usage
    from .workspace import Workspace

__version__ = "0.1.0"

__all__ = [
    "AbstractMethodError",
    "AdaptedModel",
    "AdapterLoadError",
    "AfterInvocation",
    "AfterModel",
    "AfterModelError",
    "AfterTool",
    "Agent",
    "AgentBuilder",
    "AgentInterjectionError",
    "AgentStreamSource",
    "AgentStreamStep",
    "AnthropicSource",
    "Assembly",
    "AssemblyError",
    "AssemblyLimitError",
    "AssemblyRoutingError",
    "AssemblyStepTimeoutError",
    "AssemblyTool",
    "AsyncExecution",
    "AsyncRunStream",
    "Attempt",
    "AwsCredentials",
    "AwsKeyPair",
    "BedrockSource",
    "BeforeInvocation",
    "BeforeModel",
    "BeforeTool",
    "Binding",
    "Cancel",
    "CancellationToken",
    "CancelledError",
    "CapabilityError",
    "CatalogSource",
    "CleanupError",
    "CodeMode",
    "Configuration",
    "ConfigurationError",
    "Content",
    "ContentCapture",
    "ContextManagement",
    "ContextWindowOverflowError",
    "CredentialError",
    "DeadlineExceededError",
    "Decision",
    "Declarations",
    "DependencyError",
    "Document",
    "Edge",
    "Error",
    "ErrorEdge",
    "Execution",
    "FilesystemStore",
    "FunctionTool",
    "GeminiSource",
    "GoogleCredentials",
    "Graph",
    "GraphState",
    "HTTPError",
    "Hook",
    "Image",
    "InterjectionAnswer",
    "InterjectionOptions",
    "InvalidPromptTemplateError",
    "Invocation",
    "InvocationError",
    "LookupRoot",
    "MalformedToolCallError",
    "Member",
    "MemoryStore",
    "Message",
    "MessageLike",
    "MissingPromptLocalError",
    "MissingPromptTemplateError",
    "Model",
    "ModelAdapter",
    "ModelCapabilities",
    "ModelChoice",
    "ModelConnection",
    "ModelDetails",
    "ModelRequest",
    "ModelResolver",
    "ModelResponse",
    "ModelsDevSource",
    "Node",
    "OpenRouterSource",
    "Outcome",
    "OutputLimitError",
    "PathSet",
    "PolicyError",
    "PromptResolver",
    "PromptTemplateError",
    "ProtocolError",
    "ProviderError",
    "Reasoning",
    "Redactor",
    "Refreshed",
    "Replace",
    "ResolvedModel",
    "ResultSchema",
    "ResultStrategy",
    "Role",
    "Run",
    "RunContext",
    "RunOptions",
    "RunResult",
    "RunStream",
    "Runtime",
    "Sandbox",
    "SandboxConfigurationError",
    "Session",
    "SessionStore",
    "Settings",
    "Snapshot",
    "Step",
    "StepPolicy",
    "StreamEvent",
    "StructuredResult",
    "StructuredResultError",
    "Subagent",
    "SubagentLimits",
    "SubagentManager",
    "SubagentRequest",
    "Swarm",
    "Text",
    "Tool",
    "ToolError",
    "ToolLoop",
    "ToolLoopError",
    "ToolOutcome",
    "ToolRegistry",
    "ToolResult",
    "ToolUse",
    "Trajectory",
    "TrustedPath",
    "UnsupportedInputError",
    "UnsupportedPlatformError",
    "Usage",
    "Workflow",
    "WorkflowInvocation",
    "Workspace",
    "after_initialize",
    "after_invocation",
    "after_model",
    "after_model_error",
    "after_tool",
    "approx_bytes_for_tokens",
    "approx_token_count",
    "approx_tokens_from_byte_count",
    "before_invocation",
    "before_model",
    "before_tool",
    "code_mode",
    "configure",
    "current_configuration",
    "errors",
    "events",
    "instrumentation",
    "network",
    "prompt_local",
    "providers",
    "sandbox",
    "sandboxes",
    "shared_runtime",
    "tool",
    "tools",
    "truncate_middle_with_token_budget",
    "with_configuration",
    "workflow",
]

# Where each public name lives; what is not listed is a class of `errors`.
_HOMES = {
    "_native": "CancellationToken",
    "agent": "Agent",
    "assembly.agent_stream": "AgentStreamSource AgentStreamStep",
    "assembly.base": "Assembly",
    "async_execution": "AsyncExecution",
    "builder": "AgentBuilder",
    "callbacks": (
        "after_initialize after_invocation after_model after_model_error after_tool "
        "before_invocation before_model before_tool"
    ),
    "capture": "ContentCapture",
    "code_mode": "code_mode",
    "code_mode.code_mode": "CodeMode",
    "configuration": (
        "Configuration Settings configure current_configuration shared_runtime with_configuration"
    ),
    "content": "Content Document Image Reasoning Text ToolResult ToolUse",
    "context": "RunContext",
    "context_management": "ContextManagement",
    "credentials": "AwsCredentials AwsKeyPair GoogleCredentials",
    "decision": "Cancel Decision Replace",
    "declaration": "Declarations ModelChoice",
    "event": "StreamEvent",
    "execution": "Execution",
    "events": "events",
    "assembly.graph": "Graph",
    "assembly.graph_state": "GraphState",
    "hook": "Hook",
    "instructions": "prompt_local",
    "instrumentation": "instrumentation",
    "interjection": "InterjectionAnswer InterjectionOptions",
    "invocation": "Invocation MessageLike RunOptions",
    "lookup": "LookupRoot PathSet",
    "message": "Message Role",
    "model_request": "ModelRequest",
    "models.capabilities": "ModelCapabilities",
    "models.catalog": "CatalogSource ModelsDevSource Refreshed",
    "models.details": "ModelDetails",
    "models.model": "Model",
    "models.resolved": "AdaptedModel ModelAdapter ModelConnection ResolvedModel",
    "models.resolver": "ModelResolver",
    "models.service_lists": "AnthropicSource BedrockSource GeminiSource OpenRouterSource",
    "network": "network",
    "payload": (
        "AfterInvocation AfterModel AfterModelError AfterTool BeforeInvocation BeforeModel BeforeTool"
    ),
    "assembly.policy": "StepPolicy",
    "prompt": "PromptResolver TrustedPath",
    "providers": "providers",
    "redaction": "Redactor",
    "result": "ModelResponse RunResult StructuredResult",
    "result_schema": "ResultSchema ResultStrategy",
    "assembly.route": "Edge ErrorEdge Node",
    "run": "Outcome Run",
    "runtime": "Runtime",
    "sandbox": "sandbox",
    "sandbox.sandbox": "Sandbox",
    "sandboxes": "sandboxes",
    "session": "Session",
    "session_store": "FilesystemStore MemoryStore SessionStore",
    "snapshot": "Snapshot",
    "stream": "AsyncRunStream RunStream",
    "subagent": "Subagent SubagentLimits SubagentRequest",
    "subagent_manager": "SubagentManager",
    "assembly.swarm": "Member Swarm",
    "tool_loop": "ToolLoop",
    "tools": "tools",
    "tools.base": "Tool",
    "tools.binding": "Binding",
    "tools.function": "FunctionTool tool",
    "tools.outcome": "ToolOutcome",
    "tools.registry": "ToolRegistry",
    "assembly.tool": "AssemblyTool",
    "assembly.trajectory": "Attempt Step Trajectory",
    "truncation": (
        "approx_bytes_for_tokens approx_token_count approx_tokens_from_byte_count "
        "truncate_middle_with_token_budget"
    ),
    "usage": "Usage",
    "workspace": "Workspace",
    "assembly.workflow": "Workflow workflow",
    "assembly.workflow_invocation": "WorkflowInvocation",
}


# Hidden from type checkers, which would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Loads a public name on its first use: most programs need few of them."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        home = next((home for home, names in _HOMES.items() if name in names.split()), "errors")
        module = import_module(f".{home}", __name__)
        value = globals()[name] = module if name == home else getattr(module, name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
