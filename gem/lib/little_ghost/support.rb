# frozen_string_literal: true

module LittleGhost
  # Building blocks that framework extensions share.
  module Support
    autoload :Callbacks, "little_ghost/support/callbacks"
    autoload :CancellationToken, "little_ghost/support/cancellation_token"
    autoload :ClassAttributes, "little_ghost/support/class_attributes"
    autoload :ContentCapture, "little_ghost/support/content_capture"
    autoload :HTTPClient, "little_ghost/support/http_client"
    autoload :InterruptibleStream, "little_ghost/support/interruptible_stream"
    autoload :Loader, "little_ghost/support/loader"
    autoload :OutputTruncation, "little_ghost/support/output_truncation"
    autoload :Redactor, "little_ghost/support/redactor"

    extend self

    # A copy of +value+ in which nested Hashes, Arrays and Strings are copies too; other objects stay the
    # same. Raises ArgumentError for a container that contains itself.
    def deep_dup(value, ancestors = {})
      case value
      when String then value.dup
      when Hash, Array
        raise ArgumentError, "the value contains itself" if ancestors[value.object_id]

        ancestors = ancestors.merge(value.object_id => true)
        return value.map { |nested| deep_dup(nested, ancestors) } if value.is_a?(Array)

        value.each_pair.to_h { |key, nested| [deep_dup(key, ancestors), deep_dup(nested, ancestors)] }
      else value
      end
    end
  end
end
