# frozen_string_literal: true

require "rbconfig"

module LittleGhost
  module CodeMode
    # Programs in Ruby, run by the Ruby that runs this process, each in a fresh process of its own.
    #
    #   LittleGhost.configure do |config|
    #     config.code_mode = {engine: :ruby, sandbox: :native}
    #   end
    class RubyEngine < BuiltInEngine
      LANGUAGE = :ruby
      private_constant :LANGUAGE

      # What a program may use unless the application says otherwise.
      DEFAULT_LIMITS = Native.code_mode_limits("ruby").transform_keys(&:to_sym).freeze

      ##
      # :method: instructions
      # :call-seq: instructions(catalog:)
      # What a model is told about Ruby programs and the tools of +catalog+.

      ##
      # :method: open_session
      # :call-seq: open_session(broker:, sandbox_factory:, limits: {})
      # Opens a Session. Raises ArgumentError for a limit that is not among DEFAULT_LIMITS.

      # +:ruby+
      def language = LANGUAGE

      def declaration # :nodoc:
        super.merge("interpreter" => RbConfig.ruby)
      end
    end
  end
end
