# frozen_string_literal: true

module LittleGhost
  module Support
    # Takes secrets out of values before they are written somewhere.
    #
    #   redactor = LittleGhost::Support::Redactor.new(redactions: [ENV.fetch("API_TOKEN")])
    #   redactor.call({user: "Ann", password: "hunter2"})
    #   # => {user: "Ann", password: "[REDACTED]"}
    #
    # Values under the names of credentials go, and wherever they are: known literals, bearer tokens and
    # keys of well-known shape. That lowers the risk of a leak; it does not prove that nothing is left.
    class Redactor
      # What stands where a secret was.
      REDACTED = "[REDACTED]"
      CIRCULAR = "[CIRCULAR]"
      private_constant :CIRCULAR

      # Also takes out the Strings +redactions+; those of fewer than eight characters are ignored. With
      # +stringify_keys+ the Hashes of the copy have String keys.
      def initialize(redactions: [], stringify_keys: false)
        @native = Native::Redactor.new(Array(redactions).compact.map { |literal| Native::Text.utf8(literal.to_s) })
        @stringify_keys = stringify_keys
      end

      # A redacted copy of +value+; objects other than Hashes, Arrays and Strings stay as they are. All of it
      # goes when +key+, the name that it has, is that of a credential.
      def call(value, key: nil)
        copy(value, key, {}.compare_by_identity)
      end

      # The text +value+ as valid UTF-8 without secrets.
      def scrub_string(value)
        @native.scrub(Native::Text.utf8(value.to_s))
      end

      # Whether +key+ is the name of a credential, such as +api_key+, +accessToken+ or +Set-Cookie+.
      def sensitive_key?(key)
        Native.sensitive_key?(Native::Text.utf8(key.to_s))
      end

      # Never shows the secrets that it knows.
      def inspect
        "#<#{self.class}>"
      end

      private

      def copy(value, key, ancestors)
        return REDACTED if key && sensitive_key?(key)

        case value
        when String then scrub_string(value)
        when Hash, Array
          return CIRCULAR if ancestors.key?(value)

          nested(value, ancestors.merge(value => true).compare_by_identity)
        else value
        end
      end

      def nested(value, ancestors)
        return value.map { |item| copy(item, nil, ancestors) } if value.is_a?(Array)

        value.each_pair.to_h do |name, item|
          [@stringify_keys ? name.to_s : name, copy(item, name, ancestors)]
        end
      end
    end
  end
end
