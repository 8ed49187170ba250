"""What sandboxes are asked, and what they say: policies, limits, capabilities, scopes, processes.

The class behind `little_ghost.Sandbox` is here too; the sandboxes themselves are in `sandboxes`.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .capabilities import Capabilities, Feature, NetworkMode
    from .environment_policy import EnvironmentPolicy
    from .execution import Execution
    from .limits import Limits
    from .network_policy import NetworkPolicy
    from .policy import Access, Policy, RootFilesystem
    from .probe import Probe
    from .process_session import ExitStatus, Output, ProcessSession
    from .programs import ProgramOptions
    from .sandbox import Sandbox
    from .scope import Scope

__all__ = [
    "Access",
    "Capabilities",
    "EnvironmentPolicy",
    "Execution",
    "ExitStatus",
    "Feature",
    "Limits",
    "NetworkMode",
    "NetworkPolicy",
    "Output",
    "Policy",
    "Probe",
    "ProcessSession",
    "ProgramOptions",
    "RootFilesystem",
    "Sandbox",
    "Scope",
]

_HOMES = {
    "capabilities": "Capabilities Feature NetworkMode",
    "environment_policy": "EnvironmentPolicy",
    "execution": "Execution",
    "limits": "Limits",
    "network_policy": "NetworkPolicy",
    "policy": "Access Policy RootFilesystem",
    "probe": "Probe",
    "process_session": "ExitStatus Output ProcessSession",
    "programs": "ProgramOptions",
    "sandbox": "Sandbox",
    "scope": "Scope",
}

# Hidden from type checkers, which would take any name for a public one.
if not TYPE_CHECKING:

    def __getattr__(name):
        """Loads a name on its first use."""
        home = next((home for home, names in _HOMES.items() if name in names.split()), None)
        if home is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f".{home}", __name__), name)
