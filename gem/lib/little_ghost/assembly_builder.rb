# frozen_string_literal: true

module LittleGhost
  # Builds assemblies whose parts are known only while the application runs. Classes are the usual form.
  #
  # A builder stays open: every call and every #build takes a copy of what it declares then. Blocks and the
  # objects they use stay the application's own.
  class AssemblyBuilder
    # The Runtime of standalone calls; LittleGhost.runtime when nil.
    attr_reader :runtime

    class << self
      # The builder for a kind of assembly.
      def for(kind) # :nodoc:
        case kind
        when :agent then AgentBuilder
        when :workflow then WorkflowBuilder
        when :swarm then SwarmBuilder
        when :graph then GraphBuilder
        else raise ConfigurationError, "there is no builder for an assembly of the kind #{kind.inspect}"
        end
      end

      private

      # Has the builder take declarations of its class.
      def declares(*names)
        names.each do |name|
          define_method(name) do |*arguments, **options, &block|
            @prototype.public_send(name, *arguments, **options, &block)
            self
          end
        end
      end
    end

    # +base+ is the assembly class that declarations are added to.
    def initialize(id: nil, description: nil, runtime: nil, base: nil)
      @runtime = runtime
      parent = base_class(base)
      @prototype = Class.new(parent)
      assembly_id(id || (parent.equal?(default_base) ? assembly_kind.name : parent.assembly_id))
      self.description(description) unless description.nil?
    end

    # The identifier; sets it with an argument and returns the builder.
    def assembly_id(value = nil)
      return @prototype.assembly_id if value.nil?

      @prototype.assembly_id(value)
      self
    end

    # What the assembly is for; sets it with an argument and returns the builder.
    def description(value = nil)
      return @prototype.description if value.nil?

      @prototype.description(value)
      self
    end

    # Which kind of assembly this builds.
    def assembly_kind
      @prototype.assembly_kind
    end

    # A fixed AssemblyDefinition of what is declared now.
    def definition
      validate!
      AssemblyDefinition.of(@prototype)
    end

    # One assembly of what is declared now: an entrypoint, or with +run+ a part of that Run.
    def build(runtime: self.runtime, run: nil)
      implementation = definition.implementation
      run.nil? ? implementation.new(runtime: runtime) : implementation.new(run: run, runtime: run.runtime)
    end

    # Raises ConfigurationError when the declarations cannot work; returns +self+.
    def validate!
      @prototype.validate! if @prototype.respond_to?(:validate!)
      self
    end

    # As Assembly#ask.
    def ask(message, **options)
      build.ask(message, **options)
    end

    # As Assembly#call.
    def call(input = nil, **options)
      build.call(input, **options)
    end

    # As Assembly#stream.
    def stream(input = nil, **options)
      build.stream(input, **options)
    end

    # As Assembly#stream_ask.
    def stream_ask(message, **options)
      build.stream_ask(message, **options)
    end

    # As Assembly#start_execution.
    def start_execution(payload, &block)
      build.start_execution(payload, &block)
    end

    # As Assembly#as_tool.
    def as_tool(**options)
      build.as_tool(**options)
    end

    # Names the builder.
    def inspect
      "#<#{self.class} #{assembly_id}>"
    end

    private

    def base_class(base)
      kind = default_base
      base = base.implementation if base.is_a?(AssemblyDefinition)
      base ||= kind
      return base if base.is_a?(Class) && base <= kind

      raise ArgumentError, "base must be a subclass of #{kind}, got #{base.inspect}"
    end

    def default_base
      Assembly
    end
  end
end
