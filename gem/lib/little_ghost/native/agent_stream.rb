# frozen_string_literal: true

module LittleGhost
  module Native
    # Events that say which agent they come from. They are copies: a consumer cannot change running work.
    module AgentStream # :nodoc:
      class << self
        # The data of an <tt>:agent_stream</tt> event. The block makes the value objects of the inner event.
        def build(data)
          inner = data[:event]
          data[:source] = source(data[:source])
          event = yield inner["type"].to_sym, inner["data"].transform_keys(&:to_sym)
          data[:event] = StreamEvent.new(type: event.type, data: freeze(event.data))
          data[:input] = Message.build(data[:input]) if data[:input]
          data
        end

        private

        def source(hash)
          path = hash["assembly_path"].map { |step| AgentStreamStep.new(**step.transform_keys(&:to_sym), assembly_kind: step["assembly_kind"].to_sym) }
          AgentStreamSource.new(**hash.transform_keys(&:to_sym), assembly_path: path.freeze)
        end

        def freeze(data)
          data.transform_values { |value| value.is_a?(RunResult) ? Freezing.result(value) : Freezing.deep(value) }.freeze
        end
      end
    end
  end
end
