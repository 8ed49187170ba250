# frozen_string_literal: true

module LittleGhost
  # One operation that a model may ask your application to do.
  #
  #   class TicketStatusTool < LittleGhost::Tool
  #     description "Look up a support ticket's status."
  #     input_schema type: "object", properties: {ticket_id: {type: "string"}},
  #       required: ["ticket_id"], additionalProperties: false
  #
  #     def call(input)
  #       {ticket_id: input.fetch("ticket_id"), status: "waiting_on_customer"}
  #     end
  #   end
  #
  # The schema checks the shape of the model's arguments, never a permission: take identity from
  # <tt>run.invocation</tt>, which your application filled in. Raise ToolError for an expected failure;
  # the model reads its message. Of any other exception the model only learns the class.
  #
  # Every call runs on a shallow copy of the tool, so #context is the call's own.
  class Tool
    autoload :Binding, "little_ghost/tool/binding"
    autoload :Outcome, "little_ghost/tool/outcome"
    autoload :Result, "little_ghost/tool/result"

    UNSET = Object.new.freeze
    EMPTY_SCHEMA = {}.freeze
    private_constant :UNSET, :EMPTY_SCHEMA

    class << self
      # The name the model calls: 1 to 64 letters, digits, underscores or hyphens. A named class has
      # its underscored name unless it sets another.
      def tool_name(value = UNSET)
        return @tool_name = value.to_s unless UNSET.equal?(value)

        @tool_name || derived_name || (superclass.tool_name unless equal?(Tool))
      end

      # What the model reads to decide when the tool applies.
      def description(value = UNSET)
        return @description = value unless UNSET.equal?(value)

        @description || (superclass.description unless equal?(Tool))
      end

      # The JSON Schema of the arguments, deeply frozen with String keys. Raises ArgumentError for
      # anything but a Hash.
      def input_schema(schema = UNSET)
        unless UNSET.equal?(schema)
          raise ArgumentError, "input_schema must be a Hash, got #{schema.class}" unless schema.is_a?(Hash)

          return @input_schema = frozen_schema(schema)
        end
        @input_schema || (equal?(Tool) ? EMPTY_SCHEMA : superclass.input_schema)
      end

      # Whether calls hold the run-wide lock that keeps exclusive tools from overlapping.
      def exclusive(value = UNSET)
        return @exclusive = value ? true : false unless UNSET.equal?(value)
        return @exclusive if defined?(@exclusive) && !@exclusive.nil?

        equal?(Tool) ? false : superclass.exclusive
      end

      # Declares when the tool exists for a binding; the block is asked before the tool is built.
      # Without a block, returns the declared one or nil.
      def available_if(&predicate)
        return @available_if = predicate if predicate

        @available_if || (superclass.available_if unless equal?(Tool))
      end

      # Whether the tool is registered for +binding+.
      def available?(binding)
        predicate = available_if
        predicate.nil? || (predicate.call(binding) ? true : false)
      end

      # The frozen model-facing name, description and input schema.
      def specification
        {name: tool_name, description: description, input_schema: input_schema}.freeze
      end

      # An anonymous Tool class around a block, which gets +input+ and, when it takes it, +context:+.
      #
      #   LittleGhost::Tool.define(name: "echo", description: "Echo text.",
      #     input_schema: {type: "object"}) { |input| input.fetch("text") }
      def define(name:, description:, input_schema: {}, &implementation)
        raise ArgumentError, "a tool needs a block that does the work" unless implementation

        contextual = implementation.parameters.any? do |kind, parameter|
          kind == :keyrest || (%i[key keyreq].include?(kind) && parameter == :context)
        end
        Class.new(self) do
          tool_name name
          description description
          input_schema input_schema
          define_method(:call) do |input|
            contextual ? implementation.call(input, context: context) : implementation.call(input)
          end
        end
      end

      # The checked definition. Raises ConfigurationError for a bad name, description or schema.
      def definition # :nodoc:
        key = [tool_name.to_s, description.to_s, input_schema]
        return @definition if @definition_key == key

        @definition = Native::Definition.new(*key)
        @definition_key = key
        @definition
      rescue ArgumentError, TypeError, EncodingError => error
        raise ConfigurationError, "tool #{tool_name.inspect} cannot be described to a model: #{error.message}"
      end

      private

      def derived_name
        segment = name&.split("::")&.last
        segment && Native::Naming.underscore(segment)
      end

      def frozen_schema(value)
        case value
        when Hash then value.each_pair.to_h { |key, nested| [key.to_s.freeze, frozen_schema(nested)] }.freeze
        when Array then value.map { |nested| frozen_schema(nested) }.freeze
        when String then value.frozen? ? value : value.dup.freeze
        when Symbol then value.name
        else value
        end
      end
    end

    # The RunContext of the current call, or nil outside one.
    attr_accessor :context

    # +binding+ carries the run's collaborators.
    def initialize(binding: Binding.new)
      @binding = binding
      @context = nil
    end

    # Does the work and returns any value. Subclasses override it.
    def call(_input)
      raise AbstractMethodError, "#{self.class} does not implement #call"
    end

    # Validates +input+ and calls the tool, as tests and integrations do it. The outcome has +value+,
    # +content+ (what a model reads), +status+ (+:success+ or +:error+), +error+, +artifacts+ and
    # +presentation_content+. CancelledError, DeadlineExceededError and CleanupError are raised.
    def execute(input, context: RunContext.new)
      return Outcome.invalid(["$ must be an object, got #{input.class}"]) unless input.is_a?(Hash)

      violations = definition.violations(input)
      return Outcome.invalid(violations) unless violations.empty?

      tool = dup
      tool.context = context
      # The same keys as in a run, where arguments come from a model.
      Outcome.success(tool.call(input.is_a?(DataMap) ? input : DataMap.new(input)))
    rescue CancelledError, DeadlineExceededError, CleanupError
      raise
    rescue StandardError, ScriptError, SystemStackError => error
      Outcome.failure(error)
    end

    # Releases what the tool owns. Called once, when the run closes.
    def close
    end

    # The bound agent, or nil.
    def agent = @binding.agent

    # The bound model selection, or nil.
    def model = @binding.model

    # The bound Run, or nil.
    def run = @binding.run

    # The bound Runtime, or nil.
    def runtime = @binding.runtime

    # The bound sandbox, or nil.
    def sandbox = @binding.sandbox

    # The bound workspace, or nil.
    def workspace = @binding.workspace

    # See Tool.tool_name.
    def tool_name = self.class.tool_name

    # See Tool.description.
    def description = self.class.description

    # See Tool.input_schema.
    def input_schema = self.class.input_schema

    # See Tool.specification.
    def specification = self.class.specification

    # The checked definition of this instance.
    def definition = self.class.definition # :nodoc:

    # See Tool.exclusive.
    def exclusive? = self.class.exclusive

    # Names the tool without its collaborators.
    def inspect
      "#<#{self.class.name || "Tool"} #{tool_name}>"
    end
  end
end
