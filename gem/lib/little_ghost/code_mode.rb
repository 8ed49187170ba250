# frozen_string_literal: true

module LittleGhost
  # Programs that a model writes to call several tools at once. A program runs in a process of its own, in a sandbox; its
  # tool calls come back to this process and go the way of every other tool call.
  #
  #   class ResearchAgent < LittleGhost::Agent
  #     tools HelpCenterLookupTool
  #     code_mode
  #   end
  module CodeMode
    autoload :Broker, "little_ghost/code_mode/broker"
    autoload :BuiltInEngine, "little_ghost/code_mode/built_in_engine"
    autoload :BuiltInSession, "little_ghost/code_mode/built_in_session"
    autoload :Catalog, "little_ghost/code_mode/catalog"
    autoload :Declaration, "little_ghost/code_mode/declaration"
    autoload :Engine, "little_ghost/code_mode/engine"
    autoload :JavascriptEngine, "little_ghost/code_mode/javascript_engine"
    autoload :MadeSandboxes, "little_ghost/code_mode/made_sandboxes"
    autoload :ProgramResult, "little_ghost/code_mode/program_result"
    autoload :Protocol, "little_ghost/code_mode/protocol"
    autoload :PythonEngine, "little_ghost/code_mode/python_engine"
    autoload :RubyEngine, "little_ghost/code_mode/ruby_engine"
    autoload :SandboxFactory, "little_ghost/code_mode/sandbox_factory"
    autoload :Session, "little_ghost/code_mode/session"

    # The tools that control programs.
    CONTROLS = %w[exec wait stop].freeze

    @engines = Native::ProviderNames.new(
      "code-mode engine", ConfigurationError,
      ruby: Native::ProviderNames::Builtin.new(-> { RubyEngine.shared }),
      javascript: Native::ProviderNames::Builtin.new(-> { JavascriptEngine.shared }),
      python: Native::ProviderNames::Builtin.new(-> { PythonEngine.shared })
    )

    class << self
      # Registers an Engine, or a class of them, under the name that declarations use.
      def register_engine(name, implementation)
        unless implementation.is_a?(Engine) || (implementation.is_a?(Class) && implementation <= Engine)
          raise ArgumentError, "a code-mode engine is a LittleGhost::CodeMode::Engine, got #{implementation.inspect}"
        end

        @engines.register(name, implementation)
      end

      # Whether a name, or an engine, is one of the library's own.
      def own_engine?(value) # :nodoc:
        return @engines.builtin?(value) if value.is_a?(Symbol) || value.is_a?(String)

        value.is_a?(BuiltInEngine) || (value.is_a?(Class) && value <= BuiltInEngine)
      end

      # The Engine that is registered under a name, or +value+ itself when it is one. Raises ConfigurationError for anything
      # else.
      def resolve_engine(value)
        found = value.is_a?(Symbol) || value.is_a?(String) ? @engines.resolve(value) : value
        found = found.new if found.is_a?(Class) && found <= Engine
        return found if found.is_a?(Engine)

        raise ConfigurationError, "#{value.inspect} is no code-mode engine; use a registered name or a LittleGhost::CodeMode::Engine"
      end
    end
  end
end
