# frozen_string_literal: true

module LittleGhost
  module Providers
    class OpenAICompatible
      # An error that a service reported in the middle of an answer.
      class StreamError < ProviderError
        RETRYABLE_TYPES = %w[provider_overloaded provider_unavailable rate_limit_exceeded server timeout].freeze
        RETRYABLE_CODES = %w[408 429].freeze
        private_constant :RETRYABLE_TYPES, :RETRYABLE_CODES

        # The service's own code, or nil.
        attr_reader :code
        # The kind of error in the service's words, or nil.
        attr_reader :error_type

        def initialize(message, error_type: nil, code: nil)
          super(message)
          @error_type = error_type
          @code = code
        end

        # Whether the same request may succeed when it is sent again.
        def retryable?
          code = @code.to_s
          RETRYABLE_TYPES.include?(error_type.to_s) || code == "server_error" || RETRYABLE_CODES.include?(code) ||
            (code.match?(/\A\d+\z/) && code.to_i >= 500)
        end
      end
    end
  end
end
