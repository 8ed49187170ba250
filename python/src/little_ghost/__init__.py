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

from . import errors as errors
from . import process as _process  # noqa: F401  (registers what happens at forks and at exit)
from ._native import CancellationToken
from .agent import Agent, ModelChoice
from .content import Content, Document, Image, Reasoning, Text, ToolResult, ToolUse
from .context import RunContext
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
from .invocation import Invocation, MessageLike, RunOptions
from .message import Message, Role
from .result import ModelResponse, RunResult
from .run import Outcome, Run
from .runtime import Runtime, configure
from .stream import AsyncRunStream, RunStream
from .tool import FunctionTool, Tool, ToolOutcome, tool
from .usage import Usage

__version__ = "0.1.0"

__all__ = [
    "AbstractMethodError",
    "AdapterLoadError",
    "Agent",
    "AgentInterjectionError",
    "AssemblyError",
    "AssemblyLimitError",
    "AssemblyRoutingError",
    "AssemblyStepTimeoutError",
    "AsyncRunStream",
    "CancellationToken",
    "CancelledError",
    "CapabilityError",
    "CleanupError",
    "ConfigurationError",
    "Content",
    "ContextWindowOverflowError",
    "CredentialError",
    "DeadlineExceededError",
    "DependencyError",
    "Document",
    "Error",
    "Execution",
    "FunctionTool",
    "HTTPError",
    "Image",
    "InvalidPromptTemplateError",
    "Invocation",
    "InvocationError",
    "MalformedToolCallError",
    "Message",
    "MessageLike",
    "MissingPromptLocalError",
    "MissingPromptTemplateError",
    "ModelChoice",
    "ModelResponse",
    "Outcome",
    "OutputLimitError",
    "PolicyError",
    "PromptTemplateError",
    "ProtocolError",
    "ProviderError",
    "Reasoning",
    "Role",
    "Run",
    "RunContext",
    "RunOptions",
    "RunResult",
    "RunStream",
    "Runtime",
    "SandboxConfigurationError",
    "StreamEvent",
    "StructuredResultError",
    "Text",
    "Tool",
    "ToolError",
    "ToolLoopError",
    "ToolOutcome",
    "ToolResult",
    "ToolUse",
    "UnsupportedInputError",
    "UnsupportedPlatformError",
    "Usage",
    "configure",
    "errors",
    "tool",
]
