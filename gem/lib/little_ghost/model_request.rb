# frozen_string_literal: true

module LittleGhost
  # Everything a provider needs for one model call. Freezing is shallow: treat nested settings,
  # schemas and tool choices as immutable once the request exists.
  #
  # +deadline+ is a Time or nil. Raises ArgumentError for what is of no use.
  class ModelRequest < Data.define(:messages, :tools, :settings, :output_schema, :tool_choice,
    :required_capabilities, :cancellation_token, :deadline)
    def initialize(messages:, tools: [], settings: {}, output_schema: nil, tool_choice: nil,
      required_capabilities: [], cancellation_token: Support::CancellationToken.new, deadline: nil)
      {messages: messages, tools: tools, required_capabilities: required_capabilities}.each do |name, value|
        raise ArgumentError, "#{name} must be an Array, got #{value.class}" unless value.is_a?(Array)
      end
      raise ArgumentError, "settings must be a Hash, got #{settings.class}" unless settings.nil? || settings.respond_to?(:to_h)
      # Text has a to_f as well, which is zero and so long ago.
      unless deadline.nil? || (deadline.respond_to?(:to_f) && !deadline.is_a?(String))
        raise ArgumentError, "deadline must be a Time, got #{deadline.class}"
      end

      cancellation_token = Support::CancellationToken.new if cancellation_token.nil?
      unless cancellation_token.is_a?(Support::CancellationToken)
        raise ArgumentError, "cancellation_token must be a Support::CancellationToken, got #{cancellation_token.class}"
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
