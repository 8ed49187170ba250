# frozen_string_literal: true

module LittleGhost
  module Support
    class Callbacks
      # One callback of a chain.
      class Entry < Data.define(:work, :prepend) # :nodoc:
        POSITIONAL = %i[req opt rest].freeze
        private_constant :POSITIONAL

        def call(payload, context, receiver)
          case work
          when Symbol, String
            raise ArgumentError, "callback #{work} needs a receiver" if receiver.nil?

            invoke(receiver.method(work), payload, context)
          when Proc
            return invoke(work, payload, context) if receiver.nil?

            # A block runs as if it were a method of the receiver.
            arguments, keywords = arguments(work, payload, context)
            receiver.instance_exec(*arguments, **keywords, &work)
          when Method then invoke(work, payload, context)
          else invoke(work.method(:call), payload, context)
          end
        end

        private

        def invoke(callable, payload, context)
          arguments, keywords = arguments(callable, payload, context)
          callable.call(*arguments, **keywords)
        end

        def arguments(callable, payload, context)
          parameters = callable.parameters
          positional = parameters.any? { |kind, _| POSITIONAL.include?(kind) }
          keyword = parameters.any? { |kind, name| kind == :keyrest || (name == :context && %i[key keyreq].include?(kind)) }
          [positional ? [payload] : [], keyword ? {context: context} : {}]
        end
      end
    end
  end
end
