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

        def freeze(value)
          case value
          when Hash then value.each_value { |nested| freeze(nested) }.freeze
          when Array then value.each { |nested| freeze(nested) }.freeze
          when String then value.freeze
          when RunResult then value.with(state: value.state.dup.freeze)
          else value
          end
        end
      end
    end
  end
end
