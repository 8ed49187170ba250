# frozen_string_literal: true

module LittleGhost
  class Agent
    # Code of the application at the joints of an agent's loop.
    #
    #   class SupportAgent < LittleGhost::Agent
    #     before_model { |payload| audit(payload[:request]) }
    #     before_tool :check_permission
    #   end
    #
    # Each declaration takes a block, which runs as a method of the agent, an object with +call+, or the name of
    # a method; <tt>prepend: true</tt> puts it first. A callback that accepts <tt>context:</tt> gets the
    # RunContext. It may return Support::Callbacks.replace or Support::Callbacks.cancel.
    module Callbacks # :nodoc:
      EVENTS = %i[before_invocation after_invocation before_model after_model after_model_error before_tool after_tool].freeze
      # What a replacement that is no Hash stands for.
      REPLACED = {
        before_invocation: :messages, after_invocation: :result, before_model: :request, after_model: :response,
        after_model_error: :request, after_tool: :result
      }.freeze
      private_constant :REPLACED

      @declared = Object.new

      class << self
        # Another object whenever a class has declared something: what was put together before is stale.
        attr_accessor :declared # :nodoc:
      end

      # What agent classes declare.
      module ClassMethods # :nodoc:
        ##
        # :method: before_invocation
        # Before an invocation begins, with <tt>{messages:}</tt>. May replace them; cancelling stops the run.

        ##
        # :method: after_invocation
        # After an invocation, with <tt>{result:}</tt>, a RunResult. May replace it; cancelling keeps it back.

        ##
        # :method: before_model
        # Before a model call, with <tt>{request:, turn:, parent_operation_id:}</tt>. May replace the request.

        ##
        # :method: after_model
        # After a model call, with <tt>{request:, response:, turn:}</tt>. May replace the response.

        ##
        # :method: after_model_error
        # After a failed model call, with <tt>{request:, error:, turn:, parent_operation_id:}</tt>. Replacing
        # the request tries again, at most three times per call.

        ##
        # :method: before_tool
        # Before a tool runs, with <tt>{tool_use:, tool:, operation_id:, parent_operation_id:}</tt>; +tool+ is nil for one of
        # the engine's own, such as the +handoff_to_agent+ of a Swarm. Cancelling gives the model the reason as an error, so it must be safe to disclose.

        ##
        # :method: after_tool
        # After a tool ran, with what before_tool has and +result+. May replace the result.

        ##
        # :method: after_initialize
        # After the agent of a run was made, with the agent.

        [*EVENTS, :after_initialize].each do |event|
          define_method(event) do |callable = nil, prepend: false, &block|
            own_callbacks.on(event, callable, prepend: prepend, &block)
            Callbacks.declared = Object.new
            self
          end
        end

        # Inherited and own callbacks.
        def callbacks # :nodoc:
          return @all_callbacks if @complete
          return own_callbacks if equal?(Agent)

          declared = Callbacks.declared
          return @all_callbacks if @all_callbacks_of == declared

          @all_callbacks = superclass.callbacks.merge(own_callbacks)
          @all_callbacks_of = declared
          @all_callbacks
        end

        private

        def own_callbacks
          @own_callbacks ||= Support::Callbacks.new(*EVENTS, :after_initialize)
        end

        # A copy of the class has its own chains.
        def initialize_copy(source)
          super
          @own_callbacks = @own_callbacks.dup
        end
      end

      # The callbacks that the engine has to ask for.
      def callback_names # :nodoc:
        callbacks.present(EVENTS)
      end

      # Whether there are callbacks for +event+.
      def callback?(event) # :nodoc:
        callbacks.any?(event)
      end

      # Runs the chain of +name+. Replacements are merged into +payload+, so that later callbacks see all of it.
      def run_callback(name, payload, context: nil) # :nodoc:
        key = REPLACED[name]
        callbacks.run(name, payload, context: context, receiver: self) do |current, value|
          current.merge(value.is_a?(Hash) ? value : {key => value}.compact)
        end
      end

      private

      def callbacks
        @callbacks ||= self.class.callbacks
      end

      def initialized
        decision = callbacks.run(:after_initialize, self, receiver: self)
        raise CancelledError, decision.reason || "a callback cancelled the agent" if decision.cancel?
      end
    end
  end
end
