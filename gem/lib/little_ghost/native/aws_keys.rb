# frozen_string_literal: true

module LittleGhost
  module Native
    # Keys for AWS as the engine takes them.
    module AwsKeys # :nodoc:
      NAMES = %i[access_key_id secret_access_key session_token].freeze

      # +found+ is an object as an AWS SDK has it, or a Hash.
      def self.of(found)
        keys = NAMES.to_h do |name|
          value = found.respond_to?(name) ? found.public_send(name) : found.to_h.transform_keys(&:to_sym)[name]
          [name.name, value&.to_s]
        end
        keys.compact
      rescue NoMethodError, TypeError
        raise CredentialError, "the credential_resolver must return a token, or an object with access_key_id and " \
          "secret_access_key; it returned #{found.class}"
      end
    end
  end
end
