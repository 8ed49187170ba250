# frozen_string_literal: true

module LittleGhost
  # Base class of LittleGhost's own errors. Public methods may also raise Ruby's ArgumentError
  # and the like for arguments that make no sense.
  class Error < StandardError; end

  # An abstract method has no implementation, such as Tool#call.
  class AbstractMethodError < Error; end

  # Invalid framework or application configuration. Correct it before trying again.
  class ConfigurationError < Error; end

  # A configured provider adapter cannot be constructed.
  class AdapterLoadError < ConfigurationError; end

  # No usable credentials for a provider.
  class CredentialError < ConfigurationError; end

  # Base class of sandbox set-up failures that are found before model-controlled work starts.
  class SandboxConfigurationError < ConfigurationError; end

  # A backend cannot enforce a requested sandbox capability.
  class CapabilityError < SandboxConfigurationError; end

  # A dependency of an explicitly selected sandbox backend is unavailable.
  class DependencyError < SandboxConfigurationError; end

  # A sandbox policy contradicts itself.
  class PolicyError < SandboxConfigurationError; end

  # A sandbox backend does not support this operating system.
  class UnsupportedPlatformError < SandboxConfigurationError; end

  # An invocation payload or operation is invalid.
  class InvocationError < Error; end

  # A run cannot take an interjection now.
  class AgentInterjectionError < InvocationError; end

  # An invocation contains a form of input that the model does not take.
  class UnsupportedInputError < InvocationError; end

  # Cancellation stopped the operation. A started Run records it as a cancelled outcome.
  class CancelledError < Error; end

  # The operation reached its deadline. A started Run records it as a partial outcome.
  class DeadlineExceededError < Error; end

  # One or more resources failed to close: the operation did not end cleanly.
  class CleanupError < Error; end

  # Base class of expected Tool failures. The model may read the message, so it must be safe
  # to disclose.
  class ToolError < Error; end

  # Base class of provider request, response and protocol failures.
  class ProviderError < Error; end

  # The provider says that the request exceeds its context window.
  class ContextWindowOverflowError < ProviderError; end

  # A provider violated the expected protocol.
  class ProtocolError < ProviderError; end

  # The model returned an invalid tool call.
  class MalformedToolCallError < ProtocolError; end

  # A generation limit stopped the agent before it was done.
  class OutputLimitError < ProtocolError; end

  # A structured result is absent, invalid or too large.
  class StructuredResultError < ProtocolError
    # The name of the declared schema.
    attr_reader :schema_name

    # What the local check found, as frozen Strings.
    attr_reader :validation_errors

    def initialize(message, schema_name:, validation_errors: [])
      super(message)
      @schema_name = schema_name
      @validation_errors = Array(validation_errors).map { |text| text.to_s.dup.freeze }.freeze
    end
  end

  # Identical tool calls reached the termination limit.
  class ToolLoopError < ProtocolError; end

  # Base class of failures in coordinating assemblies.
  class AssemblyError < Error; end

  # An assembly exceeded its execution bound.
  class AssemblyLimitError < AssemblyError; end

  # An assembly cannot choose one valid next participant.
  class AssemblyRoutingError < AssemblyError; end

  # One assembly step exceeded its own timeout.
  class AssemblyStepTimeoutError < AssemblyError; end

  # A prompt template could not be located or rendered.
  class PromptTemplateError < Error; end

  # Unsafe template name, escaped root, cycle or too deep recursion.
  class InvalidPromptTemplateError < PromptTemplateError; end

  # A template names a local variable that nobody gave.
  class MissingPromptLocalError < PromptTemplateError; end

  # No configured root contains the template.
  class MissingPromptTemplateError < PromptTemplateError; end

  # Provider connections.
  module Providers
    # A bounded HTTP or network failure of a provider connection.
    class HTTPError < ProviderError
      # HTTP status, or nil when no response was received.
      attr_reader :status

      # At most 4,096 bytes of the response body, or nil.
      attr_reader :body

      def initialize(message, status: nil, body: nil)
        super(message)
        @status = status
        @body = body.nil? ? nil : body.to_s.byteslice(0, 4_096).scrub.freeze
      end

      # Whether the same request may succeed when it is sent again.
      def retryable?
        status.nil? || status == 408 || status == 409 || status == 429 || status >= 500
      end
    end
  end
end
