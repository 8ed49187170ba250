# frozen_string_literal: true

module LittleGhost
  module Models
    # Reads provider connections and model profiles from YAML files, in which ERB is evaluated first.
    # Such files are application code.
    #
    #   # config/little_ghost/models.yml
    #   default_model: support
    #   models:
    #     support:
    #       target: openrouter:openai/gpt-5.6-luna
    class Configuration
      class << self
        # The profiles of the file, role => settings, and its +default_model+ or nil. Raises
        # ConfigurationError for a file that is no such YAML.
        def models(path)
          document = read(path)
          [section(document, "models", path), document["default_model"]&.to_s]
        end

        # The connections of the file, name => {adapter:, ...options}. Raises ConfigurationError for a
        # file that is no such YAML.
        def providers(path)
          section(read(path), "providers", path)
        end

        private

        def read(path)
          require "erb"
          require "yaml"
          require "date"
          text = ERB.new(File.read(path, encoding: "UTF-8"), trim_mode: "-").tap { |erb| erb.filename = path.to_s }.result
          document = YAML.safe_load(text, permitted_classes: [Date, Time], aliases: true, filename: path.to_s)
          return document if document.is_a?(Hash)

          raise ConfigurationError, "#{path} must hold a mapping, got #{document.class}"
        rescue Psych::Exception => error
          raise ConfigurationError, "#{path} is no valid YAML: #{position(error)}"
        rescue NoMethodError
          raise
        rescue NameError => error
          raise ConfigurationError, "#{path}: its ERB uses the unknown name #{error.name}"
        end

        # The text around a mistake may be a credential.
        def position(error)
          return error.class.name unless error.respond_to?(:line)

          "#{error.problem} at line #{error.line} column #{error.column}"
        end

        def section(document, key, path)
          value = document[key]
          return value if value.is_a?(Hash)

          raise ConfigurationError, "#{path} must have a mapping #{key.inspect} at its top"
        end
      end
    end
  end
end
