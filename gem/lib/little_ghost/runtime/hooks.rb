# frozen_string_literal: true

module LittleGhost
  class Runtime
    # The hooks of one Runtime, asked in their order.
    class Hooks # :nodoc:
      include Enumerable

      def initialize(classes)
        @hooks = classes.map(&:new).freeze
      end

      def each(&block)
        @hooks.each(&block)
      end

      # Whether any hook overrides +name+.
      def any?(name)
        @hooks.any? { |hook| hook.method(name).owner != Hook }
      end

      def prepare_run(run)
        each { |hook| hook.prepare_run(run) }
      end

      def prepare_execution(run)
        each { |hook| hook.prepare_execution(run) }
      end

      def prepare_interjection(run, payload)
        @hooks.inject(payload) do |current, hook|
          prepared = hook.prepare_interjection(run, current)
          next prepared if prepared.is_a?(Hash)

          raise InvocationError, "#{hook.class}#prepare_interjection must return a Hash, got #{prepared.class}"
        end
      end

      # The first answer that is not nil.
      def session_history(run, stored:, fallback:)
        each do |hook|
          history = hook.session_history(run, stored: stored, fallback: fallback)
          return history unless history.nil?
        end
        nil
      end

      # The first answer that says something.
      def error_message(error, run)
        each do |hook|
          message = hook.error_message(error, run)
          return message.to_s if message
        end
        nil
      end
    end
  end
end
