# frozen_string_literal: true

require "little_ghost"

module LittleGhost
  module CodeMode
    # Programs in JavaScript. The interpreter is a part of the library: no other gem and no Node.js are needed.
    #
    #   LittleGhost.configure do |config|
    #     config.code_mode = {engine: :javascript, sandbox: :native}
    #   end
    #
    # Programs have Promises for tool calls, and neither files nor network.
    class JavascriptEngine < BuiltInEngine
      LANGUAGE = :javascript
      private_constant :LANGUAGE

      # What a program may use unless the application says otherwise.
      DEFAULT_LIMITS = Native.code_mode_limits("javascript").transform_keys(&:to_sym).freeze

      ##
      # :method: instructions
      # :call-seq: instructions(catalog:)
      # What a model is told about JavaScript programs, with TypeScript declarations of the tools of +catalog+.

      ##
      # :method: open_session
      # :call-seq: open_session(broker:, sandbox_factory:, limits: {})
      # Opens a Session. Raises ArgumentError for a limit that is not among DEFAULT_LIMITS.

      # +:javascript+
      def language = LANGUAGE
    end
  end
end
