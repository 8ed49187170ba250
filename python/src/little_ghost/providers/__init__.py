"""Model services as objects: to ask one without an agent, or to give an agent as its model.

from little_ghost.providers import Anthropic

claude = Anthropic(model="claude-sonnet-4-5", api_key=key)
response = claude.complete(ModelRequest([Message("user", "Hello")]))
Agent(model=claude).ask("Hello")
"""

from .anthropic import Anthropic
from .base import ConnectionOptions, Provider
from .bedrock import Bedrock
from .gemini import Gemini, VertexAI
from .openai import OpenAI, OpenAICompatible, OpenRouter
from .parts import AwsKeys, CredentialResolver, OnRetry, Sleeper
from .transport import Transport, TransportRequest

__all__ = [
    "Anthropic",
    "AwsKeys",
    "Bedrock",
    "ConnectionOptions",
    "CredentialResolver",
    "Gemini",
    "OnRetry",
    "OpenAI",
    "OpenAICompatible",
    "OpenRouter",
    "Provider",
    "Sleeper",
    "Transport",
    "TransportRequest",
    "VertexAI",
]
