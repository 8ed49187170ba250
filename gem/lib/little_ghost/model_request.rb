# frozen_string_literal: true

module LittleGhost
  # Everything a provider needs for one model call. Freezing is shallow: treat nested settings,
  # schemas and tool choices as immutable once the request exists.
  class ModelRequest < Data.define(:messages, :tools, :settings, :output_schema, :tool_choice,
    :required_capabilities, :cancellation_token, :deadline)
    def initialize(messages:, tools: [], settings: {}, output_schema: nil, tool_choice: nil,
      required_capabilities: [], cancellation_token: Support::CancellationToken.new, deadline: nil)
      {messages: messages, tools: tools, required_capabilities: required_capabilities}.each do |name, value|
        raise ArgumentError, "#{name} must be an Array, got #{value.class}" unless value.is_a?(Array)
      end

      super(
        messages: messages.map { |message| Message.coerce(message) }.freeze,
        tools: tools.freeze,
        settings: settings.freeze,
        output_schema: output_schema,
        tool_choice: tool_choice,
        required_capabilities: required_capabilities.map(&:to_sym).uniq.freeze,
        cancellation_token: cancellation_token,
        deadline: deadline
      )
    end
  end
end
