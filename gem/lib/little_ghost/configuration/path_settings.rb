# frozen_string_literal: true

require "pathname"

module LittleGhost
  class Configuration
    # Where an application keeps its definitions, prompts and files.
    module PathSettings # :nodoc:
      extend Settings

      PROMPT_PATHS = ["app/prompts"].freeze
      SKILL_PATHS = ["app/skills"].freeze
      WORKSPACE_ROOT = %r{\Aworkspace://[A-Za-z0-9_-]+(/[^/]+)*\z}

      Settings.declare(:root, nil)
      # Prompt roots in order of precedence, relative to #root: <tt>["app/prompts"]</tt>. The Array may be
      # changed in place until the shared Runtime is built.
      setting(:prompt_paths, default: PROMPT_PATHS) { |value| paths(:prompt_paths, value) }
      # Skill roots in order of precedence, relative to #root: <tt>["app/skills"]</tt>.
      setting(:skill_paths, default: SKILL_PATHS) { |value| paths(:skill_paths, value) }
      # Where models see the files of skills: an absolute path without <tt>..</tt>, or
      # <tt>workspace://name/sub</tt>. Raises ArgumentError for anything else.
      setting(:skill_resource_root) { |value| skill_root(value) }
      # The file of provider connections; must exist when it is set.
      setting(:providers_path, default: "config/little_ghost/providers.yml")
      # The file of model profiles; must exist when it is set.
      setting(:models_path, default: "config/little_ghost/models.yml")
      # The Workspace of each run: a provider's Symbol, a callable, or a Hash with +provider+.
      setting(:workspace)
      # The Sandbox around each run's workspace, in the same forms.
      setting(:sandbox)
      # Defaults of agents with code mode: +engine+, +sandbox+, +limits+, +except+. Raises ConfigurationError for other
      # options, and ArgumentError for limits that the engine beside them does not have.
      setting(:code_mode) { |value| CodeMode::Declaration.check_configured(value) }

      # Reads or sets the application's root, a Pathname without symbolic links; Dir.pwd unless set. Raises
      # ConfigurationError when it is no directory.
      def root(path = Settings::UNSET)
        self.root = path unless Settings::UNSET.equal?(path)
        read(:root) || real_directory(Dir.pwd)
      end

      def root=(value)
        write(:root, real_directory(value))
      end

      private

      def paths(name, value)
        list = value.is_a?(Array) ? value.dup : [value].compact
        wrong = list.find { |path| !path.is_a?(Lookup::Root) && !path.is_a?(String) && !path.respond_to?(:to_path) }
        raise ArgumentError, "#{name} takes paths, got #{wrong.inspect}" if wrong

        list
      end

      def real_directory(path)
        real = Pathname.new(path).realpath
        return real if real.directory?

        raise ConfigurationError, "root #{path} is no directory"
      rescue SystemCallError, TypeError, ArgumentError
        raise ConfigurationError, "root #{path.inspect} does not exist; set it to the application's directory"
      end

      def skill_root(value)
        return if value.nil?

        text = value.to_s
        parts = text.split("/")
        return text if !parts.include?("..") && !parts.include?(".") && (text.start_with?("/") || WORKSPACE_ROOT.match?(text))

        raise ArgumentError, "skill_resource_root must be an absolute path without '..' or workspace://name, got #{text.inspect}"
      end
    end
  end
end
