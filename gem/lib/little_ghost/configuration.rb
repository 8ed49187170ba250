# frozen_string_literal: true

module LittleGhost
  # Settings that an application makes before its first agent runs.
  #
  #   LittleGhost.configure do |config|
  #     config.providers = {openrouter: {adapter: :openrouter, api_key: ENV.fetch("OPENROUTER_API_KEY")}}
  #     config.models = {customer_support: {target: "openrouter:openai/gpt-5.6-luna"}}
  #     config.default_model :customer_support
  #   end
  #
  # Most settings have a method that reads without an argument and writes with one, and a writer
  # with <tt>=</tt>. Names that the library does not know are the application's own, reached by #[].
  #
  # The first #runtime call loads <tt>config/little_ghost.rb</tt> and the YAML files beside it, builds the
  # shared Runtime and locks the settings; a later change raises ConfigurationError. A failed build
  # leaves them open. Connections and profiles come from Ruby, else from an explicit file, else from
  # the conventional file, else from keys in the environment.
  class Configuration
    autoload :Files, "little_ghost/configuration/files"
    autoload :ModelSettings, "little_ghost/configuration/model_settings"
    autoload :PathSettings, "little_ghost/configuration/path_settings"
    autoload :ProcessSettings, "little_ghost/configuration/process_settings"
    autoload :Sealed, "little_ghost/configuration/sealed"
    autoload :ServiceSettings, "little_ghost/configuration/service_settings"
    autoload :Settings, "little_ghost/configuration/settings"
    autoload :SharedRuntime, "little_ghost/configuration/shared_runtime"

    include PathSettings
    include ModelSettings
    include ServiceSettings
    include ProcessSettings

    # Starts with +values+, a Hash of settings. Collections are copied.
    def initialize(values = {})
      raise ArgumentError, "settings are a Hash, got #{values.class}" unless values.is_a?(Hash)

      @settings = Settings.defaults
      @shared = SharedRuntime.new(self)
      @files = Files.new(self)
      values.each_pair { |name, value| self[name] = value }
    end

    # The setting called +name+. Raises KeyError when it was never set.
    def [](name)
      name = name.to_sym
      Settings.process_wide?(name) ? public_send(name) : read(name)
    end

    # Sets any setting, known or the application's own.
    def []=(name, value)
      name = name.to_sym
      Settings.known?(name) ? public_send(:"#{name}=", value) : write(name, value)
    end

    # Yields the configuration for set-up and returns it.
    def configure
      yield self
      self
    end

    # The shared Runtime, built on first use; callers wait for each other. Raises ConfigurationError
    # when it is called by what the build itself runs, such as the configuration file.
    def runtime
      @shared.fetch
    end

    # Everything a Runtime needs, deeply frozen: the settings, with the files' connections and
    # profiles in place. Loads <tt>config/little_ghost.rb</tt>, once.
    def snapshot # :nodoc:
      @shared.loading { @files.load }
      Sealed.seal(@settings.merge(root: root, **@files.model_settings(@settings)))
    end

    # The settings as they are, deeply frozen, without any file.
    def resolved # :nodoc:
      Sealed.seal(@settings.merge(root: root))
    end

    # From now on nothing changes, containers included.
    def seal # :nodoc:
      @settings = Sealed.seal(@settings)
    end

    # Shows which settings exist, never their values: they hold credentials.
    def inspect
      "#<#{self.class} #{@settings.keys.join(", ")}>"
    end

    private

    def read(name)
      @shared.check_read
      @settings.fetch(name)
    end

    def write(name, value)
      @shared.check_write
      @settings[name] = value
    end
  end
end
