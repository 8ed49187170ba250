# frozen_string_literal: true

module LittleGhost
  module CodeMode
    # A language of programs. One engine serves many agents and runs, perhaps at the same time: what belongs to a program
    # belongs to its Session.
    class Engine
      # The language, a Symbol.
      def language
        raise AbstractMethodError, "#{self.class} does not implement #language"
      end

      # What a model is told about the language and the tools of +catalog+, the specifications of Broker#catalog.
      def instructions(catalog:)
        raise AbstractMethodError, "#{self.class} does not implement #instructions"
      end

      # Opens a Session of its own for each caller. Programs run in sandboxes that +sandbox_factory+ makes: called with
      # +workspace+ and +required_runtime_paths+, it returns a Sandbox. Their tool calls go to +broker+, which stays in this
      # process. +limits+ are as the application wrote them; checking them, and the defaults, are the engine's.
      def open_session(broker:, sandbox_factory:, limits:)
        raise AbstractMethodError, "#{self.class} does not implement #open_session"
      end
    end
  end
end
