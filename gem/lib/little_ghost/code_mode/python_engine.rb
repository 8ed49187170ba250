# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # Programs in Python, run by a Python of the machine.
    class PythonEngine < BuiltInEngine # :nodoc:
      LANGUAGE = :python
      private_constant :LANGUAGE

      # What a program may use unless the application says otherwise.
      DEFAULT_LIMITS = Native.code_mode_limits("python").transform_keys(&:to_sym).freeze

      def language = LANGUAGE
    end
  end
end
