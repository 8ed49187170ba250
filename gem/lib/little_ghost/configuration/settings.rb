# frozen_string_literal: true

module LittleGhost
  class Configuration
    # Declares settings for the modules that group them: a default, and a reader and writer that
    # normalize alike.
    module Settings # :nodoc:
      UNSET = Object.new.freeze
      PROCESS_WIDE = %i[blocking_pool_capacity log_events_to].freeze
      private_constant :PROCESS_WIDE
      @defaults = {}

      class << self
        def declare(name, default)
          @defaults[name] = default
        end

        # A fresh Hash of all defaults; containers are copies.
        def defaults
          @defaults.transform_values { |value| value.is_a?(Array) || value.is_a?(Hash) ? value.dup : value }
        end

        def known?(name)
          @defaults.key?(name) || process_wide?(name)
        end

        # Whether every Configuration reads and writes the same value.
        def process_wide?(name)
          PROCESS_WIDE.include?(name)
        end
      end

      private

      # Defines <tt>name</tt> (reads; writes with an argument or a block) and <tt>name=</tt>. The block
      # normalizes what is written, on the configuration.
      def setting(name, default: nil, &normalize)
        Settings.declare(name, default)
        define_method(name) do |value = UNSET, &block|
          value = block if block
          next read(name) if UNSET.equal?(value)

          public_send(:"#{name}=", value)
          read(name)
        end
        define_method(:"#{name}=") do |value|
          write(name, normalize ? instance_exec(value, &normalize) : value)
        end
      end
    end
  end
end
