# frozen_string_literal: true

module LittleGhost
  class Runtime
    # Builds what a Runtime shares, and reads the declarations of what each run gets.
    module Services # :nodoc:
      # How agents with code mode are set up unless they say otherwise, or nil.
      def code_mode_configuration = settings[:code_mode]

      # What the application declared as sandbox, or nil.
      def sandbox_declaration = settings[:sandbox]

      # What the application declared as workspace, or nil.
      def workspace_declaration = settings[:workspace]

      # Where models see the files of skills, or nil.
      def skill_resource_root = settings[:skill_resource_root]

      # How overlapping work starts.
      def concurrency_backend = settings[:concurrency_backend]

      private

      def boot(startup, settings)
        @settings = startup.phase("configuration") { frozen(settings) || configuration.snapshot }
        startup.named(@settings[:service_name])
        @root = @settings[:root]
        startup.phase("instrumentation") { @settings[:instrumentation_subscribers].each { |item| Instrumentation.subscribe(item) } }
        startup.phase("loader") { load_definitions }
        startup.phase("model_resolver") { build_resolver }
        startup.phase("session_store") { @session_store = build_session_store }
        startup.phase("prompts") { prepare_prompts }
        startup.phase("agent_factory") { @runtime_hooks = Hooks.new(@settings[:runtime_hooks]) }
      end

      def frozen(settings)
        settings.nil? || settings.is_a?(Configuration::Sealed) ? settings : Configuration.new(settings).resolved
      end

      def load_definitions
        @loader = Support::Loader.new(root: root)
        LittleGhost.with_configuration(configuration) { @loader.setup.eager_load }
      end

      def prepare_prompts
        @prompt_paths = path_set(settings[:prompt_paths], Configuration::PathSettings::PROMPT_PATHS)
        @skill_paths = path_set(settings[:skill_paths], Configuration::PathSettings::SKILL_PATHS)
        @prompts = PromptResolver.new(paths: @prompt_paths)
      end

      # The conventional directories must not lead out of the application; others are as they were given.
      def path_set(paths, conventional)
        PathSet.new(paths.map do |path|
          next path if path.is_a?(Lookup::Root)

          boundary = conventional.include?(path) ? root.to_s : nil
          Lookup::Root.new(path: File.expand_path(path, root.to_s), boundary: boundary)
        end)
      end

      def build_resolver
        profiles = {profiles: settings[:models], default_model: settings[:default_model]}
        @model_resolver = (settings[:model_resolver] || ModelResolver).new(
          providers: settings[:providers], **(settings[:model_resolver] ? {} : profiles),
          catalog_sources: settings[:catalog_sources], provider_adapters: settings[:provider_adapters],
          credential_resolver: settings[:provider_credentials]
        )
        @engine = @model_resolver.engine
      end
    end
  end
end
