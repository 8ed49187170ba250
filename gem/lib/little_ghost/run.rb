# frozen_string_literal: true

module LittleGhost
  # One execution from start to finish: what was asked, how it ended, what it used.
  #
  #   run = SupportAgent.ask("Why is transfer 481 pending?")
  #   run.completed? # => true
  #   run.response   # => "Transfer 481 is waiting for the receiving bank."
  #
  # Failures of the execution are recorded, not raised: see #outcome and #error. What is raised:
  # input that cannot make a run, an exception of your own event consumer, and a resource that
  # does not close. A Run executes once.
  class Run
    autoload :Conversation, "little_ghost/run/conversation"
    autoload :Interjections, "little_ghost/run/interjections"
    autoload :Part, "little_ghost/run/part"
    autoload :Parts, "little_ghost/run/parts"
    autoload :Nesting, "little_ghost/run/nesting"
    autoload :Premises, "little_ghost/run/premises"
    autoload :Telemetry, "little_ghost/run/telemetry"
    autoload :ToolValues, "little_ghost/run/tool_values"

    include Enumerable
    include Conversation
    include Interjections
    include Premises
    include Telemetry

    # The token that stops this run and its tools.
    attr_reader :cancellation_token
    # The Agent class that was asked.
    attr_reader :entrypoint_class
    # The exception that ended the run early, or nil.
    attr_reader :error
    # The request.
    attr_reader :invocation
    # Unique identifier of this execution.
    attr_reader :operation_id
    # "completed", "failed", "partial" or "cancelled"; nil while the run goes on.
    attr_reader :outcome
    # The final text, or the text so far when a deadline ended the run; else "".
    attr_reader :response
    # The Runtime that built this run.
    attr_reader :runtime
    # Tokens used, as a Usage.
    attr_reader :usage
    # What those tokens cost in US dollars, as a Rational: exact, by the prices that the catalog or the role
    # states for each model, failed attempts included. Print it with <tt>format("%.4f", run.cost)</tt>.
    #
    # It is nil when a price that is needed is not known, or a provider did not say what it used: an
    # unknown price is never zero. Discounts, audio and tools of the provider are in no catalog's price.
    attr_reader :cost
    attr_reader :entrypoint # :nodoc:
    attr_reader :tool_values # :nodoc:

    NO_USAGE = Usage.new
    private_constant :NO_USAGE

    # A dormant run. Runtime#build_run and the entrypoints of Agent make them.
    def initialize(invocation:, runtime:, agent_class: nil, assembly_class: nil, entrypoint_class: nil,
      execution_class: nil, cancellation_token: Support::CancellationToken.new, workspace: nil, sandbox: nil,
      include_agent_events_by_default: false)
      @invocation = invocation
      @runtime = runtime
      @entrypoint_class = entrypoint_class || assembly_class || agent_class || execution_class
      raise ArgumentError, "a run needs an entrypoint_class" if @entrypoint_class.nil?
      unless cancellation_token.is_a?(Support::CancellationToken)
        raise ArgumentError, "cancellation_token must be a CancellationToken, got #{cancellation_token.class}"
      end

      @cancellation_token = cancellation_token
      @workspace = workspace
      @sandbox = sandbox
      @include_agent_events = agent_events(include_agent_events_by_default)
      @response = ""
      @usage = NO_USAGE
      @cost = 0r
      @outcome = @error = @result = @outcome_source = @entrypoint = @session = nil
      @resources = {}
      @owned = [].freeze
      @premises_open = false
      @premises_lock = Mutex.new
      @lock = Mutex.new
      @tool_values = ToolValues.new
      @once = {}
      @once_lock = Mutex.new
      @handle = open_handle
      @operation_id = @handle.operation_id
    end

    # The agent class, when the entrypoint is an Agent.
    def agent_class
      entrypoint_class if entrypoint_class <= Agent
    end

    # Executes without a consumer and returns +self+.
    def call
      execute(nil)
    end

    # Executes, yields every StreamEvent and returns +self+. Without a block, an Enumerator. Leaving
    # the block early cancels the run and closes its resources; an exception of the block makes the
    # run failed and is raised.
    def each(&consumer)
      return enum_for(:each) unless consumer

      execute(consumer)
    end

    # True after successful completion.
    def completed? = outcome == "completed"

    # True after execution or clean-up failed.
    def failed? = outcome == "failed"

    # True when the deadline ended the run.
    def partial? = outcome == "partial"

    # True when cancellation ended the run.
    def cancelled? = outcome == "cancelled"

    # Whether events of every agent in the run are part of the stream.
    def include_agent_events? = @include_agent_events

    # The complete RunResult, or nil when the agent did not finish.
    def result
      @result ||= @outcome_source && result_of(@outcome_source.to_h)
    end

    # A new RunContext with this run's token and deadline.
    def context(state: {}, metadata: {})
      RunContext.new(
        state: state, metadata: metadata, cancellation_token: cancellation_token, deadline: invocation.deadline_at
      )
    end

    # Performs the block at most once successfully for +key+ and returns its value; later calls return
    # nil. Callers wait for each other. Not re-entrant.
    def once(key)
      @once_lock.synchronize do
        return if @once.key?(key)

        yield.tap { @once[key] = true }
      end
    end

    # Has +resource+ closed when the run ends, in reverse order of registration, and returns it. It must
    # respond to +close+ unless the block closes it. Raises Error after the run has closed.
    def register(resource = nil, &closer)
      unless closer || (!resource.nil? && resource.respond_to?(:close))
        raise ArgumentError, "a resource needs a close method or a block that closes it"
      end

      id = @lock.synchronize do
        number = @resources.length + 1
        @resources[number] = closer || resource.method(:close)
        number
      end
      handle.register(id)
      resource
    end

    # Closes the registered resources of a run that never started; asks one that is running to stop.
    # Idempotent. Raises the first CleanupError, or else the first exception of a closer.
    def close
      handle = @handle
      return if handle.nil?

      Native::Pump.new(self, handle).drive_close || handle.cancel
      nil
    end

    # Names the run and how it ended.
    def inspect
      "#<#{self.class} #{operation_id} #{entrypoint_class.name || entrypoint_class.assembly_id} #{outcome || "open"}>"
    end

    # Opens what the run owns, builds its agent and describes it to the engine.
    def open_entrypoint # :nodoc:
      shared_state
      open_premises
      runtime.runtime_hooks.prepare_execution(self)
      open_session
      @entrypoint = entrypoint_class.new(run: self, runtime: runtime, workspace: @workspace, sandbox: @sandbox)
      @entrypoint.when_closable { register(@entrypoint) }
      @entrypoint.declaration(invocation, {}, self).merge("state" => note_state)
    end

    # The context of one tool call.
    def tool_context(token, operation_id) # :nodoc:
      @tool_context ||= context(state: shared_state)
      @tool_context.bind(run: self, cancellation_token: token, agent_operation_id: operation_id)
    end

    # What the engine has counted until now.
    def usage_so_far # :nodoc:
      handle = @handle
      handle ? Native::EventBuilder.usage(handle.report["usage"]) : usage
    end

    # What the application put in the place of parts of the model's provider.
    def provider_parts # :nodoc:
      entrypoint.model.provider.parts
    end

    def close_resource(id) # :nodoc:
      closer = @lock.synchronize { @resources[id] }
      closer&.call
    end

    # The result that an event brings; the run keeps the same object. Those of participants are their own.
    def take_result(hash) # :nodoc:
      hash.key?("scope") ? result_of(hash) : @result ||= result_of(hash)
    end

    # The result of the run or of one of its participants, with the state that it ended with.
    def result_of(hash) # :nodoc:
      Native::EventBuilder.run_result(hash, hash.key?("scope") ? parts.state(hash["scope"]) : shared_state)
    end

    # The participants of the assembly that answers.
    def parts # :nodoc:
      @parts ||= Parts.new(self)
    end

    # The Run that participants belong to.
    def owner = self # :nodoc:

    # What is around the assembly that answers: nothing.
    def around # :nodoc:
      Native::Surroundings.new
    end

    # Records an ending that consumers already see.
    def settle(report, exceptions) # :nodoc:
      @error = exceptions.fetch(report["error"])
      @response = report["response"]
      @usage = Native::EventBuilder.usage(report["usage"])
      @cost = Native::EventBuilder.cost(report["cost"])
      @outcome_source ||= handle.result
      @outcome = report["outcome"]
    end

    # Records the final ending. Nothing of the engine is held afterwards, but the result.
    def finish(report, exceptions) # :nodoc:
      settle(report, exceptions)
      @handle = nil
      @resources = {}
      close_session
    end

    private

    def open_handle
      Native::Handle.new(runtime.engine, invocation.to_engine(include_agent_events?), cancellation_token.native)
    rescue ArgumentError, TypeError, EncodingError => error
      raise InvocationError, "invalid request: #{error.message}"
    end

    def execute(consumer)
      Native::Concurrency.check(runtime.concurrency_backend)
      pump = Native::Pump.new(self, handle)
      Nesting.within(self) do
        Instrumentation.listening? ? Instrumentation.with_context(correlation) { pump.drive(consumer) } : pump.drive(consumer)
      end
      self
    end

    def handle
      @handle || raise(Error, "the run is over: it executes only once, and takes no more resources")
    end

    def agent_events(default)
      value = invocation["include_agent_events"]
      return default if value.nil?
      return value if value == true || value == false

      raise InvocationError, "include_agent_events must be true or false, got #{value.inspect}"
    end
  end
end
