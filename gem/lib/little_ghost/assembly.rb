# frozen_string_literal: true

module LittleGhost
  # Anything that a caller can ask like one agent. Agent is the smallest assembly: one model loop.
  #
  # A class, or an instance made with <tt>new(runtime:)</tt>, is an entrypoint: every call makes a
  # fresh Run. It may be used from many threads and fibers at once.
  class Assembly
    autoload :Attempt, "little_ghost/assembly/attempt"
    autoload :Composite, "little_ghost/assembly/composite"
    autoload :Declarations, "little_ghost/assembly/declarations"
    autoload :Policy, "little_ghost/assembly/policy"
    autoload :Reference, "little_ghost/assembly/reference"
    autoload :Step, "little_ghost/assembly/step"
    autoload :Trajectory, "little_ghost/assembly/trajectory"

    UNSET = Object.new.freeze
    private_constant :UNSET

    class << self
      # Runs +message+ to completion and returns the Run. Options become Invocation fields, such as
      # +history+, +context+, +settings+, +metadata+, +session_id+, +actor_id+ and +deadline_at+;
      # +cancellation_token+ stops the run.
      def ask(message, **options)
        new.ask(message, **options)
      end

      # An EventStream that starts the run when it is read; its +each+ returns the finished Run. Takes the options of ask.
      # Of an assembly that coordinates others, the events of every agent in it come too, as <tt>:agent_stream</tt>, unless
      # +include_agent_events+ is false; of an Agent, when it is true.
      def stream_ask(message, **options)
        new.stream_ask(message, **options)
      end

      # The stable identifier. Named classes derive it from their name without the type's suffix. Raises ConfigurationError for
      # a blank one.
      def assembly_id(value = UNSET)
        return @assembly_id || derived_id || superclass.assembly_id if UNSET.equal?(value)
        raise ConfigurationError, "the id of #{name || "a new #{assembly_kind}"} is blank; give it a name, such as \"support\"" if value.to_s.strip.empty?

        @assembly_id = value.to_s
      end

      # What kind of assembly this is.
      def assembly_kind
        :assembly
      end

      # A fixed AssemblyDefinition of this class.
      def definition
        AssemblyDefinition.of(self)
      end

      # A class with what this one declares now.
      def snapshot # :nodoc:
        Class.new(self)
      end

      # A builder that starts with what this class declares.
      def to_builder
        AssemblyBuilder.for(assembly_kind).new(base: self)
      end

      # What the assembly is for, in words for people and models.
      def description(value = UNSET)
        return @description = value unless UNSET.equal?(value)

        @description || (superclass.description unless equal?(Assembly))
      end

      private

      def derived_id
        segment = name&.split("::")&.last
        return if segment.nil?

        stem = segment.delete_suffix(assembly_kind.name.capitalize)
        Native::Naming.underscore(stem.empty? ? segment : stem)
      end
    end

    # The owning Run, or nil for an entrypoint.
    attr_reader :run

    # With +runtime+ alone an entrypoint, which makes a Run for every call. With +run+ it answers inside of that Run.
    def initialize(runtime: nil, run: nil, workspace: nil, sandbox: nil)
      @runtime = runtime || run&.runtime
      @run = run
      @workspace = workspace
      @sandbox = sandbox
    end

    # The sandbox that was given, or else the Run's; nil for an entrypoint.
    def sandbox
      @sandbox || run&.sandbox
    end

    # The workspace that was given, or else the Run's; nil for an entrypoint.
    def workspace
      @workspace || run&.workspace
    end

    # The workspace and the sandbox that were given, for those who work in its place.
    def premises # :nodoc:
      {workspace: @workspace, sandbox: @sandbox}
    end

    # The Runtime that runs are built with; LittleGhost.runtime unless given.
    def runtime
      @runtime || LittleGhost.runtime
    end

    # As Assembly.ask. Inside of a run, returns the RunResult and raises what goes wrong.
    def ask(message, **options)
      run ? stream(message, **options).each {} : prepare(message, options).call
    end

    # As Assembly.stream_ask. Also takes +deadline+ for +deadline_at+. Inside of a run, as #stream.
    def stream_ask(message, **options)
      return stream(message, **options) if run

      options = options.except(:deadline).merge(deadline_at: options[:deadline]) if options.key?(:deadline)
      state = ExecutionState.capture
      EventStream.new { ExecutionState.with(state) { prepare(message, options, streamed: true) } }
    end

    # Runs +input+ to completion and returns what #ask returns.
    def call(input = nil, **options)
      ask(input, **options)
    end

    # As #stream_ask.
    def stream(input = nil, **options)
      stream_ask(input, **options)
    end

    # Starts +payload+, a Hash with at least +message+, in the background and returns its Execution.
    # The block gets every event, on the thread or fiber that runs it.
    def start_execution(payload, &event_consumer)
      Execution.start(prepare(payload, {}, streamed: true), &event_consumer)
    end

    # Closes what the assembly itself owns.
    def close
    end

    # Calls the block if #close has something to do, so that no run need wait for another one.
    def when_closable # :nodoc:
      yield unless closes_nothing?
    end

    def closes_nothing? # :nodoc:
      method(:close).owner.equal?(Assembly)
    end

    # As Run#interject, to the one agent at work.
    def interject(message, **options)
      raise AgentInterjectionError, "this #{self.class.assembly_kind} is no part of a run; interject through its Run or Execution" if run.nil?

      run.interject(message, **options)
    end

    # Prompt locals for the agents of this assembly; a frozen Hash.
    def prompt_locals
      {}.freeze
    end

    # A Tool that asks this assembly. Its input is <tt>{input: String}</tt>. Every call has a copy of the state of the
    # tool's run; with +preserve_context+, calls go on with the same conversation.
    def as_tool(name: self.class.assembly_id, description: self.class.description, preserve_context: false)
      AssemblyTool.build(self, name: name, description: description, preserve_context: preserve_context)
    end

    # Names the assembly without its collaborators.
    def inspect
      "#<#{self.class.name || self.class.superclass.name} #{self.class.assembly_id}>"
    end

    private

    def prepare(message, options, streamed: false)
      standalone!
      payload = message.is_a?(Hash) ? message.merge(options) : options.merge(message: message)
      payload = payload.transform_keys { |key| key.is_a?(Symbol) ? key.name : key }
      token = payload.delete("cancellation_token") || Support::CancellationToken.new
      runtime.build_run(
        payload, entrypoint_class: self.class, cancellation_token: token,
        include_agent_events_by_default: streamed && self.class.assembly_kind != :agent
      )
    end

    def standalone!
      raise Error, "this #{self.class.assembly_kind} belongs to a run; ask its class instead" if run
    end
  end
end
