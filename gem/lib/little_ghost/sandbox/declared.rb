# frozen_string_literal: true

module LittleGhost
  class Sandbox
    # Declarations, read by the engine.
    module Declared # :nodoc:
      class << self
        # What the engine makes of +value+, a declaration of that kind. What cannot be data is no policy.
        def read(kind, value)
          Native::Sandbox.normalize(kind, value)
        rescue TypeError => error
          raise PolicyError, "sandbox policy: #{error.message}"
        end

        # Names and access as Symbols.
        def paths(hash)
          hash.to_h { |name, access| [name.to_sym, access.to_sym] }.freeze
        end

        # A NetworkPolicy, or nil, as the engine reads it: modes other than an allowlist have no options.
        def written(network)
          return if network.nil?

          network.allowlist? ? network.declaration : network.mode
        end

        # What stands for +value+ in a declaration: itself when it is data, else its number.
        def stand_in(value)
          case value
          when nil, String, Symbol, Hash, Array, true, false, Numeric then value
          else {"host" => Native::HostObjects.key(value)}
          end
        end
      end
    end
  end
end
