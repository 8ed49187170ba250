# frozen_string_literal: true

module LittleGhost
  module Providers
    class Bedrock
      # An exception that the service sent in the middle of an answer.
      class StreamError < ProviderError
        RETRYABLE = %w[
          internal_server_exception model_not_ready_exception model_stream_error_exception model_timeout_exception
          service_unavailable_exception throttling_exception
        ].freeze
        private_constant :RETRYABLE

        # What kind of exception it is, such as +:throttling_exception+.
        attr_reader :event_type

        def initialize(message, event_type:)
          super(message)
          @event_type = event_type.to_sym
        end

        # Whether the same request may succeed when it is sent again.
        def retryable?
          RETRYABLE.include?(event_type.name)
        end
      end
    end
  end
end
