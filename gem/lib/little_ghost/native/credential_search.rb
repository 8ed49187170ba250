# frozen_string_literal: true

module LittleGhost
  module Native
    # Asks a chain of the engine with the variables of an environment as they are now.
    module CredentialSearch # :nodoc:
      class << self
        # Those of +names+ that +environment+ has.
        def variables(environment, names)
          names.filter_map { |name| (value = environment[name]) && [name, Text.utf8(value.to_s)] }.to_h
        end

        # Seconds since 1970, of a Time or a number; nil without one.
        def seconds(time)
          time&.to_f
        end

        # What the engine has in the place of a CancellationToken.
        def token(cancellation_token)
          cancellation_token.native if cancellation_token.is_a?(Support::CancellationToken)
        end
      end
    end
  end
end
