# frozen_string_literal: true

module LittleGhost
  class Configuration
    # The conventional files of one configuration: <tt>config/little_ghost.rb</tt>, and the YAML of
    # connections and profiles.
    class Files # :nodoc:
      RUBY_FILE = "config/little_ghost.rb"
      private_constant :RUBY_FILE

      def initialize(configuration)
        @configuration = configuration
        @lock = Mutex.new
        @loaded = nil
      end

      # Loads the Ruby file with its configuration current, once.
      def load
        if @lock.owned?
          raise ConfigurationError, "#{RUBY_FILE} cannot build a runtime of the configuration that it is loaded for"
        end

        @lock.synchronize { load_once(@configuration.root) }
      end

      # +providers+, +models+ and +default_model+ as they are in force, for +settings+.
      def model_settings(settings)
        check_resolver(settings)
        providers = settings[:providers] || providers_of(path(settings, :providers_path))
        models, default = nil
        if settings[:models].nil? && settings[:model_resolver].nil?
          models, default = models_of(path(settings, :models_path))
        end
        {providers: providers, models: settings[:models] || models, default_model: settings[:default_model] || default}
      end

      private

      def load_once(root)
        return if @loaded == root
        raise ConfigurationError, "this configuration was loaded for #{@loaded}; use another one for #{root}" if @loaded

        file = root.join(RUBY_FILE)
        LittleGhost.with_configuration(@configuration) { Kernel.load(file.to_s) } if file.file?
        @loaded = root
      end

      # The file to read, or nil when the conventional one is absent.
      def path(settings, name)
        path = Pathname.new(settings[name]).expand_path(@configuration.root)
        return path if path.file?
        return if settings[name] == Settings.defaults[name]

        raise ConfigurationError, "#{name} #{settings[name]} does not exist"
      rescue TypeError
        raise ConfigurationError, "#{name} must be a path, got #{settings[name].class}"
      end

      def providers_of(path)
        path && Models::Configuration.providers(path)
      end

      def models_of(path)
        path && Models::Configuration.models(path)
      end

      def check_resolver(settings)
        resolver = settings[:model_resolver]
        return if resolver.nil?
        unless resolver.is_a?(Class) && resolver <= ModelResolver
          raise ConfigurationError, "model_resolver must be a subclass of LittleGhost::ModelResolver, got #{resolver.inspect}"
        end

        defaults = Settings.defaults
        given = %i[models models_path default_model].reject { |name| settings[name] == defaults[name] }
        return if given.empty?

        raise ConfigurationError, "model_resolver replaces profiles; remove #{given.join(", ")}"
      end
    end
  end
end
