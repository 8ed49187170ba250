# frozen_string_literal: true

require_relative "little_ghost/version"
require_relative "little_ghost/errors"
require_relative "little_ghost/providers"
require_relative "little_ghost/stream_event"

begin
  require "little_ghost_native"
rescue LoadError => error
  raise LoadError, "LittleGhost's native library is missing (#{error.message}). Reinstall the gem on a " \
    "machine with a Rust toolchain (https://rustup.rs) and libclang (apt install libclang-dev); in a " \
    "checkout, run `make setup`."
end

# AI features as ordinary Ruby classes. An Agent owns one model conversation; calling it gives
# a Run that says how the call ended.
#
#   class SupportAgent < LittleGhost::Agent
#     model "openrouter:openai/gpt-5.6-luna"
#     system_prompt "Answer customer questions clearly."
#   end
#
#   run = SupportAgent.ask("Where is order 481?")
#   run.completed? # => true
#   run.response
#
# Configure the library before the first call: that call builds the shared Runtime and locks
# the Configuration.
module LittleGhost
  autoload :Agent, "little_ghost/agent"
  autoload :AgentBuilder, "little_ghost/agent_builder"
  autoload :AgentStreamSource, "little_ghost/agent_stream_source"
  autoload :AgentStreamStep, "little_ghost/agent_stream_step"
  autoload :Assembly, "little_ghost/assembly"
  autoload :AssemblyBuilder, "little_ghost/assembly_builder"
  autoload :AssemblyDefinition, "little_ghost/assembly_definition"
  autoload :AssemblyTool, "little_ghost/assembly_tool"
  autoload :CodeMode, "little_ghost/code_mode"
  autoload :Configuration, "little_ghost/configuration"
  autoload :Content, "little_ghost/content"
  autoload :DataMap, "little_ghost/data_map"
  autoload :EventStream, "little_ghost/event_stream"
  autoload :Events, "little_ghost/events"
  autoload :Execution, "little_ghost/execution"
  autoload :ExecutionState, "little_ghost/execution_state"
  autoload :Graph, "little_ghost/graph"
  autoload :GraphBuilder, "little_ghost/graph_builder"
  autoload :Instrumentation, "little_ghost/instrumentation"
  autoload :Interjection, "little_ghost/interjection"
  autoload :Invocation, "little_ghost/invocation"
  autoload :Lookup, "little_ghost/lookup"
  autoload :Message, "little_ghost/message"
  autoload :Model, "little_ghost/model"
  autoload :ModelCapabilities, "little_ghost/model_capabilities"
  autoload :ModelInterface, "little_ghost/model_interface"
  autoload :ModelRequest, "little_ghost/model_request"
  autoload :ModelResponse, "little_ghost/model_response"
  autoload :ModelResolver, "little_ghost/model_resolver"
  autoload :Models, "little_ghost/models"
  autoload :Network, "little_ghost/network"
  autoload :PathSet, "little_ghost/path_set"
  autoload :PromptResolver, "little_ghost/prompt_resolver"
  autoload :ProviderRegistry, "little_ghost/provider_registry"
  autoload :Run, "little_ghost/run"
  autoload :RunContext, "little_ghost/run_context"
  autoload :RunResult, "little_ghost/run_result"
  autoload :Runtime, "little_ghost/runtime"
  autoload :Sandbox, "little_ghost/sandbox"
  autoload :Sandboxes, "little_ghost/sandboxes"
  autoload :Session, "little_ghost/session"
  autoload :SessionStore, "little_ghost/session_store"
  autoload :SessionStores, "little_ghost/session_stores"
  autoload :StructuredResult, "little_ghost/structured_result"
  autoload :Subagents, "little_ghost/subagents"
  autoload :Support, "little_ghost/support"
  autoload :Swarm, "little_ghost/swarm"
  autoload :SwarmBuilder, "little_ghost/swarm_builder"
  autoload :Testing, "little_ghost/testing"
  autoload :Tool, "little_ghost/tool"
  autoload :ToolExecution, "little_ghost/tool_execution"
  autoload :ToolRegistry, "little_ghost/tool_registry"
  autoload :Tools, "little_ghost/tools"
  autoload :TrustedPath, "little_ghost/trusted_path"
  autoload :Usage, "little_ghost/usage"
  autoload :Workflow, "little_ghost/workflow"
  autoload :WorkflowBuilder, "little_ghost/workflow_builder"
  autoload :Workspace, "little_ghost/workspace"

  # The engine's extension. Its classes are not public API.
  module Native # :nodoc:
    autoload :AgentStream, "little_ghost/native/agent_stream"
    autoload :Answering, "little_ghost/native/answering"
    autoload :AssemblyCalls, "little_ghost/native/assembly_calls"
    autoload :AssemblyEvent, "little_ghost/native/assembly_event"
    autoload :Authorization, "little_ghost/native/authorization"
    autoload :AwsKeys, "little_ghost/native/aws_keys"
    autoload :BlockingPool, "little_ghost/native/blocking_pool"
    autoload :CallbackCalls, "little_ghost/native/callback_calls"
    autoload :ClientTransport, "little_ghost/native/client_transport"
    autoload :Concurrency, "little_ghost/native/concurrency"
    autoload :CredentialSearch, "little_ghost/native/credential_search"
    autoload :EventBuilder, "little_ghost/native/event_builder"
    autoload :ExceptionTable, "little_ghost/native/exception_table"
    autoload :Failure, "little_ghost/native/failure"
    autoload :Freezing, "little_ghost/native/freezing"
    autoload :HostObjects, "little_ghost/native/host_objects"
    autoload :Identifier, "little_ghost/native/identifier"
    autoload :JobWait, "little_ghost/native/job_wait"
    autoload :Keywords, "little_ghost/native/keywords"
    autoload :ModelCall, "little_ghost/native/model_call"
    autoload :ModelDeclaration, "little_ghost/native/model_declaration"
    autoload :ModelExchange, "little_ghost/native/model_exchange"
    autoload :ModelValues, "little_ghost/native/model_values"
    autoload :Naming, "little_ghost/native/naming"
    autoload :Notices, "little_ghost/native/notices"
    autoload :Participants, "little_ghost/native/participants"
    autoload :Performance, "little_ghost/native/performance"
    autoload :ProgramCalls, "little_ghost/native/program_calls"
    autoload :ProgramDialogue, "little_ghost/native/program_dialogue"
    autoload :ProviderNames, "little_ghost/native/provider_names"
    autoload :ProviderParts, "little_ghost/native/provider_parts"
    autoload :Pump, "little_ghost/native/pump"
    autoload :SandboxCalls, "little_ghost/native/sandbox_calls"
    autoload :SessionCalls, "little_ghost/native/session_calls"
    autoload :StoreAccess, "little_ghost/native/store_access"
    autoload :Surroundings, "little_ghost/native/surroundings"
    autoload :Text, "little_ghost/native/text"
    autoload :ToolCall, "little_ghost/native/tool_call"
    autoload :ToolReplacement, "little_ghost/native/tool_replacement"
    autoload :ToolValue, "little_ghost/native/tool_value"
    autoload :TransportCall, "little_ghost/native/transport_call"
    autoload :Wrapping, "little_ghost/native/wrapping"
  end

  CONFIGURATION_KEY = :little_ghost_configuration
  private_constant :CONFIGURATION_KEY

  @default_configuration = nil
  @configuration_lock = Mutex.new

  class << self
    # The Configuration of the current execution context: the one given to with_configuration,
    # else the process-wide default.
    def configuration
      ExecutionState[CONFIGURATION_KEY] || default_configuration
    end

    # Yields the active Configuration for application set-up and returns it. Raises
    # ConfigurationError for changes after the shared Runtime was built.
    def configure(&block)
      configuration.configure(&block)
    end

    # The ModelResolver of the active Configuration's shared Runtime.
    def model_resolver
      runtime.model_resolver
    end

    # Runs the block, a call that would pause the other fibers of a scheduler, on a thread of a shared pool
    # and returns its value. Outside a scheduled fiber it runs here. Once a thread has taken the block, an
    # interruption of the caller is raised when the block has finished: give the call limits of its own.
    #
    #   article = LittleGhost.offload_blocking { HelpCenterSearch.lookup(question) }
    def offload_blocking(&block)
      raise ArgumentError, "offload_blocking needs a block" unless block

      Native::BlockingPool.run(&block)
    end

    # The shared Runtime of the active Configuration, built on first use.
    def runtime
      configuration.runtime
    end

    # Makes +configuration+, with its own shared Runtime, current while the block runs.
    # Threads and fibers started inside inherit it; others do not see it.
    def with_configuration(configuration, &block)
      unless configuration.is_a?(Configuration)
        raise ArgumentError, "expected a LittleGhost::Configuration, got #{configuration.class}"
      end

      ExecutionState.with({CONFIGURATION_KEY => configuration}, &block)
    end

    private

    def default_configuration
      @default_configuration || @configuration_lock.synchronize { @default_configuration ||= Configuration.new }
    end
  end
end

require_relative "little_ghost/native/process_hooks"
