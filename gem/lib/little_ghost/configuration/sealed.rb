# frozen_string_literal: true

module LittleGhost
  class Configuration
    # A frozen Hash of settings. It can be read like any Hash, but shows only its keys: values may be
    # credentials.
    class Sealed < Hash # :nodoc:
      class << self
        # A frozen copy of +value+: nested Hashes, Arrays and Strings are copied too. Other objects, and
        # Hashes with keys that are no names, are the application's own and stay as they are.
        def seal(value)
          case value
          when Hash then names?(value) ? seal_hash(value) : value
          when Array then value.map { |nested| seal(nested) }.freeze
          when String then value.frozen? ? value : value.dup.freeze
          else value
          end
        end

        private

        def names?(hash)
          !hash.compare_by_identity? && hash.each_key.all? { |key| key.is_a?(String) || key.is_a?(Symbol) }
        end

        def seal_hash(hash)
          hash.each_pair.with_object(new) { |(key, value), sealed| sealed[key] = seal(value) }.freeze
        end
      end

      def inspect
        "#<sealed #{keys.join(", ")}>"
      end
      alias_method :to_s, :inspect

      def pretty_print(printer)
        printer.text(inspect)
      end
    end
  end
end
